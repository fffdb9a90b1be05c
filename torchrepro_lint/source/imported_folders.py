"""Which folders around a folder the modules in it and beside it import from: these are of one program with it.

Where no project file says where a project begins and no `__init__.py` says what is a package, as in a namespace
package, the imports say it: `from pkg.data import Digits` in `pkg/training/train.py`, where `pkg/data` is there, means
that the modules of `pkg` see each other, and so does `from ..data import Digits`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from torchrepro_lint.regular_files import read_regular
from torchrepro_lint.source.import_statements import import_statements, names_taken

__all__ = ["ImportedFolders"]

#: How many folders beside one are looked into, and how many files are read in each.
_MAX_FOLDERS = 64
_MAX_FILES = 100


class ImportedFolders:
    """Finds them, folder after folder. What was read is kept: use an instance for one run."""

    def __init__(self) -> None:
        self._beside: dict[Path, tuple[Path, ...]] = {}
        self._by_folder: dict[Path, frozenset[Path]] = {}
        self._names: dict[Path, frozenset[str]] = {}

    def above(self, folder: Path) -> Path | None:
        """The topmost folder above `folder` that the modules in it, or in a folder beside it, import from; None if
        none.
        """
        around = frozenset(folder.parents)
        found = [named for home in (folder, *self._folders_in(folder.parent)) for named in self._of(home) & around]
        return min(found, key=lambda one: len(one.parts), default=None)

    def is_joined_with_above(self, folder: Path) -> bool:
        """Whether modules in `folder` and modules in the folder right above it import from each other."""
        above = folder.parent
        if folder.name in self._names_in(above):
            return True
        names = self._names_in(folder) - {folder.name}
        return any(not _holds(folder, name) and _is_module(above, name) for name in names)

    def _names_in(self, folder: Path) -> frozenset[str]:
        """The first parts of what the modules right in a folder import: read once, however many folders are in it."""
        if folder not in self._names:
            self._names[folder] = frozenset(name for file in self._modules(folder) for name in _first_names(file))
        return self._names[folder]

    def _modules(self, folder: Path) -> list[Path]:
        """The modules right in a folder, as many of them as are read."""
        modules = (path for path in _entries(folder) if path.suffix == ".py" and path.is_file())
        return list(islice(modules, _MAX_FILES))

    def _folders_in(self, folder: Path) -> tuple[Path, ...]:
        if folder not in self._beside:
            self._beside[folder] = tuple(islice((path for path in _entries(folder) if path.is_dir()), _MAX_FOLDERS))
        return self._beside[folder]

    def _of(self, folder: Path) -> frozenset[Path]:
        """The folders that the modules in a folder import from, as far as these are above it."""
        if folder not in self._by_folder:
            self._by_folder[folder] = frozenset(named for file in self._modules(folder) for named in _imported(file))
        return self._by_folder[folder]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _first_names(file: Path) -> Iterator[str]:
    """The first part of each module that a file imports; of a relative import from its own folder, what it takes."""
    for statement in import_statements(_text(file)):
        if statement["plain"]:
            yield from (name.split()[0].partition(".")[0] for name in statement["plain"].split(",") if name.split())
        elif not statement["dots"]:
            yield statement["base"].partition(".")[0]
        elif statement["dots"] == ".":
            yield from [statement["base"].partition(".")[0]] if statement["base"] else names_taken(statement)


def _text(file: Path) -> str:
    try:
        return read_regular(file).decode("utf-8", "replace")
    except OSError:
        return ""


def _imported(file: Path) -> Iterator[Path]:
    """The folders above the one of a file from which it imports modules that are there."""
    for statement in import_statements(_text(file)):
        taken = names_taken(statement)
        if statement["dots"]:
            home = _up(file.parent, len(statement["dots"]) - 1)
            if home != file.parent and _holds_any(home, statement["base"], taken):
                yield home
            continue
        for name in (statement["plain"] or statement["base"]).split(","):
            parts = name.split()
            first, _, rest = parts[0].partition(".") if parts else ("", "", "")
            named = _named_above(file.parent, first)
            if named is not None and _holds_any(named, rest, taken):
                yield named


def _named_above(folder: Path, name: str) -> Path | None:
    """The nearest folder of that name around a folder; None where Python finds a module of the name further in."""
    if not name or name not in folder.parts:
        return None
    for home in (folder, *folder.parents):
        if _holds(home, name):
            return None
        if home.name == name:
            return home
    return None


def _up(folder: Path, levels: int) -> Path:
    for _ in range(levels):
        folder = folder.parent
    return folder


def _holds(folder: Path, module: str) -> bool:
    return bool(module) and ((folder / f"{module}.py").is_file() or (folder / module).is_dir())


def _is_module(folder: Path, name: str) -> bool:
    """Whether a folder has a module or a package of that name, and not just a folder of data."""
    if not name or name == "__init__":
        return False
    return (folder / f"{name}.py").is_file() or any(path.suffix == ".py" for path in _entries(folder / name))


def _holds_any(folder: Path, below: str, taken: list[str]) -> bool:
    """Whether a folder has the module that is named below it, or one of what is taken out of the folder itself."""
    return any(_holds(folder, name) for name in ([below.partition(".")[0]] if below else taken))
