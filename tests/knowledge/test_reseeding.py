"""The statements with which a worker init function seeds what torch does not."""

from __future__ import annotations

import ast
import random

import numpy as np
import pytest
import torch

from torchrepro_lint.knowledge.loaders import init_function
from torchrepro_lint.knowledge.reseeding import Reseeding, library_reseeding, loader_reseeding, object_reseeding
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.tables import read_toml
from torchrepro_lint.program.workers.held_generators import GENERATOR_TYPES

EVERY = [row for kind in ("object", "library") for row in read_toml("reseeding.toml")[kind]]


def filled(one: Reseeding, target: str, seed: str) -> str:
    return one.statement.format(target=target, seed=seed, **{name: name for name in one.modules})


def test_every_type_that_is_reported_can_be_seeded() -> None:
    assert all(object_reseeding(name) for name in GENERATOR_TYPES)


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.get("name") or row["rng"])
def test_each_is_one_statement_that_seeds(row: dict[str, str]) -> None:
    one = object_reseeding(row["name"]) if "name" in row else library_reseeding(row["rng"])
    assert one is not None
    assert one.source
    (statement,) = ast.parse(filled(one, "dataset.rng", "worker_seed")).body
    assert isinstance(statement, ast.Assign if one.replaces else ast.Expr)
    # What is called is known to seed, or to make a seeded object; else the finding would stay.
    call = statement.value
    assert isinstance(call, ast.Call)
    called = ast.unparse(call.func).replace("dataset.rng", one.name)
    assert {effect.kind for effect in rng_effects(called)} & {"seed", "make"}, called


@pytest.mark.parametrize("row", read_toml("reseeding.toml")["loader"], ids=lambda row: row["package"])
def test_what_a_loader_does_by_itself_is_one_call_of_an_init_function(row: dict[str, str]) -> None:
    one = loader_reseeding(row["package"])
    assert one is not None and one.source
    (statement,) = ast.parse(filled(one, "", "")).body
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    known = init_function(ast.unparse(statement.value.func))
    assert known is not None and "own" in known.seeds
    assert [ast.unparse(argument) for argument in statement.value.args] == [known.parameter]


@pytest.mark.parametrize(
    ("holder", "draw"),
    [
        (np.random.default_rng(1), lambda rng: rng.random()),
        (np.random.RandomState(1), lambda rng: rng.rand()),
        (random.Random(1), lambda rng: rng.random()),
        (torch.Generator(), lambda rng: torch.rand(1, generator=rng).item()),  # noqa: TRL203
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_they_decide_what_is_drawn(holder: object, draw, seed: int) -> None:  # type: ignore[no-untyped-def]
    qualified = {"Random": "random.Random", "Generator": f"{type(holder).__module__.partition('.')[0]}.Generator"}
    name = qualified.get(type(holder).__name__, "numpy.random.RandomState")
    one = object_reseeding(name.replace("numpy.Generator", "numpy.random.Generator"))
    assert one is not None
    drawn = []
    for _ in range(2):
        names = {"rng": holder, "numpy": np}
        exec(filled(one, "rng", str(seed)), names)
        drawn.append(draw(names["rng"]))
    assert drawn[0] == drawn[1]


def test_unknown() -> None:
    assert object_reseeding("numpy.random.PCG64") is None
    assert library_reseeding("own") is None
