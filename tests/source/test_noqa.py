from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Finding, Location, Position, Severity
from torchrepro_lint.source.noqa import read_directives


def finding(row: int = 1, rows: tuple[int, int] | None = None) -> Finding:
    location = Location(Path("a.py"), Position(row, 1), Position(row, 2))
    return Finding("TRL101", "numpy-rng-in-workers", "m", Severity.ERROR, location, statement_rows=rows)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NoQA",
        "# noqa: TRL101",
        "# noqa:TRL101",
        "# NOQA:trl101",
        "# noqa: TRL",
        "# noqa: TRL1",
        "# noqa: E501, TRL101",
        "# noqa: E501,TRL101,W1",
        "# noqa: E501 TRL101",
        "# noqa: TRL101 the seeds come from elsewhere",
        "# noqa: numpy-rng-in-workers",
        "# noqa: E501, numpy-rng-in-workers",
        "# type: ignore  # noqa: TRL101",
        "# noqa : TRL202",  # as in flake8: what follows is no list, all is silenced
        "# noqa: because",
    ],
)
def test_silenced(comment: str) -> None:
    assert read_directives(f"x = 1  {comment}\n").silencing(finding())


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # noqa: TRL102",
        "x = 1  # noqa: E501",
        "x = 1  # noqa: TRL1011",
        "x = 1  # noqa: dataloader-without-generator",
        "x = '# noqa'",
        "x = 'a' '''# noqa: TRL101'''",
        "x = 1  # no qa",
        "x = 1\n# noqa",
        "# flake8: noqa: TRL102\n",
        "x = 1  # flake8: noqa: TRL102",
        "x = '''\n# flake8: noqa\n'''",
    ],
)
def test_not_silenced(line: str) -> None:
    assert not read_directives(f"{line}\n").silencing(finding())


@pytest.mark.parametrize(
    "line",
    [
        "# flake8: noqa",
        "  # flake8: NOQA",
        "# flake8: noqa: TRL101",
        "# flake8:noqa:E501,TRL1",
        "# torchrepro-lint: noqa",
    ],
)
def test_whole_files(line: str) -> None:
    assert read_directives(f"x = 1\nif x:\n    y = 1\n{line}\n").silencing(finding(1))


def test_any_row_of_the_statement_counts() -> None:
    text = "x = f(\n    1,\n    2,  # noqa: TRL101\n)\ny = 1\n"
    directives = read_directives(text)
    assert directives.silencing(finding(1))
    assert directives.silencing(finding(4))
    assert not directives.silencing(finding(5))
    assert directives.silencing(finding(5, (3, 5)))


def test_the_head_of_a_compound_statement_is_not_its_body() -> None:
    directives = read_directives("for x in f(\n    1,\n):\n    g(x)  # noqa\n    h(x)\n")
    assert not directives.silencing(finding(1))
    assert directives.silencing(finding(4))
    assert not directives.silencing(finding(5))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_rows_do_not_depend_on_line_endings(newline: str) -> None:
    directives = read_directives(newline.join(["a = 1", "\fb = 2  # noqa", "c = 3", ""]))
    assert [row for row in (1, 2, 3) if directives.silencing(finding(row))] == [2]


def test_a_file_that_does_not_tokenize() -> None:
    directives = read_directives("a = 1  # noqa\nb = (\nc = '# noqa\nd = 2  # noqa: TRL101\n")
    assert directives.silencing(finding(1))
    assert directives.silencing(finding(4))
    assert not directives.silencing(finding(2))
