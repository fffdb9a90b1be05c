"""Samplers that repeat their order until their epoch is set, and the epoch loops that forget to set it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.conditions import agreed, truthiness
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, Instance, Site, Values
from torchrepro_lint.program.intent.configured_defaults import is_only_for_what_is_off
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.ordering.own_samplers import own_samplers
from torchrepro_lint.program.programs.epoch_loops import EpochLoop, epoch_loop_over, is_for_evaluation, restart_over
from torchrepro_lint.program.programs.frameworks import uses_a_framework
from torchrepro_lint.program.programs.restarted_iterators import Restart
from torchrepro_lint.program.running.if_tests import tests_around
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["ForgottenEpoch", "forgotten_epochs"]

#: A call of it, or a question after it; a sampler's own definition is neither.
_SET_EPOCH: Final = re.compile(rb"(?<!def )(?<!super\(\)\.)(?<!\w)set_epoch(?!\w)")
_NUM_REPLICAS, _SHUFFLE = 1, 3


@dataclass(frozen=True, slots=True, eq=False)
class ForgottenEpoch:
    """A sampler, the loader that draws from it, and the epoch loop over the loader, or where an iterator over that is
    made again. `in_order_alone`: the same loader goes through the data in their order where there is one process.
    """

    sampler: KnownCall
    loader: Loader
    loop: EpochLoop | Restart
    in_order_alone: bool = False


def forgotten_epochs(program: Program) -> Iterator[ForgottenEpoch]:
    """The epoch loops over a shuffling DistributedSampler whose epoch nothing in the program sets."""
    found: dict[Site, ForgottenEpoch] = {}
    drawing: dict[Site, list[Loader]] | None = None
    names = ordering_names("epoch_samplers")
    for group in (*all_calls(program, names), *([own] for own in own_samplers(program, names))):
        program.ev.begin_question()
        sampler = next((call for call in group if _shuffles(program, call)), None)
        if (
            sampler is None
            or is_for_evaluation(program, sampler.facts, sampler.call)
            or _is_taken_care_of(program, sampler.facts.path)
            or _is_switched_off(program, sampler)
        ):
            continue
        if drawing is None:
            drawing = _loaders_by_sampler(program)
        for loader in drawing.get(sampler.site, ()):
            loop = epoch_loop_over(program, loader) or restart_over(program, loader)
            if loop is not None:
                one = ForgottenEpoch(sampler, loader, loop, _is_in_order_alone(program, loader))
                found.setdefault(loop.site, one)
    yield from sorted(found.values(), key=lambda one: (str(one.loop.site.path), one.loop.site.number))


def _shuffles(program: Program, call: KnownCall) -> bool:
    given, values = argument(call.arguments, "shuffle", _SHUFFLE)
    return not given or (bool(values) and agreed(truthiness(program.ev, value) for value in values) is not False)


def _is_in_order_alone(program: Program, loader: Loader) -> bool:
    """Whether a loader gets a sampler of the data's own order where it gets none that shuffles, `SequentialSampler(
    data) if rank == -1 else DistributedSampler(data)`, or None with `shuffle=False` written beside it.
    """
    given = loader.given("sampler")[0]
    if any(isinstance(one, ExternalObject) and last_part(one.name) == "SequentialSampler" for one in given):
        return True
    told = loader.value("shuffle")
    is_written = any(arg.keyword == "shuffle" for arg in loader.call.args)
    return Constant(None) in given and is_written and agreed(truthiness(program.ev, one) for one in told) is False


def _is_switched_off(program: Program, call: KnownCall) -> bool:
    """Whether a sampler is only made where a setting is on that all code sets to False: `if config.use_ddp:`."""
    tests = [test for test, holds in tests_around(call.scope, call.arms) if holds]
    return is_only_for_what_is_off(program.ev, tests, call.frame)


def _is_taken_care_of(program: Program, path: Path) -> bool:
    """Whether the programs around a file set an epoch anywhere, or use a framework that does."""
    related = program.imports.together(path)
    if any(file in related for file in program.project.matching(_SET_EPOCH)):
        return True
    return uses_a_framework(program, related)


def _loaders_by_sampler(program: Program) -> dict[Site, list[Loader]]:
    """The loaders, one for each place that makes any, by the place that makes the sampler they draw from."""
    found: dict[Site, list[Loader]] = {}
    for loaders in program.loader_sites:
        seen: set[Site] = set()
        for loader in loaders:
            program.ev.begin_question()
            given = loader.given("sampler")[0] | loader.given("batch_sampler")[0]
            for site in {site for value in given for site in _places_of(value)} - seen:
                seen.add(site)
                found.setdefault(site, []).append(loader)
    return found


def _places_of(value: object) -> Iterator[Site]:
    """The places that make a sampler, and the one that a batch sampler is around."""
    if not isinstance(value, (ExternalObject, Instance)):
        return
    if value.site is not None:
        yield value.site
    held: list[Values] = [] if value.arguments is None else [*value.arguments.positional[:1]]
    if value.arguments is not None:
        held.extend(values for name, values, _ in value.arguments.keywords if name == "sampler")
    for values in held:
        for inner in values:
            yield from _places_of(inner)
