"""Values stay bounded: what is nested too deeply is forgotten from the inside, never what it is nested in."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.program.values import (
    MAX_DEPTH,
    UNKNOWN,
    Arguments,
    Constant,
    DictValue,
    External,
    ExternalObject,
    MemberOf,
    Partial,
    SequenceValue,
    Site,
    Value,
    bounded,
    values_of,
    within,
)

NOWHERE = Site(Path("nowhere.py"), 0)

leaves: st.SearchStrategy[Value] = st.one_of(
    st.just(UNKNOWN), st.builds(Constant, st.integers(0, 3)), st.just(External("torch.rand"))
)


def _inside(value: Value, other: Value, kind: int) -> Value:
    values = values_of(value, other)
    arguments = Arguments((values_of(other), values), (("key", values, True),))
    match kind:
        case 0:
            return ExternalObject("torch.nn.Linear", arguments, NOWHERE)
        case 1:
            return Partial(values, arguments)
        case 2:
            return SequenceValue("list", (values, values_of(other)), frozenset())
        case 3:
            return SequenceValue("list", None, values)
        case 4:
            return DictValue((("key", values, True),), True, values_of(other))
    return MemberOf(value, "attr")


@st.composite
def nested(draw: st.DrawFn) -> Value:
    value = draw(leaves)
    for kind in draw(st.lists(st.integers(0, 5), max_size=MAX_DEPTH + 4)):
        value = _inside(value, draw(leaves), kind)
    return value


@given(nested(), st.integers(0, MAX_DEPTH))
def test_nothing_is_deeper_than_asked_for(value: Value, depth: int) -> None:
    assert all(kept.depth <= depth for kept in within([value], depth))


@given(nested())
def test_what_is_shallow_enough_stays(value: Value) -> None:
    assert within([value], value.depth) == {value}


@given(st.lists(nested(), max_size=3))
def test_bounded_values_are(values: list[Value]) -> None:
    assert all(kept.depth <= MAX_DEPTH for kept in bounded(values))


def test_an_object_forgets_what_is_deep_and_keeps_the_rest() -> None:
    deep: Value = Constant(1)
    for _ in range(MAX_DEPTH + 2):
        deep = SequenceValue("list", (values_of(deep),), frozenset())
    transform = values_of(External("numpy.random.rand"))
    made = ExternalObject("torch.nn.Linear", Arguments((frozenset((deep,)), transform)), NOWHERE)
    assert made.arguments is not None
    assert made.arguments.positional[1] == transform
    assert made.depth <= MAX_DEPTH
