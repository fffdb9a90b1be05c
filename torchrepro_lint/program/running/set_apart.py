"""Code that draws from a state of the generators which is set for it alone: `with torch.random.fork_rng():`."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.parents import Node, Parents

__all__ = ["sets_apart", "stands_apart"]


def sets_apart(context: tree.Expr) -> bool:
    """Whether a context manager, by its name, puts the state of the generators back when its block ends."""
    if not isinstance(context, tree.Call):
        return False
    return function_words("sets_apart").fullmatch(called_name(context.func) or "") is not None


def stands_apart(parents: Parents, node: Node) -> bool:
    """Whether a node is in a block for which the state of the generators is set alone."""
    return any(
        isinstance(above, tree.With) and any(sets_apart(context) for context, _ in above.items)
        for above in parents.around(node)
    )
