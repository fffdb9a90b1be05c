"""Tensors in a list that a function fills: `masks = []`, `masks.append(mask)`, `masks[i]`, `for mask in masks`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Binding, Store
from torchrepro_lint.program.evaluation.expressions import comprehension_frames
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.ops.tensor_results import Tensor, joined

if TYPE_CHECKING:
    from torchrepro_lint.program.ops.tensors import Tensors

__all__ = ["element", "element_of_loop"]

_KEEPS_ELEMENTS: Final = frozenset({"pop", "reverse", "clear", "remove", "index", "count", "copy"})


def element(tensors: Tensors, node: tree.Expr, frame: Frame) -> Tensor | None:
    """What holds for all elements of a list; None where one shows itself as no tensor, or others may be added."""
    node = _comprehension(tensors, node, frame) or node
    if isinstance(node, tree.Comprehension) and node.kind in ("list", "generator"):
        found = [tensors.of(node.element, inner) for inner in comprehension_frames(tensors.ev, node, frame)]
    else:
        found = [tensors.of(item, frame) for item in _items(tensors, node, frame) or ()]
    return joined(found) if None not in found else None


def element_of_loop(tensors: Tensors, node: tree.Expr, frame: Frame, unpack: tuple[int, ...]) -> Tensor | None:
    """What a loop over lists gives at the place `unpack` of its targets: through `enumerate` and `zip` as well."""
    match node:
        case tree.Call(func=tree.Name(id="enumerate"), args=(arg, *_)) if unpack == (1,):
            return element(tensors, arg.value, frame)
        case tree.Call(func=tree.Name(id="zip"), args=args) if len(unpack) == 1 and 0 <= unpack[0] < len(args):
            return element(tensors, args[unpack[0]].value, frame)
    return element(tensors, node, frame) if not unpack else None


def _comprehension(tensors: Tensors, node: tree.Expr, frame: Frame) -> tree.Comprehension | None:
    """The comprehension that makes a list, to which nothing is added afterwards."""
    if not isinstance(node, tree.Name):
        return None
    match frame.scope.reaching(node.id, node.site):
        case ([Binding(kind="assign", node=tree.Comprehension(kind="list") as made, unpack=())], True):
            touches = frame.scope.touches(node.id)
            is_left = all(touch.within or touch.method in _KEEPS_ELEMENTS for touch in touches)
            return made if is_left and not _is_handed_on(tensors, node.id, frame) else None
    return None


def _items(tensors: Tensors, node: tree.Expr, frame: Frame) -> list[tree.Expr] | None:
    """The expressions that a list holds; None where it may hold others."""
    if isinstance(node, tree.Display):
        return list(node.items) if node.kind != "set" else None
    if not isinstance(node, tree.Name) or _is_handed_on(tensors, node.id, frame):
        return None
    bindings, certain = frame.scope.reaching(node.id, node.site)
    lists = [_display(binding.node, binding.unpack) for binding in bindings if binding.kind == "assign"]
    if not certain or len(lists) != len(bindings):
        return None
    items: list[tree.Expr] = []
    for made in lists:
        if made is None:
            return None
        items.extend(made.items)
    for touch in frame.scope.touches(node.id):
        if touch.within:
            continue
        match touch.made:
            case tree.Call(args=(tree.Arg(star="", keyword=None, value=value),)) if touch.method == "append":
                items.append(value)
            case Store(augmented=False, value=value):
                items.append(value)
            case _ if touch.method not in _KEEPS_ELEMENTS:
                return None
    return items


def _display(node: object, unpack: tuple[int, ...]) -> tree.Display | None:
    """The list that is bound: of `masks, found = [], []` the one at its place."""
    if unpack and isinstance(node, tree.Display) and len(unpack) == 1 and unpack[0] < len(node.items):
        node, unpack = node.items[unpack[0]], ()
    return node if isinstance(node, tree.Display) and node.kind == "list" and not unpack else None


def _is_handed_on(tensors: Tensors, name: str, frame: Frame) -> bool:
    """Whether something of the program is given the list, and may put more into it."""
    return any(
        not all(isinstance(value, External) for value in tensors.ev.values(call.func, frame))
        for call in _calls_with(name, frame)
    )


def _calls_with(name: str, frame: Frame) -> Iterator[tree.Call]:
    for call, _ in frame.scope.calls:
        if any(isinstance(arg.value, tree.Name) and arg.value.id == name for arg in call.args):
            yield call
