"""What a comprehension makes of several listings: a list of lists that is made into one, or a dict of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.orders.order_carriers import Carrier, Step, Stored
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import Node, Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["joined", "through_values"]

#: Calls that give the pairs of a dict, each with its list as it is.
_SAME_PAIRS: Final = frozenset({"list", "tuple", "sorted", "reversed"})
#: Calls that make one list or array of those in a list.
_JOINS: Final = frozenset({"from_iterable", "concatenate", "hstack"})


def through_values(program: Program, carrier: Carrier, method: tree.Attribute) -> Iterator[Step]:
    """From a dict of lists on, where its lists are gone through: `lists.values()`, `lists.items()`."""
    parents = parents_of(program.ev, carrier.facts)
    call = parents.of(method)
    if not isinstance(call, tree.Call) or call.func is not method:
        return
    if method.attr == "values":
        yield from joined(program, carrier, call)
    elif method.attr == "items":
        pairs = _gone_through(parents, call)
        above = parents.of(pairs)
        match above:
            case tree.For(iter=iterated, target=tree.Display(items=(_, tree.Name() as target))) if iterated is pairs:
                yield Stored(carrier, target)
            case tree.Clause(iter=iterated, target=tree.Display(items=(_, tree.Name(id=name)))) if iterated is pairs:
                yield from _inner_clauses(carrier, parents.of(above), name)


def _gone_through(parents: Parents, pairs: tree.Call) -> tree.Call:
    """What a loop over the pairs of a dict goes through: `tqdm(lists.items())`, `sorted(lists.items())`."""
    arg = parents.of(pairs)
    outer = parents.of(arg) if isinstance(arg, tree.Arg) else None
    if isinstance(outer, tree.Call) and outer.args[0] is arg:
        if called_name(outer.func) in _SAME_PAIRS | ordering_names("order_keeping", "words"):
            return _gone_through(parents, outer)
    return pairs


def joined(program: Program, carrier: Carrier, lists: tree.Expr) -> Iterator[Step]:
    """From a list of lists to the one that is made of them, and to the lists one after the other."""
    parents = parents_of(program.ev, carrier.facts)
    above = parents.of(lists)
    match above:
        case tree.Arg():
            call = parents.of(above)
            if isinstance(call, tree.Call) and _joins(call, above):
                yield carrier.listed(call, numbered=False)
        case tree.For(iter=iterated, target=tree.Name() as target) if iterated is lists:
            yield Stored(carrier, target)
        case tree.Clause(iter=iterated, target=tree.Name(id=name)) if iterated is lists:
            yield from _inner_clauses(carrier, parents.of(above), name)


def _inner_clauses(carrier: Carrier, around: Node | None, name: str) -> Iterator[Carrier]:
    """From `for names in lists` of a comprehension to `for name in names` of the same."""
    for clause in around.clauses if isinstance(around, tree.Comprehension) else ():
        if isinstance(clause.iter, tree.Name) and clause.iter.id == name:
            yield carrier.to(clause.iter)


def _joins(call: tree.Call, arg: tree.Arg) -> bool:
    """`chain(*lists)`, `chain.from_iterable(lists)`, `sum(lists, [])`."""
    name = called_name(call.func)
    if arg.star:
        return name == "chain"
    if name != "sum":
        return name in _JOINS
    return len(call.args) > 1 and isinstance(call.args[1].value, tree.Display)
