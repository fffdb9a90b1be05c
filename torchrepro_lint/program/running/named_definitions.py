"""The functions and classes of the project that a callee may be by its name alone, before anything is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["NamedDefinition", "definitions_named", "init_of"]

#: Through how many modules a name is followed that they import from each other.
MAX_REEXPORTS = 4
#: In how many files the methods of a name are looked for.
MAX_METHOD_FILES = 8


class NamedDefinition(NamedTuple):
    """A function or a class, as the scope that it opens."""

    facts: ModuleFacts
    scope: Scope


def definitions_named(ev: Evaluator, facts: ModuleFacts, scope: Scope, callee: tree.Expr) -> list[NamedDefinition]:
    """What a callee in a scope may be by its name: what that is bound to, what a module has, or any method."""
    match callee:
        case tree.Name(id=name):
            binder = scope.binder(name)
            return list(_bound(ev, facts, binder, name)) if binder is not None else []
        case tree.Attribute(value=tree.Call(func=tree.Name(id="super")), attr=name):
            return [one for base in _bases_around(ev, facts, scope) for one in _members(base, name)]
        case tree.Attribute(value=owner, attr=name):
            found = [
                one for module in _modules(ev, facts, scope, owner) for one in _bound(ev, module, module.scope, name)
            ]
            return found or list(_methods(ev, name))
    return []


def init_of(ev: Evaluator, cls: NamedDefinition) -> NamedDefinition | None:
    """The `__init__` of a class, or of the first of its bases that has one."""
    pending, seen = [cls], set[int]()
    while pending and len(seen) <= MAX_REEXPORTS:
        one = pending.pop(0)
        seen.add(id(one.scope))
        for found in _members(one, "__init__"):
            return found
        pending += [base for base in _bases(ev, one) if id(base.scope) not in seen]
    return None


def _bound(
    ev: Evaluator, facts: ModuleFacts, binder: Scope, name: str, depth: int = 0
) -> Iterator[NamedDefinition]:  # fmt: skip
    """The functions and classes that a scope binds to a name, or imports by it."""
    for binding in binder.bindings.get(name, ()):
        match binding.kind, binding.node:
            case "function" | "class", tree.FunctionDef() | tree.ClassDef():
                yield NamedDefinition(facts, facts.scope_of(binding.node))
            case "import-from", tree.ImportFrom(names=names, level=level, module=module) if depth < MAX_REEXPORTS:
                original = next((one for one, alias in names if (alias or one) == name), name)
                path = ev.project.resolve_from(facts.path, level, module)
                home = ev.project.facts(path) if path is not None and path.suffix == ".py" else None
                if home is not None:
                    yield from _bound(ev, home, home.scope, original, depth + 1)
            case "assign", tree.Name(id=original) if original != name and depth < MAX_REEXPORTS:
                inner = binder.binder(original)
                if inner is not None:
                    yield from _bound(ev, facts, inner, original, depth + 1)


def _modules(ev: Evaluator, facts: ModuleFacts, scope: Scope, owner: tree.Expr) -> Iterator[ModuleFacts]:
    """The modules of the project that the owner of an attribute may be."""
    if not isinstance(owner, tree.Name):
        return
    binder = scope.binder(owner.id)
    for binding in binder.bindings.get(owner.id, ()) if binder is not None else ():
        match binding.kind, binding.node:
            case "import", tree.Import(module=module):
                path = ev.project.resolve(facts.path, module)
            case "import-from", tree.ImportFrom(names=names, level=level, module=module):
                original = next((one for one, alias in names if (alias or one) == owner.id), owner.id)
                path = ev.project.resolve_from(facts.path, level, f"{module}.{original}" if module else original)
            case _:
                continue
        home = ev.project.facts(path) if path is not None and path.suffix == ".py" else None
        if home is not None:
            yield home


def _methods(ev: Evaluator, name: str) -> Iterator[NamedDefinition]:
    for path in ev.project.containing(name)[:MAX_METHOD_FILES]:
        facts = ev.project.facts(path)
        for cls in facts.classes if facts is not None else ():
            yield from _members(NamedDefinition(facts, facts.scope_of(cls)), name)  # type: ignore[arg-type,union-attr]


def _members(cls: NamedDefinition, name: str) -> Iterator[NamedDefinition]:
    for binding in cls.scope.bindings.get(name, ()):
        if isinstance(binding.node, (tree.FunctionDef, tree.ClassDef)):
            yield NamedDefinition(cls.facts, cls.facts.scope_of(binding.node))


def _bases_around(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> list[NamedDefinition]:
    """The bases of the class around a scope."""
    around: Scope | None = scope
    while around is not None and not isinstance(around.node, tree.ClassDef):
        around = around.parent
    return _bases(ev, NamedDefinition(facts, around)) if around is not None else []


def _bases(ev: Evaluator, cls: NamedDefinition) -> list[NamedDefinition]:
    node, outside = cls.scope.node, cls.scope.parent
    if not isinstance(node, tree.ClassDef) or outside is None:
        return []
    return [one for base in node.bases for one in definitions_named(ev, cls.facts, outside, base.value)]
