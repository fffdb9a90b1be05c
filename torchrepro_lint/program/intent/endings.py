"""Switches that are set for a region alone, and put back where it ends."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.scopes import Binding, Scope, Store
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.running.parents import Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["begins_a_region", "ends_a_region"]


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


def begins_a_region(one: Evidence) -> bool:
    """Whether a switch is set after its value was saved, which is given back to it later: by the same function, or by
    another method of the class.

        old = cudnn.benchmark
        cudnn.benchmark = True
        ...
        cudnn.benchmark = old
    """
    own = one.frame.scope
    stores = [(own, store) for store in own.stores if isinstance(store.target, tree.Attribute)]
    switches = {store.target.attr for _, store in stores if store.statement is one.node}  # type: ignore[union-attr]
    if not switches:
        return False
    if own.parent is not None and isinstance(own.parent.node, tree.ClassDef):
        others = [method for method in own.parent.children if method is not own]
        stores += [(method, store) for method in others for store in method.stores]
    saved = {
        name
        for name, bindings in own.bindings.items()
        if any(each.order < one.node.site and _saves(each, switches) for each in bindings)
    }
    held = {
        store.target.attr
        for _, store in stores
        if isinstance(store.target, tree.Attribute) and _mentions(store.value, frozenset(), switches)
    } - switches
    return any(
        isinstance(store.target, tree.Attribute)
        and store.target.attr in switches
        and (scope is not own or store.statement.site > one.node.site)
        and _mentions(store.value, saved if scope is own else frozenset(), held)
        for scope, store in stores
    )


def _saves(binding: Binding, switches: Set[str]) -> bool:
    """Whether a name is given what one of the switches is."""
    return binding.kind == "assign" and _mentions(binding.node, frozenset(), switches)  # type: ignore[arg-type]


def _mentions(value: tree.Expr, names: Set[str], attributes: Set[str]) -> bool:
    """Whether one of the names, or one of the attributes of some object, is a part of a value."""
    return any(
        (isinstance(part, tree.Name) and part.id in names)
        or (isinstance(part, tree.Attribute) and part.attr in attributes)
        for part in walk([value])
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
