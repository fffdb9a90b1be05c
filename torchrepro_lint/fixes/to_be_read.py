"""What keeps the generator of a loader, right as it is, from being merged unread: where it stands, and what it leaves.

    g = torch.Generator()
    g.manual_seed(torch.initial_seed())
    source = DataLoader(images, shuffle=True, generator=g)
    targets = [DataLoader(part, shuffle=True) for part in parts]  # to be seeded one by one

Whoever reads that the first loader has a generator takes the function for repeatable.
"""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.generators import calls_that_want_one
from torchrepro_lint.fixes.passed_arguments import given, is_given
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders, may_want_generator
from torchrepro_lint.knowledge.loaders import torch_position
from torchrepro_lint.source.cells import Cells

__all__ = ["is_a_bare_number", "is_far_above", "keeps_many", "leaves_another"]

#: How many lines below its generator a loader may be made by a safe fix, and how many from the loader from which a
#: number tells it apart.
MAX_ROWS_APART = 25
#: Up to which number a seed is told apart unread, where a loader gets no worker init function with its generator.
MAX_READ_ALONG = 1
#: How many generators an object may get unread: all of them are made one after the other in its constructor.
MAX_KEPT = 2


def is_a_bare_number(
    document: Document, call: cst.Call, at: cst.BaseStatement, offset: int, known: KnownLoaders | None
) -> bool:
    """Whether nothing shows what the `offset` of a seed is for, where the generator of a call is made before `at`:
    `+ 2`, `+ 1` beside a sampler that has the order, or where nothing else near the call, in its function and its cell
    of a notebook, is a loader or may want a generator.
    """
    function, row = document.function(call), document.lines.row(document.start(call))
    if offset > MAX_READ_ALONG or is_given(given(call, "sampler")) or is_given(given(call, "batch_sampler")):
        return True
    if document.function(at) is not function:  # the constructor of the object makes the others there too
        return False
    cells = Cells.of(document.path, document.text)
    for one in document.nodes(cst.Call, function):
        if one is call or document.function(one) is not function:
            continue
        if may_want_generator(document, one) or (known is not None and known.is_known(one)):
            other = document.lines.row(document.start(one))
            if abs(other - row) <= MAX_ROWS_APART and (cells is None or cells.number(other) == cells.number(row)):
                return False
    return True


def is_far_above(document: Document, call: cst.Call, at: cst.BaseStatement) -> bool:
    """Whether lines before the statement `at` stand so far above a call that nobody reads them with it."""
    rows = document.lines.row(document.start(call)) - document.lines.row(document.start(at))
    return rows > MAX_ROWS_APART


def keeps_many(document: Document, call: cst.Call, known: KnownLoaders | None) -> bool:
    """Whether the object that keeps the generator of a call would keep one for more than two loaders and samplers."""
    wanting = calls_that_want_one(document, known, document.enclosing_class(call))
    return sum(_lacks_one(one) for one in wanting) > MAX_KEPT


def _lacks_one(call: cst.Call) -> bool:
    return given(call, "generator", torch_position("generator")) is None


def leaves_another(document: Document, call: cst.Call, known: KnownLoaders) -> bool:
    """Whether the function around a call makes another loader that draws and that no safe fix gives a generator."""
    return any(
        known.is_known(one) and _lacks_one(one) and known.safety(one) is not Applicability.SAFE
        for one in calls_that_want_one(document, known, document.function(call))
        if one is not call
    )
