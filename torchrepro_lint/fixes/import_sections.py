"""The sections of a file's imports: standard library, third party, the project's own, relative."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["STANDARD", "THIRD_PARTY", "import_section"]

STANDARD, THIRD_PARTY, _FIRST_PARTY, _RELATIVE = range(1, 5)
_PROJECT_ROOT = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def import_section(path: Path, module: str) -> int:
    """The section of an import of `module` in the file `path`, as a number that grows downwards."""
    if module.startswith("."):
        return _RELATIVE
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:
        return STANDARD
    return _FIRST_PARTY if _is_own(path, package) else THIRD_PARTY


def _is_own(path: Path, package: str) -> bool:
    """Whether a package lies in the project that holds `path`: in a folder above, or in `src` there."""
    folder = path.absolute().parent
    for _ in range(8):
        for base in (folder, folder / "src"):
            if (base / package).is_dir() or (base / f"{package}.py").is_file():
                return True
        if any((folder / marker).exists() for marker in _PROJECT_ROOT) or folder == folder.parent:
            return False
        folder = folder.parent
    return False
