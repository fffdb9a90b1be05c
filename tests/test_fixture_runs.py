"""What each fixture claims about its run is what is seen, and is no longer so after the fix.

All programs are run for the first of these tests, in as many processes at a time as there are cores. The tests of this
file stay in one process, as conftest.py has it. The verdicts of programs that passed are kept in pytest's cache, and only
what has changed since (the program, the `verify` package, torch, NumPy or Python) is run again; a clean checkout, as
in CI, has none, and `--cache-clear` forgets them.
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from fixture_format import FOLDER, all_fixtures
from kept_verdicts import KeptVerdicts
from test_fix_proofs import NO_CHANGE, NOT_SHOWN

from torchrepro_lint.verify.fixtures.claims import Claim, NotShown, RunsAgree
from torchrepro_lint.verify.fixtures.fixture import Fixture, find_fixtures, read_fixture
from torchrepro_lint.verify.fixtures.judge import Outcome
from torchrepro_lint.verify.fixtures.suite import Plan, Row, verify

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the programs need torch"),
]

EVERY = find_fixtures([FOLDER])
TWINS = [fixture for fixture in all_fixtures() if fixture.twin is not None]


def faults(fixture: Fixture) -> list[Claim]:
    """What the bad program of a fixed one claims about its run on the CPU, and the fixed one does not."""
    bad = next((one for one in TWINS if one.twin == fixture.path), None)
    claims = bad.claims if bad is not None else ()
    return [
        claim
        for claim in claims
        if claim.device != "cuda" and claim not in fixture.claims and not isinstance(claim.observation, NotShown)
    ]


def and_the_faults(fixture: Fixture) -> Fixture:
    """The fixture with the claims that must not all be true of it any more."""
    return replace(fixture, claims=(*fixture.claims, *faults(fixture)))


def skip_without_what_it_needs(fixture: Fixture) -> None:
    if fixture.missing:
        pytest.skip(f"needs {', '.join(fixture.missing)}")


def is_settled(rows: list[Row]) -> bool:
    """Whether all that a program claims of itself was seen, and every other claim could be judged."""
    own = read_fixture(rows[0].fixture.path).claims
    fine = (Outcome.PASSED, Outcome.NOT_SHOWN)
    return all(row.verdict.outcome in (fine if row.claim in own else (*fine, Outcome.FAILED)) for row in rows)


def by_most_runs(fixtures: list[Fixture]) -> dict[int, list[Fixture]]:
    """Programs by how often they are run at most while their runs agree.

    A program that claims itself that its runs differ is run until they do. One that is fixed is tried with the claim of
    the bad program that they differ, which is to fail: two runs that agree say so, and more would be made of all of them.
    """
    plan = Plan(devices=("cpu",), available=("cpu",))
    groups: dict[int, list[Fixture]] = {}
    for fixture in fixtures:
        own = read_fixture(fixture.path).claims
        differs = any(isinstance(one.observation, RunsAgree) and not one.observation.agree for one in own)
        groups.setdefault(plan.most_runs if differs else plan.runs, []).append(fixture)
    return groups


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> dict[Path, list[Row]]:
    """All claims on the CPU of the programs that the selected tests ask about, from one run of them all."""
    asked: set[Path] = set()
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.path == request.path:
            fixture = item.callspec.params["fixture"]
            asked |= {fixture.path, fixture.twin or fixture.path}
    chosen = [and_the_faults(fixture) for fixture in EVERY if fixture.path in asked]
    kept = KeptVerdicts(request.config)
    rows = {fixture.path: known for fixture in chosen if (known := kept.get(fixture)) is not None}
    made: dict[Path, list[Row]] = {}
    missing = [fixture for fixture in chosen if fixture.path not in rows]
    for most_runs, fixtures in by_most_runs(missing).items():
        for row in verify(fixtures, Plan(devices=("cpu",), available=("cpu",), most_runs=most_runs)):
            made.setdefault(row.fixture.path, []).append(row)
    kept.add(rows for rows in made.values() if is_settled(rows))
    return rows | made


@pytest.mark.parametrize("fixture", EVERY, ids=lambda fixture: fixture.name)
def test_the_claims_hold_on_the_cpu(fixture: Fixture, rows: dict[Path, list[Row]]) -> None:
    cpu_claims = [claim for claim in fixture.claims if claim.device != "cuda"]
    skip_without_what_it_needs(fixture)
    verdicts = {row.claim: row.verdict for row in rows.get(fixture.path, []) if row.claim in fixture.claims}
    assert list(verdicts) == cpu_claims
    for claim, verdict in verdicts.items():
        wanted = Outcome.NOT_SHOWN if isinstance(claim.observation, NotShown) else Outcome.PASSED
        assert verdict.outcome is wanted, f"{claim.text}: {verdict.observed}"


@pytest.mark.parametrize(
    "fixture",
    [one for one in TWINS if one.path.stem not in NO_CHANGE and one.rule not in NOT_SHOWN],
    ids=lambda fixture: fixture.name,
)
def test_the_fault_is_gone_after_the_fix(fixture: Fixture, rows: dict[Path, list[Row]]) -> None:
    """The claims of the bad program are tried on the fixed one, which is what `--fix` writes: they do not all hold."""
    assert fixture.twin is not None
    (twin,) = find_fixtures([fixture.twin])
    gone = faults(twin)
    skip_without_what_it_needs(fixture)
    if not gone:
        pytest.skip("; ".join(claim.text for claim in fixture.claims))
    verdicts = [row.verdict for row in rows.get(twin.path, []) if row.claim in gone]
    assert len(verdicts) == len(gone)
    assert any(verdict.outcome is Outcome.FAILED for verdict in verdicts)
