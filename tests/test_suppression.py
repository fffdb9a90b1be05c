"""What comments and settings silence, what is said of comments that silence nothing, and how these are mended."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import BrokenRule, WordRule, toolkit
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.diagnostics import Finding, Location, Position, Severity, TorchReproLintError
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.fixes.noqa_fix import silencing, without_words
from torchrepro_lint.settings import SettingsOverride
from torchrepro_lint.source.noqa import read_directives

BAD = WordRule("TRL101", "wrong-word", "bad", "good")
RISKY = WordRule("TRL102", "risky-word", "risky")
STRICT = WordRule("TRL403", "strict-word", "strict", profile="strict")
KIT = toolkit(BAD, RISKY, STRICT)


def found(text: str, tmp_path: Path, override: SettingsOverride | None = None, kit=KIT) -> list[str]:
    """Row, code and message of each finding in a file."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_text(f"import torch\n{text}", encoding="utf-8")
    findings = check([tmp_path / "a.py"], override, toolkit=kit).findings
    return [f"{one.location.start.row} {one.code} {one.message}" for one in findings]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = 1  # noqa: TRL101", "TRL101 finds nothing here"),
        ("x = 1  # noqa: wrong-word", "wrong-word finds nothing here"),
        ("risky  # noqa: TRL101, TRL102", "TRL101 finds nothing here"),
        ("x = 1  # noqa: TRL101, TRL102", "TRL101, TRL102 find nothing here"),
        ("x = 1  # noqa: TRL777", "TRL777 is no rule"),
        ("x = 1  # noqa: E501, TRL101, TRL9999", "TRL101 finds nothing here; TRL9999 is no rule"),
        ("# torchrepro-lint: noqa: TRL102", "TRL102 finds nothing in this file"),
        ("x = 1  # noqa: TRL900", "TRL900 finds nothing here"),
    ],
)
def test_what_silences_nothing_is_said(line: str, message: str, tmp_path: Path) -> None:
    assert found(line + "\n", tmp_path) == [f"2 TRL901 unused suppression: {message}"]


@pytest.mark.parametrize(
    "line",
    [
        "bad  # noqa: TRL101",
        "bad  # noqa: TRL1",
        "f(bad,\n  1)  # noqa: TRL101",
        "x = 1  # noqa",
        "x = 1  # noqa: E501, some-name",
        "x = 1  # noqa: TRL403",
        "x = 1  # noqa: TRL4",
        "x = 1  # noqa: TRL101, TRL901",
        "# torchrepro-lint: noqa\nx = 1  # noqa: TRL101",
        "x = '# noqa: TRL101'",
    ],
)
def test_innocent_comments(line: str, tmp_path: Path) -> None:
    assert found(line + "\n", tmp_path) == []


def test_a_rule_that_was_not_run_may_find_something(tmp_path: Path) -> None:
    line = "x = 1  # noqa: TRL101\n"
    assert found(line, tmp_path, {"select": ("TRL102", "TRL9")}) == []
    assert found(line, tmp_path, {"ignore": ("TRL101",)}) == []
    assert found(line, tmp_path, {"per_file_ignores": (("a.py", ("TRL101",)),)}) == []
    assert found(line, tmp_path, kit=toolkit(BrokenRule("TRL101", "wrong-word", "import"), RISKY))[-1:] != [
        "2 TRL901 unused suppression: TRL101 finds nothing here"
    ]
    assert found("x = 1  # noqa: TRL403\n", tmp_path, {"profile": "strict"}) != []


def test_the_rule_can_be_switched_off(tmp_path: Path) -> None:
    line = "x = 1  # noqa: TRL101\n"
    assert found(line, tmp_path, {"ignore": ("TRL901",)}) == []
    assert found(line, tmp_path, {"ignore": ("unused-suppression",)}) == []
    assert found(line, tmp_path, {"select": ("TRL1",)}) == []
    assert found(line, tmp_path, {"per_file_ignores": (("a.py", ("TRL9",)),)}) == []


def test_a_file_that_can_hold_no_other_finding_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "plain.py").write_text("x = 1  # noqa: TRL101\n")
    assert [one.code for one in check([tmp_path], toolkit=KIT).findings] == ["TRL901"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # noqa: TRL101", "x = 1"),
        ("x = 1  # noqa: TRL101 seeded above", "x = 1"),
        ("x = 1  # a note  # noqa: TRL101", "x = 1  # a note"),
        ("x = 1  # noqa: TRL101  # type: ignore", "x = 1  # type: ignore"),
        ("x = 1  # noqa: E501, TRL101", "x = 1  # noqa: E501"),
        ("x = 1  # noqa:TRL101,E501 because", "x = 1  # noqa:E501 because"),
        ("x = 1  # NOQA: TRL101 E501", "x = 1  # NOQA: E501"),
        ("if x:\n    # torchrepro-lint: noqa: TRL102\n    y = 1", "if x:\n    y = 1"),
        ("x = 1\n# flake8: noqa: TRL102, E501", "x = 1\n# flake8: noqa: E501"),
        ("x = f(\n    1,  # noqa: TRL101\n)", "x = f(\n    1,\n)"),
    ],
)
def test_the_fix(before: str, after: str, tmp_path: Path) -> None:
    assert len(found(before + "\n", tmp_path)) == 1
    fix([tmp_path], toolkit=KIT)
    assert (tmp_path / "a.py").read_text() == f"import torch\n{after}\n"


def test_a_comment_goes_with_the_fault_that_it_silenced(tmp_path: Path) -> None:
    """What another comment hid is mended first; then the comment on it has nothing left to hide."""
    assert found("bad  # noqa: TRL102\n", tmp_path) == [
        "2 TRL101 found bad",
        "2 TRL901 unused suppression: TRL102 finds nothing here",
    ]
    fix([tmp_path], toolkit=KIT)
    assert (tmp_path / "a.py").read_text() == "import torch\ngood\n"


_WORDS = st.lists(st.sampled_from(["TRL101", "TRL102", "E501", "wrong-word"]), min_size=1, max_size=4, unique=True)


@given(_WORDS, st.sampled_from(["", "  # other", " because of it"]), st.sampled_from([", ", ",", " "]), st.data())
def test_taking_words_out_leaves_the_others(words: list[str], tail: str, separator: str, data: st.DataObject) -> None:
    text = f"x = 1  # noqa: {separator.join(words)}{tail}\ny = 2\n"
    (directive,) = read_directives(text)
    gone = data.draw(st.sets(st.sampled_from(directive.words), min_size=1))
    result = apply_edits(text, [without_words(Path("a.py"), text, directive, gone)])
    left = [word.text for word in directive.words if word not in gone]
    assert [word.text for one in read_directives(result) for word in one.words] == left
    assert result.startswith("x = 1")
    assert result.endswith("\ny = 2\n")
    assert ("# other" in result) == ("# other" in text)


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("x = 1", "x = 1  # noqa: TRL101, TRL102"),
        ("x = 1   ", "x = 1  # noqa: TRL101, TRL102"),
        ("x = 1  # a note", "x = 1  # a note  # noqa: TRL101, TRL102"),
        ("x = 1  # noqa: E501 long", "x = 1  # noqa: E501, TRL101, TRL102 long"),
    ],
)
def test_putting_codes_in(line: str, after: str) -> None:
    text = f"{line}\r\ny = 2\r\n"
    at = Location(Path("a.py"), Position(1, 1), Position(1, 2))
    findings = [Finding(code, "a-name", "said", Severity.ERROR, at) for code in ("TRL101", "TRL102")]
    edits = list(silencing(at.path, text, text, findings))
    assert apply_edits(text, edits) == f"{after}\r\ny = 2\r\n"


# Settings for files and for fixes


@pytest.mark.parametrize(
    ("pattern", "silent"),
    [
        ("a.py", True),
        ("*.py", True),
        ("sub/a.py", True),
        ("sub/*", True),
        ("sub/", True),
        ("sub", True),
        ("other/", False),
        ("b.py", False),
        ("/a.py", False),
    ],
)
def test_per_file_ignores(pattern: str, silent: bool, write) -> None:
    root = write(
        {
            "torchrepro-lint.toml": f'[per-file-ignores]\n"{pattern}" = ["TRL101"]\n',
            "sub/a.py": "import torch\nbad = risky\n",
        }
    )
    codes = [one.code for one in check([root], toolkit=KIT).findings]
    assert codes == (["TRL102"] if silent else ["TRL101", "TRL102"])


def test_per_file_ignores_of_unreadable_files_and_wrong_rules(write) -> None:
    root = write({"torchrepro-lint.toml": "", "a.py": "import torch\nx = (\n", "b.py": b"import torch\nx = '\xff'\n"})
    assert [one.code for one in check([root], toolkit=KIT).findings] == ["TRL900", "TRL900"]
    everywhere: SettingsOverride = {"per_file_ignores": (("*.py", ("TRL900",)),)}
    assert check([root], everywhere, toolkit=KIT).findings == ()
    with pytest.raises(TorchReproLintError, match='unknown rule "TRL77"'):
        check([root], {"per_file_ignores": (("*.py", ("TRL77",)),)}, toolkit=KIT)


@pytest.mark.parametrize(
    ("override", "fixable"),
    [
        ({}, True),
        ({"unfixable": ("TRL101",)}, False),
        ({"unfixable": ("ALL",)}, False),
        ({"fixable": ("TRL4",)}, False),
        ({"fixable": ("TRL101",), "unfixable": ("TRL1",)}, True),
        ({"fixable": ("wrong-word",)}, True),
    ],
)
def test_fixable_and_unfixable(override: SettingsOverride, fixable: bool, tmp_path: Path) -> None:
    found("bad\n", tmp_path)
    (finding,) = check([tmp_path], override, toolkit=KIT).findings
    assert (finding.fix is not None) == fixable
    assert (finding.fix_declined is None) == fixable
    fix([tmp_path], override, toolkit=KIT)
    assert ("good" in (tmp_path / "a.py").read_text()) == fixable
