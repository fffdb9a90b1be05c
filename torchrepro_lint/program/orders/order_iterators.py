"""Objects that a data set makes in its `__iter__`, which read for it what it hands to them, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.orders.order_datasets import iterates_samples
from torchrepro_lint.program.orders.order_places import is_target
from torchrepro_lint.program.running.parents import Parents, is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.orders.order_carriers import Carrier
    from torchrepro_lint.program.program import Program

__all__ = ["reads_for_stream"]

_MADE: Final = "__init__"
#: One of these has what is gone through.
_ITERATING: Final = frozenset({"__iter__", "__next__"})


def reads_for_stream(program: Program, carrier: Carrier) -> bool:
    """Whether what is followed is an attribute that an object of a stream takes its items from: by their positions, or
    one after the other.
    """
    if not carrier.entered or not isinstance(carrier.node, tree.Attribute):
        return False
    made, facts, call = carrier.entered[-1]
    iterating = parents_of(program.ev, facts).function(call)
    if made.name != _MADE or not isinstance(iterating, tree.FunctionDef):
        return False
    return iterates_samples(program, facts, iterating) and _takes_items(program, carrier, carrier.node)


def _takes_items(program: Program, carrier: Carrier, read: tree.Attribute) -> bool:
    parents = parents_of(program.ev, carrier.facts)
    function, above = parents.function(read), parents.of(read)
    if not isinstance(function, tree.FunctionDef) or function.name == _MADE or not _is_gone_through(parents, function):
        return False
    match above:
        case tree.Subscript(value=value, index=index) if value is read:
            return not isinstance(index, (tree.Const, tree.Opaque)) and not is_target(program, carrier.facts, above)
        case tree.For(iter=iterated) if iterated is read:
            return function.name == "__iter__"
        case tree.Arg():
            call = parents.of(above)
            return isinstance(call, tree.Call) and is_named(call.func, "next")
    return False


def _is_gone_through(parents: Parents, method: tree.FunctionDef) -> bool:
    cls = parents.of(method)
    own = cls.body if isinstance(cls, tree.ClassDef) else ()
    return any(isinstance(one, tree.FunctionDef) and one.name in _ITERATING for one in own)
