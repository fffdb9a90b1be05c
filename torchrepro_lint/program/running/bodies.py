"""The walk over a function's body: its statements in order, each expression from the inside out.

What a call, an iteration or an item leads to is the business of `reach.Walker`, which goes on from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.exits import exits_of, swallows
from torchrepro_lint.facts.expressions import last_site, sub_expressions
from torchrepro_lint.facts.unbound import header
from torchrepro_lint.program.evaluation.chances import gives_one_number, has_no_choice, is_drawn_in_vain
from torchrepro_lint.program.evaluation.expressions import comprehension_frames
from torchrepro_lint.program.evaluation.frames import Frame, of_any_call
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.signatures import callable_with
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    ClassValue,
    External,
    ExternalObject,
    Instance,
    MemberOf,
    MethodValue,
    Site,
    SuperValue,
    Value,
    Values,
)
from torchrepro_lint.program.running.events import (
    MAX_EVENTS,
    Event,
    Found,
    Link,
    distinct,
    is_notable,
    outside_name,
    shown,
)
from torchrepro_lint.program.running.properties import property_of
from torchrepro_lint.program.running.undecisive import chooses_the_only_one, decides_nothing, only_waits

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
        return self.ev.remembered(("events", frame), lambda: self.within_limits(frame), ())

    def within_limits(self, frame: Frame) -> tuple[Event, ...]:
        """What happens in `frame`; in a function that called itself too often, whatever it is given."""
        with self.ev.inside(frame.scope) as is_shallow:
            followed = frame if is_shallow else of_any_call(self.ev, frame)
            return self._events_of(frame) if followed == frame else self.frame(followed)

    def _events_of(self, frame: Frame) -> tuple[Event, ...]:
        node = frame.scope.node
        found = Found()
        if isinstance(node, tree.Lambda):
            self._expression(node.body, frame, found)
            return self._distinct(found)
        assert isinstance(node, tree.FunctionDef)
        self._block(node.body, frame, found)
        return self._distinct(found)

    def _distinct(self, found: list[Event]) -> tuple[Event, ...]:
        """One event for each call; of too many, the answer says that it lacks some."""
        events = distinct(found)
        if len(events) >= MAX_EVENTS:
            self.ev.leave_out()
        return events

    def _block(self, block: tree.Block, frame: Frame, out: Found) -> bool:
        """Walks the statements; true when the block is proven to leave the function."""
        for statement in block:
            if out.thin_out():
                self.ev.leave_out()
            if self._statement(statement, frame, out) and (frame.scope.parent is not None or not frame.facts.in_cells):
                return True
        return False

    def _statement(self, statement: tree.Stmt, frame: Frame, out: Found) -> bool:
        raised = frame.scope.raises.get(statement.site)
        if raised is not None:
            for expression in header(statement):
                self._up_to(raised, expression, frame, out)
            return True
        match statement:
            case tree.If(test=test, body=body, orelse=orelse):
                self._expression(test, frame, out)
                holds = self.ev.decide(((statement.site, "then"),), frame)
                if holds is True:
                    return self._block(body, frame, out)
                if holds is False:
                    return self._block(orelse, frame, out)
                left = self._block(body, frame, out)
                return self._block(orelse, frame, out) and left
            case tree.For(iter=iterated, body=body, orelse=orelse):
                self._expression(iterated, frame, out)
                out.extend(self.iterated(self.ev.values(iterated, frame)))
                self._block(body, frame, out)
                self._block(orelse, frame, out)
            case tree.While(test=test, body=body, orelse=orelse):
                self._expression(test, frame, out)
                if self.ev.truth(test, frame) is not False:
                    self._block(body, frame, out)
                self._block(orelse, frame, out)
            case tree.With(items=items, body=body):
                for context, _ in items:
                    self._expression(context, frame, out)
                    for value in ordered(self.ev.values(context, frame)):
                        if isinstance(value, Instance):
                            out.extend(self.calling(self.ev.attribute(value, "__enter__"), Arguments()))
                return self._block(body, frame, out) and not any(swallows(context) for context, _ in items)
            case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                left = self._block(body, frame, out) or self._block(orelse, frame, out)
                ends = [self._block(handler.body, frame, out) for handler in handlers]
                return self._block(final, frame, out) or (left and all(ends))
            case tree.Match(subject=subject, cases=cases):
                self._expression(subject, frame, out)
                for index, case in enumerate(cases):
                    if self.ev.decide(((statement.site, f"case{index}"),), frame) is not False:
                        self._block(case.body, frame, out)
            case tree.Return(value=value):
                if value is not None:
                    self._expression(value, frame, out)
                return True
            case tree.Raise(value=value, cause=cause):
                for part in (value, cause):
                    if part is not None:
                        self._expression(part, frame, out)
                return True
            case tree.Jump():
                return False
            case tree.FunctionDef() | tree.ClassDef() | tree.Import() | tree.ImportFrom() | tree.ScopeDeclaration():
                return False
            case _ if not decides_nothing(self.ev, statement, frame):
                for expression in _evaluated(statement):
                    self._expression(expression, frame, out)
                return exits_of((statement,), {}) is not None
        return False

    def _expression(self, root: tree.Expr, frame: Frame, out: Found) -> None:
        """Adds the events of evaluating an expression, inner ones first."""
        match root:
            case tree.Const() | tree.Name() | tree.Lambda():
                return
            case tree.Conditional(test=test, body=body, orelse=orelse):
                self._expression(test, frame, out)
                holds = self.ev.truth(test, frame)
                if holds is not False:
                    self._expression(body, frame, out)
                if holds is not True:
                    self._expression(orelse, frame, out)
                return
            case tree.Boolean(op=op, left=left, right=right):
                self._expression(left, frame, out)
                first = self.ev.truth(left, frame)
                if first is None or first is (op == "and"):
                    self._expression(right, frame, out)
                return
            case tree.Comprehension():
                self._comprehension(root, frame, out)
                return
            case tree.Compare() if is_drawn_in_vain(self.ev, root, frame):
                return
        before = len(out)
        for part in sub_expressions(root):
            self._expression(part, frame, out)
        match root:
            case tree.Call() if len(out) > before and only_waits(self.ev, root, frame):
                del out[before:]
            case tree.Call() if chooses_the_only_one(self.ev, root, frame):
                pass
            case tree.Call():
                self._call_node(root, frame, out)
            case tree.Attribute(value=value, attr=attr):
                self._attribute_node(root, value, attr, frame, out)
            case tree.Subscript(value=value):
                self._subscript_node(root, value, frame, out)
            case tree.Yield(value=value, delegates=True) if value is not None:
                out.extend(self.iterated(self.ev.values(value, frame)))
            case tree.Starred(value=value):
                out.extend(self.iterated(self.ev.values(value, frame)))

    def _up_to(self, raised: int, root: tree.Expr, frame: Frame, out: Found) -> None:
        """The events of evaluating an expression as far as what raises, at that site."""
        parts = (root.clauses[0].iter,) if isinstance(root, tree.Comprehension) else sub_expressions(root)
        if last_site(root) < raised:
            self._expression(root, frame, out)
        elif root.site < raised:
            for part in parts:
                self._up_to(raised, part, frame, out)

    def _comprehension(self, node: tree.Comprehension, frame: Frame, out: Found) -> None:
        for index, clause in enumerate(node.clauses):
            if index == 0:
                self._expression(clause.iter, frame, out)
                out.extend(self.iterated(self.ev.values(clause.iter, frame)))
        for inner in comprehension_frames(self.ev, node, frame):
            for clause in node.clauses[1:]:
                self._expression(clause.iter, inner, out)
            for clause in node.clauses:
                for condition in clause.conditions:
                    self._expression(condition, inner, out)
            if node.key is not None:
                self._expression(node.key, inner, out)
            self._expression(node.element, inner, out)

    def _call_node(self, node: tree.Call, frame: Frame, out: Found) -> None:
        ev = self.ev
        site = ev.site(node, frame)
        functions = ev.values(node.func, frame)
        arguments: Arguments | None = None
        is_chosen = len(functions) > 1 or any(isinstance(value, ClassValue) for value in functions)
        if is_chosen and not all(self.is_silent(value) for value in functions):
            arguments = ev.arguments(node.args, frame)
            functions = callable_with(ev, functions, arguments)
        for value in ordered(functions):
            if value is UNKNOWN:
                out.append(Event("", site, Arguments(), (), call=node, frame=frame, note=f"calls {shown(node.func)}"))
                continue
            if self.is_silent(value):
                continue
            if arguments is None:
                arguments = ev.arguments(node.args, frame)
            name = outside_name(value)
            is_noted = name is not None and is_notable(name) and not has_no_choice(name, node)
            if name is not None and is_noted and not self._gives_one_number(node, frame):
                receiver = value.receiver if isinstance(value, MemberOf) else value
                owner = receiver if not isinstance(value, External) else None
                out.append(Event(name, site, arguments, (), owner, node, frame))
            link = Link(site, f"calls {shown(node.func)}", frame=frame)
            out.extend(event.after(link) for event in self.call(value, arguments, site))

    def _gives_one_number(self, node: tree.Call, frame: Frame) -> bool:
        results = self.ev.values(node, frame)
        return bool(results) and all(map(gives_one_number, results))

    def _attribute_node(self, node: tree.Attribute, owner: tree.Expr, attr: str, frame: Frame, out: Found) -> None:
        ev = self.ev
        for value in ordered([one for one in ev.values(owner, frame) if isinstance(one, (Instance, SuperValue))]):
            instance = value if isinstance(value, Instance) else value.receiver
            if not isinstance(instance, Instance):
                continue
            function = property_of(ev, instance, attr)
            if function is not None:
                site = ev.site(node, frame)
                link = Link(site, f"reads the property {attr}")
                found = self.call(MethodValue(function, instance), Arguments(), site)
                out.extend(event.after(link) for event in found)

    def _subscript_node(self, node: tree.Subscript, owner: tree.Expr, frame: Frame, out: Found) -> None:
        ev = self.ev
        for value in ordered([one for one in ev.values(owner, frame) if isinstance(one, (Instance, ExternalObject))]):
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
            link = Link(site, f"takes an item of {shown(owner)}")
            out.extend(event.after(link) for event in found)


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


def _evaluated(statement: tree.Stmt) -> Iterator[tree.Expr]:
    """The expressions of a simple statement whose values are read, in order."""
    stored_to = statement.targets if isinstance(statement, (tree.Assign, tree.Delete)) else ()
    for expression in statement_expressions(statement):
        if any(expression is target for target in stored_to):
            yield from _read_to_store(expression)
        else:
            yield expression


def _read_to_store(target: tree.Expr) -> Iterator[tree.Expr]:
    """What is evaluated in order to store into a target, or to delete it: no item is read in `self[key] = value`."""
    match target:
        case tree.Subscript(value=value, index=index):
            yield value
            yield index
        case tree.Attribute(value=value):
            yield value
        case tree.Starred(value=value):
            yield from _read_to_store(value)
        case tree.Display():
            for one in sub_expressions(target):
                yield from _read_to_store(one)
        case tree.Name():
            return
        case _:
            yield target
