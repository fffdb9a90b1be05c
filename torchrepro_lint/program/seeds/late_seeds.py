"""Seeds that come too late: what a program builds or draws on its path before the generator is first seeded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.entry_path import MAIN_RNGS, EntryRun, Step, asked_entry_runs
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.evaluation_mode import is_switched_off
from torchrepro_lint.program.seeds.first_weights import brings_weights, built_at, draws_weights
from torchrepro_lint.program.seeds.idle_draws import is_idle
from torchrepro_lint.program.seeds.loaded_weights import are_loaded_over
from torchrepro_lint.program.seeds.measured_models import is_only_measured
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["LateSeed", "late_seeds"]


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
    for run in asked_entry_runs(program):
        late = _of_run(program, run)
        if late is not None:
            found.setdefault(late.site, late)
    yield from (found[site] for site in program.asked_in_order(found))


def _of_run(program: Program, run: EntryRun) -> LateSeed | None:
    known = {one.site: one for one in run.seedings}
    if not any(is_for_the_run(program, one) for one in known.values()) or run.may_be_seeded_elsewhere:
        return None  # asked first: it takes no walk
    steps = run.steps_to_seedings
    pairs: list[tuple[Step, Step]] = []
    for rng in MAIN_RNGS:
        walked = [step for step in steps if step.kind == "seed" and rng in step.rngs]
        sites = {step.event.site for step in walked}
        if not walked or any(rng in one.seeds and site not in sites for site, one in known.items()):
            continue  # something that is not on the walk may seed it first
        seed = walked[0]
        evidence = known.get(seed.event.site)
        if evidence is None or not is_for_the_run(program, evidence):
            continue
        before = [step for step in steps if _may_be_early(run, step, seed, rng)]
        early = next((step for step in before if _surely_before(program, [step], seed)), None)
        if early is None and _surely_before(program, before, seed):
            early = before[0]  # one of several, of which one surely runs
        if early is not None:
            pairs.append((early, seed))
    if not pairs:
        return None
    early, seed = min(pairs, key=lambda pair: pair[0].order)
    return LateSeed(run, early.event, seed.event, built_at(program, early.event))


def _may_be_early(run: EntryRun, step: Step, seed: Step, rng: str) -> bool:
    event = step.event
    if step.kind != "draw" or rng not in step.rngs or step.order >= seed.order or is_idle(event):
        return False
    if function_words("split_or_sampler").fullmatch(last_part(event.name)):
        return False
    if is_only_measured(run.program, event):
        return False
    if not draws_weights(event):
        return not is_switched_off(run.program, event)
    return run.trains and not brings_weights(event) and not are_loaded_over(run.program, event)


def _surely_before(program: Program, early: list[Step], seed: Step) -> bool:
    """Whether, where the ways to them and to the seed part, one of the early ones runs wherever the seed does."""
    by_scope: dict[int, tuple[Scope, list[ArmPath]]] = {}
    for step in early:
        parting = _parting(program, step.event, seed.event)
        if parting is not None:
            scope, path = parting
            by_scope.setdefault(id(scope), (scope, []))[1].append(path)
    return any(_covered(scope, paths) for scope, paths in by_scope.values())


def _parting(program: Program, early: Event, seed: Event) -> tuple[Scope, ArmPath] | None:
    """The scope in which the two ways part, and the arms there that the early one needs and the seed does not."""
    for first, second in zip(_way(early), _way(seed), strict=False):
        if first == second:
            continue
        if first.path != second.path or first.number > second.number:
            return None
        facts = program.facts(first.path)
        if facts is None or _are_alternatives(facts, first, second):
            return None
        scope = _scope_of(program, facts, first, second)
        if scope is None:
            return None
        own = set(scope.path_at(second.number))
        needed = (arm for arm in scope.path_at(first.number) if arm not in own)
        return scope, tuple(arm for arm in needed if arm[1] != "try" and arm[0] not in scope.loops)
    return None


def _are_alternatives(facts: ModuleFacts, first: Site, second: Site) -> bool:
    """Whether the ways part at two functions that one call may mean: `COMMANDS[name]()` enters one of them."""
    functions = {scope.node.site for scope in facts.walk_scopes() if isinstance(scope.node, tree.FunctionDef)}
    return {first.number, second.number} <= functions


def _covered(scope: Scope, paths: list[ArmPath]) -> bool:
    """Whether one of the paths is surely taken: each arm of an `if` has one, or ends the function."""
    if any(not path for path in paths):
        return True
    for branch in {path[0][0] for path in paths}:
        statement = scope.branches.get(branch)
        if isinstance(statement, tree.If):
            arms = (("then", statement.body), ("else", statement.orelse))
            if all(_ends(block) or _covered_arm(scope, paths, (branch, name)) for name, block in arms):
                return True
    return False


def _covered_arm(scope: Scope, paths: list[ArmPath], arm: tuple[int, str]) -> bool:
    inside = [path[1:] for path in paths if path[0] == arm]
    return bool(inside) and _covered(scope, inside)


def _ends(block: tree.Block) -> bool:
    return bool(block) and isinstance(block[-1], (tree.Raise, tree.Return))


def _way(event: Event) -> list[Site]:
    return [*(link.site for link in event.chain), event.site]


def _scope_of(program: Program, facts: ModuleFacts, first: Site, second: Site) -> Scope | None:
    """The scope in which both places are: the module for two imports or calls there, else a function of calls, and of
    the reads of properties.
    """
    for scope in facts.walk_scopes():
        numbers = {call.site for call, _ in scope.calls}
        if scope.parent is None:
            numbers |= set(scope.statement_sites)
        places = [first.number in numbers, second.number in numbers]
        if all(places):
            return scope
        if any(places) and {first.number, second.number} <= numbers | _reads_in(program, facts, scope):
            return scope
    return None


def _reads_in(program: Program, facts: ModuleFacts, scope: Scope) -> set[int]:
    """The sites of what is read as an attribute in a scope."""
    parents = parents_of(program.ev, facts)
    return {
        read.site for reads in parents.attributes.values() for read in reads if parents.function(read) is scope.node
    }
