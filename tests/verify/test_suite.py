"""Which runs the claims of a program need. Nothing is run: what would be is written down."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from torchrepro_lint.verify import suite
from torchrepro_lint.verify.claims import parse_claims
from torchrepro_lint.verify.fixtures import Fixture
from torchrepro_lint.verify.record import Record
from torchrepro_lint.verify.runner import Condition, Run
from torchrepro_lint.verify.suite import Plan

PLAIN = [Condition("cpu", hash_seed=number) for number in (1, 2, 3)]
USUAL, *OTHERS = multiprocessing.get_all_start_methods()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Condition]:
    conditions: list[Condition] = []

    def run_program(folder: Path, script: str, condition: Condition, *, timeout: float, alone: bool) -> Run:
        conditions.append(condition)
        return Run(condition, Record(ended=True), b"1", None, "")

    monkeypatch.setattr(suite, "run_program", run_program)
    return conditions


def program(*claims: str) -> Fixture:
    parsed = tuple(claim for text in claims for claim in parse_claims(text))
    return Fixture(Path("TRL101_numpy_rng_in_workers/bad_case.py"), "TRL101", "bad", "A case.", parsed, ())


def verify(*claims: str, runs: int = 2) -> list[str]:
    """What was observed, for each claim."""
    plan = Plan(("cpu",), ("cpu",), runs=runs, jobs=1)
    return [row.verdict.observed for row in suite.verify([program(*claims)], plan)]


def test_what_is_compared_between_runs_takes_as_many_as_are_asked_for(made: list[Condition]) -> None:
    assert verify("output agrees between runs", runs=3) == ["output agreed in 3 runs"]
    assert made == PLAIN


def test_what_is_seen_within_a_run_takes_one(made: list[Condition]) -> None:
    verify("prints 1", "epochs differ", "switch torch.backends.cudnn.benchmark is True", runs=3)
    assert made == PLAIN[:1]


def test_claims_share_their_runs(made: list[Condition]) -> None:
    verify("prints 1", "output agrees between runs")
    assert made == PLAIN[:2]


def test_another_seed_is_one_more_run(made: list[Condition]) -> None:
    verify("draws follow torch.manual_seed")
    assert made == [*PLAIN[:2], Condition("cpu", perturb="torch.manual_seed")]


def test_the_start_method_that_is_the_usual_one_needs_no_runs_of_its_own(made: list[Condition]) -> None:
    verify(
        "output agrees between runs", f"[{USUAL}] workers differ", *(f"[{other}] workers differ" for other in OTHERS)
    )
    assert made == [*PLAIN[:2], *(Condition("cpu", other) for other in OTHERS)]


def test_a_fault_in_any_run_counts_for_every_claim(made: list[Condition], monkeypatch: pytest.MonkeyPatch) -> None:
    def run_program(folder: Path, script: str, condition: Condition, *, timeout: float, alone: bool) -> Run:
        return Run(condition, Record(ended=True), f"{condition.hash_seed}".encode(), None, "")

    monkeypatch.setattr(suite, "run_program", run_program)
    assert verify("output differs between runs", "prints 1") == ["output differed", "not printed by every run"]
