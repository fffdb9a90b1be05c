"""The arguments of calls: evaluated, merged, and bound to parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    DictValue,
    FunctionValue,
    SequenceValue,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["bound_frame", "each_arguments", "evaluate_arguments", "external_argument", "merged"]

_MAX_DICTS = 8


def each_arguments(ev: Evaluator, args: tuple[tree.Arg, ...], frame: Frame) -> Iterator[Arguments]:
    """The arguments of a call, once for each dict that its `**` argument can be: of two that are known, one for
    training and one for validation, the entries do not come together.
    """
    spread = [arg for arg in args if arg.star == "**"]
    dicts = ev.values(spread[0].value, frame) if len(spread) == 1 else NOTHING
    if 1 < len(dicts) <= _MAX_DICTS and all(isinstance(value, DictValue) for value in dicts):
        for value in ordered(dicts):
            yield evaluate_arguments(ev, args, frame, values_of(value))
    else:
        yield evaluate_arguments(ev, args, frame)


def evaluate_arguments(
    ev: Evaluator, args: tuple[tree.Arg, ...], frame: Frame, spread: Values | None = None
) -> Arguments:
    """The arguments of a call, with `*` and `**` spread out where what they hold is known. `spread` is what a `**`
    argument is, where that is known about this one call.
    """
    positional: list[Values] = []
    keywords: dict[str, tuple[Values, bool]] = {}
    open_positional = open_keywords = False
    for arg in args:
        values = ev.values(arg.value, frame)
        if arg.star == "*":
            only = next(iter(values)) if len(values) == 1 else None
            if isinstance(only, SequenceValue) and only.items is not None and not open_positional:
                positional.extend(only.items)
            else:
                if not open_positional:
                    positional.extend(_first_of(values))
                open_positional = True
        elif arg.star == "**":
            open_keywords = _spread(values if spread is None else spread, keywords) or open_keywords
        elif arg.keyword is not None:
            keywords[arg.keyword] = (values, True)
        elif not open_positional:
            positional.append(values)
    return Arguments(
        tuple(positional),
        tuple((name, values, certain) for name, (values, certain) in keywords.items()),
        open_positional,
        open_keywords,
    )


def _first_of(values: Values) -> tuple[Values, ...]:
    """What the first of the arguments can be that lists of unknown length among `values` give; there may be none."""
    known = union(*(value.elements() for value in values if isinstance(value, SequenceValue)))
    return (union(known, unknown()),) if known else ()


def _spread(values: Values, keywords: dict[str, tuple[Values, bool]]) -> bool:
    """Adds the entries of the dicts among `values`; says whether there may be others."""
    dicts = [value for value in values if isinstance(value, DictValue)]
    is_open = len(dicts) != len(values) or not values or any(value.open for value in dicts)
    named = [
        {key: (found, certain) for key, found, certain in value.entries if isinstance(key, str)} for value in dicts
    ]
    for name in sorted({name for one in named for name in one}):
        entries = [one.get(name) for one in named]
        certain = len(dicts) == len(values) and all(entry is not None and entry[1] for entry in entries)
        found = union(*(entry[0] for entry in entries if entry is not None))
        before = keywords.get(name)
        keywords[name] = (union(before[0], found) if before is not None else found, certain)
    return is_open


def merged(first: Arguments, second: Arguments) -> Arguments:
    """The arguments of a partial, followed by those of its call."""
    keywords = {name: (values, certain) for name, values, certain in first.keywords}
    for name, values, certain in second.keywords:
        before = keywords.get(name)
        if before is not None and not certain:
            values, certain = union(before[0], values), before[1]
        keywords[name] = (values, certain)
    return Arguments(
        first.positional + (second.positional if not first.open_positional else ()),
        tuple((name, values, certain) for name, (values, certain) in keywords.items()),
        first.open_positional or second.open_positional,
        first.open_keywords or second.open_keywords,
    )


def external_argument(arguments: Arguments, parameters: tuple[str, ...], name: str) -> tuple[Values, bool]:
    """What the parameter `name` of an external callable gets, and whether it may be left out.

    (NOTHING, True) means that it is proven to be left out.
    """
    keyword = arguments.keyword(name)
    if keyword is not None:
        return keyword[0] or unknown(), not keyword[1]
    if name in parameters:
        index = parameters.index(name)
        if index < len(arguments.positional):
            return arguments.positional[index] or unknown(), False
        if arguments.open_positional:
            return unknown(), True
    if arguments.open_keywords:
        return unknown(), True
    return NOTHING, True


def bound_frame(ev: Evaluator, function: FunctionValue, arguments: Arguments) -> Frame:
    """The frame of a call of `function`."""
    scope = ev.function_scope(function)
    given = list(arguments.positional)
    keywords = {name: (values, certain) for name, values, certain in arguments.keywords}
    params: list[tuple[str, Values]] = []
    taken: set[str] = set()
    for param in function.node.params:
        if param.kind == "star":
            if arguments.open_positional:
                params.append((param.name, values_of(SequenceValue("tuple", None, union(unknown(), *given)))))
            else:
                params.append((param.name, values_of(SequenceValue("tuple", tuple(given), NOTHING))))
            given = []
        elif param.kind == "double-star":
            rest = tuple((n, values, certain) for n, (values, certain) in keywords.items() if n not in taken)
            filler = unknown() if arguments.open_keywords else NOTHING
            params.append((param.name, values_of(DictValue(rest, arguments.open_keywords, filler))))
        else:
            params.append((param.name, _one_param(ev, function, param, given, keywords, arguments)))
            taken.add(param.name)
    return ev.shared(Frame(function.frame.facts, scope, function.frame, tuple(params)))


def _one_param(
    ev: Evaluator, function: FunctionValue, param: tree.Param, given: list[Values],
    keywords: dict[str, tuple[Values, bool]], arguments: Arguments,
) -> Values:  # fmt: skip
    if param.kind == "positional" and given:
        return given.pop(0)
    keyword = keywords.get(param.name)
    if keyword is not None and keyword[1]:
        return keyword[0]
    default = ev.values(param.default, function.frame) if param.default is not None else NOTHING
    found = union(default, keyword[0]) if keyword is not None else default
    is_open = (param.kind == "positional" and arguments.open_positional) or arguments.open_keywords
    if is_open or not found:
        return union(found, unknown())
    return found
