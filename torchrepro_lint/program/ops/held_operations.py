"""Operations that go by another name: `resize = F.interpolate`, `POOLS = {"max": nn.AdaptiveMaxPool2d}`, and what a
`functools.partial` gives to one beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.values import Arguments, Constant, Partial, Value, Values
from torchrepro_lint.program.running.parents import Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["held_names", "held_pattern", "is_called_by", "without_partial"]


@cache
def held_pattern(names: frozenset[str]) -> re.Pattern[bytes]:
    """What a file says that names one of these functions or classes of torch, and does not call it there."""
    words = "|".join(sorted(map(re.escape, names)))
    return re.compile(rf"\b(?:F|nn|functional|torch|ops)\s*\.\s*(?:{words})\b(?!\s*\()".encode())


def held_names(ev: Evaluator, facts: ModuleFacts, names: Set[str]) -> frozenset[str]:
    """The names, attributes and parameters of a file that may be one of these functions or classes."""
    parents = parents_of(ev, facts)
    return frozenset(
        held
        for name in sorted(names)
        for node in parents.attributes.get(name, ())
        if not _is_called(parents, node)
        for held in _held_by(parents, node)
    )


def _is_called(parents: Parents, node: tree.Attribute) -> bool:
    above = parents.of(node)
    return isinstance(above, tree.Call) and above.func is node


def _held_by(parents: Parents, node: tree.Attribute) -> Iterator[str]:
    """What an assignment or a default gives the value to in which the node is."""
    for above in parents.around(node):
        match above:
            case tree.Assign(targets=targets):
                yield from filter(None, map(_last_name, targets))
            case tree.Param(name=name):
                yield name
            case tree.FunctionDef() | tree.ClassDef() | tree.Lambda():
                return


def is_called_by(func: tree.Expr, names: Set[str]) -> bool:
    """Whether what a call calls goes by one of the names, or is taken out of what does: `POOLS[kind](4)`."""
    return bool(names) and _last_name(func) in names


def _last_name(node: tree.Expr) -> str | None:
    match node:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return name
        case tree.Subscript(value=value):
            return _last_name(value)
    return None


def without_partial(value: Value, site: int) -> tuple[Value, tuple[tree.Arg, ...]]:
    """What a value runs, and what a `functools.partial` around it has for it already, as it would be written."""
    given: tuple[tree.Arg, ...] = ()
    while isinstance(value, Partial) and len(value.function) == 1:
        given = (*_written(value.arguments, site), *given)
        (value,) = value.function
    return value, given


def _written(arguments: Arguments, site: int) -> Iterator[tree.Arg]:
    for values in arguments.positional:
        yield tree.Arg(site, _literal(values, site))
    for keyword, values, _ in arguments.keywords:
        yield tree.Arg(site, _literal(values, site), keyword)
    if arguments.open_positional:
        yield tree.Arg(site, tree.Opaque(site, ()), star="*")
    if arguments.open_keywords:
        yield tree.Arg(site, tree.Opaque(site, ()), star="**")


def _literal(values: Values, site: int) -> tree.Expr:
    """A constant as it would be written; anything else is an expression of which nothing is known."""
    value = next(iter(values)) if len(values) == 1 else None
    return tree.Const(site, value.value) if isinstance(value, Constant) else tree.Opaque(site, ())
