from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.source.beside import files_beside
from torchrepro_lint.source.line_length import line_length_of

CASES = [
    ({"pyproject.toml": "[tool.black]\nline-length = 100\n"}, 100),
    ({"pyproject.toml": "[tool.ruff]\nline-length = 110\n"}, 110),
    (
        {
            "pyproject.toml": "[tool.black]\ntarget-version = ['py310']\n",
            ".flake8": "[flake8]\nmax-line-length = 120\n",
        },
        88,
    ),
    ({"pyproject.toml": "[tool.ruff]\nfix = true\n[tool.ruff.format]\nquote-style = 'single'\n"}, 88),
    ({"pyproject.toml": "[tool.ruff]\nfix = true\n"}, None),
    ({"ruff.toml": "line-length = 99\n", "pyproject.toml": "[tool.black]\nline-length = 100\n"}, 99),
    ({"setup.cfg": "[flake8]\nmax-line-length = 79\n"}, 79),
    ({"tox.ini": "[flake8]\nmax_line_length=79\n"}, 79),
    ({".flake8": "[flake8]\nmax-line-length = 120\n", "setup.cfg": "[yapf]\ncolumn_limit = 90\n"}, 90),
    ({".style.yapf": "[style]\ncolumn_limit = 100\n"}, 100),
    ({"setup.cfg": "[flake8]\nmax-line-length = 100000\n"}, None),
    ({"pyproject.toml": "[tool.black\nline-length"}, None),
    ({"pyproject.toml": "tool = 3\n", "setup.cfg": "no section\n"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("files", "expected"), CASES)
def test_line_length(tmp_path: Path, files: dict[str, str], expected: int | None) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert line_length_of(tmp_path) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": "[tool.black]\nline-length = 100\n", ".git/HEAD": "", "part/setup.py": ""}, 100),
        ({"pyproject.toml": "[tool.black]\nline-length = 100\n", "part/setup.py": ""}, None),
        (
            {"ruff.toml": "line-length = 100\n", ".git/HEAD": "", "part/setup.cfg": "[flake8]\nmax-line-length = 79\n"},
            79,
        ),
        ({"ruff.toml": "line-length = 100\n", ".git/HEAD": "", "part/.git/HEAD": ""}, None),
    ],
    ids=["top", "no repository", "nearer", "another repository"],
)
def test_a_part_of_a_repository_is_formatted_as_the_whole(write, files: dict[str, str], expected: int | None) -> None:
    root = write({"part/model.py": "", **files})
    assert line_length_of(root / "part") == expected


def test_what_is_said_above_belongs_to_what_a_kept_result_rests_on(write) -> None:
    root = write({"pyproject.toml": "", ".git/HEAD": "", "part/setup.py": "", "part/model.py": ""})
    assert files_beside(root / "part") == {root / "pyproject.toml", root / "part/setup.py"}
