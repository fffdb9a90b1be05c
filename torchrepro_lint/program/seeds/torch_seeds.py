"""Whether torch is seeded on every path to a place, so that `torch.initial_seed()` is the program's seed there.

`torch.initial_seed()` returns the number with which the default CPU generator of the process was last seeded
(torch/random.py 2.13.0). A generator that nothing has seeded has a number from the system, another one in every run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.values import ClassValue, Constant, Site
from torchrepro_lint.program.intent.intent import Evidence, fetches_items, running_modules
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.intent.kept_states import is_undone
from torchrepro_lint.program.programs.entry_path import MAIN_RNGS
from torchrepro_lint.program.programs.for_others import is_for_others
from torchrepro_lint.program.programs.import_seeds import import_seeds
from torchrepro_lint.program.programs.worker_seedings import is_for_workers_alone
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.guards import Place, left_before, place_of
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.set_apart import stands_apart
from torchrepro_lint.program.running.started_uses import started_uses
from torchrepro_lint.program.running.training_hooks import is_called_out_of_sight
from torchrepro_lint.program.running.ways import MAX_WAYS, Way, Waypoint, ways
from torchrepro_lint.program.seeds.asked_seeds import asks_for_the_seed, is_for_any_seed, is_passed
from torchrepro_lint.program.seeds.seed_faults import is_stand_in
from torchrepro_lint.program.seeds.seeding import may_be_seeded_unseen
from torchrepro_lint.program.workers.rank_names import depends_on_rank

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Path as ArmPath
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["TorchSeed", "missing_arms", "seedings_around", "seeds_what_follows", "torch_seed_at"]

#: The argument of accelerate's `set_seed` with which it adds the rank to the seed (accelerate/utils/random.py@1.11.0).
_ADDS_RANK: Final = "device_specific"


@dataclass(frozen=True, slots=True)
class TorchSeed:
    """What is known of torch's seed at a place of a program.

    Attributes:
        always: Whether torch is seeded, with a number that comes from no entropy, on every path to the place. A seeding
            call that is skipped only where the user gives no seed counts: such a run need not be repeatable.
        by_rank: Whether the rank of the process may be part of that seed.
        seeded: Whether the programs that run the place seed any generator, or may do so out of sight.
        in_sight: Whether some of these seeds are in sight.
        numbers: The whole numbers in the expressions that these programs seed with.
        fixed: Whether each of these expressions is one such number.
        for_others: Whether the place is code for the programs of others, who choose the seed.
        each_call: Whether the function around the place seeds torch above it whenever it is called, whatever the user
            gives: each call begins anew.
        on_condition: Whether anything is seeded in some runs alone, for another reason than that the user gives a seed:
            `if args.deterministic:`, or for some seeds alone: `if args.seed != 0:`.
    """

    always: bool
    by_rank: bool
    seeded: bool
    in_sight: bool = False
    numbers: frozenset[int] = frozenset()
    fixed: bool = False
    for_others: bool = False
    each_call: bool = False
    on_condition: bool = False

    def may_be(self, number: int, *, is_named: bool) -> bool:
        """Whether a number that the file has is the seed of the programs that run the place: written as a constant of
        its own (`SEED = 7`, with `is_named`), or in a call that seeds something.
        """
        if self.for_others:
            return False
        if not self.in_sight:
            return is_named or self.seeded
        return number in self.numbers and (is_named or (self.fixed and len(self.numbers) == 1))


def torch_seed_at(program: Program, site: Site) -> TorchSeed:
    """What is known of torch's seed just before the statement at `site` runs."""
    unknown = TorchSeed(always=False, by_rank=True, seeded=True)
    return program.ev.remembered(("torch-seed", site), lambda: _torch_seed(program, site), unknown)


def _torch_seed(program: Program, site: Site) -> TorchSeed:
    place = place_of(program.ev, site)
    if place is None:
        return TorchSeed(always=False, by_rank=True, seeded=True)
    near = seedings_around(program, place.facts, place.scope)
    of_torch = [one for one in near if "torch" in one.seeds]
    usable = [(one, ways_of(program, one)) for one in of_torch if seeds_what_follows(program, one)]
    found = _paths(program, place)
    paths = [path for way in found or () for path in (way, *_of_started_functions(program, way))]
    always = bool(usable and found) and all(_is_seeded_on(program, path, usable) for path in paths)
    numbers = [_numbers(program, one) for one in ([one for one, _ in usable] or near)]
    return TorchSeed(
        always,
        any(_has_rank(program, one) for one in of_torch),
        bool(near) or may_be_seeded_unseen(program, place.facts.path),
        in_sight=bool(near),
        numbers=frozenset().union(*(found for found, _ in numbers)),
        fixed=all(alone for _, alone in numbers),
        for_others=is_for_others(program, place.facts.path),
        each_call=always and all(_is_seeded_in_call(way, usable) for way in found or ()),
        on_condition=not always and bool(usable) and not _is_seeded_in_each_run(program, near),
    )


def _is_seeded_in_each_run(program: Program, seedings: list[Evidence]) -> bool:
    """Whether one of some calls that seed is under no condition but that there is a seed, or each arm of an `if` has
    one.
    """
    arms: set[tuple[int, str]] = set()
    for one in seedings:
        is_for_torch = "torch" in one.seeds
        for way in ways_of(program, one) if not is_for_torch or seeds_what_follows(program, one) else ():
            chosen = [arm for at in way for arm in at.path if _is_of_an_if(at, arm) and not is_for_any_seed(at, arm)]
            if not chosen:
                return True
            arms.update(chosen)
    return any((branch, "else") in arms for branch, arm in arms if arm == "then")


def _is_of_an_if(waypoint: Waypoint, arm: tuple[int, str]) -> bool:
    return isinstance(waypoint.scope.branches.get(arm[0]), tree.If)


def _numbers(program: Program, one: Evidence) -> tuple[frozenset[int], bool]:
    """The whole numbers in the expression that a call seeds with, and whether it is nothing but one of them."""
    parts = walk([one.value]) if one.value is not None else ()
    values = [value for part in parts for value in program.ev.values(part, one.frame)]
    found = frozenset(value.value for value in values if isinstance(value, Constant) and type(value.value) is int)
    return found, bool(found) and all(isinstance(value, Constant) for value in one.values)


def seedings_around(program: Program, facts: ModuleFacts, scope: Scope) -> list[Evidence]:
    """The seeding calls of the main process in the programs that run a scope."""
    roots = running_modules(program.ev, facts, scope) or frozenset((facts.path,))
    above = program.runs_with(roots) | program.imports.above(facts.path)
    if not program.is_test(facts.path):
        above -= program.tests
    of_any = is_called_out_of_sight(program.ev, facts, scope)
    found = [one for one in program.evidence_of("seed") if of_any or not above.isdisjoint(one.roots)]
    found += (one for rng in MAIN_RNGS for one in import_seeds(program, facts.path, rng) if one not in found)
    return [
        one
        for one in found
        if not fetches_items(one.frame.scope) and not is_for_workers_alone(program, one)
        if program.is_test(facts.path) or not program.is_test(one.site.path)
    ]


def seeds_what_follows(program: Program, one: Evidence) -> bool:
    """Whether a call seeds torch for what comes after it, and not from entropy: no mock, nor a call in a region that
    puts the old state back.
    """
    if not one.always or is_stand_in(program, one):
        return False
    if one.level != "seeded" or is_undone(program.ev, one.frame.scope, one.site.number):
        return False
    return not (isinstance(one.node, tree.Call) and stands_apart(parents_of(program.ev, one.frame.facts), one.node))


def _has_rank(program: Program, one: Evidence) -> bool:
    """Whether a seeding call may give each rank a seed of its own."""
    if not isinstance(one.node, tree.Call):
        return True
    for arg in one.node.args:
        if arg.keyword == _ADDS_RANK:
            values = program.ev.values(arg.value, one.frame)
            if any(not isinstance(value, Constant) or value.value for value in values):
                return True
        elif depends_on_rank(program.ev, arg.value, one.frame.facts, one.frame.scope):
            return True
    return False


# --- the paths to a place -------------------------------------------------------------------------------------------


def _paths(program: Program, place: Place) -> list[Way] | None:
    """All ways that lead to a place; None where there may be more. Those through tests are left out.

    What a framework calls (`train_dataloader`) runs after the object has been made.
    """
    found = ways(program.ev, place.facts, place.scope, place.site.number)
    if len(found) >= MAX_WAYS:
        return None
    of_tests = program.is_test(place.facts.path)
    paths: list[Way] = []
    for way in found:
        if program.is_test(way[-1].facts.path) and not of_tests:
            continue
        made = _where_made(program, way[-1])
        if made is None:
            paths.append(way)
            continue
        for one in made:
            outer = ways(program.ev, one.facts, one.scope, one.site)
            if len(outer) >= MAX_WAYS:
                return None
            paths += [(*way, *beyond) for beyond in outer if of_tests or not program.is_test(beyond[-1].facts.path)]
        if not made:
            paths.append(way)
        if len(paths) >= MAX_WAYS:
            return None
    return paths


def _where_made(program: Program, end: Waypoint) -> list[Waypoint] | None:
    """Where the objects are made whose method ends a way, as a framework calls it; None for what is no such method."""
    cls = end.scope.parent
    if not isinstance(end.scope.node, tree.FunctionDef) or cls is None or not isinstance(cls.node, tree.ClassDef):
        return None
    if cls.parent is None or end.scope.name == "__init__":
        return None
    value = ClassValue(cls.node, frame_without_callers(program.ev, end.facts, cls.parent))
    if all(base in plain_classes() for base in external_bases(program.ev, value)):
        return None
    return [
        Waypoint(one.facts, one.scope, one.call.site, one.path) for one in making_places(program.ev, value)
    ]  # fmt: skip


def _is_seeded_on(program: Program, way: Way, seedings: list[tuple[Evidence, tuple[Way, ...]]]) -> bool:
    """Whether a call on a path to a place seeds torch before the place is reached, in the same process."""
    for waypoint in _of_one_process(way):
        residues: list[ArmPath] = []
        for _, leading in seedings:
            for other in leading:
                residue = missing_arms(waypoint, other)
                if residue is not None:
                    residues.append(residue)
                elif _imports_before(program, waypoint, other):
                    residues.append(())
        if any(_covered(waypoint.scope, residues, ())):
            return True
    return False


def _is_seeded_in_call(way: Way, seedings: list[tuple[Evidence, tuple[Way, ...]]]) -> bool:
    """Whether the function in which a way begins seeds torch itself above the place, under no condition of its own and
    in no turn of a loop that the place is not in.
    """
    for waypoint in way:
        arms = set(waypoint.path)
        for _, leading in seedings:
            for other in leading:
                at = next((index for index, one in enumerate(other) if one.scope is waypoint.scope), None)
                if at is None or missing_arms(waypoint, other) is None:
                    continue
                if arms.issuperset(other[at].path) and not any(one.path for one in other[:at]):
                    return True
        if isinstance(waypoint.scope.node, tree.FunctionDef):
            return False
    return False


def _of_started_functions(program: Program, way: Way) -> Iterator[Way]:
    """The parts of a way that a process of its own may begin with, where one function of it is called here and started
    as a process elsewhere: `spawn(worker, args)` for several devices, and `worker(0, args)` for one.
    """
    for index, waypoint in enumerate(way[:-1]):
        if isinstance(waypoint.scope.node, tree.FunctionDef) and started_uses(program.ev, waypoint.scope):
            yield way[: index + 1]


def _of_one_process(way: Way) -> Iterator[Waypoint]:
    """The places of a way from the inside out, up to where a function is handed over instead of called: what it was
    handed to may call it in another process, which begins with an unseeded generator.
    """
    for index, waypoint in enumerate(way):
        inner = way[index - 1].scope.node if index else None
        is_function = isinstance(inner, (tree.FunctionDef, tree.Lambda))
        if is_function and waypoint.scope.call_at(waypoint.site) is None:
            return
        yield waypoint


def missing_arms(place: Waypoint, seeding: Way) -> ArmPath | None:
    """The arms of the place's scope in which a seeding way is and the place is not; None where the seeding does not
    come before, or hangs on something inside the functions that it goes through.
    """
    for index, waypoint in enumerate(seeding):
        if waypoint.scope is place.scope:
            starts = place.scope.statement_sites
            if bisect_right(starts, waypoint.site) >= bisect_right(starts, place.site):
                return None  # within one statement, sites are not in the order of execution
            if index and waypoint.scope.call_at(waypoint.site) is None:
                return None
            own = set(place.path)
            return tuple(arm for arm in waypoint.path if arm not in own and not is_passed(waypoint, arm))
        if any(not is_passed(waypoint, arm) for arm in waypoint.path) or _may_be_left(waypoint):
            return None
        if isinstance(waypoint.scope.node, (tree.Lambda, tree.Comprehension)):
            return None
    return None


def _may_be_left(waypoint: Waypoint) -> bool:
    """Whether a function may return before it comes to a place although a seed is given."""
    site = Site(waypoint.facts.path, waypoint.site)
    place = Place(waypoint.facts, waypoint.scope, waypoint.path, site)
    return any(not asks_for_the_seed(waypoint, guard.test, guard.holds) for guard in left_before(place))


def _covered(scope: Scope, residues: list[ArmPath], taken: ArmPath) -> Iterator[bool]:
    """Yields True where one of the seedings surely runs: it is in no arm of its own, or each arm of an `if` has one."""
    rest = [residue[len(taken) :] for residue in residues if residue[: len(taken)] == taken]
    if any(not residue for residue in rest):
        yield True
        return
    for branch in sorted({residue[0][0] for residue in rest}):
        if isinstance(scope.branches.get(branch), tree.If):
            if all(any(_covered(scope, residues, (*taken, (branch, arm)))) for arm in ("then", "else")):
                yield True


def _imports_before(program: Program, place: Waypoint, seeding: Way) -> bool:
    """Whether the module of a place has imported one that seeds at its top level, itself or by a call, above the place;
    functions run after all imports at the top of their module.
    """
    *called, top = seeding
    path = top.facts.path
    if path == place.facts.path or place.scope.parent is not None or top.scope.parent is not None:
        return False
    if any(arm[1] != "try" for arm in top.path) or not all(map(_always_passes, called)):
        return False
    if any(one.scope.call_at(one.site) is None for one in seeding[1:]) or not program.imports.is_imported_at_once(path):
        return False
    for statement in place.facts.body:
        if statement.site >= place.site:
            return False
        match statement:
            case tree.Import(module=module):
                target = program.project.resolve(place.facts.path, module)
            case tree.ImportFrom(level=level, module=module):
                target = program.project.resolve_from(place.facts.path, level, module)
            case _:
                continue
        if target is not None and (target == path or path in program.imports.below(target)):
            return True
    return False


def _always_passes(waypoint: Waypoint) -> bool:
    """Whether a function that is called always comes to a place in it."""
    return isinstance(waypoint.scope.node, tree.FunctionDef) and not waypoint.path and not _may_be_left(waypoint)
