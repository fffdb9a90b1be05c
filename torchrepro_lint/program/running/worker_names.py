"""Functions that are there for the workers of a loader, by their names or by those of their parameters."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words

__all__ = ["is_for_workers"]


def is_for_workers(node: tree.FunctionDef) -> bool:
    """Whether a function is a worker init function: its name says so, or it needs the number of a worker."""
    needed = [param.name for param in node.params if param.default is None and param.kind == "positional"]
    return bool(function_words("worker_init").search(node.name)) or any(
        function_words("worker_number").fullmatch(name) for name in needed
    )
