"""What each fixture claims about its run on a GPU is what is seen there. Where there is none, nothing of this is run:
`benchmarks/gpu_evidence.py` writes down what was seen on one.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from fixture_format import FOLDER

from torchrepro_lint.verify.devices import has_cuda
from torchrepro_lint.verify.fixtures.fixture import Fixture, find_fixtures
from torchrepro_lint.verify.fixtures.judge import Outcome
from torchrepro_lint.verify.fixtures.suite import Plan, Row, verify

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the programs need torch"),
]

ON_CUDA = [one for one in find_fixtures([FOLDER]) if any(claim.device == "cuda" for claim in one.claims)]


@pytest.fixture(scope="module")
def rows() -> dict[Path, list[Row]]:
    """All claims about CUDA, from one run of all programs that have some."""
    if not has_cuda():
        pytest.skip("no CUDA device")
    found: dict[Path, list[Row]] = {}
    for row in verify(ON_CUDA, Plan(devices=("cuda",), available=("cuda",), runs=3)):
        found.setdefault(row.fixture.path, []).append(row)
    return found


@pytest.mark.parametrize("fixture", ON_CUDA, ids=lambda fixture: fixture.name)
def test_the_claims_hold_on_cuda(fixture: Fixture, rows: dict[Path, list[Row]]) -> None:
    for row in rows[fixture.path]:
        wanted = Outcome.NOT_SHOWN if row.verdict.outcome is Outcome.NOT_SHOWN else Outcome.PASSED
        assert row.verdict.outcome is wanted, f"{row.claim.text}: {row.verdict.observed}"
