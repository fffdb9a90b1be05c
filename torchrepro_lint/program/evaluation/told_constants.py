"""What a test says that a name is of which nothing else is known: `if mode == "val"`, `if split in ("val", "test")`,
`if not train`.
"""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import UNKNOWN, Constant, MemberOf, Value, Values

__all__ = ["constants_told", "instead_of_unknown", "is_open"]


def is_open(values: Values) -> bool:
    """Whether one of the values is one of which nothing is known: it comes from a command line, for example."""
    return any(map(_may_be_anything, values))


def instead_of_unknown(values: Values, told: list[Constant]) -> Values:
    """The values, with those that are told in place of those of which nothing is known."""
    return frozenset((*(value for value in values if not _may_be_anything(value)), *told))


def _may_be_anything(value: Value) -> bool:
    return value is UNKNOWN or isinstance(value, MemberOf)


def constants_told(scope: Scope, name: str, test: tree.Expr, holds: bool) -> list[Constant]:
    """What a name can be where a test of it has this outcome; nothing where the test leaves more open, or asks for
    None: what is missing then is often given later.
    """
    match test:
        case tree.Name():
            return [Constant(holds)] if _is_switch(scope, name) else []
        case tree.Compare(ops=("==" | "!=" as op,), comparators=(one,)):
            items, is_one = [one], op == "=="
        case tree.Compare(ops=("in" | "not in" as op,), comparators=(tree.Display(items=several),)):
            items, is_one = [*several], op == "in"
        case _:
            return []
    told = [Constant(item.value) for item in items if isinstance(item, tree.Const) and item.value is not None]
    return told if is_one is holds and len(told) == len(items) else []


def _is_switch(scope: Scope, name: str) -> bool:
    """Whether a name is one of a parameter that is True or False, by its default, its annotation or its name."""
    nodes = [binding.node for binding in scope.bindings.get(name, ())]
    return any(isinstance(node, tree.Param) and _is_true_or_false(node) for node in nodes)


def _is_true_or_false(param: tree.Param) -> bool:
    match param:
        case tree.Param(default=tree.Const(value=bool())):
            return True
        case tree.Param(annotation=tree.Name(id="bool") | tree.Const(value="bool")):
            return True
        case tree.Param(default=None, annotation=None, name=name):
            return function_words("says_whether").search(name) is not None
    return False
