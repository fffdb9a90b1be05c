"""What libcst is brought to read."""

from __future__ import annotations

import libcst as cst
import pytest

from torchrepro_lint.facts.libcst_parser import parse_module

WITHOUT_A_SPACE = [
    "assert(a if b else c)\n",
    "def f():\n    return(a if b else c)\n",
    "def f():\n    return(lambda: 1)\n",
    "while(a if b else c): pass\n",
    "x = not(a if b else c)\n",
    "x = [i for i in(a if b else c)if(d if e else f)]\n",
    "x = (a if b else c)and d\n",
    "x = (a if b else c)if d else(e if f else g)\n",
    "raise(a if b else c)from(d if e else f)\n",
]


@pytest.mark.parametrize("text", WITHOUT_A_SPACE)
def test_parentheses_stand_for_the_space_beside_a_word(text: str) -> None:
    assert parse_module(text).code == text


def test_a_tree_that_libcst_cannot_make_is_a_text_that_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> cst.Module:
        raise cst.CSTValidationError("Must have at least one space before 'for' keyword.")

    monkeypatch.setattr(cst, "parse_module", refuse)
    with pytest.raises(cst.ParserSyntaxError, match="at least one space"):
        parse_module("x = 1\n")
