"""How a block of statements ends: does what stands after it ever run?"""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Exit

__all__ = ["exits_of"]


def exits_of(block: tree.Block) -> frozenset[Exit] | None:
    """How a block ends that never falls through; None for one that may."""
    if not block:
        return None
    match block[-1]:
        case tree.Return() | tree.Raise():
            return frozenset({"leaves"})
        case tree.Jump(kind=kind):
            return frozenset({"break"}) if kind == "break" else frozenset({"continue"})
        case tree.If(body=body, orelse=orelse):
            return _joined(body, orelse)
        case tree.With(body=body):
            return exits_of(body)
        case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
            return exits_of(final) or _joined(body + orelse, *(handler.body for handler in handlers))
        case tree.ExprStmt(
            value=tree.Call(func=tree.Attribute(value=tree.Name(id="sys" | "os"), attr="exit" | "_exit"))
        ):
            return frozenset({"leaves"})
        case tree.ExprStmt(value=tree.Call(func=tree.Name(id="exit" | "quit"))):
            return frozenset({"leaves"})
    return None


def _joined(*blocks: tree.Block) -> frozenset[Exit] | None:
    joined: frozenset[Exit] = frozenset()
    for block in blocks:
        exits = exits_of(block)
        if exits is None:
            return None
        joined |= exits
    return joined
