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
from torchrepro_lint.program.running.flow_expressions import Around, Defined, Expressions, defined_in
from torchrepro_lint.program.running.flow_ways import ESCAPED, MARKED, Flow, Holder, way_of

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["NameFlow", "name_flow"]

#: An attribute whose name is computed: any.
_ANY: Final[Holder] = ".*"


class _Graph(NamedTuple):
    """The edges of some files; those that leave what several of them may have are joined."""

    numbers: dict[int, int]
    defined: Defined
    files: list[FileEdges]
    shared: dict[Holder, list[Sequence[Flow]]]
    mentioned: frozenset[str]
    renamed: dict[str, set[str]]


#: Without files nothing is denied.
_NOTHING: Final = _Graph({}, Defined(frozenset(), frozenset()), [], {}, frozenset(), {})


class NameFlow:
    """What the values of some expressions may come to in the files of a graph."""

    def __init__(self, graph: _Graph, marked: Iterable[tuple[ModuleFacts, tree.Expr]]) -> None:
        self._graph = graph
        marked = list(marked)
        self._marked = frozenset(id(node) for _, node in marked)
        by_file: dict[int, tuple[ModuleFacts, list[tree.Expr]]] = {}
        for facts, node in marked:
            by_file.setdefault(id(facts), (facts, []))[1].append(node)
        begins = [
            edges_of(facts, graph.numbers[id(facts)], graph.defined, nodes).shared.get(MARKED, [])
            for facts, nodes in by_file.values()
            if id(facts) in graph.numbers
        ]
        self._reached = self._followed(begins)

    def may_come_to(self, facts: ModuleFacts, scope: Scope, node: tree.Expr) -> bool:
        """Whether an expression of a scope may have the value of one of them, or hold it."""
        number = self._graph.numbers.get(id(facts))
        if number is None or _ANY in self._reached:
            return True
        graph = self._graph
        expressions = Expressions(number, graph.files[number].names, graph.defined, self._marked)
        into = expressions.flows(node, _around(scope))
        return any(True for holder, way in into for at in self._reached.get(holder, ()) for _ in way_of(way).depths(at))

    def _followed(self, begins: list[Sequence[Flow]]) -> dict[Holder, set[int]]:
        """How deep in containers the values may lie in each holder that they come to."""
        reached: dict[Holder, set[int]] = {MARKED: {0}}
        pending = [(target, depth) for edges in begins for target, depth in _along(edges, 0)]
        while pending:
            holder, depth = pending.pop()
            depths = reached.setdefault(holder, set())
            if depth in depths:
                continue
            depths.add(depth)
            for edges in self._leaving(holder):
                pending.extend(_along(edges, depth))
            pending.extend((other, depth) for other in self._given_on(holder))
        return reached

    def _leaving(self, holder: Holder) -> Iterable[Sequence[Flow]]:
        number, is_own, _ = holder.partition(":")
        if is_own and number.isdigit():
            edges = self._graph.files[int(number)].own.get(holder)
            return (edges,) if edges is not None else ()
        return self._graph.shared.get(holder, ())

    def _given_on(self, holder: Holder) -> Iterator[Holder]:
        """What else the functions are given that a holder is an argument of."""
        graph = self._graph
        if holder == ESCAPED:
            yield from (f"{name}(*" for name in graph.mentioned & graph.defined.names)
            return
        name, is_argument, rest = holder.partition("(")
        if is_argument and rest != ")":
            yield from (f"{other}({rest}" for other in graph.renamed.get(name, ()))


def name_flow(ev: Evaluator, files: Sequence[Path], marked: Iterable[tuple[ModuleFacts, tree.Expr]]) -> NameFlow:
    """What the values of some expressions may come to in some files."""
    graph = ev.on_its_own(("name graph", tuple(files)), lambda: _graph_of(ev, files), _NOTHING)
    return NameFlow(graph, marked)


def _graph_of(ev: Evaluator, files: Iterable[Path]) -> _Graph:
    known = [facts for path in files if (facts := ev.project.facts(path)) is not None]
    defined = defined_in(known)
    found = [
        ev.of_text(("flow edges", id(facts), number, defined), partial(edges_of, facts, number, defined))
        for number, facts in enumerate(known)
    ]
    shared: dict[Holder, list[Sequence[Flow]]] = {}
    renamed: dict[str, set[str]] = {}
    for one in found:
        for holder, edges in one.shared.items():
            shared.setdefault(holder, []).append(edges)
        for name, others in one.renamed.items():
            renamed.setdefault(name, set()).update(others)
    mentioned = frozenset[str]().union(*(one.mentioned for one in found))
    return _Graph({id(facts): number for number, facts in enumerate(known)}, defined, found, shared, mentioned, renamed)


def _along(edges: Sequence[Flow], depth: int) -> Iterator[tuple[Holder, int]]:
    """Where edges lead, and how deep in containers what was at a depth lies there."""
    for target, way in edges:
        for found in way_of(way).depths(depth):
            yield target, found


def _around(scope: Scope) -> Around:
    """What an expression of a scope is in: the method, and its class."""
    current: Scope | None = scope
    while current is not None:
        if current.self_name is not None and current.parent is not None:
            return Around(cls=current.parent.name, own=current.self_name, function=current.name, is_outer=False)
        current = current.parent
    return Around(function=scope.name, is_outer=False)
