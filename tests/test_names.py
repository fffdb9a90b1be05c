"""What a program's author calls things decides little: under other names, nearly all programs have the findings that they
have under their own.

names_needed.tsv lists the programs in which a name decides, the names, and why nothing else says it.
"""

from __future__ import annotations

import csv
import tempfile
from functools import cache
from pathlib import Path

import pytest
from fixture_format import all_fixtures, as_places, copied, expected, named
from renaming import renamed

from torchrepro_lint.engine import check
from torchrepro_lint.verify.fixtures.fixture import Fixture

pytestmark = pytest.mark.exhaustive

MOST_LOST, MOST_GAINED = 0.06, 0.06  # of the programs with a fault and without one


def _is_python(fixture: Fixture) -> bool:
    """Whether a program can be renamed: one that Python refuses has no names."""
    try:
        compile(fixture.path.read_text(encoding="utf-8"), fixture.path, "exec")
    except SyntaxError:
        return False
    return True


PROGRAMS = [
    one for one in all_fixtures() if one.alone and one.path.name.startswith(("bad_", "good_")) and _is_python(one)
]


@cache
def needed() -> dict[str, dict[str, str]]:
    """The rows of the list by program."""
    with Path(__file__).with_name("names_needed.tsv").open(encoding="utf-8", newline="") as file:
        return {row["program"]: row for row in csv.DictReader(file, delimiter="\t")}


@pytest.mark.parametrize("fixture", named(PROGRAMS))
def test_other_names_change_no_finding(fixture: Fixture) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = copied(fixture, Path(scratch))
        (file,) = root.rglob("*.py")
        file.write_text(renamed(file.read_text(encoding="utf-8")), encoding="utf-8")
        found = as_places(check([root, file]).findings, root)
    assert (found == expected(fixture)) == (fixture.name not in needed())


def test_in_few_programs_a_name_decides() -> None:
    rows = needed()
    assert rows.keys() <= {one.name for one in PROGRAMS}
    assert all(row["names"] and row["why"] for row in rows.values())
    for kind, most in (("bad_", MOST_LOST), ("good_", MOST_GAINED)):
        programs = [one for one in PROGRAMS if one.path.name.startswith(kind)]
        assert sum(one.name in rows for one in programs) <= most * len(programs)
