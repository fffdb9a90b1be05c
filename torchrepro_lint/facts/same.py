"""Whether two lowered texts are the same: node by node, with the same sites."""

from __future__ import annotations

__all__ = ["same_nodes"]


def same_nodes(one: object, other: object) -> bool:
    """Whether two nodes, or blocks of them, say the same. Nodes themselves compare by identity."""
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        if isinstance(left, tuple) and isinstance(right, tuple):
            if len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif slots := getattr(type(left), "__slots__", None):
            pending.extend((getattr(left, name), getattr(right, name)) for name in slots)
        elif repr(left) != repr(right):  # of numbers, -0.0 and 0.0 are equal, and not the same
            return False
    return True
