"""Functions that run where an attribute is set: the setters of properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope, Store
from torchrepro_lint.program.evaluation.classes import mro
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.outside_stores import outside_stores
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, Instance, MethodValue, Value

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["property_sets"]

#: In how many files assignments are looked for.
MAX_FILES = 16


def property_sets(
    ev: Evaluator, facts: ModuleFacts, scope: Scope
) -> tuple[tuple[tree.Call, MethodValue, Frame], ...]:  # fmt: skip
    """The calls that assignments to a property make of its setter, as they would be written, each with the method
    and the frame of the assignment; none for any other function.
    """
    node = scope.node
    if not isinstance(node, tree.FunctionDef) or not any(_is_setter(one, node.name) for one in node.decorators):
        return ()
    return ev.remembered(("property-sets", id(scope)), lambda: tuple(_sets(ev, facts, scope, node.name)), ())


def _is_setter(decorator: tree.Expr, name: str) -> bool:
    match decorator:
        case tree.Attribute(value=tree.Name(id=owner), attr="setter"):
            return owner == name
    return False


def _sets(ev: Evaluator, home: ModuleFacts, scope: Scope, name: str) -> Iterator[tuple[tree.Call, MethodValue, Frame]]:
    for facts, user, store in _stores(ev, home, scope, name):
        assert isinstance(store.target, tree.Attribute)
        for frame in ev.contexts(facts, user):
            for owner in ev.values(store.target.value, frame):
                setter = _setter_of(ev, owner, scope)
                if setter is not None and not store.unpack:
                    given = tree.Arg(store.value.site, store.value)
                    yield tree.Call(store.target.site, store.target, (given,)), setter, frame


def _stores(ev: Evaluator, home: ModuleFacts, scope: Scope, name: str) -> Iterator[tuple[ModuleFacts, Scope, Store]]:
    """The assignments that may be to the property: in any file, and in the methods of its class; none where too many
    files have one.
    """
    paths = ev.project.setting(name)
    for path in paths if len(paths) <= MAX_FILES else ():
        facts = ev.project.facts(path)
        for user, store in outside_stores(ev, facts).get(name, ()) if facts is not None else ():
            yield facts, user, store  # type: ignore[misc]
    for method in scope.parent.children if scope.parent is not None and len(paths) <= MAX_FILES else ():
        for store in method.stores:
            match store.target:
                case tree.Attribute(value=tree.Name(id=owner), attr=attr):
                    if owner == method.self_name and attr == name:
                        yield home, method, store


def _setter_of(ev: Evaluator, owner: Value, scope: Scope) -> MethodValue | None:
    """The setter as the method of an object; None where the object has no such property."""
    for base in mro(ev, owner.cls) if isinstance(owner, Instance) else ():
        if isinstance(base, ClassValue) and scope.parent is not None and base.node is scope.parent.node:
            return MethodValue(FunctionValue(scope.node, ev.class_frame(base)), owner)  # type: ignore[arg-type]
    return None
