"""Calls that a library makes of a function that it is given: `map(function, values)`, `pool.submit(function)`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.applying import Applying, applying
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.running.events import outside_name

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["applied_call"]


def applied_call(ev: Evaluator, node: tree.Call, frame: Frame) -> tuple[tree.Call, Applying] | None:
    """The call that another call makes of its first argument, as it would be written, and how it makes it."""
    if not node.args or node.args[0].keyword is not None or node.args[0].star:
        return None
    function, *rest = node.args
    for value in ordered(ev.values(node.func, frame)):
        name = outside_name(value)
        kind = applying(canonical(name)) if name is not None else None
        if kind is not None:
            if kind == "elements":
                rest = [_element(node, one) for one in rest if one.keyword is None and not one.star]
            made = tree.Call(node.site, function.value, tuple(rest))
            # The same one each time it is asked: answers are remembered by it.
            return ev.of_text(("applied-call", id(node)), partial(_itself, made)), kind
    return None


def _itself(made: tree.Call) -> tree.Call:
    return made


def _element(node: tree.Call, arg: tree.Arg) -> tree.Arg:
    """One of the elements of an argument: what an index gives of which nothing is known."""
    return tree.Arg(arg.site, tree.Subscript(arg.site, arg.value, node))
