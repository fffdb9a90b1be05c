"""Listings beside one that is sorted: who sees that one is takes the code around it for done.

for at, name in enumerate(os.listdir(folder)):  # the machine decides which file gets which number
    os.rename(os.path.join(folder, name), os.path.join(folder, f"{at}.png"))
names = sorted(os.listdir(folder))
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

import libcst as cst

from torchrepro_lint.dotted import last_part, last_parts
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.knowledge.ordering import ordering_names

__all__ = ["is_sorted_if_asked", "keeps_order", "leaves_another_listing", "list_around", "listing_words"]


@cache
def listing_words() -> frozenset[str]:
    """The last parts of the names of what lists a directory."""
    return frozenset().union(*(last_parts(ordering_names("listings", key)) for key in ("names", "lazy", "methods")))


def leaves_another_listing(
    document: Document, node: cst.BaseExpression, sorted_too: Collection[tuple[int, int]]
) -> bool:
    """Whether the function around a listing, or else the code of the module itself, has another one that stays unsorted
    and keeps its order: in a list, in the numbers that a loop gives to the names, or in the turns of a loop around the
    listing; or a function beside that one gives such a listing to its callers. Those in the ranges `sorted_too` do not
    count.
    """
    function = document.function(node)
    around = set(map(id, document.ancestors(node)))
    for call in document.nodes(cst.Call):
        if call is node or document.span(call) in sorted_too:
            continue
        if last_part(dotted_name(call.func) or document.text_of(call.func)) not in listing_words():
            continue
        other, loop = document.function(call), document.parent(call)
        if other is not function:
            if _is_a_helper(document, function) and _is_a_helper(document, other) and _is_returned(document, call):
                return True
        elif keeps_order(document, call) or (isinstance(loop, cst.For) and id(loop) in around):
            return True
    return False


def _is_a_helper(document: Document, function: cst.CSTNode | None) -> bool:
    """Whether a function is one of the module itself."""
    return function is not None and document.enclosing_class(function) is None


def _is_returned(document: Document, call: cst.Call) -> bool:
    """Whether a function returns what it lists in its order, or what it has of that under a name."""
    whole: cst.CSTNode = call
    while isinstance(outer := document.parent(whole), cst.Arg | cst.Call):
        if isinstance(outer, cst.Call) and document.text_of(outer.func) not in ("list", "filter", "map", "tuple"):
            return False
        whole = outer
    if isinstance(outer, cst.Return):
        return True
    if not isinstance(outer, cst.Assign) or _is_sorted_below(document, call, _names(document, outer)):
        return False
    names = _names(document, outer)
    found = document.nodes(cst.Return, document.function(call))
    return any(isinstance(one.value, cst.Name) and one.value.value in names for one in found)


def keeps_order(document: Document, call: cst.Call) -> bool:
    """Whether what a call returns is given a name that nothing sorts, is gone through by what fills a list, or gets
    numbers in a loop.
    """
    outer = document.parent(call)
    while isinstance(outer, cst.Arg) and list_around(document, call) is not None:
        call = cst.ensure_type(document.parent(outer), cst.Call)
        outer = document.parent(call)
    numbers = document.parent(outer) if isinstance(outer, cst.Arg) else None
    if isinstance(numbers, cst.Call) and document.text_of(numbers.func) == "enumerate":
        return isinstance(document.parent(numbers), cst.For)
    match outer:
        case cst.Assign():
            return not _is_sorted_below(document, call, _names(document, outer))
        case cst.CompFor() if isinstance(document.parent(outer), cst.ListComp):
            made = document.parent(cst.ensure_type(document.parent(outer), cst.ListComp))
            return not (isinstance(made, cst.Assign) and _is_sorted_below(document, call, _names(document, made)))
        case cst.For():
            filled = re.findall(r"([\w.]+)\.append\(", document.text_of(outer.body))
            return any(not _is_sorted_below(document, call, [name]) for name in filled)
    return False


def is_sorted_if_asked(document: Document, node: cst.BaseExpression) -> bool:
    """Whether an `if` below a listing does nothing but sort what has its name, and so says on which ways the order
    counts: `if is_sort: names = sorted(names)`.
    """
    outer, function = document.parent(node), document.function(node)
    if not isinstance(outer, cst.Assign):
        return False
    names = _names(document, outer)
    for one in document.nodes(cst.If, function):
        if one.orelse is None and document.start(one) > document.end(node) and len(one.body.body) == 1:
            line = document.text_of(one.body.body[0])
            if any(re.match(rf"{re.escape(name)}(?: = sorted\({re.escape(name)}\b|\.sort\()", line) for name in names):
                return True
    return False


def _names(document: Document, assign: cst.Assign) -> list[str]:
    """What an assignment gives a value, as it is written."""
    return [document.text_of(one.target) for one in assign.targets]


def _is_sorted_below(document: Document, call: cst.Call, names: Sequence[str]) -> bool:
    """Whether the function around a call, or else the module, sorts what has one of some names."""
    around = document.text_of(document.function(call) or document.module)
    return any(
        re.search(rf"(?<![\w.]){re.escape(name)}\.sort\(|\bsorted\({re.escape(name)}\b", around) for name in names
    )


def list_around(document: Document, node: cst.BaseExpression) -> cst.Call | None:
    """The call `list(node)`."""
    argument = document.parent(node)
    call = document.parent(argument) if isinstance(argument, cst.Arg) else None
    if (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value == "list"
        and len(call.args) == 1
    ):
        return call
    return None
