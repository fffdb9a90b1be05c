"""Texts that no parser should be given: they end quickly, with a reason."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.facts.module import UnreadableModule, facts_of_text
from torchrepro_lint.source import depth
from torchrepro_lint.source.depth import is_too_deep

TOO_DEEP = {
    "lists": "x = " + "[" * 3_000 + "]" * 3_000,
    "calls": "x = " + "f(" * 500 + ")" * 500,
    "dicts over lines": "x = " + "{1:\n" * 500 + "2" + "}\n" * 500,
    "terms": "x = " + " + ".join(["a"] * 20_000),
    "nots": "x = " + "not " * 20_000 + "a",
    "powers": "x = " + "**".join(["a"] * 20_000),
    "lambdas": "x = " + "lambda: " * 20_000 + "1",
    "methods": "x = a" + ".b()" * 20_000,
    "calls of calls": "x = a" + "()" * 20_000,
    "ors in brackets": "x = (" + "\nor ".join(["a"] * 20_000) + ")",
    "terms over lines": "x = 1 \\\n" + "+ 1 \\\n" * 5_000 + "\n",
    "elifs": "if a: pass\n" + "elif a: pass\n" * 10_000,
    "patterns": "match x:\n    case " + "[" * 60 + "]" * 60 + ":\n        pass",
    "patterns over lines": "match x:\n    case (\n" + "[\n" * 60 + "]\n" * 60 + "):\n        pass",
}
DEEP_ENOUGH = {
    "terms": "x = " + " + ".join(["a"] * 1_000),
    "a table": "x = [" + "1, -2, a.b, " * 20_000 + "]",
    "a table of texts": 'x = ["[[[((({{{", ' + '"(", ' * 5_000 + "]",
    "brackets in a comment": "# " + "[" * 500 + "\nx = 1",
    "brackets in a text": 'x = """' + "[" * 500 + '"""',
    "calls in two lines": 2 * ("f(" * 150 + "x" + ")" * 150 + "\n"),
    "statements": "x = a + b.c(d[0]) * 2\n" * 2_000,
    "long text": "x = ('a'\n" + "'b'\n" * 3_000 + ")",
    "elifs": "if a: pass\n" + "elif a: pass\n" * 300,
    "nested patterns": "match x:\n    case [[[[a, [b]]]], {1: [c]}]:\n        pass",
    "a word like case": "case = [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]",
}


@pytest.mark.parametrize("name", TOO_DEEP)
def test_is_refused_at_once(name: str) -> None:
    started = time.process_time()
    with pytest.raises(UnreadableModule, match="nested too deeply"):
        facts_of_text(Path("deep.py"), TOO_DEEP[name] + "\n")
    assert time.process_time() - started < 2


@pytest.mark.parametrize("name", DEEP_ENOUGH)
def test_is_no_reason_to_refuse(name: str) -> None:
    assert not is_too_deep(DEEP_ENOUGH[name] + "\n")


PIECES = st.sampled_from(
    [
        *"()[]{},;+-x'\"\n\r",
        "\\\n",
        " and ",
        " not ",
        "'a'",
        '"b"',
        '"""',
        '"""c\n"""',
        "'''d)'''",
        "#(e\n",
        "if ",
        "\r\n",
    ]
)


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(2, 8), st.integers(2, 30))
def test_lines_are_judged_as_the_whole_text_is(text: str, brackets: int, operators: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(depth, "MAX_BRACKETS", brackets)
        patch.setattr(depth, "MAX_OPERATORS", operators)
        assert depth._nests(text) == depth._line_nests(text)


def test_a_syntax_error_is_told_in_pythons_words() -> None:
    with pytest.raises(UnreadableModule) as caught:
        facts_of_text(Path("a.py"), "x = 1\ny = (1\nz = 2\n")
    assert (caught.value.row, caught.value.message) == (2, "syntax error: '(' was never closed")
