"""The files at the root of a project, and above it, that say something of all its Python files."""

from __future__ import annotations

from pathlib import Path

from torchrepro_lint.source.line_length import layout_files
from torchrepro_lint.source.outside import METADATA
from torchrepro_lint.source.package_versions import version_files

__all__ = ["files_beside"]


def files_beside(root: Path) -> set[Path]:
    """What names the project's scripts, lays out its lines, and says which versions of libraries are in use."""
    found = {root / name for name in METADATA if (root / name).is_file()}
    found.update(layout_files(root))
    found.update(version_files(root))
    return found
