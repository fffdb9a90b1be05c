from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import OTHER, PATH, PLAIN, SAFE, UNSAFE, at, finding, report, texts

from torchrepro_lint.console import printable
from torchrepro_lint.diagnostics import Finding, Location, Position, Severity, TraceStep
from torchrepro_lint.report.colours import Colours, wants_colour
from torchrepro_lint.report.frames import WIDTH, code_frame, shown_line
from torchrepro_lint.report.summary import fix_summary, list_fixes, statistics, statistics_text, summary
from torchrepro_lint.report.text import concise, full
from torchrepro_lint.report.texts import Texts


def frame(text: str, location: Location) -> list[str]:
    return list(code_frame(location, texts(text), PLAIN))


def test_full() -> None:
    assert full(finding(SAFE), texts(), PLAIN, True) == (
        "src/train.py:5:14: TRL101 [*] workers repeat\n"
        "  |\n"
        "3 | def main():\n"
        "4 |     ds = Data()\n"
        "5 |     loader = DataLoader(ds, num_workers=4)\n"
        "  |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "6 |\n"
        "7 |     return loader\n"
        "  |\n"
        "  because:\n"
        "    src/train.py:4:10: the dataset is Data\n"
        "      | ds = Data()\n"
        "      src/data.py:2:1: its __getitem__ draws\n"
        "        | np.random.rand()\n"
        "  fix: insert seed_worker\n"
        "     3 +\n"
    )


def test_what_is_said_about_fixes() -> None:
    assert "  fix: insert seed_worker (needs --unsafe-fixes)\n" in full(finding(UNSAFE), texts(), PLAIN, False)
    assert "  fix declined: the loader is shared\n" in full(
        finding(None, "the loader is shared"), texts(), PLAIN, False
    )
    assert "fix" not in full(finding(), texts(), PLAIN, False)
    assert full(finding(), texts(), PLAIN, False).endswith(
        "  to do: Pass a `worker_init_fn` that seeds NumPy with `torch.initial_seed() % 2**32`.\n"
    )


def test_concise() -> None:
    assert concise(finding(), texts(), PLAIN, False) == "src/train.py:5:14: TRL101 workers repeat"
    assert concise(finding(SAFE), texts(), PLAIN, True) == "src/train.py:5:14: TRL101 [*] workers repeat"


def test_names_of_files_elsewhere_and_odd_ones() -> None:
    assert texts().name(Path("/elsewhere/a.py")) == "/elsewhere/a.py"
    assert texts().name(Path("/project/a\nb\x1b[31m.py")) == "a\\nb\\x1b[31m.py"
    assert printable("é中") == "é中"


def test_colours_wrap_and_change_nothing_else() -> None:
    import re

    coloured = full(finding(SAFE), texts(), Colours(True), True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == full(finding(SAFE), texts(), PLAIN, True)


class Stream:
    def __init__(self, tty: bool) -> None:
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.mark.parametrize(
    ("choice", "tty", "environment", "expected"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", False, {"FORCE_COLOR": "0"}, False),
        ("auto", False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_when_there_is_colour(choice, tty: bool, environment, expected: bool) -> None:
    assert wants_colour(choice, Stream(tty), environment) is expected  # type: ignore[arg-type]


def test_tabs_and_wide_characters_are_aligned() -> None:
    # The four columns of the tab, six of code, six of the quoted characters, two of the comma.
    _, code, carets, _ = frame("\tx = f('中文', bad)\n", at(PATH, 1, 14, 17))
    assert code == "1 |     x = f('中文', bad)"
    assert carets == "  | " + " " * (4 + 6 + 6 + 2) + "^^^"


def test_combining_characters_take_no_room() -> None:
    lines = frame("e\u0301 = bad\n", at(PATH, 1, 6, 9))
    assert lines[1:3] == ["1 | e\u0301 = bad", "  |     ^^^"]


def test_what_a_terminal_must_not_see_is_not_shown() -> None:
    shown = frame("x = '\x1b[31m\u202e' + bad\n", at(PATH, 1, 16, 19))[1]
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_long_lines_are_clipped_around_the_place() -> None:
    line = "x = [" + "1, " * 100 + "bad, " + "2, " * 100 + "]"
    column = line.index("bad") + 1
    _, code, carets, _ = frame(line + "\n", at(PATH, 1, column, column + 3))
    assert len(code) <= WIDTH + len("1 | ") + 2
    assert code.startswith("1 | …")
    assert code.endswith("…")
    assert code[carets.index("^") : carets.rindex("^") + 1] == "bad"
    head = frame("bad" + line + "\n", at(PATH, 1, 1, 4))
    assert head[1].startswith("1 | badx = [1")
    assert head[2] == "  | ^^^"


def test_a_location_of_several_rows_is_underlined_on_its_first() -> None:
    lines = frame("a = f(\n    1,  \n)\n", Location(PATH, Position(1, 5), Position(3, 2)))
    assert lines == ["  |", "1 | a = f(", "  |     ^^", "2 |     1,", "3 | )", "  |"]


def test_places_that_are_not_there() -> None:
    assert frame("x\n", at(PATH, 9, 1)) == []
    assert list(code_frame(at(Path("/nowhere/a.py"), 1, 1), Texts(), PLAIN)) == []
    assert frame("x\n", at(PATH, 1, 50, 60))[2].strip().endswith("^")
    assert frame("", at(PATH, 1, 1)) == []


def test_blank_lines_at_the_edges_are_left_out() -> None:
    assert frame("\n\nbad\n\n\nx\n", at(PATH, 3, 1, 4)) == ["  |", "3 | bad", "  | ^^^", "  |"]


@given(st.text(max_size=300), st.integers(1, 310), st.integers(0, 20))
def test_any_line_can_be_framed(line: str, column: int, length: int) -> None:
    line = line.replace("\n", "").replace("\r", "")
    lines = frame(line + "\nnext\n", at(PATH, 1, column, column + length))
    assert all("\n" not in one for one in lines)
    assert any("^" in one for one in lines[2:3])
    assert "\n" not in shown_line(line)


def test_deep_chains_stop_going_in() -> None:
    steps = tuple(TraceStep(at(PATH, 4, 5), f"step {n}") for n in range(30))
    deep = Finding("TRL101", "n", "m", Severity.ERROR, at(PATH, 5, 14), steps)
    indents = [
        len(line) - len(line.lstrip()) for line in full(deep, texts(), PLAIN, False).splitlines() if "step" in line
    ]
    assert indents[:3] == [4, 6, 8]
    assert max(indents) == indents[-1] == 20


def warning() -> Finding:
    return replace(finding(), severity=Severity.WARNING)


def safe_only(one: Finding) -> bool:
    return one.fix is SAFE


@pytest.mark.parametrize(
    ("findings", "fixed", "expected"),
    [
        ([], [], ["All checks passed!"]),
        ([finding()], [], ["Found 1 error."]),
        ([finding(), finding()], [], ["Found 2 errors."]),
        ([warning(), finding(), warning(), finding(), warning()], [], ["Found 2 errors and 3 warnings."]),
        ([warning()], [], ["Found 1 warning."]),
        (
            [finding(SAFE), finding(SAFE), finding(UNSAFE)],
            [],
            ["Found 3 errors.", "[*] 2 fixable with --fix (1 more with --unsafe-fixes)."],
        ),
        ([finding(SAFE)], [], ["Found 1 error.", "[*] 1 fixable with --fix."]),
        ([finding(UNSAFE)], [], ["Found 1 error.", "No safe fixes (1 fixable with --fix --unsafe-fixes)."]),
        ([finding()], [finding(), warning()], ["Found 2 errors and 1 warning (2 fixed, 1 remaining)."]),
        ([], [finding()], ["Found 1 error (1 fixed, 0 remaining)."]),
    ],
)
def test_summary(findings: list[Finding], fixed: list[Finding], expected: list[str]) -> None:
    assert list(summary(findings, safe_only, fixed)) == expected


def test_statistics() -> None:
    findings = [
        finding(SAFE, code="TRL201"),
        finding(SAFE, code="TRL201"),
        finding(SAFE),
        finding(),
        finding(code="TRL301"),
    ]
    assert list(statistics_text(statistics(findings, safe_only))) == [
        "2\tTRL101\t[ ]\ta-name",
        "2\tTRL201\t[*]\ta-name",
        "1\tTRL301\t[ ]\ta-name",
    ]


def test_fix_summary() -> None:
    one, unsafe = finding(), finding(UNSAFE)

    def never(_: Finding) -> bool:
        return False

    assert fix_summary([one], [], never, written=False) == "Would fix 1 error."
    assert (
        fix_summary([one, warning()], [one, one], never, written=True) == "Fixed 1 error and 1 warning (2 remaining)."
    )
    left = [one, unsafe]
    assert fix_summary([], left, never, written=True) == "Fixed 0 errors (2 remaining, 1 fixable with --unsafe-fixes)."


def test_list_fixes() -> None:
    assert list(list_fixes([], texts(), written=True)) == []
    assert list(list_fixes([finding(code="TRL201"), finding(), finding()], texts(), written=True)) == [
        "Fixed 3 errors:", "- src/train.py:", "    2 x TRL101 (a-name)", "    1 x TRL201 (a-name)", ""
    ]  # fmt: skip


def test_grouped() -> None:
    elsewhere = Finding("TRL201", "n", "an order", Severity.WARNING, at(OTHER, 2, 1))
    assert report("grouped", [finding(SAFE), finding(), elsewhere]) == (
        "src/train.py:\n  5:14 TRL101 [*] workers repeat\n  5:14 TRL101 workers repeat\n\n"
        "src/data.py:\n  2:1 TRL201 an order\n\n"
    )
