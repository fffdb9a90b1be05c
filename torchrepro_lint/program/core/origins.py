"""One step back from the value of an expression: to the values of which it is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.core.access import HELD, Access, key
from torchrepro_lint.program.core.origins_of_attributes import of_attribute
from torchrepro_lint.program.core.origins_of_calls import of_call
from torchrepro_lint.program.core.origins_of_containers import of_container
from torchrepro_lint.program.core.origins_of_names import of_name
from torchrepro_lint.program.core.queries import Origin, Origins, Query
from torchrepro_lint.program.core.returns import returned_by
from torchrepro_lint.program.evaluation.inner_tests import options_of
from torchrepro_lint.program.evaluation.values import Instance, MethodValue, Values

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["origins"]


def origins(ev: Evaluator, query: Query) -> Origins | None:
    """The values of which that of a query is one; None where the expression makes it, as an operation does, a literal,
    or the call of something outside the project.
    """
    if query.access and query.access[0].kind == "lost":
        return Origins((), True)
    match query.node:
        case tree.Name():
            return of_name(ev, query, query.node)
        case tree.Attribute():
            return of_attribute(ev, query, query.node)
        case tree.Call():
            return of_call(ev, query, query.node)
        case tree.Subscript(value=value, index=tree.Opaque()):
            return _of_slice(query, value)
        case tree.Subscript(value=value, index=index):
            if fetched := tuple(returned_by(ev, query, _method(ev, query, value, "__getitem__"))):
                return Origins(fetched, True)
            return _part(query.inside(value, _step(ev, index, query)))
        case tree.Conditional() | tree.Boolean():
            options = options_of(ev, query.node, query.frame)
            return Origins(tuple(Origin(query.inside(one), "part") for one in options))
        case tree.Walrus(value=value) | tree.Await(value=value):
            return _part(query.inside(value))
    return of_container(ev, query) if query.access else None


def _part(query: Query) -> Origins:
    return Origins((Origin(query, "part"),))


def _method(ev: Evaluator, query: Query, owner: tree.Expr, name: str) -> Values:
    """A method of the objects of the project's classes that an expression may be."""
    own = frozenset(one for one in ev.values(owner, query.frame) if isinstance(one, Instance))
    return frozenset(one for one in ev.instances_attribute(own, name) if isinstance(one, MethodValue))


def _of_slice(query: Query, value: tree.Expr) -> Origins | None:
    """What a slice holds is held by what it is cut from, an item at another place; the slice itself is a new list."""
    if not query.access or not query.access[0].is_into_container:
        return None
    first = HELD if query.access[0].kind == "item" else query.access[0]
    return _part(query.below().inside(value, first))


def _step(ev: Evaluator, index: tree.Expr, query: Query) -> Access:
    """The step that an index takes."""
    if isinstance(index, tree.Const):
        return key(index.value)
    known = ev.one_constant(ev.values(index, query.frame))
    return key(known.value) if known is not None else HELD
