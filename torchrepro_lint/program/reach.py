"""What runs when something is called: the walk along the call graph, with the chain that leads to each event.

The walk follows a function's statements in order, leaves out arms that are proven not to run, and enters everything that
a call can reach: functions, methods, constructors, properties, `__call__`, `__getitem__`, the callables that a library
object was given. What it reports are the calls of outside functions that matter for randomness (`Event`), and the calls
that it could not follow (`Unresolved`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import sub_expressions
from torchrepro_lint.knowledge.callables import ExternalCallable, external_callable
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program import attributes
from torchrepro_lint.program.builtin_calls import member_name
from torchrepro_lint.program.callers import order_key
from torchrepro_lint.program.calls import bound_frame, external_argument, merged
from torchrepro_lint.program.expressions import comprehension_frames
from torchrepro_lint.program.frames import Frame
from torchrepro_lint.program.instances import base_arguments
from torchrepro_lint.program.values import (
    UNKNOWN,
    Arguments,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    Partial,
    SequenceValue,
    Site,
    SuperValue,
    Value,
    Values,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluator import Evaluator

__all__ = ["Event", "Link", "Walker"]

MAX_EVENTS = 300

#: Outside calls that are events although they touch no random number generator themselves.
_NOTABLE = frozenset(
    {
        "torch.utils.data.get_worker_info", "torch.initial_seed", "torch.random.initial_seed", "os.getpid", "time.time",
        "time.time_ns", "os.urandom", "numpy.random.get_state", "torch.distributed.get_rank", "cv2.setRNGSeed",
    }
)  # fmt: skip
_CALLS_ITS_ARGUMENT = frozenset(
    {"builtins.map", "builtins.filter", "builtins.sorted", "builtins.min", "builtins.max", "functools.reduce"}
)
#: Also what gives an iterator back: it is taken to be used up.
_ITERATES_ITS_ARGUMENTS = frozenset(
    "builtins." + name
    for name in (
        "next", "iter", "list", "tuple", "set", "frozenset", "dict", "enumerate", "zip", "map", "filter", "sorted",
        "sum", "min", "max", "any", "all",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain: where, and what happens there."""

    site: Site
    note: str


@dataclass(frozen=True, slots=True)
class Event:
    """A call of something outside the project.

    `name` is its canonical dotted name ("" for a call that could not be followed, with `note` saying why);
    `receiver` the object whose method it is; `chain` leads from what was asked about to the call. `certain` is
    false where an arm on the way may not run.
    """

    name: str
    site: Site
    arguments: Arguments
    chain: tuple[Link, ...]
    receiver: Value | None = None
    call: tree.Call | None = None
    frame: Frame | None = None
    note: str = ""

    def after(self, link: Link) -> Event:
        return Event(
            self.name, self.site, self.arguments, (link, *self.chain), self.receiver, self.call, self.frame, self.note
        )


class Walker:
    """Collects events. It keeps no state but its evaluator's memory."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev

    # --- entry points -----------------------------------------------------------------------------------------

    def calling(self, values: Values, arguments: Arguments | None = None, site: Site | None = None) -> tuple[Event, ...]:
        """What happens when any of `values` is called."""
        given = arguments if arguments is not None else Arguments((), (), True, True)
        return _distinct(event for value in _ordered(values) for event in self._call(value, given, site))

    def fetching(self, values: Values) -> tuple[Event, ...]:
        """What happens when a worker fetches items from a dataset that any of `values` may be."""
        return _distinct(event for value in _ordered(values) for event in self._item(value))

    def frame(self, frame: Frame) -> tuple[Event, ...]:
        """What happens when a function's body runs in `frame`."""
        return self.ev.remembered(("events", frame), lambda: self._events_of(frame), ())

    # --- values -----------------------------------------------------------------------------------------------

    def _call(self, value: Value, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        ev = self.ev
        match value:
            case FunctionValue():
                yield from self._enter(value, bound_frame(ev, value, arguments))
            case MethodValue():
                yield from self._enter(value.function, attributes.method_frame(ev, value, arguments))
            case ClassValue():
                instance = Instance(value, arguments, site)
                for method in _ordered(ev.attribute(instance, "__init__")):
                    if isinstance(method, MethodValue):
                        yield from self._call(method, arguments, site)
            case Partial():
                for function in _ordered(value.function):
                    yield from self._call(function, merged(value.arguments, arguments), site)
            case Instance():
                methods = ev.attribute(value, "__call__") or ev.attribute(value, "forward")
                for method in _ordered(methods):
                    yield from self._call(method, arguments, site)
                if not methods:
                    yield from self._external_bases(value, "call")
            case External(name=name):
                yield from self._external(name, arguments, site)
            case ExternalObject():
                yield from self._object(value, arguments, site)
            case MemberOf():
                yield from self._member(value, arguments, site)

    def _enter(self, function: FunctionValue, frame: Frame) -> Iterator[Event]:
        link = Link(Site(frame.facts.path, function.node.site), _title(function))
        for event in self.frame(frame):
            yield event.after(link)

    def _external(self, name: str, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        known = external_callable(name)
        if known is not None:
            yield from self._runs(known, arguments, "now", None)
        if name in _CALLS_ITS_ARGUMENT:
            for values in (*arguments.positional[:1], *(v for k, v, _ in arguments.keywords if k == "key")):
                for value in _ordered(values):
                    if isinstance(value, (FunctionValue, MethodValue, Instance, Partial)):
                        yield from self._call(value, Arguments((), (), True, True), site)
        if name in _ITERATES_ITS_ARGUMENTS or name.startswith("itertools."):
            for values in arguments.positional:
                yield from self._iterated(values)

    def _object(self, value: ExternalObject, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        known = external_callable(value.name)
        if known is not None and value.arguments is not None:
            yield from self._runs(known, value.arguments, "call", value)

    def _member(self, value: MemberOf, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        receiver = value.receiver
        if isinstance(receiver, Instance):
            if value.attr in ("__getitem__", "__iter__", "__getitems__"):
                yield from self._external_bases(receiver, "item")
            elif value.attr in ("__call__", "forward"):
                yield from self._external_bases(receiver, "call")
            return
        name = member_name(value)
        known = external_callable(name) if name is not None else None
        if known is not None:
            yield from self._runs(known, arguments, "now", receiver)

    def _external_bases(self, instance: Instance, moment: str) -> Iterator[Event]:
        """What a library class does with the arguments that its subclass hands on to it."""
        for name, arguments in base_arguments(self.ev, instance):
            known = external_callable(name)
            if known is not None:
                yield from self._runs(known, arguments, moment, instance)

    def _runs(self, known: ExternalCallable, arguments: Arguments, moment: str, receiver: Value | None) -> Iterator[Event]:
        for run in known.runs:
            if run.moment != moment:
                continue
            if run.parameter == "*":
                groups: list[Values] = list(arguments.positional)
            elif run.parameter == "**":
                groups = [values for _, values, _ in arguments.keywords]
            elif run.parameter == "self":
                groups = [values_of(receiver)] if receiver is not None else []
            else:
                groups = [external_argument(arguments, known.parameters, run.parameter)[0]]
            for values in groups:
                yield from self.protocol(values, run.protocol)

    def protocol(self, values: Values, protocol: str) -> Iterator[Event]:
        """What is done with an argument that a library takes as `protocol` (see knowledge/callables.py)."""
        match protocol:
            case "dataset":
                yield from self.fetching(values)
            case "datasets":
                yield from self.fetching(self._members(values))
            case "callable" | "collate":
                yield from self._handed_over(values)
            case "callables":
                yield from self._handed_over(self._members(values))
            case "iterable":
                yield from self._iterated(values)

    def _handed_over(self, values: Values) -> Iterator[Event]:
        """A library's calls of what it was handed. One that is a library's too is an event where it was made."""
        for value in _ordered(values):
            if isinstance(value, ExternalObject) and value.site is not None:
                name = outside_name(value)
                if name is not None and is_notable(name):
                    yield Event(name, value.site, Arguments(), (), value)
        yield from self.calling(values)

    def _members(self, values: Values) -> Values:
        parts: set[Value] = set()
        for value in values:
            if isinstance(value, DictValue):
                parts |= value.all_values()
            elif isinstance(value, SequenceValue):
                parts |= value.elements()
            elif isinstance(value, Instance) and not self.ev.attribute(value, "__iter__"):
                parts.add(value)
            else:
                parts |= self.ev.elements(values_of(value))
        return frozenset(parts)

    def _item(self, value: Value) -> Iterator[Event]:
        ev = self.ev
        match value:
            case Instance():
                own = False
                for name in ("__getitem__", "__getitems__", "__iter__", "__next__"):
                    for method in _ordered(ev.attribute(value, name)):
                        own = True
                        if isinstance(method, MethodValue) or isinstance(method, FunctionValue):
                            yield from self._call(method, Arguments((unknown(),)), None)
                        elif isinstance(method, MemberOf):
                            yield from self._external_bases(value, "item")
                if not own:
                    yield from self._external_bases(value, "item")
            case ExternalObject():
                known = external_callable(value.name)
                if known is not None and value.arguments is not None:
                    # The object that a method gave does not hold the method's own receiver: that is a value beside it.
                    yield from self._runs(known, value.arguments, "item", None)
            case SequenceValue() if value.kind == "generator":
                return

    def _iterated(self, values: Values) -> Iterator[Event]:
        for value in _ordered(values):
            if isinstance(value, Instance):
                for name in ("__iter__", "__next__"):
                    for method in _ordered(self.ev.attribute(value, name)):
                        if isinstance(method, MethodValue):
                            yield from self._call(method, Arguments(), None)

    # --- bodies -----------------------------------------------------------------------------------------------

    def _events_of(self, frame: Frame) -> tuple[Event, ...]:
        node = frame.scope.node
        if isinstance(node, tree.Lambda):
            return _distinct(self._expression(node.body, frame))
        assert isinstance(node, tree.FunctionDef)
        found: list[Event] = []
        self._block(node.body, frame, found)
        return _distinct(found)

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
            case tree.For(target=target, iter=iterated, body=body, orelse=orelse):
                out.extend(self._expression(iterated, frame))
                out.extend(self._iterated(self.ev.values(iterated, frame)))
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
                    for value in _ordered(self.ev.values(context, frame)):
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
            case tree.Raise(value=value):
                if value is not None:
                    out.extend(self._expression(value, frame))
                return True
            case tree.Jump():
                return False
            case tree.FunctionDef() | tree.ClassDef() | tree.Import() | tree.ImportFrom() | tree.ScopeDeclaration():
                return False
            case _:
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
                yield from self._iterated(self.ev.values(value, frame))
            case tree.Starred(value=value):
                yield from self._iterated(self.ev.values(value, frame))

    def _comprehension(self, node: tree.Comprehension, frame: Frame) -> Iterator[Event]:
        for index, clause in enumerate(node.clauses):
            if index == 0:
                yield from self._expression(clause.iter, frame)
                yield from self._iterated(self.ev.values(clause.iter, frame))
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
        for value in _ordered(functions):
            if value is UNKNOWN:
                yield Event("", site, Arguments(), (), call=node, frame=frame, note=f"calls {shown(node.func)}")
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
            for event in self._call(value, arguments, site):
                yield event.after(link)

    def _attribute_node(self, node: tree.Attribute, owner: tree.Expr, attr: str, frame: Frame) -> Iterator[Event]:
        ev = self.ev
        for value in _ordered(ev.values(owner, frame)):
            if isinstance(value, (Instance, SuperValue)):
                instance = value if isinstance(value, Instance) else value.receiver
                if not isinstance(instance, Instance):
                    continue
                function = _property(ev, instance, attr)
                if function is not None:
                    site = ev.site(node, frame)
                    for event in self._call(MethodValue(function, instance), Arguments(), site):
                        yield event.after(Link(site, f"reads the property {attr}"))

    def _subscript_node(self, node: tree.Subscript, owner: tree.Expr, frame: Frame) -> Iterator[Event]:
        ev = self.ev
        for value in _ordered(ev.values(owner, frame)):
            if not isinstance(value, (Instance, ExternalObject)):
                continue
            site = ev.site(node, frame)
            index = ev.values(node.index, frame)
            if isinstance(value, Instance):
                found: Iterable[Event] = (
                    event
                    for method in _ordered(ev.attribute(value, "__getitem__"))
                    for event in self._call(method, Arguments((index,)), site)
                )
            else:
                found = self._item(value)
            for event in found:
                yield event.after(Link(site, f"takes an item of {shown(owner)}"))


# --- helpers --------------------------------------------------------------------------------------------------


def outside_name(value: Value) -> str | None:
    """The dotted name under which knowledge speaks of calling this value; None for project code."""
    match value:
        case External(name=name):
            return name
        case ExternalObject(name=name):
            return f"{name}.__call__"
        case MemberOf():
            return member_name(value)
    return None


def is_notable(name: str) -> bool:
    """Whether a call of this outside function is an event."""
    return name in _NOTABLE or bool(rng_effects(name)) or seeding_call(name) is not None


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
        case tree.Assert(test=test):
            yield test
        case tree.Delete(targets=targets):
            yield from targets


def _property(ev: Evaluator, instance: Instance, attr: str) -> FunctionValue | None:
    for base in attributes.mro(ev, instance.cls):
        if isinstance(base, ClassValue):
            scope = base.frame.facts.scope_of(base.node)
            for binding in reversed(scope.bindings.get(attr, ())):
                if isinstance(binding.node, tree.FunctionDef):
                    names = {attributes.decorator_name(d) for d in binding.node.decorators}
                    if names & attributes._PROPERTIES and len(binding.node.params) == 1:
                        return FunctionValue(binding.node, ev.class_frame(base))
                else:
                    return None
            if attr in scope.bindings:
                return None
    return None


def _title(function: FunctionValue) -> str:
    owner = function.frame.scope
    if isinstance(owner.node, tree.ClassDef):
        return f"{owner.name}.{function.name}"
    return function.name


def shown(node: tree.Expr) -> str:
    """A short text for an expression, for the notes of a chain."""
    match node:
        case tree.Name(id=name):
            return name
        case tree.Attribute(value=value, attr=attr):
            return f"{shown(value)}.{attr}"
        case tree.Call(func=func):
            return f"{shown(func)}(...)"
        case tree.Subscript(value=value):
            return f"{shown(value)}[...]"
        case tree.Const(value=value):
            return repr(value)
    return "..."


def _ordered(values: Values) -> list[Value]:
    if len(values) < 2:
        return list(values)
    return sorted(values, key=lambda value: (type(value).__name__, order_key(value)))


def _distinct(events: Iterable[Event]) -> tuple[Event, ...]:
    """One event for each outside call at each place: the one with the shortest chain, first come first."""
    best: dict[tuple[str, Site, Value | None], Event] = {}
    for event in events:
        key = (event.name, event.site, event.receiver)
        known = best.get(key)
        if known is None:
            if len(best) < MAX_EVENTS:
                best[key] = event
        elif len(event.chain) < len(known.chain):
            best[key] = event
    return tuple(best.values())
