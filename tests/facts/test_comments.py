"""Changes of comments alone: what is taken for one alters no facts, and the common ones are seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.facts.comments import differ_in_comments_alone
from torchrepro_lint.facts.module import UnreadableModule, facts_of_text
from torchrepro_lint.facts.same import same_nodes

TEXT = '''\
"""A docstring

of several lines.
"""
import torch

# A comment.
def f(x,
      y=(1,
         2)):
    text = f"""
    {x} stands here
    """
    return text, \\
        y


x = """a text"""
class C:
    pass
'''
LINES = TEXT.splitlines(keepends=True)

SEEN = {
    "after an import": (5, 5, ["# new\n"]),
    "another one": (6, 7, ["# Another.\n", "\n"]),
    "none any more": (6, 7, []),
    "between arguments": (8, 8, ["    # of y\n"]),
    "in a body, anywhere in the row": (10, 10, ["# new\n"]),
    "at the start": (0, 0, ["# new\n"]),
    "at the end": (len(LINES), len(LINES), ["# new\n"]),
    "an empty line": (16, 16, ["\n"]),
    "after a text in one line": (17, 17, ["# new\n"]),
    "with carriage returns": (5, 5, ["# new\r\n"]),
}
NOT_TAKEN_FOR_ONE = {
    "in a docstring": (2, 2, ["# new\n"]),
    "an empty line of a docstring": (1, 2, []),
    "in a formatted text": (11, 11, ["# new\n"]),
    "after a backslash": (14, 14, ["# new\n"]),
    "code beside it": (5, 5, ["y = 1  # new\n"]),
    "code that goes": (4, 5, []),
    "two places": (5, 17, ["# new\n", *LINES[5:16], "# and here\n"]),
    "no Python any more": (5, 5, ["# new\n", "def\n"]),
    "a form feed in a comment": (5, 5, ["# new\x0cimport os\n"]),
}


def _edited(start: int, end: int, lines: list[str]) -> str:
    return "".join([*LINES[:start], *lines, *LINES[end:]])


@pytest.mark.parametrize("edit", SEEN.values(), ids=SEEN)
def test_a_changed_comment_is_seen(edit: tuple[int, int, list[str]]) -> None:
    assert differ_in_comments_alone(TEXT, _edited(*edit))
    assert differ_in_comments_alone(_edited(*edit), TEXT)


@pytest.mark.parametrize("edit", NOT_TAKEN_FOR_ONE.values(), ids=NOT_TAKEN_FOR_ONE)
def test_what_may_be_more_is_not_taken_for_a_comment(edit: tuple[int, int, list[str]]) -> None:
    assert not differ_in_comments_alone(TEXT, _edited(*edit))
    assert not differ_in_comments_alone(_edited(*edit), TEXT)


_LINES = st.sampled_from(
    ["# new\n", "\n", "    # new\n", "x = 1\n", '"""\n', "'''\n", "(\n", ")\n", "#\\\n", "\\\n", "  f'''\n"]
)


@given(st.lists(_LINES, max_size=12), st.lists(_LINES, max_size=3), st.integers(0, 12), st.integers(0, 3))
def test_what_is_taken_for_a_comment_alters_no_facts(kept: list[str], put: list[str], at: int, gone: int) -> None:
    old, new = "".join(kept), "".join([*kept[:at], *put, *kept[at + gone :]])
    if differ_in_comments_alone(old, new):
        path = Path("main.py")
        try:
            known = facts_of_text(path, old).body
        except UnreadableModule:
            pytest.fail("the old text cannot be read")
        assert same_nodes(known, facts_of_text(path, new).body)
