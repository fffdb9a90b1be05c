"""Where the value of a call comes from: what the functions of the project return, what others pass on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.applying import GIVES_RESULT, Applying
from torchrepro_lint.program.core.access import attribute
from torchrepro_lint.program.core.origins_of_attributes import of_objects
from torchrepro_lint.program.core.passed_on import passed_on
from torchrepro_lint.program.core.queries import Origin, Origins, Query
from torchrepro_lint.program.core.returns import returned_by
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, Instance, MethodValue, Partial
from torchrepro_lint.program.running.applied_calls import applied_call

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["of_call"]

#: What is followed into where it is called.
_FOLLOWED: Final = (FunctionValue, MethodValue, Partial, Instance, ClassValue)


def of_call(ev: Evaluator, query: Query, node: tree.Call) -> Origins | None:
    """The values that a call may give; None where it makes what it gives, as a function outside the project does."""
    functions = ev.values(node.func, query.frame)
    options = list(returned_by(ev, query, functions, node))
    if any(isinstance(one, ClassValue) for one in functions) and query.access:
        made = _of_object(ev, query, node)
        if made is not None:
            options += made.options
    if options:
        followed = all(
            isinstance(one, (FunctionValue, MethodValue, Partial, Instance, ClassValue)) for one in functions
        )
        return Origins(tuple(options), not followed)
    applied = applied_call(ev, node, query.frame)
    if applied is not None and (results := tuple(_of_applied(ev, query, *applied))):
        return Origins(results, True)
    return passed_on(ev, query, node, functions)


def _of_applied(ev: Evaluator, query: Query, called: tree.Call, kind: Applying) -> Iterator[Origin]:
    """What a function returns that a library calls."""
    first = query.access[0] if query.access else None
    if kind == "elements" and (first is None or not first.is_into_container):
        return
    if kind == "later" and first != attribute(GIVES_RESULT):
        return
    asked = query if kind == "at_once" else query.below()
    yield from returned_by(ev, asked, ev.values(called.func, query.frame), called)


def _of_object(ev: Evaluator, query: Query, node: tree.Call) -> Origins | None:
    """The values of an attribute of the object that a call of a class makes."""
    first = query.access[0]
    if first.kind == "each":
        methods = [ev.instances_attribute(ev.values(node, query.frame), name) for name in ("__iter__", "__next__")]
        gone_through = (*returned_by(ev, query, methods[0]), *returned_by(ev, query.below(), methods[1]))
        return Origins(gone_through, True)
    if first.kind != "attribute" or not isinstance(first.of, str):
        return None
    return of_objects(ev, query.below(), ev.values(node, query.frame), first.of)
