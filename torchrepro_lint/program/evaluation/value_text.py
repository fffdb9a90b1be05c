"""Values as a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    ModuleValue,
    Partial,
    SequenceValue,
    Site,
    Value,
    Values,
)

__all__ = ["described", "short"]

Locator = Callable[[Site], str]


def short(values: Values) -> str:
    """All constants among the values: `2`, `0 or 8`; `unknown` for what is none."""
    texts = sorted({repr(value.value) if isinstance(value, Constant) else "unknown" for value in values})
    return " or ".join(sorted(texts, key=lambda text: text == "unknown")) or "unknown"


def described(values: Values, at: Locator) -> Iterator[str]:
    """One text for each value, what is unknown last."""
    texts = {_text(value, at): None for value in ordered(values)}
    yield from sorted(texts, key=lambda text: text == _UNKNOWN)


_UNKNOWN = "something that could not be followed"


def _text(value: Value, at: Locator) -> str:
    match value:
        case Constant(value=constant):
            return repr(constant)
        case Instance(cls=cls, site=site):
            return f"{cls.name}, made at {at(site)}" if site is not None else f"{cls.name}, made somewhere unseen"
        case ExternalObject(name=name, site=site):
            return f"{name}, made at {at(site)}" if site is not None else name
        case External(name=name) | ClassValue(name=name):
            return name
        case FunctionValue(node=node, frame=frame, name=name):
            return f"{name} at {at(Site(frame.facts.path, node.site))}"
        case MethodValue(function=function):
            return f"the method {_text(function, at)}"
        case Partial(function=functions):
            return "a partial of " + " or ".join(described(functions, at))
        case SequenceValue(kind=kind):
            return f"a {kind}"
        case DictValue():
            return "a dict"
        case ModuleValue(path=path):
            return f"the module {path.stem}"
        case MemberOf(attr=attr):
            return member_name(value) or f"the attribute {attr}"
    return _UNKNOWN
