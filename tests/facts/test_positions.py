"""Where nodes stand: held against libcst's own positions, which are exact and slow."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import libcst as cst
import pytest
from facts.programs import programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from libcst.metadata import MetadataWrapper, PositionProvider

from torchrepro_lint.diagnostics import Position
from torchrepro_lint.facts.lower import lower_module
from torchrepro_lint.facts.positions import node_spans
from torchrepro_lint.source.lines import LineTable

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
SAMPLE = [
    path
    for path in sorted(STANDARD_LIBRARY.glob("*.py")) + sorted(STANDARD_LIBRARY.glob("*/*.py"))
    if "site-packages" not in path.parts and 500 < path.stat().st_size < 6_000
]


def assert_same_as_libcst(text: str) -> None:
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    expected = wrapper.resolve(PositionProvider)
    spans = node_spans(wrapper.module, text)
    lines = LineTable(text)
    _, nodes = lower_module(wrapper.module, keep_nodes=True)
    assert nodes is not None
    for node in nodes:
        start, end = spans[id(node)]
        place = expected[node]
        assert lines.position(start) == Position(place.start.line, place.start.column + 1), type(node)
        assert lines.position(end) == Position(place.end.line, place.end.column + 1), type(node)


@given(programs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_of_any_program(text: str) -> None:
    # libcst counts a lone \r as no line of its own.
    text = text.replace("\r\n", "\0").replace("\r", "\n").replace("\0", "\r\n")
    if cst.parse_module(text).code == text:  # else its positions are those of another text
        assert_same_as_libcst(text)


@pytest.mark.parametrize("path", SAMPLE[::6][:25], ids=lambda path: path.name)
def test_of_the_standard_library(path: Path) -> None:
    try:
        text = path.read_text("utf-8")
        cst.parse_module(text)
    except (UnicodeDecodeError, cst.ParserSyntaxError):
        pytest.skip("no UTF-8, or a file with a fault in it on purpose")
    assert_same_as_libcst(text)


@given(programs())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_the_text_of_a_name_stands_where_its_node_does(text: str) -> None:
    module = cst.parse_module(text)
    spans = node_spans(module, text)
    _, nodes = lower_module(module, keep_nodes=True)
    assert nodes is not None
    for node in nodes:
        start, end = spans[id(node)]
        if isinstance(node, cst.Name):
            assert text[start:end] == node.value
        assert 0 <= start <= end <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "\r", "a\n    # c", "a\n\n    # c", "a\n\n  ",
        "a\n    # c\n\n    # d", "if a:\n  b\n\n  # c\n  ", "a\r\n#c", "\x0c\na",
        "a\n\\\nb", "if a:\r\n    b\r\n\\\r\n\\\r\na()", "\x0cdef f():\n  a", "\x0c@a\n\x0cdef f(): pass\n\x0c\na",
        "\\\na", "a\r\n\\\r\nb\r\n", "a\n\\\n\\\nb\n    # c", "if a:\n  a\n\\\n  b\n",
    ],
)  # fmt: skip
def test_of_texts_that_libcst_does_not_quite_give_back(text: str) -> None:
    module = cst.parse_module(text)
    spans = node_spans(module, text)
    _, nodes = lower_module(module, keep_nodes=True)
    assert nodes is not None
    for node in nodes:
        start, end = spans[id(node)]
        if isinstance(node, cst.BaseExpression):
            assert text[start:end] == module.code_for_node(node)
        assert text[start:].startswith(("a", "b", "if a", "def", "@a"))


def test_a_tree_of_another_text_is_refused() -> None:
    with pytest.raises(ValueError, match="did not reproduce"):
        node_spans(cst.parse_module("a = 1\n"), "a = 2\n")


LINES = st.lists(st.text(alphabet="ab\x0c\u2028\x85\x1c é", max_size=4), max_size=6)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(LINES, ENDS, st.booleans())
def test_lines_end_where_python_ends_them(lines: list[str], end: str, last: bool) -> None:
    text = end.join(lines) + (end if last else "")
    table = LineTable(text)
    expected = [*lines, ""] if last and lines else lines or [""]
    if last and not lines:
        expected = ["", ""]
    assert [table.line(row) for row in range(1, len(table.starts) + 1)] == expected


@given(st.text(alphabet="ab\n\r\x0cé", max_size=30))
def test_offsets_and_positions_are_inverse(text: str) -> None:
    table = LineTable(text)
    for offset in range(len(text) + 1):
        position = table.position(offset)
        assert table.offset(position) == offset
        assert table.row(offset) == position.row
        assert 1 <= position.row <= len(table.starts)


def test_mixed_line_ends() -> None:
    table = LineTable("a\nb\r\nc\rd\x0ce")
    assert table.starts == [0, 2, 5, 7]
    assert [table.line(row) for row in (1, 2, 3, 4)] == ["a", "b", "c", "d\x0ce"]
    assert table.position(8) == Position(4, 2)
