"""The walk over a function's body: its statements in order, each expression from the inside out.

What a call, an iteration or an item leads to is the business of `reach.Walker`, which goes on from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import sub_expressions
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.chances import is_drawn_in_vain
from torchrepro_lint.program.evaluation.expressions import comprehension_frames
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    ClassValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    Site,
    SuperValue,
    Value,
    Values,
)
from torchrepro_lint.program.running.events import MAX_EVENTS, Event, Link, distinct, is_notable, outside_name, shown
from torchrepro_lint.program.running.undecisive import decides_nothing

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["BodyWalker", "statement_expressions"]


class BodyWalker(ABC):
    """Collects the events of bodies. It keeps no state but its evaluator's memory."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev

    @abstractmethod
    def calling(
        self, values: Values, arguments: Arguments | None = None, site: Site | None = None
    ) -> tuple[Event, ...]:
        """What happens when any of `values` is called."""

    @abstractmethod
    def call(self, value: Value, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        """What happens when `value` is called."""

    @abstractmethod
    def item(self, value: Value) -> Iterator[Event]:
        """What happens when an item of `value` is fetched."""

    @abstractmethod
    def is_silent(self, value: Value) -> bool:
        """Whether it is known, without the arguments, that nothing happens when `value` is called."""

    @abstractmethod
    def iterated(self, values: Values) -> Iterator[Event]:
        """What happens when any of `values` is iterated."""

    def frame(self, frame: Frame) -> tuple[Event, ...]:
        """What happens when a function's body runs in `frame`."""
        return self.ev.remembered(("events", frame), lambda: self._events_of(frame), ())

    def _events_of(self, frame: Frame) -> tuple[Event, ...]:
        node = frame.scope.node
        if isinstance(node, tree.Lambda):
            return distinct(self._expression(node.body, frame))
        assert isinstance(node, tree.FunctionDef)
        found: list[Event] = []
        self._block(node.body, frame, found)
        return distinct(found)

    def _block(self, block: tree.Block, frame: Frame, out: list[Event]) -> bool:
        """Walks the statements; true when the block is proven to leave the function."""
        for statement in block:
            if len(out) > MAX_EVENTS * 4:
                return True
            if self._statement(statement, frame, out):
                return True
        return False

    def _statement(self, statement: tree.Stmt, frame: Frame, out: list[Event]) -> bool:
        match statement:
            case tree.If(test=test, body=body, orelse=orelse):
                out.extend(self._expression(test, frame))
                holds = self.ev.decide(((statement.site, "then"),), frame)
                if holds is True:
                    return self._block(body, frame, out)
                if holds is False:
                    return self._block(orelse, frame, out)
                left = self._block(body, frame, out)
                return self._block(orelse, frame, out) and left
            case tree.For(iter=iterated, body=body, orelse=orelse):
                out.extend(self._expression(iterated, frame))
                out.extend(self.iterated(self.ev.values(iterated, frame)))
                self._block(body, frame, out)
                self._block(orelse, frame, out)
            case tree.While(test=test, body=body, orelse=orelse):
                out.extend(self._expression(test, frame))
                if self.ev.truth(test, frame) is not False:
                    self._block(body, frame, out)
                self._block(orelse, frame, out)
            case tree.With(items=items, body=body):
                for context, _ in items:
                    out.extend(self._expression(context, frame))
                    for value in ordered(self.ev.values(context, frame)):
                        if isinstance(value, Instance):
                            out.extend(self.calling(self.ev.attribute(value, "__enter__"), Arguments()))
                return self._block(body, frame, out)
            case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                left = self._block(body, frame, out) or self._block(orelse, frame, out)
                for handler in handlers:
                    self._block(handler.body, frame, out)
                return self._block(final, frame, out) or (left and not handlers)
            case tree.Match(subject=subject, cases=cases):
                out.extend(self._expression(subject, frame))
                for index, case in enumerate(cases):
                    if self.ev.decide(((statement.site, f"case{index}"),), frame) is not False:
                        self._block(case.body, frame, out)
            case tree.Return(value=value):
                if value is not None:
                    out.extend(self._expression(value, frame))
                return True
            case tree.Raise(value=value, cause=cause):
                for part in (value, cause):
                    if part is not None:
                        out.extend(self._expression(part, frame))
                return True
            case tree.Jump():
                return False
            case tree.FunctionDef() | tree.ClassDef() | tree.Import() | tree.ImportFrom() | tree.ScopeDeclaration():
                return False
            case _ if not decides_nothing(self.ev, statement, frame):
                for expression in statement_expressions(statement):
                    out.extend(self._expression(expression, frame))
        return False

    def _expression(self, root: tree.Expr, frame: Frame) -> Iterator[Event]:
        """The events of evaluating an expression, inner ones first."""
        match root:
            case tree.Const() | tree.Name() | tree.Lambda():
                return
            case tree.Conditional(test=test, body=body, orelse=orelse):
                yield from self._expression(test, frame)
                holds = self.ev.truth(test, frame)
                if holds is not False:
                    yield from self._expression(body, frame)
                if holds is not True:
                    yield from self._expression(orelse, frame)
                return
            case tree.Boolean(op=op, left=left, right=right):
                yield from self._expression(left, frame)
                first = self.ev.truth(left, frame)
                if first is None or first is (op == "and"):
                    yield from self._expression(right, frame)
                return
            case tree.Comprehension():
                yield from self._comprehension(root, frame)
                return
            case tree.Compare() if is_drawn_in_vain(self.ev, root, frame):
                return
        for part in sub_expressions(root):
            yield from self._expression(part, frame)
        match root:
            case tree.Call():
                yield from self._call_node(root, frame)
            case tree.Attribute(value=value, attr=attr):
                yield from self._attribute_node(root, value, attr, frame)
            case tree.Subscript(value=value):
                yield from self._subscript_node(root, value, frame)
            case tree.Yield(value=value, delegates=True) if value is not None:
                yield from self.iterated(self.ev.values(value, frame))
            case tree.Starred(value=value):
                yield from self.iterated(self.ev.values(value, frame))

    def _comprehension(self, node: tree.Comprehension, frame: Frame) -> Iterator[Event]:
        for index, clause in enumerate(node.clauses):
            if index == 0:
                yield from self._expression(clause.iter, frame)
                yield from self.iterated(self.ev.values(clause.iter, frame))
        for inner in comprehension_frames(self.ev, node, frame):
            for clause in node.clauses[1:]:
                yield from self._expression(clause.iter, inner)
            for clause in node.clauses:
                for condition in clause.conditions:
                    yield from self._expression(condition, inner)
            if node.key is not None:
                yield from self._expression(node.key, inner)
            yield from self._expression(node.element, inner)

    def _call_node(self, node: tree.Call, frame: Frame) -> Iterator[Event]:
        ev = self.ev
        site = ev.site(node, frame)
        functions = ev.values(node.func, frame)
        arguments: Arguments | None = None
        for value in ordered(functions):
            if value is UNKNOWN:
                yield Event("", site, Arguments(), (), call=node, frame=frame, note=f"calls {shown(node.func)}")
                continue
            if self.is_silent(value):
                continue
            if arguments is None:
                arguments = ev.arguments(node.args, frame)
            name = outside_name(value)
            if name is not None and is_notable(name):
                receiver = value.receiver if isinstance(value, MemberOf) else value
                yield Event(
                    name, site, arguments, (), receiver if not isinstance(value, External) else None, node, frame
                )
            link = Link(site, f"calls {shown(node.func)}")
            for event in self.call(value, arguments, site):
                yield event.after(link)

    def _attribute_node(self, node: tree.Attribute, owner: tree.Expr, attr: str, frame: Frame) -> Iterator[Event]:
        ev = self.ev
        for value in ordered(ev.values(owner, frame)):
            if isinstance(value, (Instance, SuperValue)):
                instance = value if isinstance(value, Instance) else value.receiver
                if not isinstance(instance, Instance):
                    continue
                function = _property(ev, instance, attr)
                if function is not None:
                    site = ev.site(node, frame)
                    for event in self.call(MethodValue(function, instance), Arguments(), site):
                        yield event.after(Link(site, f"reads the property {attr}"))

    def _subscript_node(self, node: tree.Subscript, owner: tree.Expr, frame: Frame) -> Iterator[Event]:
        ev = self.ev
        for value in ordered(ev.values(owner, frame)):
            if not isinstance(value, (Instance, ExternalObject)):
                continue
            site = ev.site(node, frame)
            index = ev.values(node.index, frame)
            if isinstance(value, Instance):
                found: Iterable[Event] = (
                    event
                    for method in ordered(ev.attribute(value, "__getitem__"))
                    for event in self.call(method, Arguments((index,)), site)
                )
            else:
                found = self.item(value)
            for event in found:
                yield event.after(Link(site, f"takes an item of {shown(owner)}"))


def statement_expressions(statement: tree.Stmt) -> Iterator[tree.Expr]:
    """The expressions that a simple statement evaluates, in order."""
    match statement:
        case tree.Assign(targets=targets, value=value):
            if value is not None:
                yield value
                yield from targets
        case tree.AugAssign(target=target, value=value):
            yield value
            yield target
        case tree.ExprStmt(value=value):
            yield value
        case tree.Assert(test=test, message=message):
            yield test
            if message is not None:
                yield message
        case tree.Delete(targets=targets):
            yield from targets


def _property(ev: Evaluator, instance: Instance, attr: str) -> FunctionValue | None:
    for base in classes.mro(ev, instance.cls):
        if isinstance(base, ClassValue):
            scope = base.frame.facts.scope_of(base.node)
            for binding in reversed(scope.bindings.get(attr, ())):
                if isinstance(binding.node, tree.FunctionDef):
                    names = {classes.decorator_name(d) for d in binding.node.decorators}
                    if names & classes.PROPERTIES and len(binding.node.params) == 1:
                        return FunctionValue(binding.node, ev.class_frame(base))
                else:
                    return None
            if attr in scope.bindings:
                return None
    return None
