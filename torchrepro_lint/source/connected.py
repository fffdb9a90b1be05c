"""Which files of a folder are of one program with some of them: those that imports connect with these.

Where no project file says that the Python files below a folder belong together, strangers may lie beside a program: old
copies, other people's scripts, whole repositories. What no import leads to, in either direction, is none of its files.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Set
from pathlib import Path

from torchrepro_lint.source.cells import is_notebook
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.import_statements import import_statements, names_taken
from torchrepro_lint.source.text import SourceError

__all__ = ["connected"]

_IMPORT = re.compile(rb"\bimport\b")


def connected(files: Collection[Path], root: Path, start: Set[Path], read: Read) -> list[Path]:
    """Those of the `files` below `root` that imports connect with `start`, in their order.

    A name is looked for as Python may find it, be the program started in `root`, in the folder of the file, or in one
    between: whatever is there under the name counts.
    """
    if all(file in start for file in files):
        return list(files)
    modules = _modules(files)
    around: dict[Path, set[Path]] = defaultdict(set)
    bases = {folder: _bases(folder, root) for folder in {file.parent for file in files}}
    for file in files:
        for named in _named(file, bases[file.parent], read):
            for other in modules.get(named, ()):
                around[file].add(other)
                around[other].add(file)
    reached = set(start)
    pending = list(start)
    while pending:
        new = around[pending.pop()] - reached
        reached |= new
        pending += new
    return [file for file in files if file in reached]


def _modules(files: Iterable[Path]) -> dict[str, list[Path]]:
    """The files by the path without suffix under which they are imported: a package by that of its folder."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file in files:
        found[str(file.parent if file.stem == "__init__" else file.with_suffix(""))].append(file)
    return found


def _bases(folder: Path, root: Path) -> list[str]:
    """A folder and those around it, up to the root."""
    return [str(folder), *(str(above) for above in folder.parents if above.is_relative_to(root))]


def _named(file: Path, folders: list[str], read: Read) -> Iterator[str]:
    """The paths, without suffix, of all modules that a file may import, and of the packages around these."""
    for dots, name in _imports(file, read):
        for at in folders[dots - 1 : dots] if dots else folders:
            for part in name.split("."):
                at = f"{at}/{part}" if part else at
                yield at


def _imports(file: Path, read: Read) -> Iterator[tuple[int, str]]:
    """What a file imports: the number of leading dots, and the dotted name."""
    try:
        data = read(file)
    except SourceError:
        return
    if not _IMPORT.search(data):
        return
    text = data.decode("utf-8", "replace")
    if is_notebook(file):  # a line of a cell is a string of JSON
        text = re.sub(r'(?m)^\s*"', "", text.replace("\\n", "\n"))
    for statement in import_statements(text):
        if statement["plain"]:
            yield from ((0, name.split()[0]) for name in statement["plain"].split(",") if name.split())
            continue
        for taken in names_taken(statement) or [""]:
            yield len(statement["dots"]), f"{statement['base']}.{taken}".strip(".")
