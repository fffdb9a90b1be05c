"""Seeds that are drawn from a generator which nothing has seeded: the global ones of Python, NumPy and torch take their
first state from the system, so the number differs in every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.program.intent.entropy_calls import drawn_globally
from torchrepro_lint.program.intent.intent import fetches_items
from torchrepro_lint.program.intent.seed_entropy import Entropy, drawn_of
from torchrepro_lint.program.programs.import_seeds import import_seeds
from torchrepro_lint.program.running.epochs import takes_steps
from torchrepro_lint.program.running.runs_once import runs_once
from torchrepro_lint.program.running.ways import Waypoint, ways

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["drawn_seed"]


def drawn_seed(program: Program, one: Evidence) -> Entropy | None:
    """The draw that a seeding call's number comes from, where it is made once and nothing seeds its generator first."""
    source = drawn_of(program.ev, one.value, one.frame) if one.value is not None else None
    if source is None or not (_is_drawn_once(program, source) or _is_for_a_run(program, source)):
        return None
    drawn = drawn_globally(source.name)
    for other in program.evidence_in_programs_of(source.frame):
        if other.effect == "seed" and not drawn.isdisjoint(other.seeds) and not _follows(program, other, source):
            return None
    if any(True for rng in drawn for _ in import_seeds(program, source.frame.facts.path, rng)):
        return None
    return source


def _is_drawn_once(program: Program, source: Entropy) -> bool:
    """Seeds that are drawn for each sample, trial or game are meant to differ: only the module's own code, and what it
    calls itself, is surely for the whole run.
    """
    return runs_once(program.ev, source.frame.facts, source.frame.scope, source.node.site, depth=1)


def _is_for_a_run(program: Program, source: Entropy) -> bool:
    """Whether torch and another generator are seeded with the draw: so begins a training, and no sample or game. What
    runs for each item of a data set, or in each step, gives two images the same transform.
    """
    frame = source.frame
    leading = ways(program.ev, frame.facts, frame.scope, source.node.site)
    if any(fetches_items(place.scope) or _is_in_a_step(place) for way in leading for place in way):
        return False
    seeds = frozenset(
        rng
        for other in program.evidence_in_programs_of(source.frame)
        if other.effect == "seed" and _follows(program, other, source)
        for rng in other.seeds
    )
    return "torch" in seeds and not seeds.isdisjoint(("python", "numpy"))


def _is_in_a_step(place: Waypoint) -> bool:
    """Whether a place is in a loop that takes steps of a training."""
    arms = place.scope.path_at(place.site)
    return any(branch in place.scope.loops and takes_steps(place.scope, branch) for branch, _ in arms)


def _follows(program: Program, other: Evidence, source: Entropy) -> bool:
    """Whether a seeding call takes the number that was drawn: it comes after the draw."""
    known = drawn_of(program.ev, other.value, other.frame) if other.value is not None else None
    return known is not None and known.site == source.site
