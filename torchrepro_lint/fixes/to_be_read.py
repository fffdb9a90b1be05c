"""What keeps the generator of a loader, right as it is, from being merged unread: where it stands, and what it leaves.

    g = torch.Generator()
    g.manual_seed(torch.initial_seed())
    source = DataLoader(images, shuffle=True, generator=g)
    targets = [DataLoader(part, shuffle=True) for part in parts]  # to be seeded one by one

Whoever reads that the first loader has a generator takes the function for repeatable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import libcst as cst

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.fixes.above_arms import above_the_arms
from torchrepro_lint.fixes.arms import made_instead
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.generators import alike_calls, calls_that_want_one, lacks_one, that_want_one
from torchrepro_lint.fixes.made_names import made_name
from torchrepro_lint.fixes.passed_arguments import given, is_given
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders, is_split, may_want_generator
from torchrepro_lint.knowledge.loaders import torch_position
from torchrepro_lint.source.cells import Cells

__all__ = [
    "MAX_READ_ALONG",
    "is_a_bare_number",
    "is_beside_a_local",
    "is_far_above",
    "is_in_a_call_with_one",
    "is_left_out",
    "is_one_of_many",
    "keeps_many",
    "leaves_another",
    "leaves_other_workers",
]

#: How many lines below its generator a loader may be made by a safe fix, and how many from the loader from which a
#: number tells it apart.
MAX_ROWS_APART = 25
#: Up to which number a seed is told apart unread; where a loader gets a worker init function with its generator, up to
#: this number wherever the other loader is.
MAX_READ_ALONG = 1
#: How many generators of one function may be told apart by a number alone.
MAX_NUMBERED = 1
#: How many generators one function may get unread: who reads more of them would rather write a loop or a helper.
MAX_UNREAD = 2
#: How many generators an object may get unread: all of them are made one after the other in its constructor.
MAX_KEPT = 2


_LEFT_OUT = re.compile(r"\b(?:generator|worker_init_fn)\s*=")


def is_left_out(document: Document, call: cst.Call) -> bool:
    """Whether the author has commented such an argument out, in the call or behind it: `..., True)  # generator=g)`."""
    return any(_LEFT_OUT.search(one.value) for one in document.comments(document.statement(call)))


def is_in_a_call_with_one(document: Document, call: cst.Call) -> bool:
    """Whether a call is an argument of one that gets a generator: `DataLoader(..., sampler=RandomSampler(data),
    generator=torch.Generator().manual_seed(seed))`. Its author would seed both in one way.
    """
    outer = (one for one in document.ancestors(call) if isinstance(one, cst.Call))
    return any(is_given(given(one, "generator")) for one in outer)


def is_a_bare_number(
    document: Document,
    call: cst.Call,
    at: cst.BaseStatement,
    offset: int,
    known: KnownLoaders | None,
    *,
    with_init: bool = False,
) -> bool:
    """Whether nothing shows what the `offset` of a seed is for, where the generator of a call is made before `at`:
    `+ 2`, `+ 1` beside a sampler that has the order, or in another call (`iter(DataLoader(...))`), or where nothing
    else near the call, in its function and its cell of a notebook, draws and is made beside it. Who reads the worker
    init function that a loader gets as well, `with_init`, reads `+ 1` along.
    """
    function, row = document.function(call), document.lines.row(document.start(call))
    if offset > MAX_READ_ALONG or isinstance(document.parent(call), cst.Arg):
        return True
    if with_init:
        return False
    if is_given(given(call, "sampler")) or is_given(given(call, "batch_sampler")):
        return True
    if document.function(at) is not function:  # the constructor of the object makes the others there too
        return False
    cells = Cells.of(document.path, document.text)
    others = [one for one in document.nodes(cst.Call, function) if document.function(one) is function]
    others = [one for one in others if one is not call and _may_draw(document, one, known)]
    # A split that has a generator takes no part in the numbers.
    others = [one for one in others if not is_split(one) or _lacks_one(one)]
    instead = made_instead(document, call, at, others)
    for one in others:
        if id(one) not in instead:
            other = document.lines.row(document.start(one))
            if abs(other - row) <= MAX_ROWS_APART and (cells is None or cells.number(other) == cells.number(row)):
                return False
    return True


def _may_draw(document: Document, call: cst.Call, known: KnownLoaders | None) -> bool:
    """Whether a call is a split, a sampler or a loader that takes part in an order."""
    if known is None:
        return may_want_generator(document, call)
    return (may_want_generator(document, call) or known.is_known(call)) and not known.is_idle(call)


def is_one_of_many(document: Document, call: cst.Call, home: cst.BaseStatement, known: KnownLoaders | None) -> bool:
    """Whether a function makes so many splits, samplers or loaders, or so many of one name, that a person would give
    them generators in another way than one after the other. Of the code of a module itself the second alone holds,
    and where one generator is made for all arms of an `if`.
    """
    alike = alike_calls(document, call, made_name(document, call), known)
    instead = made_instead(document, call, home, alike)
    of_one_name = (one for one in alike if id(one) not in instead and lacks_one(known, one))
    if next(islice(of_one_name, MAX_NUMBERED, None), None) is not None:
        return True
    function = document.function(call)
    if function is None or above_the_arms(document, call, home, known, is_counted=True) is not None:
        return False
    beside = document.once(that_want_one).get(id(function), ())
    return sum(lacks_one(known, one) for one in beside) > MAX_UNREAD


def is_far_above(document: Document, call: cst.Call, at: cst.BaseStatement) -> bool:
    """Whether lines before the statement `at` stand so far above a call that nobody reads them with it."""
    rows = document.lines.row(document.start(call)) - document.lines.row(document.start(at))
    return rows > MAX_ROWS_APART


def keeps_many(document: Document, call: cst.Call, known: KnownLoaders | None) -> bool:
    """Whether the object that keeps the generator of a call would keep one for more than two loaders and samplers."""
    wanting = calls_that_want_one(document, known, document.enclosing_class(call))
    return sum(_lacks_one(one) for one in wanting) > MAX_KEPT


def is_beside_a_local(document: Document, call: cst.Call, home: cst.BaseStatement, known: KnownLoaders | None) -> bool:
    """Whether the constructor around `home`, where an object keeps the generator of a call, makes a loader itself: one
    generator of the two would be an attribute, and a number tells it from the other one.
    """
    wanting = calls_that_want_one(document, known, document.enclosing_class(call))
    return any(one is not call and document.function(one) is document.function(home) for one in wanting)


def _lacks_one(call: cst.Call) -> bool:
    return given(call, "generator", torch_position("generator")) is None


def _twins(document: Document, call: cst.Call, known: KnownLoaders) -> Iterator[cst.Call]:
    """The other loaders of a file that draw and lack a generator, and that other functions make in the same words."""
    function = document.function(call)
    for one in document.once(_calls_by_text).get(document.text_of(call), ()):
        if one is not call and known.is_known(one) and not known.is_idle(one) and _lacks_one(one):
            if document.function(one) is not function:
                yield one


def _calls_by_text(document: Document) -> dict[str, list[cst.Call]]:
    found: dict[str, list[cst.Call]] = {}
    for call in document.nodes(cst.Call):
        found.setdefault(document.text_of(call), []).append(call)
    return found


def leaves_another(document: Document, call: cst.Call, known: KnownLoaders) -> bool:
    """Whether the function around a call makes another loader that draws and that no safe fix gives a generator; also
    one that no call in sight comes to, as in the arm of an `if` for other arguments. Where the call has no order to
    draw, and gets a generator for its workers alone, a loader with a sampler counts as well; so does one that takes its
    place below. Of the other functions of the file, those count that make one in the same words: whoever compares them
    wants them alike.
    """
    if any(known.safety(one) is not Applicability.SAFE for one in _twins(document, call, known)):
        return True
    if _is_replaced_below(document, call):
        return True
    made = document.text_of(call.func)
    function = document.function(call)
    shuffle = given(call, "shuffle")
    if not is_given(given(call, "sampler")) and (shuffle is None or document.text_of(shuffle.value) == "False"):
        for one in document.nodes(cst.Call, function):
            beside = one is not call and document.function(one) is function and document.text_of(one.func) == made
            if beside and is_given(given(one, "sampler")) and _lacks_one(one):
                return True
    return any(
        (known.is_known(one) or document.text_of(one.func) == made)
        and _lacks_one(one)
        and known.safety(one) is not Applicability.SAFE
        for one in calls_that_want_one(document, known, document.function(call))
        if one is not call
    )


def _is_replaced_below(document: Document, call: cst.Call) -> bool:
    """Whether a loader with a sampler of its own takes the place of one further down: `if balanced: loader =
    DataLoader(data, sampler=balance(data))`. That of a distributed run has an order of its own.
    """
    name, block = _target(document, call), document.parent(document.statement(call))
    if name is None or block is None:
        return False
    return any(
        document.text_of(one.func) == document.text_of(call.func)
        and _target(document, one) == name
        and document.function(one) is document.function(call)
        and _lacks_one(one)
        and (sampler := given(one, "sampler") or given(one, "batch_sampler")) is not None
        and "istributed" not in document.text_of(sampler)
        for one in document.nodes(cst.Call, block)
        if document.start(one) > document.start(call)
    )


def _target(document: Document, call: cst.Call) -> str | None:
    """The one name or attribute that a call is given to."""
    match document.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() | cst.Attribute() as target)]):
            return document.text_of(target)
    return None


def leaves_other_workers(document: Document, call: cst.Call) -> bool:
    """Whether the function around a loader makes another one of the same data whose number of workers `**options` hold:
    what its workers draw is not known, and whoever reads that one has a worker init function takes both for mended.
    """
    data = given(call, "dataset", 0)
    if data is None:
        return False
    function, made, of = document.function(call), document.text_of(call.func), document.text_of(data.value)
    for one in document.nodes(cst.Call, function):
        if one is call or document.function(one) is not function or document.text_of(one.func) != made:
            continue
        other = given(one, "dataset", 0)
        if other is not None and document.text_of(other.value) == of and any(arg.star == "**" for arg in one.args):
            if not is_given(given(one, "worker_init_fn")):
                return True
    return False
