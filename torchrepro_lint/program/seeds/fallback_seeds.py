"""Seeding calls that the run comes to only where the user gives no seed, as far as the conditions around them tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.intent.wishes import WISH
from torchrepro_lint.program.running.guards import Place, left_before
from torchrepro_lint.program.running.if_tests import says
from torchrepro_lint.program.running.parents import Node, parents_of
from torchrepro_lint.program.running.ways import Waypoint, chosen_by

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["is_fallback"]


def _seed() -> re.Pattern[str]:
    return function_words("is_a_seed")


def is_fallback(program: Program, one: Evidence) -> bool:
    """Whether an `if` about a seed sends the run here only where the user has given none, or a conditional does, or
    the function is left before where one is given.
    """
    found = ways_of(program, one)
    return (
        _is_other_arm(program, one)
        or any(chosen_by(found, word, wanted=False) for word in (_seed(), WISH))
        or all(any(_is_left_with_a_seed(waypoint) for waypoint in way) for way in found)
    )


def _is_left_with_a_seed(waypoint: Waypoint) -> bool:
    """Whether a function ends before the place where a seed, or a run that can be repeated, is asked for."""
    place = Place(waypoint.facts, waypoint.scope, waypoint.path, Site(waypoint.facts.path, waypoint.site))
    return any(says(guard.test, guard.holds, word) is False for guard in left_before(place) for word in (_seed(), WISH))


def _is_other_arm(program: Program, one: Evidence) -> bool:
    """Whether the call gives the seed where none is given: `args.seed if args.seed is not None else torch.seed()`."""
    node: Node = one.node
    for above in parents_of(program.ev, one.frame.facts).around(one.node):
        match above:
            case tree.Conditional(test=test, body=body) if test is not node:
                if says(test, body is node, _seed()) is False:
                    return True
            case tree.Boolean(op="or", left=left) if left is not node:
                if says(left, False, _seed()) is False:
                    return True
            case tree.Arg() | tree.Call() | tree.Conditional() | tree.Boolean() | tree.Binary():
                pass
            case _:
                return False
        node = above
    return False
