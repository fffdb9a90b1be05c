"""What runs when something is called: a walk along the call graph that gives events, each with the chain that leads to
it.

The walk follows a function's statements in order (`bodies.py`), skips branches that are proven not to run, and enters
everything that a call can reach: functions, methods, constructors, properties, `__call__`, `__getitem__`, and the
callables that were passed to an object of a library. It yields an `Event` for each call of an outside function that
matters for randomness, and one without a name for each call that it could not follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.callables import ExternalCallable, Protocol, called_methods, external_callable
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.arguments import bound_frame, external_argument, merged
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.construction import base_arguments
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
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
    Value,
    Values,
    unknown,
    values_of,
)
from torchrepro_lint.program.running.bodies import BodyWalker, statement_expressions
from torchrepro_lint.program.running.compiled_functions import is_compiled
from torchrepro_lint.program.running.events import Event, Link, distinct, is_notable, outside_name, shown
from torchrepro_lint.program.running.library_chances import never_runs
from torchrepro_lint.program.running.offered_commands import MAX_OFFERED, components
from torchrepro_lint.program.running.started_arguments import startable

__all__ = [
    "Event",
    "Link",
    "Walker",
    "distinct",
    "is_notable",
    "ordered",
    "outside_name",
    "shown",
    "statement_expressions",
]

#: What calls its first argument with what the others hold, and what calls its `key` with what its first argument holds.
_APPLIES = frozenset({"builtins.map", "builtins.filter", "functools.reduce"})
_COMPARES_BY_KEY = frozenset({"builtins.sorted", "builtins.min", "builtins.max"})


#: Also what gives an iterator back: it is taken to be used up.
_ITERATES_ITS_ARGUMENTS = frozenset(
    "builtins." + name
    for name in (
        "next", "iter", "list", "tuple", "set", "frozenset", "dict", "enumerate", "zip", "map", "filter", "sorted",
        "sum", "min", "max", "any", "all",
    )
)  # fmt: skip


class Walker(BodyWalker):
    """Collects events. It keeps no state but its evaluator's memory."""

    # --- entry points -----------------------------------------------------------------------------------------

    def calling(
        self, values: Values, arguments: Arguments | None = None, site: Site | None = None
    ) -> tuple[Event, ...]:
        """What happens when any of `values` is called."""
        given = arguments if arguments is not None else Arguments((), (), True, True)
        return distinct(event for value in ordered(values) for event in self.call(value, given, site))

    def fetching(self, values: Values) -> tuple[Event, ...]:
        """What happens when a worker fetches items from a dataset that any of `values` may be."""
        return distinct(event for value in ordered(values) for event in self.item(value))

    # --- values -----------------------------------------------------------------------------------------------

    def call(self, value: Value, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        ev = self.ev
        match value:
            case FunctionValue():
                yield from self._enter(value, bound_frame(ev, value, arguments))
            case MethodValue():
                yield from self._enter(value.function, classes.method_frame(ev, value, arguments))
            case ClassValue():
                instance = Instance(value, arguments, site)
                for method in ordered(ev.attribute(instance, "__init__")):
                    if isinstance(method, MethodValue):
                        yield from self.call(method, arguments, site)
            case Partial():
                for function in ordered(value.function):
                    yield from self.call(function, merged(value.arguments, arguments), site)
            case Instance():
                methods = ev.attribute(value, "__call__") or ev.attribute(value, "forward")
                for method in ordered(methods):
                    if not isinstance(method, Instance):  # an object may have itself under any name, by `__getattr__`
                        yield from self.call(method, arguments, site)
                if not methods:
                    yield from self._external_bases(value, "call")
            case External(name=name):
                yield from self._external(name, arguments, site)
            case ExternalObject():
                yield from self._object(value)
            case MemberOf():
                yield from self._member(value, arguments, site)

    def is_silent(self, value: Value) -> bool:
        match value:
            case MemberOf(receiver=Instance()):
                return False  # what a subclass has from a library runs what it was given
            case External() | MemberOf():
                name = outside_name(value)
                return name is None or not _is_heard(name)
        return False

    def _enter(self, function: FunctionValue, frame: Frame) -> Iterator[Event]:
        if is_compiled(self.ev, function.node, function.frame):
            return
        link = Link(Site(frame.facts.path, function.node.site), _title(function))
        for event in self.frame(frame):
            yield event.after(link)

    def _external(self, name: str, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        known = external_callable(name)
        if known is not None:
            yield from self._runs(known, arguments, "now", None, site)
        if name in _APPLIES or name in _COMPARES_BY_KEY:
            yield from self._applied(name, arguments, site)
        if name in _ITERATES_ITS_ARGUMENTS or name.startswith("itertools."):
            for values in arguments.positional:
                yield from self.iterated(values)

    def _applied(self, name: str, arguments: Arguments, site: Site | None) -> Iterator[Event]:
        """The calls that `map`, `sorted` and similar functions make of the function passed to them, with the elements
        as arguments.
        """
        if name in _COMPARES_BY_KEY:
            functions = [values for key, values, _ in arguments.keywords if key == "key"]
            iterables = arguments.positional[:1]
        else:
            functions = list(arguments.positional[:1])
            iterables = arguments.positional[1:]
        given = tuple(self.ev.elements(values) for values in iterables)
        if name == "functools.reduce":
            given = (unknown(), *given[:1])
        handed = Arguments(given) if given and not arguments.open_positional else Arguments((), (), True, True)
        for values in functions:
            for value in ordered(values):
                outside = outside_name(value) if isinstance(value, ExternalObject) else None
                if outside is not None and is_notable(outside) and site is not None:
                    yield Event(outside, site, handed, (), value)
                if isinstance(value, (FunctionValue, MethodValue, Instance, Partial, ExternalObject)):
                    yield from self.call(value, handed, site)

    def _object(self, value: ExternalObject) -> Iterator[Event]:
        known = external_callable(value.name)
        if known is not None and value.arguments is not None and not never_runs(value):
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
            yield from self._runs(known, arguments, "now", receiver, site)

    def _external_bases(self, instance: Instance, moment: str) -> Iterator[Event]:
        """What a library class does with the arguments that its subclass passes on to it."""
        for name, arguments in base_arguments(self.ev, instance):
            known = external_callable(name)
            if known is not None:
                yield from self._runs(known, arguments, moment, instance)

    def _runs(
        self,
        known: ExternalCallable,
        arguments: Arguments,
        moment: str,
        receiver: Value | None,
        site: Site | None = None,
    ) -> Iterator[Event]:
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
                yield from self.protocol(startable(self.ev, known, values, arguments), run.protocol, site)

    def protocol(self, values: Values, protocol: Protocol, site: Site | None = None) -> Iterator[Event]:
        """What is done with an argument that a library takes as `protocol` (see knowledge/callables.py), in a call at
        `site`.
        """
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
                yield from self.iterated(values)
            case "components":
                offered = components(self.ev, values, site)
                for value in offered[:MAX_OFFERED]:
                    yield from self.call(value, Arguments((), (), True, True), None)
                if len(offered) > MAX_OFFERED and site is not None:
                    yield Event("", site, Arguments(), (), note="offers more commands than are followed")
            case "getter" | "augmentation" | "transformation" | "subject_transform" | "waveform_transform":
                for name, value in product(called_methods(protocol), ordered(values)):
                    for method in ordered(self.ev.attribute(value, name)):
                        if isinstance(method, MethodValue):
                            yield from self.call(method, Arguments((), (), True, True), None)

    def _handed_over(self, values: Values) -> Iterator[Event]:
        """A library's calls of callables that were passed to it. One that belongs to a library itself yields an event
        at the place where it was created.
        """
        for value in ordered(values):
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
            elif isinstance(value, (FunctionValue, MethodValue, Partial)):
                parts.add(value)  # one alone may be given in the place of several
            elif self._is_called_itself(value):
                parts.add(value)
            else:
                parts |= self.ev.elements(values_of(value))
        return frozenset(parts)

    def _is_called_itself(self, value: Value) -> bool:
        """Whether a value is a callable, and not a collection of some."""
        if isinstance(value, ExternalObject):
            return _draws_when_called(value)
        return isinstance(value, Instance) and not self.ev.attribute(value, "__iter__")

    def item(self, value: Value) -> Iterator[Event]:
        ev = self.ev
        match value:
            case Instance():
                own = False
                for name in ("__getitem__", "__getitems__", "__iter__", "__next__"):
                    for method in ordered(ev.attribute(value, name)):
                        own = True
                        if isinstance(method, (MethodValue, FunctionValue, Partial)):
                            yield from self.call(method, Arguments((unknown(),)), None)
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

    def iterated(self, values: Values) -> Iterator[Event]:
        for value in ordered([one for one in values if isinstance(one, Instance)]):
            for name in ("__iter__", "__next__"):
                for method in ordered(self.ev.attribute(value, name)):
                    if isinstance(method, MethodValue):
                        yield from self.call(method, Arguments(), None)


def _draws_when_called(value: ExternalObject) -> bool:
    """Whether a library's object draws where it is called, or calls what it holds: `Sequential(nn.Dropout())`."""
    name = outside_name(value)
    known = external_callable(value.name)
    calls = known is not None and any(run.moment == "call" for run in known.runs)
    return calls or (name is not None and is_notable(name))


@cache
def _is_heard(name: str) -> bool:
    """Whether a call of this outside function can yield anything: an event, or calls of what is passed to it."""
    return (
        is_notable(name)
        or external_callable(name) is not None
        or name in _APPLIES
        or name in _COMPARES_BY_KEY
        or name in _ITERATES_ITS_ARGUMENTS
        or name.startswith("itertools.")
    )


def _title(function: FunctionValue) -> str:
    owner = function.frame.scope
    if isinstance(owner.node, tree.ClassDef):
        return f"{owner.name}.{function.name}"
    return function.name
