"""The strongly connected components of a graph: what can be reached from each other along its edges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TypeVar

__all__ = ["components"]

Node = TypeVar("Node", bound=Hashable)


def components(nodes: Iterable[Node], after: Callable[[Node], Collection[Node]]) -> Iterator[list[Node]]:
    """The components of what can be reached from `nodes`, each after all that can be reached from it. `after` gives the
    nodes to which edges lead. Each node and edge is looked at once (Tarjan, 1972), without recursion.
    """
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    open_nodes: list[Node] = []
    is_open: set[Node] = set()
    path: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        number[node] = lowest[node] = len(number)
        open_nodes.append(node)
        is_open.add(node)
        path.append((node, iter(after(node))))

    for root in nodes:
        if root not in number:
            enter(root)
        while path:
            node, edges = path[-1]
            for other in edges:
                if other not in number:
                    enter(other)
                    break
                if other in is_open:
                    lowest[node] = min(lowest[node], number[other])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    component: list[Node] = []
                    while not component or component[-1] != node:
                        component.append(open_nodes.pop())
                    is_open.difference_update(component)
                    yield component
