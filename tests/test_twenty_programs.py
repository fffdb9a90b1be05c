"""Twenty faults that are often made, a program for each, two for two of them, and its repaired twin: exactly one
finding, that of the fault, in the default profile and where every rule speaks; none in the twin.

A fault whose rule is of the `strict` profile is silent in the default one.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from fixture_format import FOLDER, Places, expected, found

from torchrepro_lint.rules import all_rules
from torchrepro_lint.verify.fixtures.fixture import Fixture, read_fixture

with Path(__file__).with_name("twenty_programs.tsv").open(encoding="utf-8", newline="") as file:
    PROGRAMS = list(csv.DictReader(file, delimiter="\t"))

each_program = pytest.mark.parametrize("row", PROGRAMS, ids=lambda row: row["fault"])
each_profile = pytest.mark.parametrize("profile", ["default", "strict"])


@each_program
@each_profile
def test_the_fault_is_reported_once(row: dict[str, str], profile: str) -> None:
    fixture = _in_profile(row["folder"], row["bad"], profile)
    speaks = profile == "strict" or _profile_of(fixture.rule) == "default"
    places = found(fixture)
    assert places == (expected(fixture) if speaks else Counter())
    assert [code for _, _, code in places.elements()] == [fixture.rule] * speaks


@each_program
@each_profile
def test_the_twin_is_clean(row: dict[str, str], profile: str) -> None:
    assert found(_in_profile(row["folder"], row["twin"], profile)) == Places()


def _in_profile(folder: str, name: str, profile: str) -> Fixture:
    fixture = read_fixture(FOLDER / folder / name)
    others = (line for line in fixture.settings if not line.startswith("profile"))
    return replace(fixture, settings=(*others, f'profile = "{profile}"'))


def _profile_of(code: str) -> str:
    return next(rule.profile for rule in all_rules() if rule.code == code)
