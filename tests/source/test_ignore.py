"""Patterns of .gitignore files: what git says, in any order, and in no more time than they are long."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchrepro_lint.regular_files import collected_notices
from torchrepro_lint.source import ignore
from torchrepro_lint.source.glob_match import Glob
from torchrepro_lint.source.ignore import Layer, gitignore_layer

BASE = Path("/base")
NAMES = ["a", "ab", "b.py", "c.tar.gz", ".x", "aXb"]
PATTERNS = [
    "a", "/a", "a/", "/a/", "a/b.py", "*.py", "*.tar.gz", "*.gz", "!a", "!*.py", "!a/b.py", "a/*", "a/**", "**/a", "**/a/b.py",
    "a/**/b.py", "*a*b*", "?b", "[a-c]b", "a*", "**/*.py", "a/**/*b*/*", "\\a", ".x", "/ab/", "!/ab", "!*.gz", "*", "!*/", "# a", "",
    "[!a]*[b]*.*", "**/**/a/*?*",
]  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=6), st.lists(PATHS, min_size=1, max_size=12))
def test_the_verdict_is_that_of_git(tree: Path, lines: list[str], paths: list[str]) -> None:
    (tree / ".gitignore").write_text("\n".join(lines) + "\n")
    asked = "\0".join(paths) + "\0"
    said = subprocess.run(
        ["git", "-C", tree, "check-ignore", "-z", "--no-index", "--stdin"], input=asked, capture_output=True, text=True
    )
    ignored = set(filter(None, said.stdout.split("\0")))
    layer = Layer(BASE, lines)
    for path in paths:
        parts = path.split("/")
        # As the walk does it: a folder that is left out is not entered.
        left_out = any(
            layer.verdict(f"/base/{'/'.join(parts[:end])}", end < len(parts)) for end in range(1, len(parts) + 1)
        )
        assert left_out == (path in ignored), (lines, path)


@pytest.mark.parametrize(
    "line", ["*a" * 60 + "b", "**/a/" * 25 + "b", "*a*/" * 20 + "b", "?*" * 40, "a/**/" * 30 + "*b"]
)
def test_patterns_that_would_backtrack_end(line: str) -> None:
    layer = Layer(BASE, [line])
    start = time.process_time()
    for path in ("a" * 250, "/".join(["a"] * 60), "/".join(["a" * 60] * 20)):
        layer.verdict(f"/base/{path}", False)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("line", ["build/x{}.o", "x{}", "*.x{}", "x{}/", "/x{}", "!keep{}", "x?{}"])
def test_a_file_of_any_number_of_lines_is_read_in_seconds(tmp_path: Path, line: str) -> None:
    (tmp_path / ".gitignore").write_text("".join(line.format(number) + "\n" for number in range(100_000)))
    start = time.process_time()
    with collected_notices() as notices:
        layer = gitignore_layer(tmp_path)
        assert layer is not None
        for number in range(100):
            layer.verdict(f"{tmp_path}/a{number}.py", False)
    assert time.process_time() - start < 4
    assert set(notices) <= {tmp_path / ".gitignore"}


def test_a_later_pattern_decides_over_an_earlier_one() -> None:
    layer = Layer(BASE, ["*.py", "!keep.py", "keep.py/", "a/keep.py"])
    assert layer.verdict("/base/x.py", False) is True
    assert layer.verdict("/base/keep.py", False) is False
    assert layer.verdict("/base/keep.py", True) is True
    assert layer.verdict("/base/a/keep.py", False) is True


def test_more_patterns_than_are_looked_at_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ignore, "_MOST_PATTERNS", 2)
    (tmp_path / ".gitignore").write_text("x\na?\nb?\nc?\n")
    with collected_notices() as notices:
        layer = gitignore_layer(tmp_path)
        assert layer is not None
        assert [layer.verdict(f"{tmp_path}/{name}", False) for name in ("a1", "b1", "c1", "x")] == [
            True,
            True,
            None,
            True,
        ]
    assert "more patterns than are looked at" in notices[tmp_path / ".gitignore"]


@pytest.mark.parametrize("line", ["[z-a]*a*b*", "*[[:foo:]*]*x*"])
def test_what_git_cannot_read_says_nothing(line: str) -> None:
    assert Layer(BASE, [line, "b"]).verdict("/base/b", False) is True
    try:
        Glob(line)
    except ValueError:
        return
