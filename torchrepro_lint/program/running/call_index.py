"""Calls by the name of what they call: where to look for the callers of a function before anything is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["NamedCall", "called_name", "calls_named", "files_mentioning"]

MAX_FILES = 48


class NamedCall(NamedTuple):
    """A call, with the file and the scope in which it stands, and the arms there."""

    facts: ModuleFacts
    scope: Scope
    call: tree.Call
    path: ArmPath


def calls_named(ev: Evaluator, facts: ModuleFacts, name: str) -> Iterator[NamedCall]:
    """The calls of what has this name, in the files that can have it from where it is defined."""
    for path in files_mentioning(ev, facts.path, name):
        if not ev.project.may_call(path, name):
            continue
        caller = ev.project.facts(path)
        if caller is None:
            continue
        for scope, call, arms in _calls_by_name(ev, caller).get(name, ()):
            yield NamedCall(caller, scope, call, arms)


def files_mentioning(ev: Evaluator, home: Path, name: str) -> list[Path]:
    files = list(ev.project.containing(name))
    if len(files) > MAX_FILES:
        # A name that many files use: only those that can have it from its home.
        stem = home.parent.name if home.stem == "__init__" else home.stem
        near = set(ev.project.containing(stem))
        files = [path for path in files if path in near or path == home][:MAX_FILES]
    if home in files:
        files.remove(home)
        files.insert(0, home)
    return files


def _calls_by_name(ev: Evaluator, facts: ModuleFacts) -> dict[str, list[tuple[Scope, tree.Call, ArmPath]]]:
    return ev.remembered(("calls-by-name", id(facts)), lambda: _index_calls(facts), {})


def _index_calls(facts: ModuleFacts) -> dict[str, list[tuple[Scope, tree.Call, ArmPath]]]:
    """The calls of a file by the last name of what they call; under an import alias by the original name too."""
    index: dict[str, list[tuple[Scope, tree.Call, ArmPath]]] = {}
    aliases: dict[str, str] = {}
    for scope in facts.walk_scopes():
        for bindings in scope.bindings.values():
            for binding in bindings:
                match binding.kind, binding.node:
                    case "import-from", tree.ImportFrom(names=names):
                        aliases.update({alias: name for name, alias in names if alias is not None})
                    case "assign", tree.Name(id=original) | tree.Attribute(attr=original):
                        aliases.setdefault(binding.name.removeprefix("self."), original)
                    case "assign", tree.Call(args=args):  # loader = partial(build_loader, ...)
                        for arg in args[:1]:
                            match arg.value:
                                case tree.Name(id=original) | tree.Attribute(attr=original):
                                    aliases.setdefault(binding.name.removeprefix("self."), original)
        for call, path in scope.calls:
            name = called_name(call.func)
            if name is None:
                continue
            index.setdefault(name, []).append((scope, call, path))
            if name in aliases and aliases[name] != name:
                index.setdefault(aliases[name], []).append((scope, call, path))
            elif aliases:
                continue
    # An alias may be bound after the scopes that use it were read.
    for alias, original in aliases.items():
        for entry in index.get(alias, ()):
            if entry not in index.setdefault(original, []):
                index[original].append(entry)
    return index


def called_name(func: tree.Expr) -> str | None:
    """The last name of what is called: `a.b.c(...)` -> "c"."""
    match func:
        case tree.Name(id=name):
            return name
        case tree.Attribute(attr=attr):
            return attr
    return None
