"""Seeds that come too late: what a program builds or draws on its path before the generator is first seeded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.programs.entry_path import MAIN_RNGS, EntryRun, Step, asked_entry_runs
from torchrepro_lint.program.programs.first_weights import built_at, draws_weights
from torchrepro_lint.program.programs.for_others import is_for_others
from torchrepro_lint.program.programs.idle_draws import is_idle
from torchrepro_lint.program.running.option_tests import asked_on_the_way, contradict
from torchrepro_lint.program.running.partings import one_comes_before
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.demonstrations import is_of_a_demonstration
from torchrepro_lint.program.seeds.earlier_cells import is_over_before
from torchrepro_lint.program.seeds.kept_draws import kept_draw
from torchrepro_lint.program.seeds.module_networks import is_of_a_module_alone
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run, is_of_a_framework
from torchrepro_lint.program.seeds.shown_draws import is_only_shown
from torchrepro_lint.program.seeds.unused_defaults import is_unused_default

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["LateSeed", "late_seeds"]


#: Arguments of mmengine's Runner by which it loads a checkpoint (mmengine/runner/runner.py@0.10.7).
_LOADING = frozenset({"load_from", "resume"})


@dataclass(frozen=True, slots=True)
class LateSeed:
    """A draw or construction, and the seeding call that comes only after it, each with its chain from the entry point.

    `site` is the place to report: for the layers of a model where the model is built. Without `is_possible` no run
    takes the two chains, as the program would ask for two values of one option: others may lead there.
    """

    run: EntryRun
    early: Event
    seed: Event
    site: Site
    is_possible: bool = True


def late_seeds(program: Program) -> Iterator[LateSeed]:
    """One for each first draw, in the order of files and text."""
    found: dict[Site, LateSeed] = {}
    for run in asked_entry_runs(program):
        late = _of_run(program, run)
        if late is not None:
            found.setdefault(late.site, late)

    def proof_of(site: Site) -> tuple[Site, ...]:
        return (*found[site].early.sites, *found[site].seed.sites)

    yield from (found[site] for site in program.asked_in_order(found, proof_of))


def _of_run(program: Program, run: EntryRun) -> LateSeed | None:
    # A library that seeds a part of its own, as inside `fork_rng`, seeds no run.
    known = {one.site: one for one in run.seedings if is_for_the_run(program, one)}
    if not known or run.may_be_seeded_elsewhere:
        return None  # asked first: it takes no walk
    steps = run.steps_until(frozenset(known))
    pairs: list[tuple[Step, Step, bool]] = []
    for rng in MAIN_RNGS:
        walked = [step for step in steps if step.kind == "seed" and rng in step.rngs]
        sites = {step.event.site for step in walked}
        if not walked or any(rng in one.seeds and site not in sites for site, one in known.items()):
            continue  # something that is not on the walk may seed it first
        seed = _seeding_step(walked)
        evidence = known.get(seed.event.site)
        if evidence is None or _loads_weights(evidence):
            continue
        before = [early for step in steps if (early := _early(run, step, seed, rng)) is not None]
        if is_of_a_framework(evidence):
            if not run.finds(program_words("trains_with_a_trainer")):
                continue
            before = [step for step in before if draws_weights(step.event)]
        possible = [step for step in before if _are_of_one_run(program, step, seed)]
        early = _first_before(program, possible, seed) or _first_before(program, before, seed)
        if early is not None:
            pairs.append((early, seed, early in possible))
    if not pairs:
        return None
    early, seed, is_possible = min(pairs, key=lambda pair: (not pair[2], pair[0].order))
    return LateSeed(run, early.event, seed.event, built_at(program, early.event), is_possible)


def _first_before(program: Program, before: Sequence[Step], seed: Step) -> Step | None:
    """The first of some steps that surely comes before a seed; of several, of which one surely runs, the first."""
    early = next((step for step in before if one_comes_before(program, [step.event], seed.event)), None)
    if early is None and one_comes_before(program, (step.event for step in before), seed.event):
        return before[0]
    return early


def _are_of_one_run(program: Program, early: Step, seed: Step) -> bool:
    """Whether one run may take the chains to both steps, by what the tests on them ask of options."""
    sites = dict.fromkeys((*early.event.sites, *seed.event.sites))
    return not contradict(asked_on_the_way(program.ev, sites))


def _loads_weights(one: Evidence) -> bool:
    """Whether a framework that is made with the seed loads a checkpoint as well, or may: the first weights are lost."""
    known = seeding_call(one.name)
    if known is None or known.within is None or not isinstance(one.node, tree.Call):
        return False
    return any(arg.star or arg.keyword in _LOADING for arg in one.node.args)


def _seeding_step(walked: Sequence[Step]) -> Step:
    """The first of the steps that seed; for one whose seed is handed over, the one that seeds with it."""
    first = next((step for step in walked if not _handed_to(step)), walked[0])
    return first if first is walked[0] or first.event.name in _handed_to(walked[0]) else walked[0]


def _handed_to(step: Step) -> frozenset[str]:
    known = seeding_call(step.event.name)
    return known.handed_to if known is not None else frozenset()


def _is_of_another_rule(name: str) -> bool:
    """Whether a draw is a split or a sampler, of which TRL202 and TRL209 speak; of NumPy's own they do not."""
    return not name.startswith("numpy.") and function_words("split_or_sampler").fullmatch(last_part(name)) is not None


def _is_built_by_others(run: EntryRun, event: Event) -> bool:
    """Whether code that the project distributes, and the program only imports, builds what draws: a library builds for
    many callers, and which of its parts one of these gets is seldom to be told.
    """
    built = built_at(run.program, event).path
    return built != run.entry.path and is_for_others(run.program, built)


def _early(run: EntryRun, step: Step, seed: Step, rng: str) -> Step | None:
    """The step as a draw that may come too early for a seed; None if it is none."""
    event = step.event
    if step.kind != "draw" or rng not in step.rngs or step.order >= seed.order or is_idle(run.program.ev, event):
        return None
    if _is_of_another_rule(event.name) or is_unused_default(run, event):
        return None
    if (
        _is_built_by_others(run, event)
        or is_of_a_module_alone(run, event)
        or is_over_before(run.program, event, seed.event)
    ):
        return None
    if is_of_a_demonstration(run.program, event) or (rng != "torch" and is_only_shown(run.program, event)):
        return None
    kept = kept_draw(run, event)
    return replace(step, event=kept) if kept is not None else None
