"""How a block of statements ends: does what is after it ever run?"""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import NEVER, Exit, Path

__all__ = ["beyond", "exits_of", "swallows"]

#: Contexts in which an exception ends the block and not what is after it (contextlib, pytest, unittest).
_SWALLOW = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})


def beyond(statement: tree.Stmt, path: Path, known: dict[int, frozenset[Exit] | None]) -> Path:
    """The arms of what is after a statement in its block: one that never runs, if the statement never falls through."""
    return (*path, (statement.site, NEVER)) if exits_of((statement,), known) is not None else path


def exits_of(block: tree.Block, known: dict[int, frozenset[Exit] | None]) -> frozenset[Exit] | None:
    """How a block ends that never falls through; None for one that may.

    `known` holds the answers so far, by the id of the last statement of a block.
    """
    if not block:
        return None
    last = block[-1]
    if id(last) not in known:
        known[id(last)] = _exits_of(last, known)
    return known[id(last)]


def _exits_of(last: tree.Stmt, known: dict[int, frozenset[Exit] | None]) -> frozenset[Exit] | None:
    match last:
        case tree.Return() | tree.Raise():
            return frozenset({"leaves"})
        case tree.Jump(kind=kind):
            return frozenset({"break"}) if kind == "break" else frozenset({"continue"})
        case tree.If(body=body, orelse=orelse):
            return _joined(known, body, orelse)
        case tree.With(items=items, body=body):
            return None if any(swallows(context) for context, _ in items) else exits_of(body, known)
        case tree.Try(body=body, handlers=handlers, orelse=orelse, final=final):
            return exits_of(final, known) or _joined(known, body + orelse, *(handler.body for handler in handlers))
        case tree.ExprStmt(
            value=tree.Call(func=tree.Attribute(value=tree.Name(id="sys" | "os"), attr="exit" | "_exit"))
        ):
            return frozenset({"leaves"})
        case tree.ExprStmt(value=tree.Call(func=tree.Name(id="exit" | "quit"))):
            return frozenset({"leaves"})
    return None


def _joined(known: dict[int, frozenset[Exit] | None], *blocks: tree.Block) -> frozenset[Exit] | None:
    joined: frozenset[Exit] = frozenset()
    for block in blocks:
        exits = exits_of(block, known)
        if exits is None:
            return None
        joined |= exits
    return joined


def swallows(context: tree.Expr) -> bool:
    """Whether what follows a `with` runs although its block has left by an exception."""
    match context:
        case tree.Call(func=tree.Name(id=name) | tree.Attribute(attr=name)):
            return name in _SWALLOW
    return False
