"""Calls of things outside the project: Python's builtins, the standard library's wrappers, known libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program import containers
from torchrepro_lint.program.conditions import agreed, truthiness
from torchrepro_lint.program.registries import is_registry, registered
from torchrepro_lint.program.values import (
    NOTHING,
    Arguments,
    ClassValue,
    Constant,
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
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluator import Evaluator

MAX_DOTS = 10


def _first(arguments: Arguments) -> Values:
    return arguments.positional[0] if arguments.positional else NOTHING


# --- builtins and the standard library ------------------------------------------------------------------------


def _sequence(kind: str) -> Callable[[Evaluator, Arguments], Values]:
    def make(ev: Evaluator, arguments: Arguments) -> Values:
        if not arguments.positional:
            return values_of(SequenceValue(kind, () if not arguments.open_positional else None, NOTHING))
        source = _first(arguments)
        only = next(iter(source)) if len(source) == 1 else None
        if isinstance(only, SequenceValue) and only.items is not None and kind != "set":
            return values_of(SequenceValue(kind, only.items, NOTHING))
        return values_of(SequenceValue(kind, None, ev.elements(source)))

    return make


def _reordered(ev: Evaluator, arguments: Arguments) -> Values:
    return values_of(SequenceValue("list", None, ev.elements(_first(arguments))))


def _dict(ev: Evaluator, arguments: Arguments) -> Values:
    result = DictValue((), arguments.open_keywords or arguments.open_positional, NOTHING)
    for values in arguments.positional[:1]:
        for value in values:
            other = value if isinstance(value, DictValue) else DictValue((), True, unknown())
            result = containers.updated(result, other, len(values) == 1)
    entries = tuple((name, values, certain) for name, values, certain in arguments.keywords)
    return values_of(containers.updated(result, DictValue(entries, False), True))


def _defaultdict(ev: Evaluator, arguments: Arguments) -> Values:
    made = ev.call_all(_first(arguments), Arguments(), None) if arguments.positional else NOTHING
    return values_of(DictValue((), True, made))


def _enumerate(ev: Evaluator, arguments: Arguments) -> Values:
    pair = SequenceValue("tuple", (unknown(), ev.elements(_first(arguments))), NOTHING)
    return values_of(SequenceValue("generator", None, values_of(pair)))


def _zip(ev: Evaluator, arguments: Arguments) -> Values:
    row = SequenceValue("tuple", tuple(ev.elements(values) for values in arguments.positional), NOTHING)
    return values_of(SequenceValue("generator", None, values_of(row)))


def _map(ev: Evaluator, arguments: Arguments) -> Values:
    given = Arguments(tuple(ev.elements(values) for values in arguments.positional[1:]))
    return values_of(SequenceValue("generator", None, ev.call_all(_first(arguments), given, None)))


def _filter(ev: Evaluator, arguments: Arguments) -> Values:
    source = arguments.positional[1] if len(arguments.positional) > 1 else NOTHING
    return values_of(SequenceValue("generator", None, ev.elements(source)))


def _next(ev: Evaluator, arguments: Arguments) -> Values:
    return union(ev.elements(_first(arguments)), *arguments.positional[1:2])


def _iter(ev: Evaluator, arguments: Arguments) -> Values:
    return values_of(SequenceValue("generator", None, ev.elements(_first(arguments))))


def _getattr(ev: Evaluator, arguments: Arguments) -> Values:
    if len(arguments.positional) < 2:
        return unknown()
    default = arguments.positional[2] if len(arguments.positional) > 2 else NOTHING
    parts = [default]
    for name in arguments.positional[1]:
        if not (isinstance(name, Constant) and isinstance(name.value, str)):
            return unknown()
        found = ev.instances_attribute(arguments.positional[0], name.value)
        parts.append(found)
    return union(*parts) or unknown()


def _bool(ev: Evaluator, arguments: Arguments) -> Values:
    holds = agreed(truthiness(ev, value) for value in _first(arguments))
    return values_of(Constant(holds)) if holds is not None else unknown()


def _chosen(ev: Evaluator, arguments: Arguments) -> Values:
    return ev.elements(_first(arguments))


def _converted(kind: type) -> Callable[[Evaluator, Arguments], Values]:
    def convert(ev: Evaluator, arguments: Arguments) -> Values:
        constant = ev.one_constant(_first(arguments))
        if constant is None or len(arguments.positional) != 1:
            return unknown()
        try:
            return values_of(Constant(kind(constant.value)))
        except (TypeError, ValueError, OverflowError):
            return unknown()

    return convert


def _len(ev: Evaluator, arguments: Arguments) -> Values:
    source = _first(arguments)
    only = next(iter(source)) if len(source) == 1 else None
    if isinstance(only, SequenceValue) and only.items is not None and only.kind != "set":
        return values_of(Constant(len(only.items)))
    return unknown()


def _isinstance(ev: Evaluator, arguments: Arguments) -> Values:
    if len(arguments.positional) < 2:
        return unknown()
    holds = agreed(
        _is_instance(ev, value, kind) for value in arguments.positional[0] for kind in arguments.positional[1]
    )
    return values_of(Constant(holds)) if holds is not None else unknown()


def _is_instance(ev: Evaluator, value: Value, kind: Value) -> bool | None:
    if isinstance(kind, SequenceValue) and kind.items is not None:
        answers = [_is_instance(ev, value, option) for options in kind.items for option in options]
        if any(answer is True for answer in answers):
            return True
        return False if answers and all(answer is False for answer in answers) else None
    if isinstance(value, Instance) and isinstance(kind, ClassValue):
        return ev.is_instance_of(value, kind)
    if isinstance(value, Constant) and isinstance(kind, External) and kind.name.startswith("builtins."):
        wanted = kind.name.removeprefix("builtins.")
        names = {base.__name__ for base in type(value.value).__mro__}
        return wanted in names
    return None


def _same(ev: Evaluator, arguments: Arguments) -> Values:
    return _first(arguments)


def _partial(ev: Evaluator, arguments: Arguments) -> Values:
    if not arguments.positional:
        return unknown()
    rest = Arguments(
        arguments.positional[1:], arguments.keywords, arguments.open_positional, arguments.open_keywords
    )  # fmt: skip
    return values_of(Partial(arguments.positional[0], rest))


def _either(ev: Evaluator, arguments: Arguments) -> Values:
    return unknown()


def _type(ev: Evaluator, arguments: Arguments) -> Values:
    classes = [value.cls for value in _first(arguments) if isinstance(value, Instance)]
    return values_of(*classes) if classes and len(classes) == len(_first(arguments)) else unknown()


def _import_module(ev: Evaluator, arguments: Arguments) -> Values:
    constant = ev.one_constant(_first(arguments))
    if constant is not None and isinstance(constant.value, str) and not constant.value.startswith("."):
        from torchrepro_lint.program.names import import_module

        return import_module(ev, ev.project.root / "_", constant.value)
    return unknown()


_CALLS: dict[str, Callable[[Evaluator, Arguments], Values]] = {
    "builtins.list": _sequence("list"),
    "builtins.tuple": _sequence("tuple"),
    "builtins.set": _sequence("set"),
    "builtins.frozenset": _sequence("set"),
    "builtins.sorted": _reordered,
    "builtins.reversed": _reordered,
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "collections.defaultdict": _defaultdict,
    "random.choice": _chosen,
    "numpy.random.choice": _chosen,
    "random.choices": _reordered,
    "random.sample": _reordered,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.next": _next,
    "builtins.iter": _iter,
    "builtins.getattr": _getattr,
    "builtins.bool": _bool,
    "builtins.int": _converted(int),
    "builtins.float": _converted(float),
    "builtins.str": _converted(str),
    "builtins.len": _len,
    "builtins.isinstance": _isinstance,
    "builtins.type": _type,
    "functools.partial": _partial,
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "importlib.import_module": _import_module,
    "tqdm.tqdm": _same,
    "tqdm.auto.tqdm": _same,
    "functools.wraps": _either,
}


def external_result(ev: Evaluator, function: External, arguments: Arguments, site: Site | None) -> Values:
    """What a call of something outside the project gives."""
    special = _CALLS.get(function.name)
    if special is not None:
        if function.name == "functools.wraps":
            return values_of(ExternalObject(function.name, arguments, site))
        return special(ev, arguments)
    return _known_result(ev, function.name, arguments, site)


def _known_result(ev: Evaluator, name: str, arguments: Arguments, site: Site | None) -> Values:
    from torchrepro_lint.knowledge.tensors import returns_tensor
    from torchrepro_lint.program.calls import external_argument

    known = external_callable(name)
    if known is not None and known.returns is not None:
        returns = known.returns
        if returns.startswith("param:"):
            place = returns.removeprefix("param:")
            parameters = known.parameters
            parameter = parameters[int(place)] if place.isdigit() and int(place) < len(parameters) else place
            given = external_argument(arguments, parameters, parameter)[0]
            if given:
                return given
            if place.isdigit() and int(place) < len(arguments.positional):
                return arguments.positional[int(place)]
            return unknown()
        if returns.startswith("sequence-of:"):
            made = ExternalObject(returns.removeprefix("sequence-of:"), arguments, site)
            return values_of(SequenceValue("list", None, values_of(made)))
        return values_of(ExternalObject(returns, arguments, site))
    if returns_tensor(name):
        return values_of(ExternalObject(containers.TENSOR, None, None))
    return values_of(ExternalObject(name, arguments, site))


def object_result(ev: Evaluator, called: ExternalObject, arguments: Arguments, site: Site | None) -> Values:
    """What calling an object gives: a decorator keeps its function, a network gives tensors, else unknown."""
    first = _first(arguments)
    if any(isinstance(value, (FunctionValue, ClassValue, MethodValue)) for value in first):
        return first
    if called.name.startswith("torch.nn."):
        return values_of(ExternalObject(containers.TENSOR))
    return unknown()


#: Methods that give back the object they are called on.
_FLUENT = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "float", "half", "double", "requires_grad_", "share_memory", "manual_seed"}
)


def member_result(ev: Evaluator, member: MemberOf, arguments: Arguments, site: Site | None) -> Values:
    """What calling a method of a list, a dict, a constant, an external object or an external base gives."""
    receiver, attr = member.receiver, member.attr
    match receiver:
        case DictValue():
            return _dict_method(ev, receiver, attr, arguments)
        case SequenceValue():
            if attr == "copy":
                return values_of(receiver)
            if attr == "pop":
                return receiver.elements()
            return unknown()
        case Constant(value=str() as text):
            if attr in ("lower", "upper", "strip") and not arguments.positional:
                return values_of(Constant(getattr(text, attr)()))
            return unknown()
        case Instance():
            return values_of(receiver) if attr in _FLUENT else unknown()
        case ExternalObject(name=name):
            if attr in _FLUENT:
                return values_of(receiver)
            if is_registry(receiver) and attr in ("get", "build", "__getitem__"):
                entries = registered(ev, receiver)
                return ev.call_all(entries, Arguments((), (), True, True), site) if attr == "build" else entries
            full = canonical(f"{name}.{attr}")
            if full.count(".") > MAX_DOTS:
                return unknown()
            stage_of = external_callable(name)
            if stage_of is not None and stage_of.returns == "receiver":
                return values_of(receiver)
            known = external_callable(full)
            if known is not None and known.returns == "receiver":
                # A stage of a pipeline runs what it was given beside what the stages before it run.
                stage = (ExternalObject(full, arguments, site),) if known.runs else ()
                return values_of(receiver, *stage)
            return _known_result(ev, full, arguments, site)
        case MemberOf():
            full = member_name(member)
            return values_of(ExternalObject(full, arguments, site)) if full is not None else unknown()
    return unknown()


def member_name(member: MemberOf) -> str | None:
    """The dotted name of a member of an external object: `numpy.random.Generator.integers`."""
    parts = [member.attr]
    value: Value = member.receiver
    while isinstance(value, MemberOf):
        parts.append(value.attr)
        value = value.receiver
    if isinstance(value, ExternalObject) and len(parts) < MAX_DOTS:
        return canonical(".".join([value.name, *reversed(parts)]))
    return None


def _dict_method(ev: Evaluator, receiver: DictValue, attr: str, arguments: Arguments) -> Values:
    match attr:
        case "get" | "pop" | "setdefault":
            default = arguments.positional[1] if len(arguments.positional) > 1 else NOTHING
            found = containers.subscript(ev, values_of(receiver), _first(arguments), False)
            key = ev.one_constant(_first(arguments))
            entry = receiver.get(key.value) if key is not None else None
            if entry is not None and entry[1]:
                return found
            fallback = default or (values_of(Constant(None)) if attr == "get" else NOTHING)
            return union(found, fallback)
        case "items":
            keys = frozenset(Constant(key) for key, _, _ in receiver.entries) if not receiver.open else unknown()
            if not receiver.open and len(receiver.entries) <= 12:
                pairs = tuple(
                    values_of(SequenceValue("tuple", (values_of(Constant(key)), values), NOTHING))
                    for key, values, _ in receiver.entries
                )
                return values_of(SequenceValue("generator", pairs, NOTHING))
            pair = SequenceValue("tuple", (keys, receiver.all_values() or unknown()), NOTHING)
            return values_of(SequenceValue("generator", None, values_of(pair)))
        case "values":
            return values_of(SequenceValue("generator", None, receiver.all_values() or unknown()))
        case "keys":
            return values_of(SequenceValue("generator", None, ev.elements(values_of(receiver))))
        case "copy":
            return values_of(receiver)
    return unknown()

