"""What is sorted by something that several elements have in common: these stay in the order in which they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import ExternalObject
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.parents import is_named

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_counter", "leaves_ties"]

_COUNTER: Final = "collections.Counter"
#: Methods that give a count: of a dict, and of a list or a text.
_OF_DICT: Final = frozenset({"get", "__getitem__"})
_OF_LIST: Final = "count"


def leaves_ties(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether a call in a scope sorts by a length, or by how often something was counted, and by nothing else."""
    key = next((arg.value for arg in call.args if arg.keyword == "key"), None)
    match key:
        case tree.Name(id="len"):
            return True
        case tree.Attribute(value=owner, attr=attr):
            return attr == _OF_LIST or (attr in _OF_DICT and _counts(program, facts, scope, owner))
        case tree.Call(func=func, args=(tree.Arg(value=tree.Const(value=1)),)) if called_name(func) == "itemgetter":
            return _sorts_counts(program, facts, scope, call)
        case tree.Lambda(params=(tree.Param(name=name),), body=body):
            while isinstance(body, tree.Unary):
                body = body.operand
            return _is_shared(program, facts, scope, body, name) or (
                _is_second(body, name) and _sorts_counts(program, facts, scope, call)
            )
    return False


def _is_shared(program: Program, facts: ModuleFacts, scope: Scope, node: tree.Expr, element: str) -> bool:
    """Whether an expression is a length of an element, or its count."""
    match node:
        case tree.Call(func=tree.Name(id="len"), args=(arg,)):
            return any(is_named(part, element) for part in walk([arg.value]))
        case tree.Call(func=tree.Attribute(value=owner, attr=attr), args=(tree.Arg(value=looked_up), *_)):
            counted = attr == _OF_LIST or (attr in _OF_DICT and _counts(program, facts, scope, owner))
            return counted and is_named(looked_up, element)
        case tree.Subscript(value=owner, index=index):
            return is_named(index, element) and _counts(program, facts, scope, owner)
    return False


def _is_second(node: tree.Expr, element: str) -> bool:
    """Whether an expression is the second part of an element: the count of `(word, count)`."""
    match node:
        case tree.Subscript(value=value, index=tree.Const(value=1)):
            return is_named(value, element)
    return False


def _sorts_counts(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether what a call sorts are the pairs of a dict of counts: `sorted(counts.items(), ...)`."""
    match call.args[0].value:
        case tree.Call(func=tree.Attribute(value=owner, attr="items"), args=()):
            return _counts(program, facts, scope, owner)
    return False


def _counts(program: Program, facts: ModuleFacts, scope: Scope, owner: tree.Expr) -> bool:
    """Whether a dict holds how often each of its keys was seen: it is a `Counter`, or one is added to its items."""
    if is_counter(program, facts, scope, owner):
        return True
    name = dotted_name(owner)
    return name is not None and any(
        isinstance(store.target, tree.Subscript)
        and dotted_name(store.target.value) == name
        and (_is_number(store.value) if store.augmented else _adds_to_what_is_there(store.value, name))
        for store in scope.stores
    )


def _adds_to_what_is_there(value: tree.Expr, counts: str) -> bool:
    """`counts.get(word, 0) + 1`."""
    match value:
        case tree.Binary(op="+", left=tree.Call(func=tree.Attribute(value=owner, attr="get")), right=number):
            return dotted_name(owner) == counts and _is_number(number)
    return False


def _is_number(node: tree.Expr) -> bool:
    return isinstance(node, tree.Const) and isinstance(node.value, int)


def is_counter(program: Program, facts: ModuleFacts, scope: Scope, owner: tree.Expr) -> bool:
    """Whether an expression is surely a `collections.Counter`."""
    values = program.ev.values(owner, frame_without_callers(program.ev, facts, scope))
    return bool(values) and all(isinstance(value, ExternalObject) and value.name == _COUNTER for value in values)
