"""Which files of a project are tests: what they seed and switch speaks for no other run."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["is_test_file"]

_NAME = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
_FOLDERS = frozenset({"test", "tests"})


def is_test_file(root: Path, path: Path) -> bool:
    """Whether a file is a test of the project at `root`, by its own name or by that of a folder below the root."""
    folders = path.relative_to(root).parts[:-1] if path.is_relative_to(root) else ()
    return bool(_NAME.fullmatch(path.name)) or not _FOLDERS.isdisjoint(folders)
