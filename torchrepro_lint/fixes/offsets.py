"""By how much the seeds of the generators of one file differ: no two loaders that are used beside each other begin
alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, islice
from typing import NamedTuple

import libcst as cst

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.fixes.arms import has_arms, made_instead
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.passed_arguments import given, is_given
from torchrepro_lint.fixes.seed_expression import as_summand
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders, is_split, may_want_generator
from torchrepro_lint.fixes.used_up import is_used_up
from torchrepro_lint.fixes.worker_init import resolved_name
from torchrepro_lint.knowledge.loaders import torch_position

__all__ = ["offset_among_loaders", "plus"]

#: Up to which number the seeds that are written in a file are told apart.
MAX_OFFSET = 64


def offset_among_loaders(
    document: Document,
    call: cst.Call,
    home: cst.BaseStatement,
    seed: str,
    known: KnownLoaders | None = None,
    *,
    is_last: bool = False,
) -> int:
    """The number that the generator of a loader, made before the statement `home`, adds to the `seed`: the first that
    no other generator of the file adds, but for as many as the loaders and samplers above the call will take.

    Left out are those that are made instead of the call, that draw nothing, or that no fix gives a generator; and of
    other functions those that are used up there, and all of them if the call itself is. Generators that give an order
    and those that only seed the workers of a loader with a sampler are told apart by what they are for. A safe fix
    counts the safe ones alone; others, for which `is_last`, come after all of these.
    """
    every = _loaders(document, known)
    told = _told_of(document, [call, *every])
    alike = [one for one in every if told[id(one)].has_sampler == told[id(call)].has_sampler]
    loaders = [*_beside(document, call, home, alike)]
    given_ones = [(one, told[id(one)].generator) for one in loaders]
    passed = [argument.value for _, argument in given_ones if argument is not None]
    keys = {_key(document, generator) for generator in passed}
    made = set(map(id, passed))
    used: dict[int, int] = {}  # the numbers of the calls that seed what is passed, by id
    for seeding in _beside(document, call, home, document.once(_seedings)):
        is_passed = id(seeding) in made or _key(document, _receiver(seeding)) in keys
        if is_passed and (number := _added(document, seeding, seed)) is not None:
            used[id(seeding)] = number
            keys.discard(_key(document, _receiver(seeding)))
    start = document.start(call)
    above = [one for one, argument in given_ones if argument is None and told[id(one)].start < start]
    others = {
        _key(document, argument.value)
        for one, argument in given_ones
        if argument is not None and id(argument.value) not in used and told[id(one)].start < start
        if known is None or not known.is_idle(one)
    }
    before = len(above)
    if known is not None:
        without = [one for one, argument in given_ones if argument is None]
        before = known.that_get_one(without if is_last else above, Applicability.SAFE)
        before += known.that_get_one(above, Applicability.UNSAFE) if is_last else 0
    taken = set(used.values())
    free = (number for number in count() if number not in taken)
    return next(islice(free, before + len(others & keys), None))


def _has_sampler(call: cst.Call) -> bool:
    """Whether a loader is passed a sampler, which has the order, whatever else happens."""
    shuffle = given(call, "shuffle", torch_position("shuffle"))
    if shuffle is not None and dotted_name(shuffle.value) not in ("False", "None"):
        return False
    passed = (given(call, name) for name in ("sampler", "batch_sampler"))
    return any(map(is_given, passed))


class _Told(NamedTuple):
    """What is asked of a call for each other one."""

    call: cst.Call
    function: cst.FunctionDef | None
    generator: cst.Arg | None
    start: int
    has_sampler: bool


def _told_of(document: Document, calls: Sequence[cst.Call]) -> dict[int, _Told]:
    """The answers for some calls, by id, found once for each."""
    told = document.once(_answers)
    for one in calls:
        if id(one) not in told or told[id(one)].call is not one:
            told[id(one)] = _Told(
                one, document.function(one), _generator_of(one), document.start(one), _has_sampler(one)
            )
    return told


def _answers(document: Document) -> dict[int, _Told]:
    return {}


def _generator_of(loader: cst.Call) -> cst.Arg | None:
    return given(loader, "generator", torch_position("generator"))


def _beside(
    document: Document, call: cst.Call, home: cst.BaseStatement, others: Sequence[cst.Call]
) -> Sequence[cst.Call]:
    """Those of other calls whose loaders may be used beside that of a call."""
    function = document.function(call)
    told = _told_of(document, others)
    own = [one for one in others if one is not call and told[id(one)].function is function]
    if document.once(has_arms) and own:
        instead = made_instead(document, call, home, own)
        own = [one for one in own if id(one) not in instead]
    if function is not None and is_used_up(document, call):
        return own
    apart = document.once(_functions_apart) | {id(function)}
    return [*own, *[one for one in others if id(told[id(one)].function) not in apart]]


def _functions_apart(document: Document) -> frozenset[int]:
    """The functions, by id, that use up each loader that they make."""
    found: dict[int, bool] = {}
    for one in document.once(_loaders_by_text):
        function = document.function(one)
        if function is not None and found.get(id(function), True):
            found[id(function)] = is_used_up(document, one)
    return frozenset(function for function, is_apart in found.items() if is_apart)


def _loaders(document: Document, known: KnownLoaders | None) -> Sequence[cst.Call]:
    by_text = document.once(_loaders_by_text)
    return [*by_text, *known.that_want_none] if known is not None else by_text


def _loaders_by_text(document: Document) -> list[cst.Call]:
    return [one for one in document.nodes(cst.Call) if may_want_generator(document, one) and not is_split(one)]


def _seedings(document: Document) -> list[cst.Call]:
    """The calls `....manual_seed(...)` of a document, torch's own left out."""
    return [
        one
        for one in document.nodes(cst.Call)
        if isinstance(one.func, cst.Attribute)
        and one.func.attr.value == "manual_seed"
        and len(one.args) == 1
        and not (resolved_name(document.scope_of(one), one.func) or "").startswith("torch.")
    ]


def _receiver(seeding: cst.Call) -> cst.BaseExpression:
    assert isinstance(seeding.func, cst.Attribute)
    return seeding.func.value


def _key(document: Document, generator: cst.BaseExpression) -> tuple[int, str]:
    """What tells a generator from others: the scope of its name, or the class around an attribute, and the text."""
    text = document.text_of(generator)
    if isinstance(generator, cst.Name):
        return id(document.scope_of(generator).resolve(text)), text
    return id(document.enclosing_class(generator)), text


def _added(document: Document, seeding: cst.Call, seed: str) -> int | None:
    """The number that the argument of a `manual_seed(...)` adds to a seed, before the rank if that is added as well."""
    text = " ".join(document.text_of(seeding.args[0].value).split())
    for number in range(MAX_OFFSET, -1, -1):
        sum_ = plus(seed, number)
        if text == sum_ or text.startswith(f"{sum_} + "):
            return number
    return None


def plus(seed: str, number: int) -> str:
    """The text of a seed that is larger by a number."""
    if not number:
        return seed
    if seed.isdecimal():
        return str(int(seed) + number)
    return f"{as_summand(seed)} + {number}"
