"""Whether one run of a program makes several objects at one place: a loop makes one in each turn, or a function that
makes one is called in several places. Generators that are seeded there alike would all give the same numbers.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import MAX_WAYS, Way, never_together, ways

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["makes_several"]


def makes_several(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    """Whether one run of a program may come to a place more than once, tests left out; True also where not all ways
    that lead to it are known.
    """
    key = ("several", facts.path, id(scope), site)
    return program.ev.remembered(key, lambda: _makes_several(program, facts, scope, site), True)


def _makes_several(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    leading = [
        way
        for way in ways(program.ev, facts, scope, site)
        if program.is_test(facts.path) or not program.is_test(way[-1].facts.path)
    ]
    if len(leading) > MAX_WAYS or any(_is_in_a_loop(program, way) for way in leading):
        return True
    return any(_of_one_run(first, second) for first, second in combinations(leading, 2))


def _is_in_a_loop(program: Program, way: Way) -> bool:
    for waypoint in way:
        loops = parents_of(program.ev, waypoint.facts).loops
        if isinstance(waypoint.scope.node, tree.Comprehension):
            return True
        if any(arm == "body" and branch in loops for branch, arm in waypoint.path):
            return True
    return False


def _of_one_run(first: Way, second: Way) -> bool:
    """Whether one run may take both ways: they end in the same file, and where they part no `if` decides for one."""
    if first[-1].facts is not second[-1].facts:
        return False
    parting = next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    return parting is None or not never_together((first[parting:],), (second[parting:],))
