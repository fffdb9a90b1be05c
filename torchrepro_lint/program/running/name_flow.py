"""Whether a value may come from one of some expressions, by names alone: a sieve before questions that cost much.

From the expressions the values are followed along the edges of `flow_edges.py`, in all files at once. What they do not
come to, no value of theirs does; of the rest nothing is said. The time it takes is that of one walk over the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.flow_edges import FileEdges, edges_of
from torchrepro_lint.program.running.flow_expressions import Around, Expressions
from torchrepro_lint.program.running.flow_names import Defined, defined_in
from torchrepro_lint.program.running.flow_transfers import ESCAPED, SOURCE, Flow, Vertex, transfer_of

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["NameFlow", "name_flow"]

#: An attribute whose name is computed: any.
_ANY: Final[Vertex] = ".*"


class _Graph(NamedTuple):
    """The edges of some files; those that leave what several of them may have are joined."""

    numbers: dict[int, int]
    defined: Defined
    files: list[FileEdges]
    shared: dict[Vertex, list[Sequence[Flow]]]
    mentioned: frozenset[str]
    renamed: dict[str, set[str]]


#: Without files nothing is denied.
_NOTHING: Final = _Graph({}, Defined(frozenset(), frozenset(), frozenset()), [], {}, frozenset(), {})


class NameFlow:
    """What the values of some expressions may come to in the files of a graph."""

    def __init__(self, graph: _Graph, sources: Iterable[tuple[ModuleFacts, tree.Expr]]) -> None:
        self._graph = graph
        by_file: dict[int, tuple[ModuleFacts, list[tree.Expr]]] = {}
        for facts, node in sources:
            by_file.setdefault(id(facts), (facts, []))[1].append(node)
        self._sources = frozenset(id(node) for _, nodes in by_file.values() for node in nodes)
        self._is_open = not by_file.keys() <= graph.numbers.keys()  # a source is in another file
        begins = [
            edges_of(facts, graph.numbers[id(facts)], graph.defined, nodes).shared.get(SOURCE, [])
            for facts, nodes in by_file.values()
            if not self._is_open
        ]
        self._reached = self._followed(begins)

    def may_reach(self, facts: ModuleFacts, scope: Scope, node: tree.Expr) -> bool:
        """Whether an expression of a scope may have the value of one of them, or hold it."""
        number = self._graph.numbers.get(id(facts))
        if number is None or self._is_open or _ANY in self._reached:
            return True
        graph = self._graph
        expressions = Expressions(number, graph.files[number].names, graph.defined, self._sources)
        into = expressions.flows(node, _around(scope))
        return any(
            transfer_of(transfer).depths(depth) for vertex, transfer in into for depth in self._reached.get(vertex, ())
        )

    def _followed(self, begins: list[Sequence[Flow]]) -> dict[Vertex, set[int]]:
        """How deep in containers the values may lie in each vertex that they come to."""
        reached: dict[Vertex, set[int]] = {SOURCE: {0}}
        pending = [(target, depth) for edges in begins for target, depth in _along(edges, 0)]
        while pending:
            vertex, depth = pending.pop()
            depths = reached.setdefault(vertex, set())
            if depth in depths:
                continue
            depths.add(depth)
            for edges in self._leaving(vertex):
                pending.extend(_along(edges, depth))
            pending.extend((other, depth) for other in self._given_on(vertex))
        return reached

    def _leaving(self, vertex: Vertex) -> Iterable[Sequence[Flow]]:
        number, is_own, _ = vertex.partition(":")
        if is_own and number.isdigit():
            edges = self._graph.files[int(number)].own.get(vertex)
            return (edges,) if edges is not None else ()
        return self._graph.shared.get(vertex, ())

    def _given_on(self, vertex: Vertex) -> Iterator[Vertex]:
        """What else the functions are given that a vertex is an argument of."""
        graph = self._graph
        if vertex == ESCAPED:
            yield from (f"{name}(*" for name in graph.mentioned & graph.defined.names)
            return
        name, is_argument, rest = vertex.partition("(")
        if is_argument and rest != ")":
            yield from (f"{other}({rest}" for other in graph.renamed.get(name, ()))


def name_flow(ev: Evaluator, files: Sequence[Path], sources: Iterable[tuple[ModuleFacts, tree.Expr]]) -> NameFlow:
    """What the values of some expressions may come to in some files."""
    graph = ev.on_its_own(("name graph", tuple(files)), lambda: _graph_of(ev, files), _NOTHING)
    return NameFlow(graph, sources)


def _graph_of(ev: Evaluator, files: Iterable[Path]) -> _Graph:
    known = [facts for path in files if (facts := ev.project.facts(path)) is not None]
    defined = defined_in(known)
    found = [
        ev.of_text(("flow edges", id(facts), number, defined), partial(edges_of, facts, number, defined))
        for number, facts in enumerate(known)
    ]
    shared: dict[Vertex, list[Sequence[Flow]]] = {}
    renamed: dict[str, set[str]] = {}
    for one in found:
        for vertex, edges in one.shared.items():
            shared.setdefault(vertex, []).append(edges)
        for name, others in one.renamed.items():
            renamed.setdefault(name, set()).update(others)
    mentioned = frozenset[str]().union(*(one.mentioned for one in found))
    return _Graph({id(facts): number for number, facts in enumerate(known)}, defined, found, shared, mentioned, renamed)


def _along(edges: Sequence[Flow], depth: int) -> Iterator[tuple[Vertex, int]]:
    """Where edges lead, and how deep in containers what was at a depth lies there."""
    for target, number in edges:
        for found in transfer_of(number).depths(depth):
            yield target, found


def _around(scope: Scope) -> Around:
    """What an expression of a scope is in: the method, and its class."""
    current: Scope | None = scope
    while current is not None:
        if current.self_name is not None and current.parent is not None:
            return Around(cls=current.parent.name, own=current.self_name, function=current.name, is_outer=False)
        current = current.parent
    return Around(function=scope.name, is_outer=False)
