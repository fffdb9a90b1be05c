"""The grammar of conditions: what it reads it writes back, and what it decides."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.knowledge.conditions import (
    PHRASES,
    UNKNOWN,
    Condition,
    Parameter,
    Test,
    parse_condition,
    parse_conditions,
    render_conditions,
)
from torchrepro_lint.knowledge.ops import op_table

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True).filter(str.isidentifier)
POSITIONS = st.none() | st.integers(0, 20)
VALUES = st.one_of(
    st.text(st.characters(codec="ascii", exclude_characters="'\\|;\t\n", categories=("L", "N", "P", "S")), max_size=9),
    st.integers(-99, 9999),
    st.booleans(),
    st.none(),
    st.lists(st.integers(-9, 99), min_size=1, max_size=3).map(tuple),
)
WORDS = (
    "missing",
    "given",
    "given-something",
    "missing-or-none",
    "not-none",
    "is-true",
    "is-false-or-missing",
    "is-tensor",
    "is-sparse",
)
CONDITIONS = st.one_of(
    st.builds(Condition, NAMES, POSITIONS, st.sampled_from(WORDS)),
    st.builds(
        Condition,
        NAMES,
        POSITIONS,
        st.sampled_from(("equals", "equals-or-missing", "differs", "differs-or-missing")),
        st.lists(VALUES, min_size=1, max_size=4).map(tuple),
    ),
    st.builds(
        Condition,
        NAMES,
        POSITIONS,
        st.sampled_from(("ndim-at-least", "ndim-is", "length-is")),
        st.tuples(st.integers(0, 9)),
    ),
)


@given(st.lists(CONDITIONS, max_size=4).map(tuple))
def test_what_is_written_reads_back(conditions: tuple[Condition, ...]) -> None:
    assert parse_conditions(render_conditions(conditions)) == conditions


@given(CONDITIONS, st.booleans(), VALUES)
def test_a_condition_never_decides_more_than_arguments_tell(condition: Condition, given_: bool, value: object) -> None:
    verdict = condition.holds(given_, value)
    if not condition.decided_by_arguments and condition.parameter != "context":
        assert verdict is None


@pytest.mark.parametrize(
    "text",
    [
        "mode",
        "mode is-great",
        "mode =",
        "mode = bicubic",
        "mode = 'a' 'b'",
        "1x missing",
        "mode missing 'x'",
        "x ndim>= 'y'",
        "x ndim>= 1 | 2",
        "mode  missing",
        "mode@x missing",
    ],
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(ValueError):
        parse_condition(text)


MISSING = object()


@pytest.mark.parametrize(
    ("text", "value", "verdict"),
    [
        ("x given-something", MISSING, False),
        ("x given-something", UNKNOWN, True),
        ("x given-something", 10, True),
        ("x given-something", 0, False),
        ("x given-something", -1, False),
        ("x given-something", None, False),
        ("x missing-or-none", MISSING, True),
        ("x missing-or-none", None, True),
        ("x missing-or-none", 0, False),
        ("x missing-or-none", UNKNOWN, None),
        ("x given", UNKNOWN, True),
        ("x given", MISSING, False),
        ("x missing", UNKNOWN, False),
        ("x not-none", MISSING, False),
        ("x not-none", 3, True),
        ("x is-true", MISSING, False),
        ("x is-true", 1, True),
        ("x is-true-or-missing", MISSING, True),
        ("x is-false-or-missing", True, False),
        ("x = 'a' | 'b'", "b", True),
        ("x = 'a' | 'b'", MISSING, False),
        ("x =? 'a'", MISSING, True),
        ("x != 1", MISSING, False),
        ("x != 1", 2, True),
        ("x != 1", True, True),
        ("x !=? 1", MISSING, True),
        ("x != 1 | (1, 1)", (1, 1), False),
        ("x is-tensor", 2, False),
        ("x is-tensor", UNKNOWN, None),
        ("x len= 2", (1, 1), True),
        ("x len= 2", UNKNOWN, None),
        ("x ndim>= 3", UNKNOWN, None),
        ("x is-sparse", MISSING, None),
        ("context = 'eager'", MISSING, True),
        ("context = 'compiled'", MISSING, False),
        ("context = 'off' | 'warn'", MISSING, None),
        ("backend = 'cudnn'", MISSING, None),
    ],
)
def test_verdicts(text: str, value: object, verdict: bool | None) -> None:
    given_ = value is not MISSING
    assert parse_condition(text).holds(given_, value if given_ else UNKNOWN) is verdict


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("weights@1 not-none", "with weights"),
        ("antialias is-false-or-missing", "antialias=False, the default"),
        ("mode = 'a' | 'b'", "mode='a' or 'b'"),
        ("size != 1 | (1, 1)", "size other than 1 or (1, 1)"),
        ("input ndim>= 3", "input of 3 dimensions or more"),
        ("context = 'off' | 'warn'", "without deterministic algorithms or under warn_only"),
        ("backend = 'flash'", "backend flash"),
    ],
)
def test_a_person_reads_words(text: str, words: str) -> None:
    assert parse_condition(text).in_words == words


def test_every_test_has_its_words() -> None:
    assert all(condition.in_words for row in op_table() for condition in row.when)
    assert set(PHRASES) == {test for kind in get_args(Test) for test in get_args(kind)}


def test_a_position_belongs_to_one_spelling() -> None:
    condition = parse_condition("mode@3 = 'bicubic'")
    assert condition.position == 3
    assert str(condition.at(None)) == "mode = 'bicubic'"
    assert Parameter.parse("seed@0") == Parameter("seed", 0)
    with pytest.raises(ValueError):
        Parameter.parse("@0")


def test_values_that_the_grammar_cannot_say_are_refused() -> None:
    with pytest.raises(ValueError):
        Condition("x", None, "equals", ("it's",))
    with pytest.raises(ValueError):
        Condition("x", None, "equals")
    with pytest.raises(ValueError):
        Condition("x", None, "missing", (1,))
