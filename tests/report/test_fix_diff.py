from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from report_examples import OTHER, PATH, PLAIN, finding, texts

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.report.fix_diff import fix_diff
from torchrepro_lint.source.text import split_lines

_SHOWN = re.compile(r" *(\d+)(?: ([-+]) ?|   |$)(.*)")


def diff(text: str, *edits: Edit) -> list[str]:
    return list(fix_diff(finding(Fix(Applicability.SAFE, "mend", edits)), texts(text), PLAIN))


def test_lines_that_go_and_come_with_their_numbers() -> None:
    text = "import a\n\n\nx = f(1)\ny = 2\n"
    assert diff(text, Edit(PATH, 0, 0, "import b\n"), Edit(PATH, 18, 18, ", 2")) == [
        "1 + import b",
        "…",
        "4 - x = f(1)",
        "5 + x = f(1, 2)",
    ]


def test_a_line_between_two_changes_neither_goes_nor_comes() -> None:
    text = "import a\n\nimport c\n"
    assert diff(text, Edit(PATH, 9, 9, "import b\n"), Edit(PATH, 10, 10, "import bb\n")) == [
        "2 + import b",
        "3",
        "4 + import bb",
    ]


def test_insertions_at_one_place_stay_in_their_order() -> None:
    assert diff("x\n", Edit(PATH, 0, 0, "b\n"), Edit(PATH, 0, 0, "a\n")) == ["1 + b", "2 + a"]


def test_another_file_is_named() -> None:
    assert diff("x\n", Edit(OTHER, 0, 0, "import b\n")) == ["src/data.py:", "1 + import b"]


def test_what_a_terminal_must_not_see_is_not_shown() -> None:
    assert diff("x\n", Edit(PATH, 0, 0, "'\x1b[31m'\n")) == ["1 + '�[31m'"]


@given(
    st.lists(st.sampled_from(["a", "b = 1", "", "    c"]), max_size=12),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8), st.sampled_from(["", "x", "\n", "y\nz"])), max_size=4),
)
def test_the_lines_shown_make_the_new_text(lines: list[str], wanted: list[tuple[int, int, str]]) -> None:
    """Read as a patch, by its numbers, what is shown leads from the old lines to the new."""
    text = "".join(line + "\n" for line in lines)
    edits: list[Edit] = []
    done = 0
    for start, size, content in sorted(wanted):
        if done <= start <= len(text):
            done = min(start + size, len(text))
            edits.append(Edit(PATH, start, done, content))
            done += 1
    new = [line.rstrip("\n") for line in split_lines(apply_edits(text, edits))]
    gone, come = {}, {}
    for line in diff(text, *edits):
        if line == "…":
            continue
        number, sign, code = _SHOWN.fullmatch(line).groups()
        if sign is None:
            assert new[int(number) - 1].rstrip() == code
            continue
        (gone if sign == "-" else come)[int(number)] = code
    kept = iter(line for row, line in enumerate(lines, 1) if row not in gone)
    rebuilt = [come[row] if row in come else next(kept) for row in range(1, len(new) + 1)]
    assert [line.rstrip() for line in rebuilt] == [line.rstrip() for line in new]
    assert next(kept, None) is None
