"""Seeds of DistributedSampler: one that differs between ranks, and one that the user's seed does not reach.

Each rank permutes all samples by the seed and takes its share: the permutations have to be the same on all ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import words_in
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.ordering import ordering_names
from torchrepro_lint.program.evaluation.conditions import agreed, truthiness
from torchrepro_lint.program.evaluation.values import Constant, Site
from torchrepro_lint.program.intent.entropy_calls import drawn_globally
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.intent.seed_entropy import Entropy, drawn_of, entropy_of
from torchrepro_lint.program.loaders.worker_runs import argument
from torchrepro_lint.program.programs.epoch_loops import is_for_evaluation
from torchrepro_lint.program.programs.frameworks import uses_a_framework
from torchrepro_lint.program.programs.worker_seedings import is_for_workers_alone
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.ways import never_together, ways
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.workers.rank_names import names_rank, rank_in

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["SamplerSeed", "sampler_seeds_of_ranks"]

_RANK: Final = Parameter("rank", 2)
_SHUFFLE: Final = Parameter("shuffle", 3)
_SEED: Final = Parameter("seed", 4)
#: What gives all ranks the number of one of them.
_SHARES: Final = re.compile(rb"broadcast|sync_random_seed|synchroni[sz]e_rng|all_gather|all_reduce|shared_random_seed")
#: What sets the seed of a sampler later.
_SET_LATER: Final = re.compile(rb"sampler\.(?:seed|set_seed)\b")


@dataclass(frozen=True, slots=True, eq=False)
class SamplerSeed:
    """The call that makes a sampler, and the place to see: where the rank comes into its seed (`ranks`), where each
    rank reads a number of its own for it, from a `source` such as the clock (`apart`), or where the program is seeded
    with what its user gives (`unreached`).
    """

    call: KnownCall
    fault: Literal["ranks", "apart", "unreached"]
    at: Site
    source: str = ""


def sampler_seeds_of_ranks(program: Program) -> Iterator[SamplerSeed]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    for group in asked_calls(program, ordering_names("epoch_samplers")):
        one = next((call for call in group if _may_shuffle(program, call)), None)
        if one is None:
            continue
        seed = written_argument(one.call, _SEED)
        if seed is not None and not isinstance(seed, tree.Const):
            at = _rank_in(program, one, seed)
            if at is not None:
                yield SamplerSeed(one, "ranks", at)
            elif (entropy := _entropy_in(program, one, seed)) is not None:
                yield SamplerSeed(one, "apart", entropy.site, entropy.name)
        elif not any(arg.star for arg in one.call.args):
            chosen = _unreached(program, one)
            if chosen is not None:
                yield SamplerSeed(one, "unreached", chosen.site)


def _may_shuffle(program: Program, one: KnownCall) -> bool:
    """Whether the sampler shuffles, as it does where nothing else is said, or may."""
    given, values = argument(one.arguments, _SHUFFLE.name, _SHUFFLE.position)
    return not given or agreed(truthiness(program.ev, value) for value in values) is not False


def _rank_in(program: Program, one: KnownCall, seed: tree.Expr) -> Site | None:
    """Where a rank comes into a seed. A sampler for a group of ranks may have another seed than one for another group:
    the rank that it is given is then not the one in the seed.
    """
    at = rank_in(program.ev, seed, one.facts, one.scope)
    if at is None or any(program.project.holds(path, _SHARES) for path in (one.facts.path, at.path)):
        return None
    own = written_argument(one.call, _RANK)
    named = {word for word in words_in([seed]) if names_rank(word)}
    return at if own is None or not named or not named.isdisjoint(words_in([own])) else None


def _entropy_in(program: Program, one: KnownCall, seed: tree.Expr) -> Entropy | None:
    """What of the clock or the system is in a seed, which then is another one in each process."""
    found = entropy_of(program.ev, seed, one.frame) or _drawn_in(program, one, seed)
    if found is None or found.fallback or program.ev.exhausted:
        return None
    return None if any(program.project.holds(path, _SHARES) for path in (one.facts.path, found.site.path)) else found


def _drawn_in(program: Program, one: KnownCall, seed: tree.Expr) -> Entropy | None:
    """The draw in a seed whose generator nothing in the program seeds, so that it begins with what the system gives."""
    found = drawn_of(program.ev, seed, one.frame)
    if found is None:
        return None
    drawn = drawn_globally(found.name)
    seedings = program.evidence_in_programs_of(found.frame)
    return None if any(not drawn.isdisjoint(other.seeds) for other in seedings) else found


def _unreached(program: Program, one: KnownCall) -> Evidence | None:
    """The seeding of torch with what the user of a program gives, where the sampler has a seed of its own."""
    path = one.facts.path
    if is_for_evaluation(program, one.facts, one.call) or program.imports.any_together(path, _SET_LATER):
        return None
    if uses_a_framework(program, program.imports.together(path)):
        return None
    seedings = [seeding for seeding in program.evidence_in_programs_of(one.frame) if _is_chosen(program, seeding)]
    leading = ways(program.ev, one.facts, one.scope, one.call.site) if seedings else ()
    # The seed of another command of a command line is not that of the run that makes the sampler, nor that of workers.
    return next(
        (
            seeding
            for seeding in seedings
            if not never_together(ways_of(program, seeding), leading) and not is_for_workers_alone(program, seeding)
        ),
        None,
    )


def _is_chosen(program: Program, seeding: Evidence) -> bool:
    """Whether torch is seeded with what is called a seed and is no constant: with what the user gives."""
    if seeding.effect != "seed" or "torch" not in seeding.seeds or seeding.value is None:
        return False
    if not any("seed" in word.lower() for word in words_in([seeding.value])):
        return False
    return not all(isinstance(value, Constant) for value in program.ev.values(seeding.value, seeding.frame))
