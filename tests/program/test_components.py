"""Strongly connected components, compared with what can be reached step by step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.program.components import components

GRAPHS = st.integers(1, 9).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=4), min_size=size, max_size=size)
)


def reached(graph: list[list[int]], start: int) -> set[int]:
    found, pending = {start}, [start]
    while pending:
        for other in graph[pending.pop()]:
            if other not in found:
                found.add(other)
                pending.append(other)
    return found


@given(GRAPHS)
def test_what_reaches_each_other_is_together_and_after_what_it_reaches(graph: list[list[int]]) -> None:
    parts = list(components(range(len(graph)), graph.__getitem__))
    assert sorted(node for part in parts for node in part) == list(range(len(graph)))
    done: set[int] = set()
    for part in parts:
        for node in part:
            mutual = {other for other in reached(graph, node) if node in reached(graph, other)}
            assert mutual == set(part)
            assert reached(graph, node) <= done | set(part)
        done.update(part)


def test_a_long_chain_takes_no_recursion() -> None:
    parts = list(components([0], lambda node: [node + 1] if node < 50_000 else []))
    assert len(parts) == 50_001 and parts[-1] == [0]
