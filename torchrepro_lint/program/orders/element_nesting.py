"""What collections hold that are in another collection: lists of lists, tuples that are unpacked, values of dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Instance
from torchrepro_lint.program.orders.element_annotations import ElementKind, annotated_values, joined
from torchrepro_lint.program.orders.element_bindings import (
    assigned,
    bindings_of,
    is_made_of_itself,
    parameters,
    put_into,
)
from torchrepro_lint.program.orders.element_names import by_name

if TYPE_CHECKING:
    from torchrepro_lint.program.orders.element_kinds import Reader

__all__ = ["elements_of_elements", "field", "unpacked", "values_of"]


def elements_of_elements(reader: Reader, node: tree.Expr, depth: int, levels: int = 1) -> ElementKind | None:
    """What the collections hold that a collection holds, so many `levels` down."""
    if depth == 0:
        return None
    if levels == 0:
        return reader.elements(node, depth)
    match node:
        case tree.Comprehension(element=element):
            return elements_of_elements(reader.inside(node), element, depth - 1, levels - 1)
        case tree.Display(items=items):
            return joined(elements_of_elements(reader, item, depth - 1, levels - 1) for item in items)
        case tree.Call(func=tree.Name(id="list" | "tuple" | "sorted" | "reversed" | "tqdm"), args=(arg, *_)):
            return elements_of_elements(reader, arg.value, depth - 1, levels)
        case tree.Name(id=name):
            made = _nested(reader, name, depth, levels)
            outer = [
                elements_of_elements(reader, one.node, depth - 1, levels + 1)  # type: ignore[arg-type]
                for one in bindings_of(reader.scope, name)
                if one.kind == "element" and not one.unpack and one.node is not None
            ]
            given = [
                reader.of_handed(one, lambda there, list_: elements_of_elements(there, list_, depth - 1, levels))
                for one in parameters(reader.scope, name)
            ]
            return joined(kind for kind in (*made, *outer, *given) if kind is not None) or by_name(node)
        case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == reader.method.self_name:
            made = [kind for one in reader.methods() for kind in _nested(one, f"self.{attr}", depth, levels)]
            return joined(kind for kind in made if kind is not None) or by_name(node)
    return by_name(node)


def _nested(reader: Reader, name: str, depth: int, levels: int) -> list[ElementKind | None]:
    """What the collections hold that a scope assigns to a name or puts into what has it."""
    made = [elements_of_elements(reader, one, depth - 1, levels) for one in assigned(reader.scope, name)]
    put = [
        elements_of_elements(reader, arg.value, depth - 1, levels - 1)
        for arg in put_into(reader.scope, name, "append", "add")
    ]
    return [*made, *put]


def values_of(reader: Reader, node: tree.Expr, depth: int) -> ElementKind | None:
    """What a dict has for its keys."""
    match node:
        case tree.DictDisplay(items=pairs):
            return joined(reader.kind(value, depth) for _, value in pairs)
        case tree.Comprehension(kind="dict", element=element):
            return reader.inside(node).kind(element, depth)
        case tree.Name(id=name):
            made = [values_of(reader, one, depth - 1) for one in assigned(reader.scope, name)] if depth else []
            given = [annotated_values(one.annotation) for one in parameters(reader.scope, name)]
            return joined(kind for kind in (*made, *given) if kind is not None)
    return None


def unpacked(reader: Reader, node: tree.Expr, place: int, depth: int) -> ElementKind | None:
    """What is at a place of the tuples that a collection holds: `for head, tail in pairs`."""
    if depth == 0:
        return None
    match node:
        case tree.Call(func=tree.Name(id="zip"), args=args) if 0 <= place < len(args):
            return reader.elements(args[place].value, depth - 1)
        case tree.Call(func=tree.Name(id="list" | "sorted" | "tqdm"), args=(arg, *_)):
            return unpacked(reader, arg.value, place, depth - 1)
        case tree.Call(func=tree.Attribute(value=mapping, attr="items"), args=()):
            return reader.elements(mapping, depth - 1) if place == 0 else values_of(reader, mapping, depth - 1)
        case tree.Display(kind="list", items=items):
            return joined(_at(reader, item, place, depth) for item in items)
        case tree.Comprehension(kind="list", element=tree.Display() as element):
            return _at(reader, element, place, depth)
        case tree.Name(id=name):
            bindings = [one for one in bindings_of(reader.scope, name) if not is_made_of_itself(one)]
            bound = [one.node for one in bindings if one.kind == "assign" and not one.unpack]
            made = [unpacked(reader, one, place, depth - 1) for one in bound if one is not None]  # type: ignore[arg-type]
            put = [_at(reader, arg.value, place, depth) for arg in put_into(reader.scope, name, "append", "add")]
            given = [
                reader.of_handed(one, lambda there, pairs: unpacked(there, pairs, place, depth - 1))
                for one in parameters(reader.scope, name)
            ]
            return joined((*made, *put, *given))
        case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == reader.method.self_name:
            name = f"self.{attr}"
            return joined(
                kind
                for one in reader.methods()
                for kind in (
                    *(unpacked(one, made, place, depth - 1) for made in assigned(one.scope, name)),
                    *(_at(one, arg.value, place, depth) for arg in put_into(one.scope, name, "append", "add")),
                )
                if kind is not None
            )
    return None


def field(reader: Reader, node: tree.Attribute | tree.Subscript, depth: int) -> ElementKind | None:
    """What an attribute of the objects of a list is (`one.label`), or what their dicts have under a key (`one["id"]`),
    by what is put into the list; or by what the class of an object gives to its attribute.
    """
    if not isinstance(node.value, tree.Name) or depth == 0:
        return None
    key = node.attr if isinstance(node, tree.Attribute) else _text(node.index)
    kinds: list[ElementKind | None] = []
    for binding in bindings_of(reader.scope, node.value.id):
        if binding.kind != "element" or binding.unpack:
            return _of_class(reader, node, depth)
        match binding.node:
            case tree.Name(id=name):
                readers = [reader.of(reader.method)]
            case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == reader.method.self_name:
                name, readers = f"self.{attr}", reader.methods()
            case _:
                return _of_class(reader, node, depth)
        for one in readers:
            for put in put_into(one.scope, name, "append"):
                made = assigned(one.scope, put.value.id) if isinstance(put.value, tree.Name) else [put.value]
                kinds += [_given(one, each, key, depth) for each in made]
    return joined(kinds) or _of_class(reader, node, depth)


def _given(reader: Reader, made: tree.Expr, key: str, depth: int) -> ElementKind | None:
    """What a call or a dict display gives under a keyword."""
    match made:
        case tree.Call(args=args):
            value = next((arg.value for arg in args if arg.keyword == key), None)
        case tree.DictDisplay(items=pairs):
            value = next((value for name, value in pairs if name is not None and _text(name) == key), None)
        case _:
            value = None
    return reader.kind(value, depth - 1) if value is not None else None


def _text(node: tree.Expr) -> str:
    return node.value if isinstance(node, tree.Const) and isinstance(node.value, str) else ""


def _of_class(reader: Reader, node: tree.Attribute | tree.Subscript, depth: int) -> ElementKind | None:
    """What an attribute is by the class of the object, in whose methods it gets its value."""
    if not isinstance(node, tree.Attribute):
        return None
    objects = reader.program.ev.values(node.value, reader.frame)
    kinds: list[ElementKind | None] = []
    for one in objects:
        if not isinstance(one, Instance):
            return None
        there = reader.of_class(one.cls)
        made = [(each, value) for each in there for value in assigned(each.scope, f"self.{node.attr}")]
        kinds += [each.kind(value, depth - 1) for each, value in made] or [None]
    return joined(kinds)


def _at(reader: Reader, node: tree.Expr, place: int, depth: int) -> ElementKind | None:
    match node:
        case tree.Display(kind="tuple" | "list", items=items) if 0 <= place < len(items):
            return reader.kind(items[place], depth - 1)
    return None
