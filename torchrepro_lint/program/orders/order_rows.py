"""Tables whose rows are those of files, one file after the other: where the order of the rows goes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.orders import order_callees, order_groups
from torchrepro_lint.program.orders.order_carriers import Carrier, Slice, Step, sink
from torchrepro_lint.program.orders.order_datasets import decides_samples
from torchrepro_lint.program.orders.order_places import name_uses
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["joined_rows", "may_be_columns", "through_attribute", "through_dict", "through_holder", "through_item"]


def joined_rows(carrier: Carrier, names: Collection[str], call: tree.Call, arg: tree.Arg) -> Iterator[Carrier]:
    """From rows or tables in a list, or from names of files, to the one table of all the rows."""
    concatenated = bool(ordering_names("joins_rows").intersection(names)) and arg is call.args[0]
    if (
        (concatenated and not any(other.keyword == "axis" for other in call.args))
        or (_is_made(names, call, arg) and not carrier.is_dict)
        or _is_read(names, call, arg)
    ):
        yield replace(carrier.listed(call, numbered=False), rows=True)


def _is_made(names: Collection[str], call: tree.Call, arg: tree.Arg) -> bool:
    """Whether a table is made of an argument: of its rows, or of its columns by their names."""
    is_first = arg.keyword in ("data", "mapping") or (arg is call.args[0] and arg.keyword is None)
    return is_first and bool(ordering_names("makes_rows").intersection(names))


def _is_read(names: Collection[str], call: tree.Call, arg: tree.Arg) -> bool:
    """Whether an argument is the files whose rows the call reads."""
    if arg.keyword == "data_files":
        return bool(ordering_names("reads_rows").intersection(names))
    is_first = arg.keyword == "path_or_paths" or (arg is call.args[0] and arg.keyword is None)
    return is_first and bool(ordering_names("reads_rows", "paths").intersection(names))


def may_be_columns(carrier: Carrier) -> bool:
    """Whether what iterates it may get the names of columns, and not rows: `for column in table`."""
    return carrier.rows and not isinstance(carrier.node, tree.Subscript)


def through_dict(program: Program, carrier: Carrier, display: tree.DictDisplay) -> Iterator[Carrier]:
    """From a dict that has the names of files for a part, `{"train": files}`, to the call that reads their rows; from
    one that has the values of a column to the table that is made of it.
    """
    key = next((key for key, value in display.items if value is carrier.node), None)
    match parents_of(program.ev, carrier.facts).of(display):
        case tree.Assign(targets=(tree.Name() as target,)) if key is not None:
            for use in name_uses(program, carrier.facts, target):
                yield from through_holder(program, carrier, use, key)
        case tree.Arg() if key is not None:
            yield from through_holder(program, carrier, display, key)


def through_holder(program: Program, carrier: Carrier, holder: tree.Expr, key: tree.Expr) -> Iterator[Carrier]:
    """From such a dict, or a name of it, to the call."""
    parents = parents_of(program.ev, carrier.facts)
    arg = parents.of(holder)
    call = parents.of(arg) if isinstance(arg, tree.Arg) else None
    if isinstance(arg, tree.Arg) and isinstance(call, tree.Call) and isinstance(key, tree.Const):
        names = order_callees.names_called(program, order_callees.called(program, carrier, call))
        if _is_made(names, call, arg):
            yield replace(carrier.listed(call, numbered=False), rows=True)
        if _is_read(names, call, arg):
            wanted = next((other.value for other in call.args if other.keyword == "split"), None)
            for found in joined_rows(carrier, names, call, arg):
                if wanted is None:
                    yield replace(found, part=str(key.value))
                elif isinstance(wanted, tree.Const) and str(wanted.value).startswith(str(key.value)):
                    yield found


def through_attribute(program: Program, carrier: Carrier, above: tree.Attribute) -> Iterator[Step]:
    """From a table to what its methods make of it, and to its rows by position."""
    parents = parents_of(program.ev, carrier.facts)
    outer = parents.of(above)
    called = isinstance(outer, tree.Call) and outer.func is above
    if above.attr in ordering_names("rows_drawn"):
        if called:
            yield sink(carrier, "split", outer, f"{above.attr} draws from it by position")  # type: ignore[arg-type]
    elif above.attr in ordering_names("rows_grouped"):
        if called:
            yield from order_groups.through_groups(program, carrier, outer)  # type: ignore[arg-type]
    elif above.attr in ordering_names("rows_in_order"):
        yield carrier.to(outer if called else above)  # type: ignore[arg-type]
    elif above.attr in ordering_names("rows_in_order", "lists"):
        yield replace(carrier.listed(outer if called else above), rows=False)  # type: ignore[arg-type]
    elif above.attr in method_words("tables", "places") and isinstance(outer, tree.Subscript):
        if decides_samples(program, carrier.facts, above):
            yield sink(carrier, "samples", outer, "gives the samples of a data set")
        yield from _part(program, carrier, outer)


def through_item(program: Program, carrier: Carrier, above: tree.Subscript) -> Iterator[Step]:
    """From a table to a column of it, to some columns, and to the rows that a condition or a slice leaves."""
    match above.index:
        case tree.Const(value=str() as name) if carrier.part is not None:
            if name == carrier.part:
                yield replace(carrier.to(above), part=None)
        case tree.Const(value=str()) | tree.Display(kind="list") | tree.Compare() | tree.Binary() | tree.Unary():
            if decides_samples(program, carrier.facts, above):
                yield sink(carrier, "samples", above, "gives the samples of a data set")
            yield carrier.to(above)
        case _:
            yield from _part(program, carrier, above)


def _part(program: Program, carrier: Carrier, above: tree.Subscript) -> Iterator[Step]:
    """From a slice of the rows, which may be a part of a split."""
    match above.index:
        case tree.Opaque() | tree.Display(kind="tuple", items=(tree.Opaque(), *_)):
            yield Slice(carrier, above)
