"""Transforms of libraries that run always or never: `HorizontalFlip(p=1.0)` of a test-time augmentation."""

from __future__ import annotations

from torchrepro_lint.knowledge.library_chances import library_chance
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, Values

__all__ = ["draws_in_vain", "never_runs"]


def never_runs(value: ExternalObject) -> bool:
    """Whether the chance of a transform is proven to be 0."""
    return _chances(value) == {0}


def draws_in_vain(value: ExternalObject) -> bool:
    """Whether a transform does the same whatever it draws. What it holds may still draw, if it ever runs."""
    chances = _chances(value)
    if not chances:
        return False
    known = library_chance(value.name)
    return chances <= ({0, 1} if known is not None and known.settled else {0})


def _chances(value: ExternalObject) -> set[float]:
    """The chances with which a transform may run; empty where one is not known."""
    known = library_chance(value.name)
    if known is None or value.arguments is None:
        return set()
    given = value.arguments
    keyword = given.keyword(known.parameter.name)
    position = known.parameter.position
    values: Values = frozenset()
    if keyword is not None:
        values = keyword[0] if keyword[1] else frozenset()
    elif position is not None and position < len(given.positional):
        values = given.positional[position]
    numbers = [one.value for one in values if isinstance(one, Constant) and isinstance(one.value, (int, float))]
    return set(numbers) if len(numbers) == len(values) else set()
