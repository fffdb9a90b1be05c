"""No two files import each other, by whatever way: each can be read, and tested, after those that it imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "torchrepro_lint"


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """The files of a package by their dotted names."""
    named = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """What a file imports of these when it is run: not what only type checkers read, nor what a function imports."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and statement.module in known:
            for alias in statement.names:
                name = f"{statement.module}.{alias.name}"
                yield name if name in known else statement.module
        elif isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names if alias.name in known)


def cycle_in(known: dict[str, Path]) -> list[str]:
    """The files of one cycle, by their dotted names; empty where there is none."""
    try:
        TopologicalSorter({name: set(imported(path, known)) - {name} for name, path in known.items()}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_file_is_imported_by_what_it_imports() -> None:
    assert cycle_in(modules()) == []


def test_a_cycle_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from package import two\n")
    (package / "two.py").write_text("from package.three import name\n")
    (package / "three.py").write_text("import package.one\nname = 1\n")
    assert set(cycle_in(modules(package))) == {"package.one", "package.two", "package.three"}
