"""The uses of a mapping whose lists still have the order that they were filled in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.orders.order_places import attribute_uses, name_uses, sorts
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import Parents, is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["holder_attribute_uses", "holder_uses", "item_of", "sorts_all"]


def item_of(node: tree.Expr) -> tree.Expr:
    """The item of a mapping that `mapping.setdefault(key, [])` gives; any other expression itself."""
    match node:
        case tree.Call(func=tree.Attribute(value=owner, attr="setdefault"), args=(key, *_)) if not key.star:
            return tree.Subscript(node.site, owner, key.value)
    return node


def holder_uses(program: Program, facts: ModuleFacts, holder: tree.Name) -> Iterator[tree.Name]:
    """The reads of a mapping that what it holds under some key, from `holder` on, can reach unsorted."""
    parents = parents_of(program.ev, facts)
    for use in name_uses(program, facts, holder):
        if use.site > holder.site and sorts_all(parents, use):
            return
        yield use


def holder_attribute_uses(
    program: Program, facts: ModuleFacts, holder: tree.Attribute
) -> Iterator[tuple[ModuleFacts, tree.Attribute]]:
    """The same for a mapping in an attribute; none if its lists are sorted."""
    found = list(attribute_uses(program, facts, holder))
    if not any(sorts_all(parents_of(program.ev, home), use) for home, use in found):
        yield from found


def sorts_all(parents: Parents, use: tree.Expr) -> bool:
    """Whether a loop sorts the lists of a mapping: `for key in lists: lists[key].sort()`, `lists[key] = sorted(...)`,
    `for names in lists.values(): names.sort()`.
    """
    match parents.of(use):
        case tree.Subscript(value=value, index=tree.Name(id=key)) as item if value is use:
            return _goes_through(parents, use, key) and (sorts(parents, item) or _is_made_anew(parents, item))
        case tree.Attribute(value=value, attr="values" | "items") as method if value is use:
            call = parents.of(method)
            loop = parents.of(call) if isinstance(call, tree.Call) else None
            if isinstance(loop, tree.For) and loop.iter is call:
                return any(sorts(parents, one) for one in _lists_of_turn(parents, loop, method.attr))
    return False


def _goes_through(parents: Parents, use: tree.Expr, key: str) -> bool:
    """Whether a loop around a use gives one key after the other."""
    loops = (above.target for above in parents.around(use) if isinstance(above, tree.For))
    return any(is_named(part, key) for part in walk(loops))


def _lists_of_turn(parents: Parents, loop: tree.For, method: str) -> Iterator[tree.Name]:
    """The uses, in the body of a loop over a mapping, of the list of its turn."""
    match (method, loop.target):
        case ("values", tree.Name(id=name)) | ("items", tree.Display(items=(_, tree.Name(id=name)))):
            yield from parents.names_in(name, loop)


def _is_made_anew(parents: Parents, item: tree.Subscript) -> bool:
    """Whether this is the target of `lists[key] = sorted(lists[key])`."""
    match parents.of(item):
        case tree.Assign(targets=targets, value=tree.Call(func=func, args=(first, *_))) if item in targets:
            owner = item.value.id if isinstance(item.value, tree.Name) else None
            parts = walk([first.value])
            is_own = any(isinstance(one, tree.Subscript) and is_named(one.value, owner or "") for one in parts)
            return "sort" in (called_name(func) or "") and is_own
    return False
