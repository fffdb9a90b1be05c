"""The releases of torch: what a version specifier stands for."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

__all__ = ["torch_releases"]


@lru_cache(maxsize=1)
def torch_releases() -> tuple[str, ...]:
    """The released versions that the tool knows, oldest first."""
    lines = (Path(__file__).parent / "torch_releases.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
