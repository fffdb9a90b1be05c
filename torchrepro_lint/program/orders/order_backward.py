"""From the uses in which an order decides something back to the listings and sets whose order it is.

The backward solver says where an argument comes from, through whatever it follows (names, attributes, containers,
parameters, returned values, closures). Told here is only which listings are asked for, and what keeps their order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ordering import OrderingTable, ordering_names, ordering_words
from torchrepro_lint.program.core.backward import BackwardSet
from torchrepro_lint.program.core.queries import Query
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.orders.order_callees import names_called
from torchrepro_lint.program.orders.order_carriers import Sink, SinkKind
from torchrepro_lint.program.orders.order_datasets import decides_samples
from torchrepro_lint.program.orders.order_flow import sink_of_use
from torchrepro_lint.program.orders.order_jobs import only_orders_jobs
from torchrepro_lint.program.orders.order_places import may_run_at
from torchrepro_lint.program.orders.order_sorted import is_sorted
from torchrepro_lint.program.running.call_index import called_name, calls_in
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Link

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["sinks_of"]


@dataclass(frozen=True, slots=True)
class _Use:
    """A use of a value in which its order may decide something; `sink` is what, where the use alone tells it."""

    facts: ModuleFacts
    scope: Scope
    node: tree.Expr
    sink: Sink | None = None


#: The calls in which an order decides something: what it decides, and how to say it.
_TABLES: Final[Mapping[OrderingTable, tuple[SinkKind, str]]] = {
    "draws_by_position": ("split", "{} draws from it by position"),
    "joins_datasets": ("samples", "joins the data sets in this order"),
    "keeps_samples": ("samples", "gives the samples of a data set"),
}
#: What is made of elements to be looked up by them, where the order of insertion decides nothing.
_LOOKED_UP: Final = frozenset({"dict", "OrderedDict", "fromkeys", "Counter"})
#: How many questions are answered to find out whose order one use has: most take less than a hundred.
MAX_STEPS_BACK: Final = 3_000
#: The methods in which a data set fetches its samples from what it holds.
_FETCHING: Final = frozenset({"__getitem__", "__getitems__", "__iter__", "get"})


def sinks_of(
    program: Program, sources: Sequence[tuple[ModuleFacts, tree.Expr]], *, of_sets: bool = False
) -> dict[Site, Sink]:
    """For each of some listings or sets whose order decides something, by its place: the first use where it does."""
    wanted = {Site(facts.path, node.site) for facts, node in sources}
    files: set[Path] = set()
    for path in {site.path for site in wanted}:
        files |= program.imports.together(path) | {path}
    orders = _Orders(program.ev, [node for _, node in sources])
    found: dict[Site, Sink] = {}
    for path in sorted(files):
        facts = program.project.facts(path)
        for use in _uses(program, facts) if facts is not None else ():
            if use.sink is None and not _may_decide(program, use):
                continue
            for order in _sources(orders, use):
                if order.source in found or is_sorted(program, order.made, use.facts, use.scope, use.node.site):
                    continue
                known = use.sink or sink_of_use(
                    program, use.facts, use.node, of_set=of_sets, is_set=of_sets and len(order.made) == 1
                )
                if known is not None and may_run_at(program, (known.chain[-1].site,)):
                    found[order.source] = known
    return found


def _may_decide(program: Program, use: _Use) -> bool:
    """Whether the order of a set would decide something where it is used, and so that of a listing may: few loops over
    items with their numbers decide anything, and to find whose order they have takes much longer.
    """
    site = Site(use.facts.path, use.node.site)
    return program.once(
        ("may decide", site), lambda: sink_of_use(program, use.facts, use.node, of_set=True, at_all=True) is not None
    )


def _uses(program: Program, facts: ModuleFacts) -> Iterator[_Use]:
    """The uses in a file in which an order may decide something."""
    for table, (kind, note) in _TABLES.items():
        for word in sorted(ordering_words(table)):
            for one in calls_in(program.ev, facts, word):
                program.ev.begin_question()
                frame = frame_without_callers(program.ev, facts, one.scope)
                names = names_called(program, program.ev.values(one.call.func, frame)) & ordering_names(table)
                if names and not only_orders_jobs(program, facts, one.call):
                    link = Link(Site(facts.path, one.call.site), note.format(min(names)))
                    yield from (_Use(facts, one.scope, arg.value, Sink(kind, (link,))) for arg in one.call.args)
    for one in calls_in(program.ev, facts, "enumerate"):
        yield from (_Use(facts, one.scope, arg.value) for arg in one.call.args[:1])
    for one in calls_in(program.ev, facts, "index"):
        if isinstance(one.call.func, tree.Attribute):
            yield _Use(facts, one.scope, one.call.func.value)
    for scope in facts.walk_scopes():
        if scope.name in _FETCHING and scope.self_name is not None:
            yield from _fetched_from(program, facts, scope)


def _fetched_from(program: Program, facts: ModuleFacts, scope: Scope) -> Iterator[_Use]:
    """The attributes from which a method of a data set fetches its samples."""
    assert isinstance(scope.node, tree.FunctionDef)
    parents = parents_of(program.ev, facts)
    for name in sorted(parents.attributes):
        for use in parents.attributes_in(name, scope.node):
            if isinstance(use.value, tree.Name) and use.value.id == scope.self_name:
                if decides_samples(program, facts, use):
                    yield _Use(facts, scope, use)


def _sources(orders: _Orders, use: _Use) -> Iterator[_Order]:
    """The listings whose order what is used may have, each with the lists through which it came."""
    ev = orders.ev
    ev.begin_question(MAX_STEPS_BACK)
    for found in orders.of_any_caller(use.node, use.facts, use.scope):
        yield from sorted(found, key=_place)


@dataclass(frozen=True, slots=True)
class _Order:
    """The order of a listing or a set, and the expressions of what has it, its own included."""

    source: Site
    made: frozenset[tree.Expr]


def _place(order: _Order) -> tuple[Path, int, int]:
    return order.source.path, order.source.number, len(order.made)


class _Orders(BackwardSet[_Order]):
    """The listings whose order the elements of a value come in."""

    def __init__(self, ev: Evaluator, listings: Iterable[tree.Expr]) -> None:
        super().__init__(ev)
        self._listings = frozenset(map(id, listings))

    @property
    def key(self) -> Hashable:
        """The questions differ by the listings that are asked for."""
        return "orders", self._listings

    def source(self, query: Query) -> frozenset[_Order] | None:
        """A listing."""
        if not query.access and id(query.node) in self._listings:
            site = self.ev.site(query.node, query.frame)
            return frozenset((_Order(site, frozenset((query.node,))),))
        return None

    def made(self, query: Query) -> frozenset[_Order] | None:
        """The order of what a list is made of, element by element."""
        node = query.node
        parts = _parts(node) if not query.access else ()
        if isinstance(node, tree.Call) and parts and not self._keeps_order(node, query):
            return None
        held = frozenset[_Order]().union(*(one for one in self.operands(query, parts) if one is not None))
        return frozenset(_Order(one.source, one.made | {node}) for one in held) or None

    def _keeps_order(self, call: tree.Call, query: Query) -> bool:
        called = self.ev.values(call.func, query.frame)
        names = {canonical(one.name) for one in called if isinstance(one, External)}
        return bool(names & ordering_names("order_keeping"))


def _parts(node: tree.Expr) -> Sequence[tree.Expr]:
    """The expressions whose elements an expression may have, in their order."""
    match node:
        case tree.Comprehension(kind="list" | "generator", clauses=clauses):
            return [clauses[0].iter]
        case tree.Call(func=func, args=args) if called_name(func) in ordering_words("order_keeping") - _LOOKED_UP:
            return [arg.value for arg in args if arg.keyword is None]
        case tree.Subscript(value=value, index=tree.Opaque()):
            return [value]
        case tree.Binary(op="+", left=left, right=right):
            return [left, right]
    return ()
