"""Whether a name can be relied on at a place: is it bound on every way to it, and before it."""

from __future__ import annotations

import libcst as cst

from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.scopes import Binding, Scope

__all__ = ["is_bound_at", "is_made_on_the_way", "runs_later"]


def is_bound_at(document: Document, name: str, at: cst.CSTNode) -> bool:
    """Whether a read of `name` at the node `at` surely finds a value.

    A name of the module counts in a function if the module binds it on every way, or if the function reads it already.
    """
    scope = document.scope_of(at)
    owner = scope.resolve(name)
    if owner is None:
        return False
    bindings = [binding for binding in owner.bindings[name] if binding.kind != "del"]
    if any(binding.kind == "param" for binding in bindings):
        return True
    if runs_later(scope, owner):
        return name in scope.reads or any(is_made_on_the_way(document, binding, at) for binding in bindings)
    start = document.start(at)
    before = [binding for binding in bindings if document.start(binding.node) < start]
    return any(is_made_on_the_way(document, binding, at) for binding in before) or _in_every_arm(document, name, at)


def _in_every_arm(document: Document, name: str, at: cst.CSTNode) -> bool:
    """Whether a statement above `at`, in a block around it, assigns to a name in each of its arms."""
    for outer in document.ancestors(at):
        if isinstance(outer, cst.Module | cst.IndentedBlock):
            if any(document.start(one) < document.start(at) and _assigns(one, name) for one in outer.body):
                return True
        elif isinstance(outer, cst.FunctionDef | cst.ClassDef):
            break
    return False


def _assigns(statement: cst.CSTNode, name: str) -> bool:
    """Whether every way through a statement passes an assignment to a name."""
    match statement:
        case cst.SimpleStatementLine(body=small):
            targets = [target.target for one in small if isinstance(one, cst.Assign) for target in one.targets]
            return any(isinstance(target, cst.Name) and target.value == name for target in targets)
        case cst.If(body=body, orelse=orelse):
            return orelse is not None and _assigns(body, name) and _assigns(orelse, name)
        case cst.Else(body=body):
            return _assigns(body, name)
        case cst.IndentedBlock(body=lines):
            return any(_assigns(line, name) for line in lines)
    return False


def runs_later(scope: Scope, owner: Scope) -> bool:
    """Whether code of `scope` runs after the body of `owner` is through: there is a function between them."""
    current: Scope | None = scope
    while current is not None and current is not owner:
        if current.kind in ("function", "lambda"):
            return True
        current = current.parent
    return False


def is_made_on_the_way(document: Document, binding: Binding, at: cst.CSTNode | None) -> bool:
    """Whether every way through the code to `at` passes the binding, as far as blocks tell; order is not looked at.

    The body of a `try` counts as passed. A branch counts if `at` lies in it; `if TYPE_CHECKING` never does. Without
    `at`, the question is for a function of its own at the level of the module.
    """
    around = set() if at is None else {id(at), *(id(node) for node in document.ancestors(at))}
    inner: cst.CSTNode = binding.node
    for outer in document.ancestors(binding.node):
        if isinstance(outer, cst.Module | cst.FunctionDef | cst.ClassDef):
            return True
        if not _is_passed(outer, inner, around):
            return False
        if isinstance(outer, cst.If) and last_part(dotted_name(outer.test) or "") == "TYPE_CHECKING":
            return False
        inner = outer
    return True


def _is_passed(outer: cst.CSTNode, inner: cst.CSTNode, around: set[int]) -> bool:
    """Whether what stands in the part `inner` of `outer` has run wherever the nodes `around` a place say we are."""
    if isinstance(outer, cst.Try | cst.TryStar) and (inner is outer.body or inner is outer.finalbody):
        return True
    if isinstance(outer, cst.If | cst.While) and inner is outer.test:
        return True
    if isinstance(outer, cst.For) and inner is outer.iter:
        return True
    if isinstance(outer, cst.For | cst.ExceptHandler | cst.ExceptStarHandler | cst.MatchCase):
        return id(outer.body) in around
    if isinstance(outer, cst.If | cst.While | cst.Try | cst.TryStar | cst.Match):
        return id(inner) in around
    return True
