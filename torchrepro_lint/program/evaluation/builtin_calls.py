"""Calls of things outside the project: what they give, and what their methods give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.applying import GIVES_RESULT, Applying, applying
from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.passing import passing_calls
from torchrepro_lint.knowledge.tensors import returns_tensor
from torchrepro_lint.program.evaluation import containers
from torchrepro_lint.program.evaluation.arguments import external_argument
from torchrepro_lint.program.evaluation.arithmetic import computed
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.dataclass_fields import as_dict, read_from_outside
from torchrepro_lint.program.evaluation.dict_subclasses import dict_of
from torchrepro_lint.program.evaluation.instantiation import instantiated
from torchrepro_lint.program.evaluation.module_containers import held_modules, layered
from torchrepro_lint.program.evaluation.named_tuples import MAKER, made_by_namedtuple
from torchrepro_lint.program.evaluation.python_calls import PYTHON_CALLS, first_argument, replaced
from torchrepro_lint.program.evaluation.registries import is_registry, registered
from torchrepro_lint.program.evaluation.values import (
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
    SequenceValue,
    Site,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["external_result", "member_name", "member_result", "object_result"]

MAX_DOTS = 10


def external_result(ev: Evaluator, function: External, arguments: Arguments, site: Site | None) -> Values:
    """What a call of something outside the project gives."""
    special = PYTHON_CALLS.get(function.name)
    if special is not None:
        return special(ev, arguments)
    if function.name in passing_calls("replaces_attributes"):
        return replaced(arguments, site)
    if function.name == "torch.nn.Sequential":
        arguments = layered(arguments)
    if function.name == "functools.wraps":
        return values_of(ExternalObject(function.name, arguments, site))
    return _known_result(ev, function.name, arguments, site)


def _applied(ev: Evaluator, kind: Applying, arguments: Arguments) -> Values:
    """What a function gives that a library calls, with the further arguments or with elements of them."""
    rest = arguments.positional[1:]
    if kind == "elements":
        given = Arguments(tuple(ev.elements(values) for values in rest), (), arguments.open_positional)
        return values_of(SequenceValue("generator", None, ev.call_all(first_argument(arguments), given, None)))
    given = Arguments(rest, arguments.keywords, arguments.open_positional, arguments.open_keywords)
    return ev.call_all(first_argument(arguments), given, None)


def _known_result(ev: Evaluator, name: str, arguments: Arguments, site: Site | None) -> Values:
    kind = applying(name)
    if kind in ("elements", "at_once") and arguments.positional:
        return _applied(ev, kind, arguments)
    known = external_callable(name)
    if known is not None and known.returns is not None:
        returns = known.returns
        if " if " in returns:
            types = _either(returns, arguments, known.parameters)
            return union(*(values_of(ExternalObject(one, arguments, site)) for one in types))
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
        if returns.startswith("made-of:"):
            config = external_argument(arguments, known.parameters, returns.removeprefix("made-of:"))[0]
            return instantiated(ev, config, arguments, site)
        if returns.startswith("called:"):
            given = external_argument(arguments, known.parameters, returns.removeprefix("called:"))[0]
            return union(*(read_from_outside(ev, value, site) for value in given)) or unknown()
        if returns.startswith("sequence-of:"):
            made = ExternalObject(returns.removeprefix("sequence-of:"), arguments, site)
            return values_of(SequenceValue("list", None, values_of(made)))
        return values_of(ExternalObject(returns, arguments, site))
    if returns_tensor(name):
        return values_of(ExternalObject(containers.TENSOR, None, None))
    return values_of(ExternalObject(name, arguments, site))


def _either(returns: str, arguments: Arguments, parameters: tuple[str, ...]) -> Iterator[str]:
    """The types of `T if p else U` that a call may give."""
    first, _, rest = returns.partition(" if ")
    parameter, _, second = rest.partition(" else ")
    values, may_be_left_out = external_argument(arguments, parameters, parameter)
    truths = {bool(value.value) if isinstance(value, Constant) else None for value in values}
    if not truths.isdisjoint((True, None)):
        yield first
    if may_be_left_out or not truths.isdisjoint((False, None)):
        yield second


def object_result(ev: Evaluator, called: ExternalObject, arguments: Arguments, site: Site | None) -> Values:
    """What calling an object gives: a decorator keeps its function, a network gives tensors, else unknown."""
    first = first_argument(arguments)
    if called.name == MAKER:
        return made_by_namedtuple(ev, called, arguments, site)
    if called.name in ("operator.itemgetter", "operator.attrgetter") and called.arguments is not None:
        return _got(ev, called, first)
    if any(isinstance(value, (FunctionValue, ClassValue, MethodValue)) for value in first):
        return first
    if called.name.startswith("torch.nn."):
        return values_of(ExternalObject(containers.TENSOR))
    return unknown()


def _got(ev: Evaluator, getter: ExternalObject, values: Values) -> Values:
    """What `itemgetter("train")` or `attrgetter("train")` takes out of `values`; of several, all in a tuple."""
    assert getter.arguments is not None
    if getter.arguments.open_positional:
        return unknown()
    parts = [_taken(ev, getter.name, values, index) for index in getter.arguments.positional]
    return parts[0] if len(parts) == 1 else values_of(SequenceValue("tuple", tuple(parts), NOTHING))


def _taken(ev: Evaluator, getter: str, values: Values, index: Values) -> Values:
    if getter == "operator.itemgetter":
        return containers.subscript(ev, values, index, False)
    name = ev.one_constant(index)
    if name is None or not isinstance(name.value, str):
        return unknown()
    for attr in name.value.split("."):
        values = ev.instances_attribute(values, attr)
    return values


#: Methods of named tuples and of pydantic's models that give their fields as a dict.
_TO_DICT = frozenset({"_asdict", "model_dump"})


def member_result(ev: Evaluator, member: MemberOf, arguments: Arguments, site: Site | None) -> Values:
    """What calling a method of a list, a dict, a constant, an external object or an external base gives."""
    receiver, attr = member.receiver, member.attr
    match receiver:
        case DictValue():
            return _dict_method(ev, receiver, attr, arguments)
        case SequenceValue():
            if attr == "copy":
                return values_of(receiver)
            if attr in ("pop", "popleft", "get", "get_nowait"):
                return receiver.elements()
            return unknown()
        case Constant(value=str() as text):
            return _text_method(ev, text, attr, arguments)
        case ClassValue() if attr == "__subclasses__":
            return values_of(SequenceValue("list", None, values_of(*ev.subclasses(receiver))))
        case Instance():
            held = dict_of(ev, receiver)
            if held:
                return _held_method(ev, held, attr, arguments)
            if attr in _TO_DICT:
                return as_dict(ev, receiver, deep=attr != "_asdict")
            if attr == "__getitem__" and _gives_itself(ev, receiver, attr):
                return containers.part_of(receiver, ev.one_constant(first_argument(arguments)))
            gives_itself = attr in method_words("gives_receiver") or _gives_itself(ev, receiver, attr)
            return values_of(receiver) if gives_itself else unknown()
        case ExternalObject(name=name):
            if attr in method_words("gives_receiver"):
                return values_of(receiver)
            if modules := held_modules(receiver):
                dicts = (one for one in modules if isinstance(one, DictValue))
                given = union(*(_dict_method(ev, one, attr, arguments) for one in dicts))
                if given and attr in ("items", "values"):
                    return union(given, unknown())
            if is_registry(receiver) and attr in ("get", "build", "__getitem__"):
                entries = registered(ev, receiver)
                return ev.call_all(entries, Arguments((), (), True, True), site) if attr == "build" else entries
            if attr == GIVES_RESULT and applying(name) == "later" and receiver.arguments is not None:
                return _applied(ev, "later", receiver.arguments)
            full = canonical(f"{name}.{attr}")
            if full.count(".") > MAX_DOTS:
                return unknown()
            stage_of = external_callable(name)
            if stage_of is not None and stage_of.gives_receiver:
                return values_of(receiver)
            known = external_callable(full)
            if known is not None and known.gives_receiver:
                # A stage of a pipeline runs what it was given beside what the stages before it run.
                stage = (ExternalObject(full, arguments, site),) if known.runs else ()
                return values_of(receiver, *stage)
            return _known_result(ev, full, arguments, site)
        case MemberOf():
            dotted = member_name(member)
            return values_of(ExternalObject(dotted, arguments, site)) if dotted is not None else unknown()
    return unknown()


def _gives_itself(ev: Evaluator, receiver: Instance, method: str) -> bool:
    """Whether a method that an object has from a class of a library gives the object, or a part that does the same."""
    known = (external_callable(f"{base}.{method}") for base in external_bases(ev, receiver.cls))
    return any(one is not None and one.gives_receiver for one in known)


#: Methods that say something of a text, or give one that is no longer.
_OF_TEXTS = frozenset({"lower", "upper", "strip", "startswith", "endswith", "removeprefix", "removesuffix"})


def _text_method(ev: Evaluator, text: str, attr: str, arguments: Arguments) -> Values:
    """What a method of a known text gives for known arguments."""
    if attr not in _OF_TEXTS or arguments.keywords or arguments.open_positional or arguments.open_keywords:
        return unknown()
    given = [_texts(ev, values) for values in arguments.positional]
    if None in given:
        return unknown()
    return computed(lambda: getattr(text, attr)(*given), text)


def _texts(ev: Evaluator, values: Values) -> str | tuple[str, ...] | None:
    """The one text, or the one tuple of texts, that the values are proven to be."""
    if len(values) != 1:
        return None
    match next(iter(values)):
        case Constant(value=str() as text):
            return text
        case SequenceValue(kind="tuple", items=tuple() as items):
            found = [ev.one_constant(item) for item in items]
            texts = tuple(one.value for one in found if one is not None and isinstance(one.value, str))
            return texts if len(texts) == len(items) else None
    return None


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


def _held_method(ev: Evaluator, held: Values, attr: str, arguments: Arguments) -> Values:
    """What a method of the dict gives that an object of the project is."""
    if attr == "__getitem__":
        return containers.subscript(ev, held, first_argument(arguments), False)
    return union(*(_dict_method(ev, one, attr, arguments) for one in held if isinstance(one, DictValue))) or unknown()


def _dict_method(ev: Evaluator, receiver: DictValue, attr: str, arguments: Arguments) -> Values:
    match attr:
        case "get" | "pop" | "setdefault":
            default = arguments.positional[1] if len(arguments.positional) > 1 else NOTHING
            found = containers.subscript(ev, values_of(receiver), first_argument(arguments), False)
            key = ev.one_constant(first_argument(arguments))
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
            if not receiver.open and receiver.entries:
                each = tuple(values_of(Constant(key)) for key, _, _ in receiver.entries)
                return values_of(SequenceValue("generator", each, NOTHING))
            return values_of(SequenceValue("generator", None, ev.elements(values_of(receiver))))
        case "copy":
            return values_of(receiver)
    return unknown()
