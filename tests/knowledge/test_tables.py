"""Reading of the data files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.knowledge import tables
from torchrepro_lint.knowledge.tables import DataFileError, NameIndex, expand_names, read_rows, read_table
from torchrepro_lint.knowledge.versions import admits, release


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a.b", ["a.b"]),
        ("a, b", ["a", "b"]),
        ("a.{b,c}", ["a.b", "a.c"]),
        ("a.{,v2.}{b,c}", ["a.b", "a.c", "a.v2.b", "a.v2.c"]),
        ("{a.{b,c},d}.e,f", ["a.b.e", "a.c.e", "d.e", "f"]),
    ],
)
def test_braces(text: str, names: list[str]) -> None:
    assert expand_names(text) == names


@pytest.mark.parametrize("text", ["a.{b", "a.b}", "a.{b,{c}"])
def test_braces_that_do_not_match(text: str) -> None:
    with pytest.raises(DataFileError):
        expand_names(text)


PARTS = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)


@given(PARTS, st.lists(PARTS, min_size=1, max_size=4), PARTS)
def test_a_brace_list_is_the_product(head: str, middle: list[str], tail: str) -> None:
    assert expand_names(f"{head}.{{{','.join(middle)}}}.{tail}") == [f"{head}.{part}.{tail}" for part in middle]


def test_a_pattern_star_stands_for_one_part() -> None:
    index: NameIndex[int] = NameIndex()
    index.add("a.*.call", 1)
    index.add("a.**.run", 2)
    index.add("a.quiet.call", 3)
    index.add("a.b.augment_*", 4)
    assert index.get("a.b.call") == (1,)
    assert index.get("a.b.c.call") == ()
    assert index.get("a.b.c.run") == (2,)
    assert index.get("a.quiet.call") == (3,)
    assert index.get("a.b.augment_noise") == (4,)
    assert index.get("b.a.call") == ()
    assert set(index.names()) == {"a.*.call", "a.**.run", "a.quiet.call", "a.b.augment_*"}
    with pytest.raises(DataFileError):
        index.add("*.call", 5)


def test_a_table_says_its_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "HERE", tmp_path)
    (tmp_path / "t.tsv").write_text("# a remark\na\tb\tc\n\n1\t 2 \n", encoding="utf-8")
    assert list(read_table("t.tsv", ("a", "b", "c"))) == [{"a": "1", "b": "2", "c": ""}]
    with pytest.raises(DataFileError):
        list(read_table("t.tsv", ("a", "c")))
    (tmp_path / "t.tsv").write_text("a\n1\t2\n", encoding="utf-8")
    with pytest.raises(DataFileError):
        list(read_table("t.tsv", ("a",)))


@pytest.mark.parametrize(
    ("specifier", "version", "verdict"),
    [
        (None, "1.0", True),
        (">=1.9", "1.10.0", True),
        (">=1.9", "1.8.2", False),
        (">=1.4.21", "2.0.8", True),
        ("<1.4.21", "1.4.20", True),
        (">=1.2,<1.4.21", "1.4.21", False),
        ("==2.13", "2.13.0+cpu", True),
        ("!=2.13", "2.13.0", False),
        (">1", "1.0.0", False),
        ("<=1", "1.0.0", True),
    ],
)
def test_specifiers(specifier: str | None, version: str, verdict: bool) -> None:
    assert admits(specifier, version) is verdict


def test_versions_and_specifiers_that_are_none() -> None:
    assert release("v2.13.0+cpu") == (2, 13)
    with pytest.raises(ValueError):
        release("nightly")
    with pytest.raises(ValueError):
        admits("~1.0", "1.0")


def test_each_row_says_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "HERE", tmp_path)
    (tmp_path / "rows_for_this_test.toml").write_text(
        '[[good]]\nnames = ["a"]\nsource = "b"\n[[bad]]\nnames = ["a"]\nsource = "b"\n[[bad]]\nnames = ["c"]\n',
        encoding="utf-8",
    )
    assert [row["names"] for row in read_rows("rows_for_this_test.toml", "good")] == [["a"]]
    with pytest.raises(DataFileError, match="a row of bad without a source"):
        read_rows("rows_for_this_test.toml", "bad")
