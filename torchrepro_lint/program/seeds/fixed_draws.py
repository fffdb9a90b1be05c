"""Draws that are to give the same in every run, whatever else the program seeds: `RandomState(1234).shuffle(files)`,
`train_test_split(files, random_state=42)`, `random.shuffle(files)` right below `random.seed(4)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, MemberOf, Site, Value, Values
from torchrepro_lint.program.running.call_index import NamedCall
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.seeds.split_seeds import is_for_the_next_draw, is_right_above

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_to_be_fixed"]

_SEEDS: Final = frozenset({"random_state", "generator"})


def is_to_be_fixed(program: Program, site: Site) -> bool:
    """Whether the call at a place draws with a seed of its own, or right below one for it alone."""
    found = call_at(program.ev, site)
    return found is not None and (
        _has_own_seed(program, found)
        or any(
            one.site.path == site.path
            and is_right_above(program, one, found.call)
            and is_for_the_next_draw(program, one)
            for one in program.evidence_of("seed")
        )
    )


def _has_own_seed(program: Program, found: NamedCall) -> bool:
    frame = frame_without_callers(program.ev, found.facts, found.scope)
    for arg in found.call.args:
        if arg.keyword in _SEEDS and _is_given(program.ev.values(arg.value, frame)):
            return True
    drawn = program.ev.values(found.call.func, frame) if isinstance(found.call.func, tree.Attribute) else frozenset()
    return bool(drawn) and all(map(_is_of_seeded_generator, drawn))


def _is_of_seeded_generator(value: Value) -> bool:
    made = value.receiver if isinstance(value, MemberOf) else None
    if not isinstance(made, ExternalObject) or made.arguments is None:
        return False
    given = [*made.arguments.positional, *(values for _, values, _ in made.arguments.keywords)]
    return canonical(made.name) in known_calls("makes_generators") and any(map(_is_given, given))


def _is_given(values: Values) -> bool:
    """Whether nothing says that a seed is None."""
    return not any(isinstance(value, Constant) and value.value is None for value in values)
