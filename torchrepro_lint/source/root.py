"""Where a project begins: the folder from which its modules see each other."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["absolute", "is_marked", "is_shared_folder", "local_root", "marked_root", "project_root"]

MARKERS = ("torchrepro-lint.toml", "pyproject.toml", "setup.py", "setup.cfg", ".git")


def absolute(path: Path | str) -> Path:
    """`path` from the root of the file system, without `.` and `..`. Links stay links: names are those of the user."""
    return Path(os.path.abspath(path))  # noqa: PTH100 (Path.resolve follows links, Path.absolute keeps `..`)


def project_root(path: Path) -> Path:
    """The root of the project of the file or folder `path` (absolute): a function of the disk, not of the arguments.

    The nearest folder with a project file or .git; where there is none, what `local_root` finds.
    """
    return marked_root(path) or local_root(path)


def marked_root(path: Path) -> Path | None:
    """The nearest folder at or above `path` that holds a project file or .git, None where there is none."""
    folder = path if path.is_dir() else path.parent
    for candidate in (folder, *folder.parents):
        if is_marked(candidate):
            return candidate
    return None


def is_marked(folder: Path) -> bool:
    """Whether a folder holds a project file or .git."""
    return any((folder / marker).exists() for marker in MARKERS)


def local_root(path: Path, below: Path | None = None) -> Path:
    """The root as the modules around `path` show it, where no project file says it, or where it is left out.

    It is the folder above the topmost package, and goes up as long as the folder above holds Python files itself:
    `main.py` beside the folder `models/` means that both are of one program. It stays under `below`, and out of the
    folders that strangers share.
    """
    folder = path if path.is_dir() else path.parent

    def closed(candidate: Path) -> bool:
        return is_shared_folder(candidate) or candidate == below

    while not closed(folder):
        package = (folder / "__init__.py").is_file()
        if not package and (closed(folder.parent) or not _holds_python(folder.parent)):
            break
        folder = folder.parent
    return folder


def is_shared_folder(folder: Path) -> bool:
    """Whether things that have nothing to do with each other lie in `folder`: the home folder, the folder for
    temporary files, the root of the file system.
    """
    return folder in (Path.home(), Path(tempfile.gettempdir()), Path(folder.anchor))


def _holds_python(folder: Path) -> bool:
    try:
        return any(entry.suffix == ".py" for entry in folder.iterdir())
    except OSError:
        return False
