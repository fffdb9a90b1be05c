"""The order in which classes are looked up is Python's, in a time that grows with the number of classes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.program.evaluation.classes import _merge
from torchrepro_lint.program.evaluation.values import External


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_it_is_that_of_python(pairs: list[tuple[int, int]]) -> None:
    classes: list[type] = [object]
    for first, second in pairs:
        bases = list(dict.fromkeys(classes[number % len(classes)] for number in (first, second)))
        try:
            classes.append(type(f"C{len(classes)}", tuple(bases), {}))
        except TypeError:  # Python refuses bases that contradict each other
            continue
    for cls in classes[1:]:
        chains = [[External(one.__name__) for one in base.__mro__] for base in cls.__bases__]
        merged = _merge([*chains, [External(base.__name__) for base in cls.__bases__]])
        assert [value.name for value in merged] == [one.__name__ for one in cls.__mro__[1:]]


class Counted:
    """A value that counts how often it is looked up or compared."""

    asked = 0

    def __hash__(self) -> int:
        Counted.asked += 1
        return id(self)

    def __eq__(self, other: object) -> bool:
        Counted.asked += 1
        return self is other


def work(count: int) -> int:
    chain: list[Any] = [Counted() for _ in range(count)]
    Counted.asked = 0
    assert len(_merge([chain, chain[1:], chain[:2]])) == count
    return Counted.asked


def test_the_work_grows_with_the_length_of_the_chains() -> None:
    """Of the square it would be four times as much."""
    assert work(2_000) < 2.3 * work(1_000)
