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
    ],
)
def test_what_is_decided_before_it_is_drawn(tmp_path: Path, comparison: str, outcome: str | None) -> None:
    program = program_of(tmp_path, f"{IMPORTS}held = {comparison}\n")
    assert named(program, "held") == (outcome or "?")
