"""Draws on which no result hangs: a port, a name for the run, a colour in a plot; or that are seeds themselves."""

from __future__ import annotations

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.first_weights import draws_weights

__all__ = ["is_idle"]


def is_idle(event: Event) -> bool:
    """Whether a draw serves no computation, as far as the names around it tell."""
    names = [last_part(link.note.removeprefix("calls ")) for link in event.chain]
    if event.frame is not None and event.call is not None:
        scope = event.frame.scope
        if not draws_weights(event):  # `self.cls_token` is a weight, and no token of a session
            names.extend(scope.given_to(event.call))
            while isinstance(scope.node, tree.Comprehension) and scope.parent is not None:
                names.extend(scope.parent.given_to(scope.node))
                scope = scope.parent
        if isinstance(scope.node, tree.FunctionDef):
            names.append(scope.node.name)
    return any(function_words("idle_draws").search(name) for name in names)
