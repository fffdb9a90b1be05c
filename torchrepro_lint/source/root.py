"""Where a project begins: the folder from which its modules see each other."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from torchrepro_lint.source.imported_folders import ImportedFolders

__all__ = [
    "absolute",
    "folder_above",
    "holds_installed",
    "is_installed",
    "is_marked",
    "is_shared_folder",
    "local_root",
    "project_root",
]

MARKERS = (".torchrepro-lint.toml", "torchrepro-lint.toml", "pyproject.toml", "setup.py", "setup.cfg", ".git")
_MANY = 3
_INSTALLED = frozenset({"site-packages", "dist-packages"})


def absolute(path: Path | str) -> Path:
    """`path` from the root of the file system, without `.` and `..`. Links stay links: names are those of the user."""
    return Path(os.path.abspath(path))  # Path.resolve follows links, Path.absolute keeps `..`


def project_root(path: Path) -> Path:
    """The root of the project of the file or folder `path` (absolute): a function of the disk, not of the arguments.

    The nearest folder with a project file or .git; where there is none, what `local_root` finds.
    """
    return _marked_root(path) or local_root(path, ImportedFolders())


def _marked_root(path: Path) -> Path | None:
    """The nearest folder at or above `path` that holds a project file or .git, None where there is none."""
    folder = path if path.is_dir() else path.parent
    for candidate in (folder, *folder.parents):
        if is_marked(candidate):
            return candidate
    return None


def is_marked(folder: Path | str) -> bool:
    """Whether a folder holds a project file or .git."""
    return any(os.path.exists(f"{folder}/{marker}") for marker in MARKERS)


def local_root(path: Path, imported: ImportedFolders, below: Path | None = None) -> Path:
    """The root as the modules around `path` show it, where no project file says it, or where it is left out.

    It is the folder above the topmost package, and goes up as long as modules in the folder and modules right above it
    import from each other (`import models.net` in `main.py` beside the folder `models/`), and up to a folder from which
    the modules import. A file that merely lies above is a stranger. It stays under `below`, and out of the folders that
    strangers share. A folder such as `project-main`, as which an archive unpacks, is no package, be there an
    `__init__.py` in it: Python could not import it.
    """
    folder = path if path.is_dir() else path.parent
    while (above := folder_above(folder, imported, below)) is not None:
        folder = above
    return folder


def folder_above(folder: Path, imported: ImportedFolders, below: Path | None = None) -> Path | None:
    """The next folder up whose modules are of one program with those in `folder`, as `local_root` says."""
    if folder == below or is_shared_folder(folder):
        return None
    above = folder.parent
    if folder.name.isidentifier() and os.path.isfile(f"{folder}/__init__.py"):
        return above
    if above == below or is_shared_folder(above):
        return None
    if imported.is_joined_with_above(folder):
        return above
    named = imported.above(folder)
    if named is None or named == below or is_shared_folder(named):
        return None
    return named if below is None or named.is_relative_to(below) else None


def is_installed(path: Path) -> bool:
    """Whether a file is part of an installed package: nobody's project, and all packages there would be one program."""
    return not _INSTALLED.isdisjoint(path.parts)


def holds_installed(folder: Path) -> bool:
    """Whether a folder is one in which packages are installed side by side."""
    return folder.name in _INSTALLED


def is_shared_folder(folder: Path) -> bool:
    """Whether things that have nothing to do with each other lie in `folder`: the home folder, the folder for
    temporary files, the root of the file system, and where somebody keeps projects side by side.
    """
    if folder.parent == folder or folder in _folders_of_everything():
        return True
    return not is_marked(folder) and _holds_projects(folder)


def _folders_of_everything() -> Iterator[Path]:
    """The home folder, and that for temporary files: a user may have none, and none of these may be written to."""
    with suppress(RuntimeError):
        yield Path.home()
    with suppress(OSError):
        yield Path(tempfile.gettempdir())


def _holds_projects(folder: Path) -> bool:
    """Whether `_MANY` marked projects or more lie in `folder`; one or two may be what a program was given with it."""
    try:
        with os.scandir(folder) as entries:
            found = (entry for entry in entries if entry.is_dir() and is_marked(entry.path))
            return len(list(islice(found, _MANY))) == _MANY
    except OSError:
        return False
