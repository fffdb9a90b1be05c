"""From the calls in which an order decides something back to the listings whose order it is.

The evaluator says what an argument may be. Here each listing is an object of its own for it, and what is made of a
listing in the same order is an object that holds it: whatever the evaluator follows (names, attributes, containers,
parameters, returned values, closures) then carries an order as well, and nothing of that is taught here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ordering import OrderingTable, ordering_names, ordering_words
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.marked import MarkedEvaluator, is_made, made_at
from torchrepro_lint.program.evaluation.values import NOTHING, External, ExternalObject, Site, Values, values_of
from torchrepro_lint.program.ordering.order_calls import names_called
from torchrepro_lint.program.ordering.order_carriers import Sink, SinkKind
from torchrepro_lint.program.ordering.order_sorted import is_sorted
from torchrepro_lint.program.running.call_index import NamedCall, called_name, calls_in
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.reach import Link

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["sinks_of"]


@dataclass(frozen=True, slots=True)
class _Deciding:
    """A call in which the order of an argument decides something."""

    call: NamedCall
    argument: tree.Expr
    kind: SinkKind
    note: str


#: The calls in which an order decides something: what it decides, and how to say it.
_TABLES: Final[Mapping[OrderingTable, tuple[SinkKind, str]]] = {
    "draws_by_position": ("split", "{} draws from it by position"),
    "joins_datasets": ("samples", "joins the data sets in this order"),
    "keeps_samples": ("samples", "gives the samples of a data set"),
}


def sinks_of(program: Program, listings: Sequence[tuple[ModuleFacts, tree.Call]]) -> dict[Site, Sink]:
    """For each listing whose order decides something, by its place: the first call in which it does."""
    wanted = {Site(facts.path, call.site) for facts, call in listings}
    files: set[Path] = set()
    for path in {site.path for site in wanted}:
        files |= program.imports.together(path) | {path}
    ev = _OrderEvaluator(program.project, [call for _, call in listings])
    found: dict[Site, Sink] = {}
    for path in sorted(files):
        facts = program.project.facts(path)
        for one in _deciding(program, facts) if facts is not None else ():
            for source, made in _sources(ev, one):
                if source in wanted - found.keys() and not is_sorted(program, ev, made, one.call):
                    found[source] = Sink(one.kind, (Link(Site(path, one.call.call.site), one.note),))
    return found


def _deciding(program: Program, facts: ModuleFacts) -> Iterator[_Deciding]:
    """The calls of a file in which an order decides something, with each argument."""
    for table, (kind, note) in _TABLES.items():
        for word in sorted(ordering_words(table)):
            for one in calls_in(program.ev, facts, word):
                program.ev.begin_question()
                frame = frame_without_callers(program.ev, facts, one.scope)
                names = names_called(program, program.ev.values(one.call.func, frame)) & ordering_names(table)
                if names:
                    for arg in one.call.args:
                        yield _Deciding(one, arg.value, kind, note.format(min(names)))


def _sources(ev: _OrderEvaluator, one: _Deciding) -> Iterator[tuple[Site, tuple[Site, ...]]]:
    """The listings whose order an argument may have, each with the lists through which it came."""
    ev.begin_question()
    for frame in ev.contexts(one.call.facts, one.call.scope):
        for value in ev.values(one.argument, frame):
            if is_made(value):
                yield from _origins(value, ())


def _origins(made: ExternalObject, through: tuple[Site, ...]) -> Iterator[tuple[Site, tuple[Site, ...]]]:
    assert made.site is not None
    through = (*through, made.site)
    if made.arguments is None:
        yield made.site, through
        return
    for values in made.arguments.positional:
        for one in values:
            if is_made(one):
                yield from _origins(one, through)


class _OrderEvaluator(MarkedEvaluator):
    """An evaluator for which a list that is made of others in their order holds these."""

    def values(self, node: tree.Expr, frame: Frame) -> Values:
        """As `Evaluator.values`, but for what is made of lists that are marked."""
        parts = () if self.is_marked(node) else _parts(node)
        if not parts:
            return super().values(node, frame)
        within = self.relevant(node, frame)
        return self.remembered(("in-order", node, within), lambda: self._made_of(node, parts, within), NOTHING)

    def _made_of(self, node: tree.Expr, parts: Sequence[tree.Expr], frame: Frame) -> Values:
        if not isinstance(node, tree.Call) or self._keeps_order(node, frame):
            held = frozenset(one for part in parts for one in self.values(part, frame) if is_made(one))
            if held:
                return values_of(made_at(self.site(node, frame), held))
        return super().values(node, frame)

    def _keeps_order(self, call: tree.Call, frame: Frame) -> bool:
        called = self.values(call.func, frame)
        names = {canonical(one.name) for one in called if isinstance(one, External)}
        return bool(names & ordering_names("order_keeping"))


def _parts(node: tree.Expr) -> Sequence[tree.Expr]:
    """The expressions whose elements an expression may have, in their order."""
    match node:
        case tree.Comprehension(kind="list" | "generator", clauses=clauses):
            return [clauses[0].iter]
        case tree.Call(func=func, args=args) if called_name(func) in ordering_words("order_keeping"):
            return [arg.value for arg in args if arg.keyword is None]
        case tree.Subscript(value=value, index=tree.Opaque()):
            return [value]
        case tree.Binary(op="+", left=left, right=right):
            return [left, right]
    return ()
