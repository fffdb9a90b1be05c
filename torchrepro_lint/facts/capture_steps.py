"""From a pattern of a `match` to the parts of its subject: the steps that lead from one to the other."""

from __future__ import annotations

from torchrepro_lint.facts import tree

__all__ = ["of_attribute", "of_class", "of_item", "of_key", "part_at"]

_Steps = tuple[tree.Step, ...]

#: The classes whose one pattern without a keyword stands for the whole object: `case str(name)`.
_TAKE_THEMSELVES = frozenset({
    "bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple",
})  # fmt: skip


def of_item(steps: _Steps | None, index: int, star: int | None, count: int) -> _Steps | None:
    """The steps to what the pattern at a place gets, of `count` patterns with a star at one of them or none."""
    if steps is None:
        return None
    if index == star:
        return (*steps, ("rest", index, count - index - 1))
    return (*steps, ("item", index if star is None or index < star else index - count))


def of_key(steps: _Steps | None, key: object) -> _Steps | None:
    """The steps to what a dict has for a key."""
    if steps is None or isinstance(key, bool) or not isinstance(key, (int, str)):
        return None
    return (*steps, ("key", key))


def of_attribute(steps: _Steps | None, name: str) -> _Steps | None:
    """The steps to an attribute."""
    return None if steps is None else (*steps, ("attribute", name))


def of_class(steps: _Steps | None, name: str | None) -> _Steps | None:
    """The steps to what a pattern without a keyword gets in that of a class."""
    return steps if name in _TAKE_THEMSELVES else None


def part_at(subject: tree.Expr, steps: _Steps) -> tuple[tree.Expr, str, tuple[int, ...]]:
    """The part of the subject to which steps lead, as a binding says it: an expression, the kind of the binding, and
    the places that are taken out of the expression.
    """
    node, kind = subject, "assign"
    unpack: tuple[int, ...] = ()
    for step in steps:
        match step:
            case "item", int() as place:
                unpack = (*unpack, place)
            case "rest", int() as before, int() as behind:
                kind, unpack = "rest", (*unpack, before, behind)
            case "key", key:
                node, unpack = tree.Subscript(subject.site, _taken(node, unpack), tree.Const(subject.site, key)), ()
            case "attribute", str() as name:
                node, unpack = tree.Attribute(subject.site, _taken(node, unpack), name), ()
    return node, kind, unpack


def _taken(node: tree.Expr, places: tuple[int, ...]) -> tree.Expr:
    for place in places:
        node = tree.Subscript(node.site, node, tree.Const(node.site, place))
    return node
