"""Regions of a program that a context manager or a decorator sets apart: the blocks of `with torch.no_grad():`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import uncalled
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.running.statements import blocks_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_without_grad", "stands_in"]


def is_without_grad(ev: Evaluator, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    """Whether no graph is kept of what is computed at a place: its function or a block around it says so."""
    frame = ev.module_frame(facts)
    wanted = known_calls("without_gradient")
    if isinstance(scope.node, tree.FunctionDef):
        if any(_is_one_of(ev, decorator, frame, wanted) for decorator in scope.node.decorators):
            return True
    return stands_in(ev, facts, scope, site, wanted)


def stands_in(ev: Evaluator, facts: ModuleFacts, scope: Scope, site: int, contexts: frozenset[str]) -> bool:
    """Whether a place of a scope is in a `with` block of one of these context managers."""
    while isinstance(scope.node, tree.Comprehension) and scope.parent is not None:
        scope = scope.parent
    node = scope.node
    frame = ev.module_frame(facts)
    body = facts.body if node is None else ()
    if isinstance(node, (tree.FunctionDef, tree.ClassDef)):
        body = node.body
    return any(
        _is_one_of(ev, item, frame, contexts)
        for statement in _around(body, site)
        if isinstance(statement, tree.With)
        for item, _ in statement.items
    )


def _is_one_of(ev: Evaluator, node: tree.Expr, frame: Frame, wanted: frozenset[str]) -> bool:
    """Whether a context manager or decorator is one of these, called or not."""
    names = {canonical(v.name) for v in ev.values(uncalled(node), frame) if isinstance(v, External)}
    return not names.isdisjoint(wanted)


def _around(body: tree.Block, site: int) -> Iterator[tree.Stmt]:
    """The statements in which a site is, from the outside in; sites grow in the order of the text."""
    while True:
        inside = [statement for statement in body if statement.site <= site]
        if not inside:
            return
        yield inside[-1]
        blocks = [block for block in blocks_of(inside[-1]) if block and block[0].site <= site]
        if not blocks:
            return
        body = blocks[-1]
