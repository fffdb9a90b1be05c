"""Draws on which no result hangs: a port, a name for the run, a colour in a plot; or that are seeds themselves."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.first_weights import draws_weights

__all__ = ["is_idle"]


def is_idle(event: Event) -> bool:
    """Whether a draw serves no computation, as far as the names around it tell."""
    if event.frame is not None and event.call is not None and _names_a_folder(event.frame.scope, event.call):
        return True
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


def _names_a_folder(scope: Scope, draw: tree.Call) -> bool:
    """Whether a draw is a part of the path of a folder that the same function makes: in the call that makes it, or in a
    text or a path under a name that this call gets.
    """
    texts = {
        binding.name
        for each in scope.bindings.values()
        for binding in each
        if binding.kind == "assign" and _is_text(binding.node) and any(node is draw for node in _below(binding.node))
    }
    makes_folders = function_words("makes_folders").fullmatch
    return any(
        node is draw or (isinstance(node, tree.Name) and node.id in texts)
        for call, _ in scope.calls
        if makes_folders(called_name(call.func) or "")
        for node in walk([call.func, *(arg.value for arg in call.args)])
    )


def _below(node: object) -> Iterator[tree.Expr]:
    return walk([node]) if isinstance(node, (tree.Call, tree.Binary, tree.FormatString)) else iter(())


def _is_text(node: object) -> bool:
    """Whether an expression is a text or a path, by its form."""
    match node:
        case tree.FormatString() | tree.Const(value=str()):
            return True
        case tree.Call(func=func):
            return function_words("makes_texts").fullmatch(called_name(func) or "") is not None
        case tree.Binary(left=left, right=right):
            return _is_text(left) or _is_text(right)
    return False
