"""Each fixture says what is found in it, what its fix makes of it, and what is seen when it runs: held to it here."""

from __future__ import annotations

import importlib.util
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from fixture_format import (
    FOLDER,
    all_fixtures,
    as_places,
    expected,
    fixed_texts,
    found,
    known_codes,
    plain_texts,
)
from test_fix_proofs import NO_CHANGE, NOT_SHOWN

from torchrepro_lint.engine import check
from torchrepro_lint.verify.fixtures.claims import Claim, NotShown
from torchrepro_lint.verify.fixtures.fixture import Fixture, expectations, find_fixtures
from torchrepro_lint.verify.fixtures.judge import Outcome
from torchrepro_lint.verify.fixtures.suite import Plan, Row, verify

EVERY = find_fixtures([FOLDER])
CHECKED = all_fixtures()
UNFIXED = [fixture for fixture in CHECKED if fixture.kind == "bad" and fixture.twin is None]
TWINS = [fixture for fixture in CHECKED if fixture.twin is not None]

each_checked = pytest.mark.parametrize("fixture", CHECKED, ids=lambda fixture: fixture.name)
each_twin = pytest.mark.parametrize("fixture", TWINS, ids=lambda fixture: fixture.name)


@each_checked
def test_exactly_what_is_expected_is_found(fixture: Fixture, tmp_path: Path) -> None:
    assert found(fixture, tmp_path) == expected(fixture)


@each_twin
def test_the_fix_gives_the_twin(fixture: Fixture, tmp_path: Path) -> None:
    assert fixture.twin is not None
    (twin,) = find_fixtures([fixture.twin])
    assert fixed_texts(fixture, tmp_path) == plain_texts(twin)


@pytest.mark.parametrize("fixture", UNFIXED, ids=lambda fixture: fixture.name)
def test_what_is_mended_whole_has_a_twin(fixture: Fixture, tmp_path: Path) -> None:
    """Where there is no twin, `--fix` writes nothing, or leaves something to be found."""
    changed = fixed_texts(fixture, tmp_path) != plain_texts(fixture)
    assert not changed or check([tmp_path / "program"]).findings


@each_twin
def test_a_second_fix_changes_nothing(fixture: Fixture, tmp_path: Path) -> None:
    (tmp_path / "once").mkdir()
    (tmp_path / "twice").mkdir()
    assert fixed_texts(fixture, tmp_path / "twice", times=2) == fixed_texts(fixture, tmp_path / "once")


def test_the_whole_folder_as_one_project() -> None:
    """Programs that stand beside each other do not lend each other their seeds or their worker functions."""
    plain = [fixture for fixture in CHECKED if not fixture.settings]
    files = [file for fixture in plain for file in fixture.files]
    wanted = Counter(
        {
            (file.relative_to(FOLDER).as_posix(), row, code): count
            for file in files
            for (row, code), count in expectations(file.read_text(encoding="utf-8")).items()
            if code in known_codes()
        }
    )
    assert as_places(check(files).findings, FOLDER) == wanted


def test_a_bad_program_expects_a_finding_and_the_others_none() -> None:
    for fixture in EVERY:
        codes = {code for file in fixture.files for _, code in expectations(file.read_text(encoding="utf-8"))}
        assert (fixture.rule in codes) is (fixture.kind == "bad"), fixture.name
        assert fixture.kind == "bad" or not codes, fixture.name


def test_a_fixed_program_has_its_bad_one() -> None:
    twins = {fixture.twin for fixture in EVERY}
    assert [fixture.name for fixture in EVERY if fixture.kind == "fixed" and fixture.path not in twins] == []


def test_each_rule_with_fixtures_has_a_bad_and_a_good_one() -> None:
    for code in {fixture.rule for fixture in CHECKED} - {"TRL900"}:
        assert {"bad", "good"} <= {fixture.kind for fixture in CHECKED if fixture.rule == code}, code


def test_programs_are_independent_of_the_tool() -> None:
    for fixture in EVERY:
        for file in fixture.files:
            assert "torchrepro" not in file.read_text(encoding="utf-8"), file


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


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> dict[Path, list[Row]]:
    """All claims on the CPU of the programs that the selected tests ask about, from one run of them all."""
    asked: set[Path] = set()
    for item in request.session.items:
        # Other files have tests with an argument of this name that is none of ours.
        if isinstance(item, pytest.Function) and item.path == request.path and "rows" in item.fixturenames:
            fixture = item.callspec.params["fixture"]
            asked |= {fixture.path, fixture.twin or fixture.path}
    chosen = [and_the_faults(fixture) for fixture in EVERY if fixture.path in asked]
    rows: dict[Path, list[Row]] = {}
    for row in verify(chosen, Plan(devices=("cpu",), available=("cpu",))):
        rows.setdefault(row.fixture.path, []).append(row)
    return rows


@pytest.mark.verify
@pytest.mark.xdist_group("runs of the fixtures")  # made once, in as many processes as there are cores
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the programs need torch")
@pytest.mark.parametrize("fixture", EVERY, ids=lambda fixture: fixture.name)
def test_the_claims_hold_on_the_cpu(fixture: Fixture, rows: dict[Path, list[Row]]) -> None:
    cpu_claims = [claim for claim in fixture.claims if claim.device != "cuda"]
    verdicts = {row.claim: row.verdict for row in rows.get(fixture.path, []) if row.claim in fixture.claims}
    assert list(verdicts) == cpu_claims
    for claim, verdict in verdicts.items():
        wanted = Outcome.NOT_SHOWN if isinstance(claim.observation, NotShown) else Outcome.PASSED
        assert verdict.outcome is wanted, f"{claim.text}: {verdict.observed}"


@pytest.mark.verify
@pytest.mark.xdist_group("runs of the fixtures")  # made once, in as many processes as there are cores
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the programs need torch")
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
    if not gone:
        pytest.skip("; ".join(claim.text for claim in fixture.claims))
    verdicts = [row.verdict for row in rows.get(twin.path, []) if row.claim in gone]
    assert len(verdicts) == len(gone)
    assert any(verdict.outcome is Outcome.FAILED for verdict in verdicts)
