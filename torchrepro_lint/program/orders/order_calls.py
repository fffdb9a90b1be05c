"""What a call does with the order of its argument: keeps it, loses it, hands it on, or draws from it by position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.knowledge.loaders import loader_class
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.ordering import ordering_names, ordering_words
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Site,
)
from torchrepro_lint.program.orders import order_draws, order_loops, order_rows
from torchrepro_lint.program.orders.order_beside import looks_up_beside
from torchrepro_lint.program.orders.order_callees import called, into_function, names_called
from torchrepro_lint.program.orders.order_carriers import Carrier, Sink, Step, Stored, sink
from torchrepro_lint.program.orders.order_jobs import only_orders_jobs
from torchrepro_lint.program.orders.order_places import scope_around
from torchrepro_lint.program.orders.order_texts import joins_text, through_encoder
from torchrepro_lint.program.orders.order_ties import is_counter, leaves_ties
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["through_call", "through_method"]

#: Methods that put their argument, or its elements, into what they are called on.
_INTO_RECEIVER: Final = frozenset({"append", "insert", "appendleft"})
_ELEMENTS_INTO_RECEIVER: Final = frozenset({"extend", "extendleft"})
_COPIES: Final = frozenset({"copy", "deepcopy"})
_SAME_ELEMENTS: Final = frozenset(
    {"copy", "tolist", "union", "difference", "intersection", "symmetric_difference", "glob", "items", "numpy"}
)
#: Methods of a dict that go through it.
_OF_DICT: Final = frozenset({"keys", "values", "items", "most_common"})


def through_call(program: Program, carrier: Carrier, call: tree.Call, arg: tree.Arg) -> Iterator[Step]:
    """From an argument of a call on."""
    word = called_name(call.func) or ""
    if word in ordering_names("order_free", "words") or "sort" in word.lower():
        if arg is call.args[0] and arg.keyword is None and not carrier.rows and _leaves_ties(program, carrier, call):
            yield carrier.listed(call)
        return
    if isinstance(call.func, tree.Attribute) and word in _INTO_RECEIVER | _ELEMENTS_INTO_RECEIVER:
        if word in _ELEMENTS_INTO_RECEIVER or not carrier.is_set:  # a list of sets has an order of its own
            yield Stored(carrier.listed(carrier.node), call.func.value)
        return
    if isinstance(call.func, tree.Attribute) and word == "update":
        if is_counter(program, carrier.facts, scope_around(program, carrier.facts, call), call.func.value):
            yield Stored(carrier.as_keys(), call.func.value)
        return
    if joins_text(call):
        yield carrier.as_text(call)
        return
    values = called(program, carrier, call)
    names = names_called(program, values)
    if names & ordering_names("order_free"):
        return
    if "functools.partial" in names:
        yield from _into_partial(program, carrier, call, arg)
        return
    if names & ordering_names("draws_by_position") and only_orders_jobs(program, carrier.facts, call):
        return
    end = None if carrier.is_dict else _end(carrier, call, arg, names)
    if end is not None:
        yield end
        return
    if names & ordering_names("order_keeping") or word in ordering_names("order_keeping", "words"):
        yield from _kept(program, carrier, call, arg, word)
        return
    yield from through_encoder(carrier, call, arg, word, values)
    yield from order_rows.joined_rows(carrier, names, call, arg)
    for value in values:
        yield from into_function(program, carrier, call, arg, value)


def _leaves_ties(program: Program, carrier: Carrier, call: tree.Call) -> bool:
    return leaves_ties(program, carrier.facts, scope_around(program, carrier.facts, call), call)


def _end(carrier: Carrier, call: tree.Call, arg: tree.Arg, names: set[str]) -> Sink | None:
    """The end of a way in a call for which the order of its argument decides something."""
    if names & ordering_names("draws_by_position"):
        return sink(carrier, "split", call, f"{min(names)} draws from it by position")
    if carrier.rows and arg.keyword == "train_dataset":
        return sink(carrier, "samples", call, "is the data set that is trained on")
    if names & ordering_names("joins_datasets"):
        return sink(carrier, "samples", call, "joins the data sets in this order")
    if names & ordering_names("keeps_samples"):
        return sink(carrier, "samples", call, "gives the samples of a data set")
    if any(loader_class(name) is not None for name in names):
        return sink(carrier, "samples", call, "is the data set of a loader")
    return None


def _kept(program: Program, carrier: Carrier, call: tree.Call, arg: tree.Arg, word: str) -> Iterator[Step]:
    if carrier.rows and word not in _COPIES:
        if order_rows.may_be_columns(carrier):
            return
        carrier = replace(carrier, rows=False)
    if word in ("dict", "OrderedDict", "fromkeys", "Counter"):  # looked up by key
        if carrier.numbered:
            yield from order_loops.numbering(program, carrier, call)
        else:
            yield carrier.as_keys().to(call)
        return
    if word == "zip":
        if any(other is not arg and order_draws.are_drawn(program, carrier, other.value) for other in call.args):
            yield sink(carrier, "split", call, "puts each beside one that is drawn")
        yield carrier.listed(
            call, numbered=carrier.numbered or any(order_loops.counts(other.value) for other in call.args)
        )
    elif word in ("map", "filter") and isinstance(call.func, tree.Name) and call.args[:1] == (arg,):
        return  # the function; but the names of `fnmatch.filter(names, pattern)`
    elif word in _COPIES:
        yield carrier.to(call)
    else:
        yield carrier.listed(call, numbered=carrier.numbered or word == "enumerate")


def _into_partial(program: Program, carrier: Carrier, call: tree.Call, arg: tree.Arg) -> Iterator[Carrier]:
    """From what `partial(function, ...)` keeps into the function. Where that is called, and where what it returns goes,
    is not followed: the call that enters it is one that stands nowhere.
    """
    if arg is call.args[0]:
        return
    nowhere = tree.Call(END, call.args[0].value, call.args[1:])
    frame = frame_without_callers(program.ev, carrier.facts, scope_around(program, carrier.facts, call))
    for value in ordered(program.ev.values(nowhere.func, frame)):
        yield from into_function(program, carrier, nowhere, arg, value, Site(carrier.facts.path, call.site))


def through_method(program: Program, carrier: Carrier, above: tree.Attribute, attr: str) -> Iterator[Step]:
    """From what a method is called on."""
    call = parents_of(program.ev, carrier.facts).of(above)
    if not isinstance(call, tree.Call) or call.func is not above:
        return
    if carrier.is_dict and attr not in _OF_DICT | _COPIES:
        return
    if attr in ordering_words("text_methods"):
        yield replace(carrier.to(call), text=carrier.text and attr not in ordering_names("text_methods", "lists"))
        return
    if carrier.text and attr == "index":
        return
    if attr == "index" and (carrier.is_set or _takes_it_out(program, carrier, call, above.value)):
        return  # a set has no such method: what goes by its name is a list there
    if attr == "index" and looks_up_beside(program, carrier, call, above.value):
        return
    if attr == "index":
        yield sink(carrier, "index", call, "takes the position as a number")
    elif carrier.is_dict and attr in _OF_DICT:
        yield carrier.listed(call)
    elif attr in _SAME_ELEMENTS or attr in method_words("same_rows"):
        yield carrier.to(call)


def _takes_it_out(program: Program, carrier: Carrier, position: tree.Call, listed: tree.Expr) -> bool:
    """`names.pop(names.index(name))` takes out the name that it was asked for, wherever that is."""
    parents = parents_of(program.ev, carrier.facts)
    arg = parents.of(position)
    popped = parents.of(arg) if isinstance(arg, tree.Arg) else None
    match popped:
        case tree.Call(func=tree.Attribute(value=owner, attr="pop")):
            return dotted_name(owner) == dotted_name(listed) is not None
    return False
