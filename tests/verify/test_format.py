"""Reading fixtures: headers, expectations, discovery, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.verify.claims import RunsAgree
from torchrepro_lint.verify.fixtures import (
    FixtureError,
    expectations,
    find_fixtures,
    header_length,
    read_fixture,
    strip_marks,
)

PROGRAM = """\
# about: One case.
# about: From an article.
# claim: batches agree between runs
# settings: profile = "strict"
# a comment of the program
import torch

loader = DataLoader(d)  # expect: TRL101, TRL201
"""


def case(folder: Path, name: str, text: str = PROGRAM) -> Path:
    path = folder / "TRL101_numpy_rng_in_workers" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_header_is_read(tmp_path: Path) -> None:
    fixture = read_fixture(case(tmp_path, "bad_one.py"))
    assert (fixture.rule, fixture.kind, fixture.name) == ("TRL101", "bad", "TRL101_numpy_rng_in_workers/bad_one")
    assert fixture.about == "One case. From an article."
    assert [claim.observation for claim in fixture.claims] == [RunsAgree("batches", True)]
    assert fixture.settings == ('profile = "strict"',)
    assert fixture.alone and fixture.entry == fixture.path and fixture.files == (fixture.path,)


def test_expectations_stand_on_their_line() -> None:
    assert expectations(PROGRAM) == Counter({(8, "TRL101"): 1, (8, "TRL201"): 1})
    assert expectations("f(x)  # expect: TRL401, TRL401\n") == Counter({(1, "TRL401"): 2})
    assert expectations("f(x)  # expect: trl401\ng()  # TRL401\n") == Counter()
    assert expectations("f(x)  # expect: TRL401\r\ny\r\n") == Counter({(1, "TRL401"): 1})


def test_the_program_alone() -> None:
    assert header_length(PROGRAM) == 4
    assert strip_marks(PROGRAM) == "# a comment of the program\nimport torch\n\nloader = DataLoader(d)\n"


@given(st.lists(st.sampled_from(["x = 1", "f()  # a comment", "", "    y = 2", "# claim: in the text"]), max_size=8))
def test_marks_come_off_and_nothing_else(lines: list[str]) -> None:
    body = "import torch\n" + "".join(f"{line}\n" for line in lines)
    marked = "# about: x\n# claim: output agrees between runs\n" + body.replace("f()  #", "f()  # expect: TRL401\n#")
    assert strip_marks(marked) == body.replace("f()  #", "f()\n#")


def test_a_folder_is_one_program(tmp_path: Path) -> None:
    folder = tmp_path / "TRL101_numpy_rng_in_workers" / "bad_package"
    (folder / "data").mkdir(parents=True)
    (folder / "main.py").write_text(PROGRAM)
    (folder / "data" / "bad_name.py").write_text("x = 1\n")
    (fixture,) = find_fixtures([tmp_path])
    assert not fixture.alone and fixture.entry == folder / "main.py"
    assert fixture.files == (folder / "data" / "bad_name.py", folder / "main.py")


def test_each_fixture_once_in_order(tmp_path: Path) -> None:
    one, two = case(tmp_path, "bad_one.py"), case(tmp_path, "fixed_one.py")
    found = find_fixtures([two, tmp_path, tmp_path / one.parent.name])
    assert [fixture.path for fixture in found] == [one, two]
    assert [fixture.twin for fixture in found] == [two, None]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bad_one.py", "import torch\n"),
        ("bad_one.py", "# about: x\nimport torch\n"),
        ("bad_one.py", "# claim: epochs repeat\n"),
        ("bad_one.py", "# about: x\n# claim: all is well\n"),
    ],
)
def test_a_header_that_does_not_say_it_all(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(FixtureError):
        find_fixtures([case(tmp_path, name, text)])


def test_a_fixture_stands_in_the_folder_of_its_rule(tmp_path: Path) -> None:
    path = tmp_path / "bad_one.py"
    path.write_text(PROGRAM)
    with pytest.raises(FixtureError, match="TRLnnn"):
        find_fixtures([path])


def test_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match="no such"):
        find_fixtures([tmp_path / "absent"])
