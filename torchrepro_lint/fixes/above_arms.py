"""Where one generator is made for the loaders of several arms, of which a run makes one.

g = torch.Generator()
g.manual_seed(torch.initial_seed())
if args.big:
    return DataLoader(images, batch_size=4, shuffle=True, generator=g)
return DataLoader(patches, batch_size=8, shuffle=True, generator=g)
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.arms import is_left, made_instead
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.generators import alike_calls, calls_that_want_one, is_idle
from torchrepro_lint.fixes.made_names import made_name
from torchrepro_lint.fixes.passed_arguments import given
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders, is_split_or_sampler
from torchrepro_lint.knowledge.loaders import torch_position

__all__ = ["above_the_arms"]

#: In how many arms of one `if` loaders are made that get a generator above it.
MIN_ARMS = 2


def above_the_arms(
    document: Document,
    call: cst.Call,
    home: cst.BaseStatement,
    known: KnownLoaders | None,
    *,
    is_counted: bool = False,
) -> cst.BaseStatement | None:
    """The statement above which one generator is made for the loaders of one name that a function makes in several
    arms of an `if` or a `match`, as a person would, and not once in each arm; None where `home` is the place for it.
    What follows an `if` whose only arm returns is another arm of it. Where a run makes one loader of the function
    alone, the names do not count. With `is_counted` it is left open whether the others get a generator at all.
    """
    alike = [
        one
        for one in _in_other_arms(document, call, home, known)
        if one is not call and not is_idle(known, one) and _has_no_sampler(one) and _is_known(document, known, one)
    ]
    if len(alike) + 1 < MIN_ARMS or not _has_no_sampler(call):
        return None
    instead = made_instead(document, call, home, alike)
    for outer in (home, *document.ancestors(home)):
        if isinstance(outer, cst.FunctionDef | cst.ClassDef | cst.For | cst.While):
            return None
        block = document.parent(outer)
        if not isinstance(outer, cst.BaseStatement) or not isinstance(block, cst.IndentedBlock | cst.Module):
            continue
        for first, end in _choices(document, outer, block):
            inside = [one for one in alike if document.start(first) <= document.start(one) < end]
            if len(inside) + 1 < MIN_ARMS:
                continue
            if any(_has_its_own(document, one, first) for one in inside) or _makes_one(document, first, end):
                return None
            if not is_counted and not all(_gets_one(known, one) for one in inside):
                continue
            if all(id(one) in instead for one in inside) and _exclude_each_other(document, inside):
                return first
    return None


def _in_other_arms(
    document: Document, call: cst.Call, home: cst.BaseStatement, known: KnownLoaders | None
) -> Sequence[cst.Call]:
    """The calls that may share the generator of a call, where they are made instead of it: those whose results have a
    name like that of its own, or all of the function that want one, if a run makes one of these alone.
    """
    beside = [one for one in calls_that_want_one(document, known, document.function(call)) if one is not call]
    if made_instead(document, call, home, beside).issuperset(map(id, beside)) and _exclude_each_other(document, beside):
        return beside
    return alike_calls(document, call, made_name(document, call), known)


def _choices(
    document: Document, outer: cst.BaseStatement, block: cst.IndentedBlock | cst.Module
) -> list[tuple[cst.BaseStatement, int]]:
    """Where choices that `outer`, a statement of a block, takes part in begin, each with the offset of its end: with
    the first `if` of the block above it that is left, up to the end of the block; and `outer` itself.
    """
    above = block.body[: block.body.index(outer) + 1]
    left = next((one for one in above if isinstance(one, cst.If) and is_left(one)), None)
    found: list[tuple[cst.BaseStatement, int]] = []
    if left is not None:
        found.append((left, document.end(block.body[-1])))
    if isinstance(outer, cst.If | cst.Match):
        found.append((outer, document.end(outer)))
    return found


def _has_no_sampler(call: cst.Call) -> bool:
    return given(call, "sampler") is None and given(call, "batch_sampler") is None


def _is_known(document: Document, known: KnownLoaders | None, call: cst.Call) -> bool:
    """Whether a call is one that a fix may give a generator: what the project itself calls a loader may take none."""
    if known is None or known.is_known(call) or given(call, "generator") is not None:
        return True
    return is_split_or_sampler(document, call)


def _has_its_own(document: Document, call: cst.Call, around: cst.CSTNode) -> bool:
    """Whether a call is given a generator other than a name that is bound above `around`."""
    passed = given(call, "generator", torch_position("generator"))
    if passed is None:
        return False
    if not isinstance(passed.value, cst.Name):
        return True
    owner = document.scope_of(call).resolve(passed.value.value)
    bindings = owner.bindings[passed.value.value] if owner is not None else []
    return any(document.start(binding.node) >= document.start(around) for binding in bindings)


def _makes_one(document: Document, first: cst.BaseStatement, end: int) -> bool:
    """Whether a generator is made between the beginning of a statement and an offset: one of the arms has its own."""
    calls = (one for one in document.nodes(cst.Call) if last_part(dotted_name(one.func) or "") == "Generator")
    return any(document.start(first) <= document.start(one) < end for one in calls)


def _gets_one(known: KnownLoaders | None, call: cst.Call) -> bool:
    """Whether a call is given a generator, or a fix gives it one."""
    if known is None or given(call, "generator", torch_position("generator")) is not None:
        return True
    return known.safety(call) is not None


def _exclude_each_other(document: Document, calls: Sequence[cst.Call]) -> bool:
    """Whether one of the calls at most is made in a run of their function, as far as the arms around them say."""
    return all(
        made_instead(document, one, document.statement(one), others).issuperset(map(id, others))
        for number, one in enumerate(calls)
        if (others := calls[number + 1 :])
    )
