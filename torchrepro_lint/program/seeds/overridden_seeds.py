"""Seeds that another one takes the place of before anything is drawn: `random.seed()`, the name of the run, and then
the seed of the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.values import Constant, External, ExternalObject, MemberOf
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.seed_entropy import entropy_of
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.calls_at import with_inner_expressions
from torchrepro_lint.program.running.events import outside_name

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_overridden"]


def is_overridden(program: Program, one: Evidence) -> bool:
    """Whether another call of the function surely seeds the same generators again, with a seed that is given, and
    nothing that can be seen draws from them before.
    """
    scope = one.frame.scope
    if any(branch in scope.loops for branch, _ in one.path):
        return False
    later = [other for other in program.evidence_in(one.site.path) if _takes_its_place(program, one, other)]
    end = min((other.site.number for other in later), default=None)
    if end is None or any(one.site.number < returned.site < end for returned, _ in scope.returns):
        return False
    between = range(one.site.number + 1, end)
    if any(loop in between for loop in scope.loops):
        return False  # what is iterated may draw, as a loader does
    calls = (call for part in with_inner_expressions(scope) for call, _ in part.calls if call.site in between)
    return not any(_may_draw(program, one, call) for call in calls)


def _takes_its_place(program: Program, one: Evidence, other: Evidence) -> bool:
    return (
        other.frame.scope is one.frame.scope
        and other.effect == "seed"
        and other.site.number > one.site.number
        and one.seeds <= other.seeds
        and set(other.path) <= set(one.path)
        and other.value is not None
        and entropy_of(program.ev, other.value, other.frame) is None
        and Constant(None) not in other.values
    )


def _may_draw(program: Program, one: Evidence, call: tree.Call) -> bool:
    """Whether a call may draw from the generators: a function of the project may, what is not known, and of a library
    what is known to.
    """
    if called_name(call.func) in method_words("seeds_nothing"):
        return False
    for value in program.ev.values(call.func, one.frame):
        if not isinstance(value, (External, ExternalObject, MemberOf)):
            return True
        if any(effect.rng in one.seeds for effect in rng_effects(outside_name(value) or "")):
            return True
    return False
