"""Switches that are put back at the end of a region for which alone they were set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope, Store
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.running.parents import Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.switches.intent import Evidence

__all__ = ["ends_a_region"]


def ends_a_region(program: Program, one: Evidence) -> bool:
    """Whether a switch is set again where a region ends: below the `yield` of a context manager, in `finally`, or by
    the method that ends what the others of the class began (`__exit__`, `tearDown`).
    """
    if not isinstance(one.node, tree.Assign):
        return False
    switches = {target.attr for target in one.node.targets if isinstance(target, tree.Attribute)}
    parents = parents_of(program.ev, one.frame.facts)
    return any(
        isinstance(store.target, tree.Attribute) and store.target.attr in switches
        for store in _of_the_beginning(parents, one.frame.scope, one.node)
    )


def _of_the_beginning(parents: Parents, scope: Scope, node: tree.Assign) -> Iterator[Store]:
    """What is assigned before the region whose end a statement is at; nothing where it is not at one."""
    if scope.name in method_words("called_at_the_end") and scope.parent is not None:
        for method in scope.parent.children:
            if method is not scope:
                yield from method.stores
    elif any(one.site < node.site for one in scope.yields) or _is_in_finally(parents, node):
        yield from (store for store in scope.stores if store.statement.site < node.site)


def _is_in_finally(parents: Parents, node: tree.Assign) -> bool:
    around = list(parents.around(node))
    return any(isinstance(one, tree.Try) and _holds(one.final, [node, *around]) for one in around)


def _holds(block: tree.Block, nodes: list[object]) -> bool:
    return any(statement is node for statement in block for node in nodes)
