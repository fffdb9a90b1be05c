"""Before which statement the generator of a loader is made: beside the loader, and above the loops that repeat it.

Each loader has a generator of its own, so that how often one loader is iterated over does not change the order of
another. A loop repeats its loader unless each turn makes another one, or is a run of its own: the program knows that
(`Surroundings.own_turns`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

import libcst as cst

from torchrepro_lint.fixes.document import Document

__all__ = ["Declined", "Place", "arms_apart", "find_place", "has_arms", "made_instead"]

#: The arms around a call, each by the `if` or `match` that it is of.
_Arms: TypeAlias = dict[cst.CSTNode, cst.CSTNode]
_ONE_LINE = "the body of the function is on the line of its def"


@dataclass(frozen=True, slots=True)
class Declined:
    """No fix, and in a few words why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """The statement before which the generator is made."""

    statement: cst.BaseStatement
    blocks: frozenset[int]
    """The blocks around the call, by id: what is made in one of them once is made once for the loader."""
    inline: bool = False
    """Whether a comprehension makes a loader in each turn: the generator is then made in the call itself."""


def find_place(document: Document, call: cst.Call, own_turns: Set[tuple[int, int]] = frozenset()) -> Place | Declined:
    """The place for the generator of the loader, split or sampler `call`, in the function around it.

    `own_turns` are the ranges of the loops in each turn of which the call makes a loader of its own.
    """
    reason = _hopeless(document, call)
    if reason is not None:
        return Declined(reason)
    inline = False
    chain: list[tuple[cst.CSTNode, cst.BaseStatement]] = []
    inner: cst.CSTNode = call
    for outer in document.ancestors(call):
        if isinstance(inner, cst.BaseStatement) and isinstance(outer, cst.IndentedBlock | cst.Module):
            chain.append((outer, inner))
        if isinstance(outer, cst.BaseComp) and not chain:
            # What the first `for` goes through is evaluated once.
            inline = inline or not _is_in(document, call, outer.for_in.iter)
        if isinstance(outer, cst.FunctionDef) and inner is outer.body:
            break
        inner = outer
    if not chain:
        return Declined(_ONE_LINE)
    chain.reverse()
    repeating = {id(loop) for loop in document.loops(call) if document.span(loop) not in own_turns}
    for index, (_, statement) in enumerate(chain):
        if id(statement) in repeating or (isinstance(statement, cst.ClassDef) and index < len(chain) - 1):
            if inline:
                return Declined("each turn of a loop makes several loaders, and their generators would start anew")
            chain = chain[: index + 1]
            break
    return Place(chain[-1][1], frozenset(id(block) for block, _ in chain), inline)


def made_instead(
    document: Document, call: cst.Call, home: cst.BaseStatement, others: Sequence[cst.Call]
) -> frozenset[int]:
    """Those of other calls in a function, by id, that are made instead of a call, never beside it: they are in another
    arm of an `if` or a `match`, in two `if` that ask for other values of one name (`if data == "mnist":`), or one is in
    an arm that returns before the other. What `call` needs is made before the
    statement `home`, which has to be made instead as well.
    """
    known = document.once(_arms_of_calls)
    own = known.get(id(call), {})
    if not known or (not own and not any(id(one) in known for one in others)):
        return frozenset()
    around_home = {id(home), *(id(one) for one in document.ancestors(home))}
    own = {choice: arm for choice, arm in own.items() if id(arm) in around_home}
    return frozenset(id(one) for one in others if _exclude_each_other(document, own, home, one, known.get(id(one), {})))


def has_arms(document: Document) -> bool:
    """Whether any call of a document is in an arm of its function."""
    return bool(document.once(_arms_of_calls))


def arms_apart(document: Document, call: cst.Call, other: cst.Call) -> frozenset[int]:
    """The arms around another call that a call is not in, by id."""
    own = {id(outer) for outer in document.ancestors(call)}
    return frozenset(id(arm) for arm in _arms(document, other).values() if id(arm) not in own)


def _exclude_each_other(
    document: Document, own: _Arms, home: cst.BaseStatement, other: cst.Call, others: _Arms
) -> bool:
    return (
        any(others.get(choice, arm) is not arm for choice, arm in own.items())
        or any(_ask_for_others(document, one, two) for one in own.items() for two in others.items())
        or any(_is_behind(document, choice, arm, other) for choice, arm in own.items())
        or any(_is_behind(document, choice, arm, home) for choice, arm in others.items())
    )


def _ask_for_others(
    document: Document, one: tuple[cst.CSTNode, cst.CSTNode], two: tuple[cst.CSTNode, cst.CSTNode]
) -> bool:
    """Whether two arms are those of two `if` in which one expression has other values."""
    first, second = (_asked_value(document, *arm) for arm in (one, two))
    return first is not None and second is not None and first[0] == second[0] and first[1] != second[1]


def _asked_value(document: Document, choice: cst.CSTNode, arm: cst.CSTNode) -> tuple[str, str] | None:
    """The expression and the constant that it equals in the arm, by their texts."""
    match choice:
        case cst.If(
            test=cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=value)]),
            body=body,
        ) if body is arm and isinstance(value, cst.SimpleString | cst.Integer):
            return document.text_of(left), str(value.evaluated_value)
    return None


def _arms_of_calls(document: Document) -> dict[int, _Arms]:
    """The arms around each call of a document that is in any in its function, by id."""
    arms = ((call, _arms(document, call)) for call in document.nodes(cst.Call))
    return {id(call): found for call, found in arms if found}


def _arms(document: Document, call: cst.Call) -> _Arms:
    """The arms around a call in its function, by the `if` or `match` that they belong to."""
    found: _Arms = {}
    inner: cst.CSTNode = call
    for outer in document.ancestors(call):
        if isinstance(outer, cst.FunctionDef | cst.ClassDef):
            break
        if isinstance(outer, cst.Match) or (isinstance(outer, cst.If) and inner is not outer.test):
            found[outer] = inner
        inner = outer
    return found


def _is_behind(document: Document, choice: cst.CSTNode, arm: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a node is behind an `if` without an `else`, in the same block, whose only arm returns."""
    if not isinstance(choice, cst.If) or choice.orelse is not None or not isinstance(arm, cst.IndentedBlock):
        return False
    match arm.body[-1]:
        case cst.SimpleStatementLine(body=[*_, cst.Return() | cst.Raise()]):
            block = document.parent(choice)
            is_in_block = any(outer is block for outer in document.ancestors(node))
            return is_in_block and document.start(node) > document.end(choice)
    return False


def _is_in(document: Document, call: cst.Call, node: cst.BaseExpression) -> bool:
    return call is node or any(outer is node for outer in document.ancestors(call))


def _hopeless(document: Document, call: cst.Call) -> str | None:
    """Why no statement can be put before a call, if none can."""
    inner: cst.CSTNode = call
    for outer in document.ancestors(call):
        if isinstance(outer, cst.Param):
            return "the loader is made in the default value of a parameter"
        if isinstance(outer, cst.Decorator):
            return "the loader is made in a decorator"
        if isinstance(outer, cst.Annotation):
            return "the loader is made in an annotation"
        if isinstance(outer, cst.FormattedString):
            return "the loader is made in an f-string"
        if isinstance(outer, cst.Lambda) and inner is outer.body:
            return "the loader is made in a lambda, which may be called several times"
        if isinstance(outer, cst.FunctionDef) and inner is outer.body:
            return None if isinstance(inner, cst.IndentedBlock) else _ONE_LINE
        inner = outer
    return None
