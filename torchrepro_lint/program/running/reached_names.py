"""What a program may reach by name from where it starts: the definitions that it mentions, those that these mention,
and what all of them name of other packages.

This is `named_uses.py` in the other direction, and as little of a proof: every mention counts. It tells code that a
program may run from code that merely stands in a file which it imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.program.modules import folder_of
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.mentions import LOADING, SCRIPT, Mentions, mentions_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Definition", "names_without_module", "outside_names", "reached_from"]

#: A function or class at the top level of a file, by its name; `LOADING` and `SCRIPT` for the code of the module.
Definition: TypeAlias = tuple[Path, str]


def reached_from(program: Program, start: Path) -> frozenset[Definition]:
    """The definitions that the program which starts in a file may reach by name, and the code of its modules. Of a file
    in which no program starts, everything counts as a start; and where something is found by a text that is not in the
    code (`import_module(name)`), all that the project defines.
    """
    return program.once(("reached by name", start), partial(_reach, program, start))


def outside_names(program: Program, reached: frozenset[Definition]) -> Iterator[tuple[str, Definition]]:
    """The dotted names of other packages that definitions mention, `torch.nn.Conv2d`, each with who mentions it."""
    for path, who in sorted(reached):
        mentions = _mentions(program, path)
        for dotted in sorted(mentions.outside.get(who, ())) if mentions is not None else ():
            yield dotted, (path, who)


def names_without_module(program: Program, reached: frozenset[Definition]) -> frozenset[str]:
    """The names that definitions mention of which it is not known whose they are: attributes, texts, and what comes by
    a star import.
    """
    found: set[str] = set()
    for path in {path for path, _ in reached}:
        mentions = _mentions(program, path)
        for name, users in mentions.names.items() if mentions is not None else ():
            if any(definer is None and (path, who) in reached for who, definer in users):
                found.add(name)
    return frozenset(found)


def _mentions(program: Program, path: Path) -> Mentions | None:
    facts = program.facts(path)
    return mentions_of(program, facts) if facts is not None else None


def _defined(program: Program, path: Path) -> frozenset[str]:
    """The functions and classes at the top level of a file."""
    facts = program.facts(path)
    scopes = facts.scope.children if facts is not None else ()
    return frozenset(one.name for one in scopes if isinstance(one.node, (tree.FunctionDef, tree.ClassDef)))


def _reach(program: Program, start: Path) -> frozenset[Definition]:
    files = program.imports.below(start)
    homes: dict[str, list[Path]] = {}
    for path in sorted(files):
        for name in _defined(program, path):
            homes.setdefault(name, []).append(path)
    pending = [*((path, LOADING) for path in sorted(files)), *_starts(program, start)]
    seen = set(pending)
    named: dict[Path, dict[str, set[tuple[str, Path | None]]]] = {}
    while pending:
        path, who = pending.pop()
        mentions = _mentions(program, path)
        if mentions is None:
            continue
        if who in mentions.anything:
            return _everything(program, files)
        if path not in named:
            named[path] = _by_user(mentions)
        by_name = _mentioned(named[path].get(who, ()), homes)
        by_table = _of_its_table(mentions, path, homes) if who in mentions.own_table else ()
        for found in (*by_name, *by_table, *_of_modules(program, mentions, path, who, files)):
            if found not in seen:
                seen.add(found)
                pending.append(found)
    return frozenset(seen)


def _starts(program: Program, start: Path) -> Iterator[Definition]:
    called = [one.called for one in entry_points(program) if one.path == start]
    yield start, SCRIPT
    for name in called or sorted(_defined(program, start)):
        if name is not None:
            yield start, name


def _by_user(mentions: Mentions) -> dict[str, set[tuple[str, Path | None]]]:
    """For each definition of a file the names that it mentions, and the file that defines what is meant, if known."""
    found: dict[str, set[tuple[str, Path | None]]] = {}
    for name, users in mentions.names.items():
        for user, definer in users:
            found.setdefault(user, set()).add((name, definer))
    return found


def _mentioned(names: Iterable[tuple[str, Path | None]], homes: dict[str, list[Path]]) -> Iterator[Definition]:
    """The definitions of these names; of a name of which it is not known whose it is, those of all files."""
    for name, definer in names:
        for home in homes.get(name, ()):
            if definer in (None, home):
                yield home, name


def _of_its_table(mentions: Mentions, path: Path, homes: dict[str, list[Path]]) -> Iterator[Definition]:
    """All that a file has names for: what looks names up there may find any of it."""
    for name, found in homes.items():
        yield from ((home, name) for home in found if home == path or name in mentions.bound)


def _of_modules(
    program: Program, mentions: Mentions, path: Path, who: str, files: frozenset[Path]
) -> Iterator[Definition]:
    """All that the modules define which a definition hands on as a whole."""
    for user, module in mentions.modules:
        if user != who or module == path:
            continue
        below = program.imports.below(module)
        for one in sorted(files):
            if one in below or one.is_relative_to(folder_of(module)):
                yield from ((one, name) for name in _defined(program, one))


def _everything(program: Program, files: frozenset[Path]) -> frozenset[Definition]:
    known = files.union(program.project.files) - program.tests
    return frozenset((path, name) for path in known for name in (LOADING, SCRIPT, *_defined(program, path)))
