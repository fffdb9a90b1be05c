"""Lists of numbers in which none comes twice: places that are counted off, ranges, permutations.

Where such numbers are the index of an operation that adds, no two addends meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.running.parents import Node, is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["are_distinct"]


def are_distinct(ev: Evaluator, node: tree.Expr, frame: Frame) -> bool:
    """Whether no number comes twice in a list, an array or another collection, as far as its making shows."""
    match node:
        case tree.Display(items=items) if items:
            numbers = [item.value for item in items if isinstance(item, tree.Const)]
            return len(numbers) == len(items) == len(set(numbers))
        case tree.Call(func=func, args=args):
            names = {value.name for value in ev.values(func, frame) if isinstance(value, External)}
            if names & known_calls("same_numbers") and len(args) == 1:
                return are_distinct(ev, args[0].value, frame)
            return bool(names & known_calls("distinct_numbers"))
        case tree.Comprehension(element=tree.Name(id=name), clauses=(clause,)):
            return _counts(ev, clause.target, clause.iter, name, frame)
        case tree.Name(id=name, site=site):
            bindings, certain = frame.scope.reaching(name, site)
            return certain and len(bindings) == 1 and _is_bound_to_distinct(ev, bindings[0], frame)
    return False


def _is_bound_to_distinct(ev: Evaluator, binding: Binding, frame: Frame) -> bool:
    match binding.kind, binding.node:
        case "assign", (tree.Display(items=()) | tree.Call(func=tree.Name(id="list"), args=())) if not binding.unpack:
            filled = [item for owner, item in _filled(frame.scope) if is_named(owner, binding.name)]
            return _is_counted_off(ev, filled, binding.node, frame)
        case "assign", tree.Call() | tree.Comprehension() | tree.Display() as made if not binding.unpack:
            is_left_alone = not any(is_named(owner, binding.name) for owner, _ in _filled(frame.scope))
            return is_left_alone and are_distinct(ev, made, frame)
        case "element", tree.Call(func=tree.Attribute(value=tree.Name(id=name, site=site), attr=("items" | "values"))):
            # Groups of places: `groups.setdefault(key, []).append(place)`, `groups[key].append(place)`.
            groups, certain = frame.scope.reaching(name, site)
            first = groups[0].node if certain and len(groups) == 1 and groups[0].kind == "assign" else None
            filled = [item for owner, item in _filled(frame.scope) if _is_entry_of(owner, name)]
            return first is not None and _is_counted_off(ev, filled, first, frame)
    return False


def _is_counted_off(ev: Evaluator, filled: list[tree.Expr], made: Node, frame: Frame) -> bool:
    """Whether one place in the code fills what is `made`, each time with the number that the loop there counts."""
    if len(filled) != 1 or not isinstance(filled[0], tree.Name):
        return False
    parents = parents_of(ev, frame.facts)
    loops = [above for above in parents.around(filled[0]) if isinstance(above, (tree.For, tree.While))]
    around = [above for above in parents.around(made) if isinstance(above, (tree.For, tree.While))]
    if loops[1:] != around or not isinstance(loops[0], tree.For):
        return False  # it counts from the start again while the same list grows
    return _counts(ev, loops[0].target, loops[0].iter, filled[0].id, frame)


def _counts(ev: Evaluator, target: tree.Expr, iterated: tree.Expr, name: str, frame: Frame) -> bool:
    """Whether `for target in iterated` gives `name` another number in each round."""
    match iterated:
        case tree.Call(func=tree.Name(id="enumerate")):
            return isinstance(target, tree.Display) and bool(target.items) and is_named(target.items[0], name)
    return is_named(target, name) and are_distinct(ev, iterated, frame)


def _filled(scope: Scope) -> Iterator[tuple[tree.Expr, tree.Expr]]:
    """What is filled by the calls of one scope, each with what is put in: the call, where that is not one item."""
    for call, _ in scope.calls:
        match call:
            case tree.Call(func=tree.Attribute(value=owner, attr="append" | "add"), args=(tree.Arg(value=item),)):
                yield owner, item
            case tree.Call(func=tree.Attribute(value=owner, attr="extend" | "insert" | "update")):
                yield owner, call


def _is_entry_of(owner: tree.Expr, groups: str) -> bool:
    match owner:
        case tree.Call(func=tree.Attribute(value=tree.Name(id=name), attr="setdefault")):
            return name == groups
        case tree.Subscript(value=tree.Name(id=name)):
            return name == groups
    return False
