"""Assignments to attributes from outside: to those of objects and classes, and to global names of modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope, Store
from torchrepro_lint.program.evaluation.frames import Frame, enclosing_frame
from torchrepro_lint.program.evaluation.values import ModuleValue

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["bound_outside", "outside_stores"]

#: In how many files assignments to a name are looked for; where more may have them, it may be anything.
MAX_FILES = 16


def bound_outside(ev: Evaluator, facts: ModuleFacts, name: str) -> tuple[tuple[Binding, Frame], ...]:
    """What the code of the project assigns to a global name of a module from outside, as bindings in the frames of that
    code. Where too many files may do so, one of the bindings may be anything.
    """
    paths = ev.project.setting(name)
    if not paths or name not in facts.scope.bindings:
        return ()
    key = ("bound-outside", id(facts), name)
    return ev.remembered(key, lambda: tuple(_bound_outside(ev, facts, name)), ())


def _bound_outside(ev: Evaluator, facts: ModuleFacts, name: str) -> Iterator[tuple[Binding, Frame]]:
    near = ev.project.naming(facts.path, package=False)
    paths = [path for path in ev.project.setting(name) if path in near]
    if len(paths) > MAX_FILES:
        yield Binding(name, "opaque", None, -1, ()), ev.module_frame(facts)
    for path in paths[:MAX_FILES]:
        user = ev.project.facts(path)
        for scope, store in outside_stores(ev, user).get(name, ()) if user is not None else ():
            assert user is not None and isinstance(store.target, tree.Attribute)
            if not _is_imported(scope, store.target.value):
                continue
            frame = enclosing_frame(ev, user, scope)
            owners = ev.values(store.target.value, frame)
            if any(isinstance(one, ModuleValue) and one.path == facts.path for one in owners):
                yield Binding(name, "assign", store.value, store.statement.site, store.path, store.unpack), frame


def _is_imported(scope: Scope, owner: tree.Expr) -> bool:
    """Whether an expression is a name that an import binds."""
    if not isinstance(owner, tree.Name) or (binder := scope.binder(owner.id)) is None:
        return False
    return any(one.kind in ("import", "import-from") for one in binder.bindings[owner.id])


def outside_stores(ev: Evaluator, facts: ModuleFacts) -> dict[str, list[tuple[Scope, Store]]]:
    """The assignments of a file to `name.attr` and `part.dataset.attr`, by the attribute; those to attributes of `self`
    and `cls` are left out.
    """
    return ev.of_text(("outside-stores", id(facts)), lambda: _collect_stores(facts))


def _collect_stores(facts: ModuleFacts) -> dict[str, list[tuple[Scope, Store]]]:
    stores: dict[str, list[tuple[Scope, Store]]] = {}
    for scope in facts.walk_scopes():
        for store in scope.stores:
            target = store.target
            if isinstance(target, tree.Attribute) and not store.augmented:
                if _is_another(target.value):
                    stores.setdefault(target.attr, []).append((scope, store))
    return stores


def _is_another(owner: tree.Expr) -> bool:
    match owner:
        case tree.Name(id=name):
            return name not in ("self", "cls")
        case tree.Attribute(value=tree.Name() | tree.Attribute() | tree.Subscript(), attr="dataset"):
            return True
    return False
