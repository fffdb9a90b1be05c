"""Seeds that come too late: what a program builds or draws on its path before the generator is first seeded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.entry_path import (
    MAIN_RNGS,
    EntryRun,
    Step,
    brings_weights,
    draws_weights,
    entry_runs,
)
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.idle_draws import is_idle
from torchrepro_lint.program.seeds.partial_seeding import is_for_the_run

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["LateSeed", "late_seeds"]

_BUILDS = ("torch.nn.", "torchvision.models.")
#: Splits and samplers have rules of their own; a sampler draws when it is iterated.
_SPLITS = re.compile(r"random_split|randperm|\w*split|\w*Split|\w*Fold|\w*Sampler|permutation")


@dataclass(frozen=True, slots=True)
class LateSeed:
    """A draw or construction, and the seeding call that comes only after it, each with its chain from the entry point.

    `site` is the place to speak of: for the layers of a model where the model is built.
    """

    run: EntryRun
    early: Event
    seed: Event
    site: Site


def late_seeds(program: Program) -> Iterator[LateSeed]:
    """One for each first draw, in the order of files and text."""
    found: dict[Site, LateSeed] = {}
    for run in entry_runs(program):
        late = _of_run(program, run)
        if late is not None:
            found.setdefault(late.site, late)
    yield from (found[site] for site in sorted(found, key=lambda site: (str(site.path), site.number)))


def _of_run(program: Program, run: EntryRun) -> LateSeed | None:
    known = {one.site: one for one in run.seedings}
    if not known or run.may_be_seeded_elsewhere:
        return None
    pairs: list[tuple[Step, Step]] = []
    for rng in MAIN_RNGS:
        walked = [step for step in run.steps if step.kind == "seed" and rng in step.rngs]
        sites = {step.event.site for step in walked}
        if not walked or any(rng in one.seeds and site not in sites for site, one in known.items()):
            continue  # something that is not on the walk may seed it first
        seed = walked[0]
        evidence = known.get(seed.event.site)
        if evidence is None or not is_for_the_run(program, evidence):
            continue
        early = next((step for step in run.steps if _is_early(program, run, step, seed, rng)), None)
        if early is not None:
            pairs.append((early, seed))
    if not pairs:
        return None
    early, seed = min(pairs, key=lambda pair: pair[0].order)
    return LateSeed(run, early.event, seed.event, _spoken_of(early.event))


def _is_early(program: Program, run: EntryRun, step: Step, seed: Step, rng: str) -> bool:
    event = step.event
    if step.kind != "draw" or rng not in step.rngs or step.order >= seed.order or is_idle(event):
        return False
    if _SPLITS.fullmatch(event.name.rpartition(".")[2]):
        return False
    if draws_weights(event) and (not run.trains or brings_weights(event)):
        return False
    return _surely_before(program, event, seed.event)


def _surely_before(program: Program, early: Event, seed: Event) -> bool:
    """Whether, where the two ways part, the early one runs wherever the seed does."""
    for first, second in zip(_way(early), _way(seed), strict=False):
        if first == second:
            continue
        if first.path != second.path or first.number > second.number:
            return False
        facts = program.facts(first.path)
        scope = _scope_of(facts, first, second) if facts is not None else None
        if scope is None:
            return False
        own = set(scope.path_at(second.number))
        return all(arm in own or arm[1] == "try" or arm[0] in scope.loops for arm in scope.path_at(first.number))
    return False


def _way(event: Event) -> list[Site]:
    return [*(link.site for link in event.chain), event.site]


def _scope_of(facts: ModuleFacts, first: Site, second: Site) -> Scope | None:
    """The scope in which both places stand: the module for two imports or calls there, else a function of calls."""
    for scope in facts.walk_scopes():
        numbers = {call.site for call, _ in scope.calls}
        if scope.parent is None:
            numbers |= set(scope.statement_sites)
        if first.number in numbers and second.number in numbers:
            return scope
    return None


def _spoken_of(event: Event) -> Site:
    """Where to speak of a draw: for the layers of a model, where the model is built."""
    if event.name.startswith(_BUILDS):
        for link, inner in zip(event.chain, event.chain[1:], strict=False):
            if inner.note.endswith(".__init__") and link.note.startswith("calls "):
                return link.site
    return event.site
