"""The order in which classes are looked up is Python's, in a time that grows with the number of classes."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.knowledge.names import canonical
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


def test_long_chains_are_merged_at_once() -> None:
    chain = [External(canonical(f"module.C{number}")) for number in range(5_000)]
    start = time.process_time()
    assert len(_merge([chain, chain[1:], chain[:2]])) == 5_000
    assert time.process_time() - start < 2
