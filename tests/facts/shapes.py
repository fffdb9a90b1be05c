"""Nodes of the lowered tree, written out as text, and all of them in the order of their sites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import libcst as cst

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.lower import lower_module


def lowered(source: str) -> tree.Block:
    return lower_module(cst.parse_module(source))[0]


def nodes_of(root: object) -> Iterator[object]:
    """The node and all below it, in the order of their fields."""
    if isinstance(root, tuple):
        for item in root:
            yield from nodes_of(item)
    elif is_dataclass(root):
        yield root
        for one in fields(root):
            yield from nodes_of(getattr(root, one.name))


def written(node: object) -> str:
    """A node as text, without its site: `Call(Name(f) Arg(Const(1)))`."""
    if isinstance(node, tuple):
        return "[" + " ".join(written(item) for item in node) + "]"
    if not is_dataclass(node):
        return str(node)
    parts = []
    for one in fields(node):
        value = getattr(node, one.name)
        if one.name == "site" or (value is None and one.default is None) or value == "" or value is False:
            continue
        parts.append(written(value))
    return f"{type(node).__name__}({' '.join(parts)})"


def differing(first: object, second: object) -> tuple[object, object] | None:
    """The first parts in which two trees differ, sites and all; None where they are equal."""
    pending = [(first, second)]
    while pending:
        one, other = pending.pop()
        if type(one) is not type(other):
            return one, other
        if isinstance(one, tuple) and isinstance(other, tuple):
            if len(one) != len(other):
                return one, other
            pending.extend(zip(reversed(one), reversed(other), strict=True))
        elif is_dataclass(one):
            pending.extend((getattr(one, field.name), getattr(other, field.name)) for field in reversed(fields(one)))
        elif one != other:
            return one, other
    return None
