"""Which constructs of Python each analysis follows: every cell of the table, against the list of known gaps."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from constructs import marks
from constructs.cells import bad, constructs, left_out, twins, with_ends
from constructs.clients import CLIENTS, Client
from constructs.gap_list import FILE, PAGE, as_text, known_gaps, section, with_section
from constructs.measure import gaps_of


@pytest.mark.exhaustive
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name.replace(" ", "-"))
def test_what_is_followed_is_what_the_list_says(client: Client, tmp_path: Path) -> None:
    known = {(construct, gap) for construct, name, gap in known_gaps() if name == client.name}
    found = gaps_of(client, constructs(), tmp_path)
    broken, mended = sorted(found - known), sorted(known - found)
    assert not broken, "not followed any more"
    assert not mended, "followed now: `python -m tests.constructs --update` takes these off the list"


def test_the_page_on_limits_says_what_the_list_says() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_section(page, section(known_gaps())) == page, "`python -m tests.constructs --update` writes it"


def test_the_list_is_in_order() -> None:
    assert FILE.read_text(encoding="utf-8") == as_text(known_gaps())


def test_each_program_is_python() -> None:
    names = [construct.name for construct in constructs()]
    assert len(names) == len(set(names))
    for construct in constructs():
        for client in CLIENTS:
            if left_out(construct, client) is None:
                for files in (bad(construct, client), *twins(construct, client)):
                    for name, text in files.items():
                        compile(text, name, "exec")


@pytest.mark.parametrize("part", list(dict.fromkeys(construct.part for construct in constructs())))
def test_each_construct_carries_what_it_is_given(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["main.py"])
    for number, construct in enumerate(one for one in constructs() if one.part == part):
        root = tmp_path / str(number)
        for name, written in construct.files:
            path = root / name
            path.parent.mkdir(exist_ok=True, parents=True)
            ends = with_ends(written, "Mark()", "take_mark(VALUE)")
            path.write_text(f"from constructs.marks import Mark, take as take_mark\n{ends}\n", encoding="utf-8")
        marks.arrived.clear()
        before = set(sys.modules)
        with monkeypatch.context() as patched:
            patched.syspath_prepend(root)
            runpy.run_path(str(root / "main.py"), run_name="__main__")
        for name in set(sys.modules) - before:
            if str(root) in str(getattr(sys.modules[name], "__file__", None)):
                del sys.modules[name]
        assert marks.Mark() in marks.arrived, construct.name
