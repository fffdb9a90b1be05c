"""The arms of an `if` or a `match`, of which a run takes one: what is made in one of them is made instead of the rest.

    if args.big:
        loader = DataLoader(images, shuffle=True)  # fixed
    else:
        loader = DataLoader(patches, shuffle=True, **rest)  # cannot be fixed

What is found in several arms of one `if` is fixed in all of them or in none: who sees that the first is fixed takes the
program for repeatable, and half of its runs would not be. The generators of loaders in several arms share a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import libcst as cst

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.fixes.document import Document

__all__ = ["arms_apart", "beside_an_unfixed_arm", "has_arms", "is_left", "made_instead"]

#: The arms around a node, each by the `if` or `match` that it is of.
_Arms: TypeAlias = dict[cst.CSTNode, cst.CSTNode]
#: What is reported of loaders, samplers, splits and generators, and of switches that nothing reads; another switch in
#: one arm may be right in the other.
_FAMILIES = ("TRL1", "TRL2", "TRL305")


def beside_an_unfixed_arm(text: str, fixed: Sequence[Finding], left: Iterable[Finding]) -> list[Finding]:
    """Those of the findings to be fixed in a text that have one of the same rule, which is left, in another arm."""
    of_one_rule = [(one, other) for other in left for one in fixed if one.code == other.code]
    pairs = [(one, other) for one, other in of_one_rule if one.code.startswith(_FAMILIES)]
    if not pairs:
        return []
    try:
        document = Document(pairs[0][0].location.path, text)
    except (cst.ParserSyntaxError, ValueError):  # a form that libcst does not read, or does not give back
        return []
    statements = _statements_by_row(document)

    def are_apart(one: Finding, other: Finding) -> bool:
        here, there = (statements.get(finding.location.start.row) for finding in (one, other))
        if here is None or there is None:
            return False
        return _exclude_each_other(document, _arms(document, here), here, there, _arms(document, there))

    found = {id(one): one for one, other in pairs if are_apart(one, other)}
    return list(found.values())


def _statements_by_row(document: Document) -> dict[int, cst.CSTNode]:
    """The innermost statement on each row of a text; of several on one row, the last."""
    found: dict[int, cst.CSTNode] = {}
    for node in document.walk():
        if isinstance(node, cst.BaseStatement):
            first, last = document.lines.row(document.start(node)), document.lines.row(document.end(node))
            found.update(dict.fromkeys(range(first, last + 1), node))
    return found


def made_instead(
    document: Document, call: cst.Call, home: cst.BaseStatement, others: Sequence[cst.Call]
) -> frozenset[int]:
    """Those of other calls in a function, by id, that are made instead of a call, never beside it: they are in another
    arm of an `if` or a `match`, in two `if` that ask for other values of one name (`if data == "mnist":`), or one is in
    an arm that is left before the other. What `call` needs is made before the statement `home`, which has to be made
    instead as well.
    """
    known = document.once(_arms_of_calls)
    own = known.get(id(call), {})
    if not known or (not own and not any(id(one) in known for one in others)):
        return frozenset()
    around_home = {id(home), *(id(one) for one in document.ancestors(home))}
    own = {choice: arm for choice, arm in own.items() if id(arm) in around_home}
    return frozenset(id(one) for one in others if _exclude_each_other(document, own, home, one, known.get(id(one), {})))


def has_arms(document: Document) -> bool:
    """Whether any call of a document is in an arm."""
    return bool(document.once(_arms_of_calls))


def arms_apart(document: Document, call: cst.Call, other: cst.Call) -> frozenset[int]:
    """The arms around another call that a call is not in, by id."""
    own = {id(outer) for outer in document.ancestors(call)}
    return frozenset(id(arm) for arm in _arms(document, other).values() if id(arm) not in own)


def _exclude_each_other(document: Document, own: _Arms, home: cst.CSTNode, other: cst.CSTNode, others: _Arms) -> bool:
    return (
        any(others.get(choice, arm) is not arm for choice, arm in own.items())
        or any(_ask_for_others(document, one, two) for one in own.items() for two in others.items())
        or any(_is_behind(document, choice, arm, other) for choice, arm in own.items())
        or any(_is_behind(document, choice, arm, home) for choice, arm in others.items())
    )


def _ask_for_others(
    document: Document, one: tuple[cst.CSTNode, cst.CSTNode], two: tuple[cst.CSTNode, cst.CSTNode]
) -> bool:
    """Whether two arms are those of two `if` of a function in which one expression has other values."""
    first, second = (_asked_value(document, *arm) for arm in (one, two))
    if first is None or second is None or first[0] != second[0] or first[1] == second[1]:
        return False
    return document.function(one[0]) is document.function(two[0])


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
    """The arms around each call of a document that is in any, by id."""
    arms = ((call, _arms(document, call)) for call in document.nodes(cst.Call))
    return {id(call): found for call, found in arms if found}


def _arms(document: Document, node: cst.CSTNode) -> _Arms:
    """The arms around a node, by the `if` or `match` that they belong to."""
    found: _Arms = {}
    inner = node
    for outer in document.ancestors(node):
        if isinstance(outer, cst.Match) or (isinstance(outer, cst.If) and inner is not outer.test):
            found[outer] = inner
        inner = outer
    return found


def _is_behind(document: Document, choice: cst.CSTNode, arm: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a node is behind an `if` without an `else`, in the same block, whose only arm leaves that: within one
    turn of the loops around, a run comes to one of both.
    """
    if not isinstance(choice, cst.If) or choice.body is not arm or not is_left(choice):
        return False
    block = document.parent(choice)
    is_in_block = any(outer is block for outer in document.ancestors(node))
    return is_in_block and document.start(node) > document.end(choice)


def is_left(choice: cst.If) -> bool:
    """Whether an `if` has no `else`, and its only arm leaves the block that it is in."""
    if choice.orelse is not None or not isinstance(choice.body, cst.IndentedBlock):
        return False
    match choice.body.body[-1]:
        case cst.SimpleStatementLine(body=[*_, cst.Return() | cst.Raise() | cst.Continue() | cst.Break()]):
            return True
    return False
