"""Comparisons of a number that is drawn from a known interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.asking import named, program_of

IMPORTS = "import random\nimport numpy as np\nimport torch\nrng = np.random.default_rng(0)\np = 0\n"


@pytest.mark.parametrize(
    ("comparison", "outcome"),
    [
        ("random.random() < 0", "False"),
        ("random.random() < p", "False"),
        ("random.random() <= 0", None),
        ("random.random() <= -0.1", "False"),
        ("random.random() < 1", "True"),
        ("random.random() <= 1", "True"),
        ("random.random() < 0.5", None),
        ("random.random() > 1.0", "False"),
        ("random.random() > 0", None),
        ("random.random() >= 0", "True"),
        ("random.random() >= 1", "False"),
        ("0 > random.random()", "False"),
        ("1 - p > random.random()", "True"),
        ("np.random.rand() < p", "False"),
        ("np.random.rand(3) < p", None),
        ("np.random.uniform() < p", "False"),
        ("rng.random() < p", "False"),
        ("torch.rand(1) < p", "False"),
        ("torch.rand(1).item() < p", "False"),
        ("torch.rand(3) < p", None),
        ("random.uniform(1, 2) < 1", "False"),
        ("random.uniform(1, 2) > 2", "False"),
        ("random.uniform(1, 2) >= 2", None),
        ("random.uniform(1, 2) < 2", None),
        ("random.gauss(0, 1) < p", None),
        ("0 < random.random() < 0", None),
        ("np.random.binomial(1, p) == 1", "False"),
        ("np.random.binomial(1, 1.0) == 1", "True"),
        ("np.random.binomial(1, 0.5) == 1", None),
        ("np.random.binomial(1, 0.5) == 2", "False"),
        ("np.random.binomial(n=1, p=p) != 0", "False"),
        ("np.random.binomial(1, p, 3) == 1", None),
        ("random.randint(0, 0) == 0", "True"),
        ("random.randint(0, 1) == 0", None),
        ("np.random.randint(1) > 0", "False"),
        ("np.random.randint(2) > 0", None),
        ("np.random.randint(3, 5) >= 3", "True"),
        ("np.random.randint(low=0, high=2) == 2", "False"),
        ("random.randrange(0, 8, 2) == 8", None),
        ("rng.integers(1) == 0", "True"),
        ("bool(np.random.binomial(1, 0.5))", None),
    ],
)
def test_what_is_decided_before_it_is_drawn(tmp_path: Path, comparison: str, outcome: str | None) -> None:
    program = program_of(tmp_path, f"{IMPORTS}held = {comparison}\n")
    assert named(program, "held") == (outcome or "?")


@pytest.mark.parametrize(
    ("draw", "outcome"),
    [
        ("np.random.binomial(1, 0.0)", "left"),
        ("np.random.binomial(1, 1)", "right"),
        ("np.random.binomial(1, 0.5)", "either"),
        ("np.random.randint(1)", "left"),
        ("np.random.randint(2)", "either"),
        ("np.random.randint(1, 3)", "right"),
        ("random.randint(0, 0)", "left"),
        ("rng.integers(0, 1)", "left"),
        ("random.uniform(0, 0)", "left"),
        ("random.random()", "either"),
    ],
)
def test_a_draw_that_is_itself_the_condition(tmp_path: Path, draw: str, outcome: str) -> None:
    program = program_of(tmp_path, f"{IMPORTS}held = 'right' if {draw} else 'left'\n")
    found = named(program, "held")
    assert (found if found in ("'right'", "'left'", "right", "left") else "either").strip("'") == outcome
