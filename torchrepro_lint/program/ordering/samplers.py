"""Splits and samplers that take their random numbers from torch's global generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.values import Constant, Site
from torchrepro_lint.program.ordering.fresh_seeds import is_seeded_for
from torchrepro_lint.program.ordering.given_generators import given_generators
from torchrepro_lint.program.ordering.permutations import parts_a_set
from torchrepro_lint.program.running.fallbacks import stands_in_for
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.never_read import is_never_read
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.set_apart import stands_apart
from torchrepro_lint.program.workers.rank_names import rank_in
from torchrepro_lint.program.workers.workers import argument

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["UnseededSplit", "seeds_by_rank", "unseeded_splits"]


@dataclass(frozen=True, slots=True, eq=False)
class UnseededSplit:
    """A split or sampler that is given no generator, on some way; `parameter` is the one that takes it."""

    kind: Literal["split", "sampler", "permutation"]
    call: KnownCall
    parameter: Parameter


def unseeded_splits(program: Program, *, others: bool = False) -> Iterator[UnseededSplit]:
    """The splits and samplers that are left to torch's global generator, in the order of files and text: those in files
    whose findings somebody waits for, with `others` in all files.
    """
    tables: tuple[tuple[Literal["split", "sampler", "permutation"], frozenset[str]], ...] = (
        ("split", ordering_names("torch_splits")),
        ("sampler", ordering_names("torch_samplers")),
        ("permutation", ordering_names("torch_permutations")),
    )
    found: list[UnseededSplit] = []
    for kind, names in tables:
        for group in asked_calls(program, names, others=others):
            for call in group:
                parameter = _generator_parameter(call.name)
                if parameter is None or not _may_lack(call, parameter):
                    continue
                parents = parents_of(program.ev, call.facts)
                if stands_apart(parents, call.call) or stands_in_for(parents, call.call, parameter.name):
                    break
                if kind == "permutation" and not parts_a_set(program, call):
                    break
                if kind == "sampler":
                    if (
                        _is_a_truth_only(program, call)
                        or is_never_read(program.ev, call.facts, call.call)
                        or call.site in given_generators(program)
                    ):
                        break
                elif is_seeded_for(program, call) and seeds_by_rank(program, call) is None:
                    break
                found.append(UnseededSplit(kind, call, parameter))
                break
    yield from sorted(found, key=lambda one: (str(one.call.facts.path), one.call.call.site))


def _generator_parameter(name: str) -> Parameter | None:
    return next((effect.generator_parameter for effect in rng_effects(name) if effect.generator_parameter), None)


def _may_lack(call: KnownCall, parameter: Parameter) -> bool:
    """Whether nothing, or only None, is given on this way; what cannot be followed does not count."""
    given, values = argument(call.arguments, parameter.name, parameter.position)
    if not given:
        return True
    return bool(values) and all(isinstance(value, Constant) and value.value is None for value in values)


def _is_a_truth_only(program: Program, call: KnownCall) -> bool:
    """Whether the sampler is given as `shuffle=`: nothing iterates it."""
    above = parents_of(program.ev, call.facts).of(call.call)
    return isinstance(above, tree.Arg) and above.keyword == "shuffle"


# --- ranks ----------------------------------------------------------------------------------------------------


def seeds_by_rank(program: Program, call: KnownCall) -> tuple[Site, Site] | None:
    """Where the call's program seeds torch with a number in which the rank of the process takes part, and where that
    comes in, which may be the call of a function that seeds.
    """
    programs = program.programs_of(call.frame)
    for one in program.evidence_in_programs_of(call.frame):
        if one.effect != "seed" or "torch" not in one.seeds or one.value is None:
            continue
        rank = rank_in(program.ev, one.value, one.frame.facts, one.frame.scope, programs=programs)
        if rank is not None:
            return one.site, rank
    return None
