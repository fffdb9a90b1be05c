"""Groups of the rows of a table, each with its rows in their order: `for label, rows in table.groupby("label")`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import FunctionValue, Site
from torchrepro_lint.program.orders.order_carriers import Carrier, Step, Stored, sink
from torchrepro_lint.program.orders.order_places import name_uses, parameter_uses, scope_around
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["through_groups"]


def through_groups(program: Program, carrier: Carrier, groups: tree.Expr) -> Iterator[Step]:
    """From the groups of a table to what draws from each of them, and to each as a table."""
    parents = parents_of(program.ev, carrier.facts)
    above = parents.of(groups)
    match above:
        case tree.Attribute(attr=attr):
            call = parents.of(above)
            if isinstance(call, tree.Call) and call.func is above:
                if attr in ordering_names("rows_drawn"):
                    yield sink(carrier, "split", call, f"{attr} draws from each group by position")
                elif attr in ordering_names("rows_grouped", "each") and call.args:
                    yield from _handed_each(program, carrier, call.args[0].value)
        case tree.Subscript(value=value) if value is groups:  # some columns of them
            yield from through_groups(program, carrier, above)
        case tree.Assign(targets=(tree.Name() as target,)):
            for use in name_uses(program, carrier.facts, target):
                yield from through_groups(program, carrier, use)
        case tree.Arg():
            call = parents.of(above)
            if isinstance(call, tree.Call) and called_name(call.func) in ordering_names("order_keeping", "words"):
                yield from through_groups(program, carrier, call)
        case tree.For(iter=iterated, target=tree.Display(items=(_, tree.Name() as target))) if iterated is groups:
            yield Stored(carrier, target)
        case tree.Clause(iter=iterated, target=tree.Display(items=(_, tree.Name(id=name)))) if iterated is groups:
            for use in parents.names.get(name, ()):
                if (
                    any(one is parents.of(above) for one in parents.around(use))
                    and not parents.is_bound(use)
                    and parents.of(use) is not above.target
                ):
                    yield carrier.to(use)


def _handed_each(program: Program, carrier: Carrier, function: tree.Expr) -> Iterator[Carrier]:
    """From groups to the parameter of the function that gets one after the other."""
    if isinstance(function, tree.Lambda) and function.params:
        parents = parents_of(program.ev, carrier.facts)
        for use in parents.names.get(function.params[0].name, ()):
            if parents.function(use) is function:
                yield carrier.to(use)
        return
    scope = scope_around(program, carrier.facts, function)
    at = Site(carrier.facts.path, function.site)
    for value in ordered(program.ev.values(function, frame_without_callers(program.ev, carrier.facts, scope))):
        if isinstance(value, FunctionValue) and isinstance(value.node, tree.FunctionDef) and value.node.params:
            facts = value.frame.facts
            for use in parameter_uses(program, facts, value.node, value.node.params[0].name):
                yield carrier.hop(facts, use, at, f"passes each group to {value.name}()")
