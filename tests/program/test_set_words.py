"""Which files are read because a set may stand in them."""

from __future__ import annotations

import pytest

from torchrepro_lint.program.orders.set_order import _WORDS


@pytest.mark.parametrize(
    "text",
    [
        "set(names)",
        "frozenset (names)",
        "{name for name in names}",
        "{\n    name\n    for name in names\n}",
        "{'a', 'b'}",
        '{"a", "b"}',
        '{\n    "a",  # first\n    "b",\n}',
        '{\n    # first\n    "a",\n    "b",\n}',
        '{r"\\w", b"x"}',
        '{"it\\"s", "b"}',
        '{"a" "b", "c"}',
        '{"a: b", "c"}',
        '{name, "b"}',
        '{*names, "b"}',
    ],
)
def test_what_may_make_a_set_is_found(text: str) -> None:
    assert _WORDS.search(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": 2}',
        '{\n    "a": 1,\n    "b": 2,\n}',
        '{\n    # first\n    "a": {"b": 1},\n}',
        "{key: value for key, value in pairs}",
        "offset(names)",
        "{}",
        'f"{name} {other}"',
    ],
)
def test_what_makes_none_is_passed_over(text: str) -> None:
    assert not _WORDS.search(text.encode())
