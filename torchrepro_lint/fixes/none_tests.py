"""What the tests of a program say of a seed that may not be given."""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.fixes.document import Document

__all__ = ["is_none_at", "is_none_test"]


def is_none_at(document: Document, text: str, at: cst.BaseStatement) -> bool:
    """Whether the statement `at` runs only without the seed: in the arm of `if seed is None:`, or after the `else:` of
    `if seed is not None:` or `if seed:`.
    """
    inner: cst.CSTNode = at
    for outer in document.ancestors(at):
        if isinstance(outer, cst.FunctionDef | cst.ClassDef):
            return False
        if isinstance(outer, cst.If) and inner in (outer.body, outer.orelse):
            if _means_none(document, outer.test, text, holds=inner is outer.body):
                given = (
                    document.start(one)
                    for one in document.nodes(cst.AssignTarget, inner)
                    if document.text_of(one.target) == text
                )
                return not any(start < document.start(at) for start in given)
        inner = outer
    return False


def _means_none(document: Document, test: cst.BaseExpression, text: str, *, holds: bool) -> bool:
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=expression):
            return _means_none(document, expression, text, holds=not holds)
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator)]) if is_none_test(
            document, test, text
        ):
            return holds is isinstance(operator, cst.Is)
    return not holds and document.text_of(test) == text


def is_none_test(document: Document, node: cst.CSTNode, text: str) -> bool:
    """Whether `node` is `text is None` or `text is not None`."""
    return (
        isinstance(node, cst.Comparison)
        and isinstance(node.comparisons[0].operator, cst.Is | cst.IsNot)
        and document.text_of(node.left) == text
    )
