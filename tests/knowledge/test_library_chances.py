"""Transforms of libraries that run with a chance."""

from __future__ import annotations

import inspect

import pytest

from torchrepro_lint.knowledge.library_chances import library_chance
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.tables import expand_names, read_toml

CLASSES = [
    name
    for row in read_toml("library_chances.toml")["transforms"]
    for text in row["names"]
    for name in expand_names(text)
]


@pytest.mark.parametrize("name", [name for name in CLASSES if "*" not in name])
def test_each_class_draws_when_it_is_called(name: str) -> None:
    assert library_chance(name) is not None
    assert any(effect.kind == "draw" for effect in rng_effects(f"{name}.__call__")), name


@pytest.mark.parametrize("name", [name for name in CLASSES if "*" not in name])
def test_the_chance_is_a_parameter_of_the_class(name: str) -> None:
    package, _, path = name.partition(".")
    found: object = pytest.importorskip(package)
    for part in path.split("."):
        found = getattr(found, part)
    parameter = library_chance(name).parameter  # type: ignore[union-attr]
    names = list(inspect.signature(found).parameters)  # type: ignore[arg-type]
    assert parameter.name in names
    assert parameter.position in (None, names.index(parameter.name))


def test_what_has_a_pattern_is_found_by_it() -> None:
    shift = library_chance("albumentations.ShiftScaleRotate")
    assert shift is not None
    assert not shift.settled
    assert library_chance("torchvision.transforms.ColorJitter") is None
