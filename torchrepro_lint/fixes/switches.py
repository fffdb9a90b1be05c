"""Turning a switch off: the value is replaced, nothing else."""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.arguments import replace_argument
from torchrepro_lint.fixes.document import Document

__all__ = ["plan_set_false"]


def plan_set_false(document: Document, site: cst.Assign | cst.AnnAssign | cst.Arg | cst.BaseExpression) -> list[Edit]:
    """Replace the value of an assignment or of an argument, or an expression itself, by `False`."""
    if isinstance(site, cst.Arg):
        return [replace_argument(document, site, "False")]
    value = site.value if isinstance(site, cst.Assign | cst.AnnAssign) else site
    assert value is not None, "an annotation without a value sets nothing"
    start, end = document.outer_span(value)
    return [document.replacement(start, end, "False")]
