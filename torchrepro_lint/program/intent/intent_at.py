"""The intent that holds at one place: which of a program's seeds and switches speak for the run in which it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope, Store
from torchrepro_lint.program.evaluation.values import Constant, Site
from torchrepro_lint.program.intent.endings import begins_a_region, ends_a_region
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.seed_entropy import drawn_of
from torchrepro_lint.program.intent.told_seeds import tells_seed
from torchrepro_lint.program.intent.wishes import WISH
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.if_tests import says
from torchrepro_lint.program.running.ways import (
    Way,
    Waypoint,
    chosen_by,
    comes_later,
    ends_behind,
    is_followed_by,
    never_together,
    own_way,
    runs_as_script,
    runs_whenever,
    runs_with,
    ways,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "holds_for_all_runs",
    "intent_at",
    "is_chosen_against",
    "is_chosen_for_speed",
    "is_for_one_draw",
    "is_opposed",
    "is_taken_back",
    "not_heeded",
    "programs_of_ways",
    "seedings_at",
    "is_in_a_loop",
    "ways_of",
    "ways_to",
]

#: How many seeds and switches of the programs that run a place are compared with it, and with each other. With more of
#: them it is not known which holds where.
MAX_COMPARED: Final = 128


def ways_of(program: Program, one: Evidence) -> tuple[Way, ...]:
    """The ways that lead to a seed or switch, never none: beyond the limits of a question it is the place alone."""
    frame, site = one.frame, one.site.number
    return program.ev.remembered(
        ("ways", one.site),
        lambda: ways(program.ev, frame.facts, frame.scope, site),
        (own_way(frame.facts, frame.scope, site),),
    )


def ways_to(program: Program, site: Site) -> tuple[Way, ...]:
    """The ways that lead to a place, none where that is not known; beyond the limits of a question it is the place
    alone.
    """
    place = place_of(program.ev, site)
    if place is None:
        return ()
    return program.ev.remembered(
        ("ways to", site),
        lambda: ways(program.ev, place.facts, place.scope, site.number),
        (own_way(place.facts, place.scope, site.number),),
    )


def is_in_a_loop(program: Program, one: Evidence) -> bool:
    """Whether a loop runs a seed or switch again and again, around it or around a call that leads to it."""
    return any(
        branch in waypoint.scope.loops
        for way in ways_of(program, one)
        for waypoint in way
        for branch, _ in waypoint.path
    )


def intent_at(program: Program, path: Path, places: tuple[Way, ...]) -> list[Evidence]:
    """What shows intent in the programs that run the place to which `places` lead, the stronger level first.

    A seed or switch counts where it runs in the module that runs the place, or in one that imports that. What is in
    another arm of the same `if` is left out, and so is what only the tests of the place run, and a seed for one draw.
    """
    found = [one for one in _shown_at(program, path, places) if one.level is not None]
    return sorted(found, key=lambda one: (one.level != "deterministic", one.site.path != path))


def seedings_at(program: Program, path: Path, places: tuple[Way, ...]) -> list[Evidence]:
    """What seeds a generator in the programs that run the place to which `places` lead, torch's own first."""
    found = [one for one in _shown_at(program, path, places) if one.effect == "seed"]
    return sorted(found, key=lambda one: (one.level is None, one.site.path != path))


def _shown_at(program: Program, path: Path, places: tuple[Way, ...]) -> list[Evidence]:
    above = programs_of_ways(program, places)
    if not program.is_test(path):
        above -= program.tests
    compared = _compared(program.evidence_of_intent, above) or ()
    return [
        one
        for one in compared
        if not never_together(ways_of(program, one), places) and not is_for_one_draw(program, one)
    ]


def _compared(
    evidence: Sequence[Evidence], roots: frozenset[Path], files: Collection[Path] = ()
) -> Sequence[Evidence] | None:
    """The evidence that runs in some of the programs that `roots` are, or is in one of the `files`; None if it is more
    than is compared.
    """
    found = [one for one in evidence if not roots.isdisjoint(one.roots) or one.site.path in files]
    return found if len(found) <= MAX_COMPARED else None


def is_for_one_draw(program: Program, one: Evidence) -> bool:
    """Whether a function draws the number that it seeds with, and does not tell it: so that several draws which follow
    are the same, and not so that a run can be repeated.
    """
    scope = one.frame.scope
    if one.effect != "seed" or one.value is None or scope.parent is None or tells_seed(scope):
        return False
    source = drawn_of(program.ev, one.value, one.frame)
    return source is not None and not source.fallback and source.frame.scope is scope


def programs_of_ways(program: Program, places: tuple[Way, ...]) -> frozenset[Path]:
    """The modules whose run reaches the place: those at the end of its ways, and what imports these."""
    found: set[Path] = set()
    for way in places:
        end = way[-1].facts.path
        found |= {end} if runs_as_script(way) else program.imports.above(end)
    return frozenset(found)


def holds_for_all_runs(program: Program, shown: Evidence, places: tuple[Way, ...]) -> bool:
    """Whether a seed or switch runs in each run that comes to the place to which `places` lead, as far as `if` decides:
    on one of its ways it is under no condition under which the place is not, or under one that is proven.
    """
    frame = shown.frame
    if program.ev.decide(shown.path, frame) is True:
        places = (*places, own_way(frame.facts, frame.scope, shown.site.number))
    return any(runs_whenever(way, places) for way in ways_of(program, shown))


def is_opposed(program: Program, places: tuple[Way, ...], one: Evidence | None = None) -> bool:
    """Whether the place is for runs that are not meant to be deterministic: another arm is, or the `if` says so, or
    what the switch `one` at the place is given (`benchmark = not deterministic`). Or `one` is set for a region alone,
    or puts back what was.
    """
    if is_chosen_for_speed(places):
        return True
    if one is not None and (_is_given_a_wish(one) or begins_a_region(one) or ends_a_region(program, one)):
        return True
    if all(any(_other_arm_is_deterministic(waypoint) or _turns_off(waypoint) for waypoint in way) for way in places):
        return True
    wishes = [other for other in program.evidence_of_intent if other.level == "deterministic"]
    around = {waypoint.facts.path for way in places for waypoint in way}
    compared = _compared(wishes, programs_of_ways(program, places), around)
    return compared is None or any(never_together(ways_of(program, other), places) for other in compared)


def _is_given_a_wish(one: Evidence) -> bool:
    """Whether what a switch is given names determinism, and says that it is not wanted in this run."""
    is_on = all(isinstance(value, Constant) and bool(value.value) for value in one.values)
    return one.value is not None and says(one.value, is_on, WISH) is False


def _other_arm_is_deterministic(waypoint: Waypoint) -> bool:
    """Whether another arm of an `if` around the place switches determinism on, be it that no visible run takes it."""
    arms = {branch: arm for branch, arm in waypoint.path if isinstance(waypoint.scope.branches.get(branch), tree.If)}
    switches = [
        *(store.path for store in waypoint.scope.stores if _is_deterministic_store(store)),
        *(path for call, path in waypoint.scope.calls if called_name(call.func) == "use_deterministic_algorithms"),
    ]
    return any(arms.get(branch, arm) != arm for path in switches for branch, arm in path)


def _turns_off(waypoint: Waypoint) -> bool:
    """Whether an arm of an `if` around the place turns off what the function has just switched on: an option takes
    determinism back, `if args.debugmode < 1: cudnn.deterministic = False`.
    """
    path = waypoint.path
    if not any(isinstance(waypoint.scope.branches.get(branch), tree.If) for branch, _ in path):
        return False
    stores = [store for store in waypoint.scope.stores if _is_of_determinism(store)]
    is_on = any(
        _is_deterministic_store(store) and store.statement.site < waypoint.site and _holds_in(store.path, path)
        for store in stores
    )
    return is_on and any(not _is_deterministic_store(store) and store.path == path for store in stores)


def _holds_in(path: ArmPath, inner: ArmPath) -> bool:
    """Whether what runs on a path runs in each run that comes to an arm inside of it."""
    return len(path) < len(inner) and inner[: len(path)] == path


def _is_of_determinism(store: Store) -> bool:
    return isinstance(store.target, tree.Attribute) and store.target.attr == "deterministic"


def _is_deterministic_store(store: Store) -> bool:
    is_off = isinstance(store.value, tree.Const) and not store.value.value
    return isinstance(store.target, tree.Attribute) and store.target.attr == "deterministic" and not is_off


def is_chosen_for_speed(places: tuple[Way, ...]) -> bool:
    """Whether an `if` says that determinism is not wanted where the place runs."""
    return chosen_by(places, WISH, wanted=False)


def is_chosen_against(program: Program, one: Evidence, word: re.Pattern[str]) -> bool:
    """Whether a switch is under an option of its own (`if args.benchmark:`) whose value is not proven."""
    if program.ev.decide(one.path, one.frame) is True and len(ways_of(program, one)[0]) == 1:
        return False
    return chosen_by(ways_of(program, one), word, wanted=True)


def is_taken_back(
    program: Program,
    one: Evidence,
    effect: str,
    trains: Callable[[Program, ModuleFacts, Scope, tree.Call], bool],
) -> bool:
    """Whether another switch with `effect` surely runs after this one, as far as they can be compared. Where it runs
    before as well, as in a function that is called again, nothing may train between the two: `trains` says what does.
    """
    own = ways_of(program, one)
    others = _compared(program.evidence_of(effect), _roots_of(program, one, own), {one.site.path})
    return others is None or any(
        other.node is not one.node
        and (
            _surely_follows(program, own, ways_of(program, other))
            or _ends_behind(program, own, ways_of(program, other), trains)
        )
        for other in others
    )


def _ends_behind(
    program: Program,
    first: tuple[Way, ...],
    second: tuple[Way, ...],
    trains: Callable[[Program, ModuleFacts, Scope, tree.Call], bool],
) -> bool:
    """Whether the second switch runs once more after the first one wherever their ways meet, before anything trains."""
    met = ends_behind(first, second)
    return met is not None and not any(
        trains(program, a.facts, a.scope, call)
        for a, b in met
        for call, _ in a.scope.calls
        if a.site < call.site < b.site
    )


def _roots_of(program: Program, one: Evidence, own: tuple[Way, ...]) -> frozenset[Path]:
    """The modules whose run reaches a switch: what runs when a module is imported, those that import it."""
    return one.roots | program.imports.above(one.site.path) if _runs_at_the_import(own) else one.roots


def _surely_follows(program: Program, first: tuple[Way, ...], second: tuple[Way, ...]) -> bool:
    is_always = all(not waypoint.path for way in second for waypoint in way)
    return is_followed_by(first, second) or (is_always and _comes_after_the_import(program, first, second))


def _comes_after_the_import(program: Program, first: tuple[Way, ...], second: tuple[Way, ...]) -> bool:
    """Whether the first statement runs when its module is imported, and the second one in what runs of a file that
    imports it: imports stand at the top.
    """
    if not _runs_at_the_import(first):
        return False
    path = first[0][0].facts.path
    above = program.imports.above(path) - {path}
    return bool(second) and all(way[-1].scope.parent is None and way[-1].facts.path in above for way in second)


def not_heeded(program: Program, one: Evidence, intent: list[Evidence], effect: str) -> list[Evidence]:
    """The `intent` of runs that leave the switch `one` as it is. `if args.deterministic:` may show intent, and with it
    take the switch back that is above it, by another with `effect`.
    """
    own = ways_of(program, one)
    others = _compared(program.evidence_of(effect), _roots_of(program, one, own), {one.site.path})
    if others is None:
        return []
    switches = (ways_of(program, other) for other in others if other.node is not one.node)
    takes_back = [ways for ways in switches if comes_later(own, ways) or _comes_after_the_import(program, own, ways)]
    return [shown for shown in intent if not any(runs_with(ways_of(program, shown), ways) for ways in takes_back)]


def _runs_at_the_import(found: tuple[Way, ...]) -> bool:
    return bool(found) and all(len(way) == 1 and way[0].scope.parent is None for way in found)
