"""What was seen on a GPU is about fixtures, claims and trainings that are there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from torchrepro_lint.knowledge.gpu_evidence import gpu_claims, gpu_trainings
from torchrepro_lint.verify.fixtures.fixture import find_fixtures

ROOT = Path(__file__).parents[2]
NETWORKS = runpy.run_path(str(ROOT / "benchmarks" / "gpu_networks.py"))


def test_each_claim_is_one_of_its_fixture() -> None:
    said = {fixture.name: {claim.text for claim in fixture.claims} for fixture in find_fixtures([ROOT / "fixtures"])}
    stale = [one for one in gpu_claims() if one.claim not in said.get(one.fixture, ())]
    assert not stale, "a fixture says something else since it was seen on a GPU: take its line out of gpu_claims.tsv"


def test_each_training_is_one_of_the_benchmark() -> None:
    for one in gpu_trainings():
        rules, variants = NETWORKS["NETWORKS"][one.network]
        assert one.rules.split() == list(rules)
        assert one.variant in {NETWORKS["VARIANTS"][variant] for variant in variants}


def test_a_training_gives_the_same_on_a_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        NETWORKS["main"](["words", "plain"])
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
