"""Draws on which no result hangs: a port, a name for the run, a colour in a plot; or that are seeds themselves."""

from __future__ import annotations

import re

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import sub_expressions
from torchrepro_lint.program.running.reach import Event

__all__ = ["is_idle"]

_IDLE = re.compile(
    r"(?:^|_)(seed|port|url|addr|address|name|colou?rs?|palette|cmap|suffix|tmp|temp|tempfile|uid|uuid|token|filename|folder|path|"
    r"dir|run_?id|exp_?id|hash|sleep|delay|jitter_time|backoff|title|greeting|emoji)s?(?:_|$)|dist_url|init_method|visuali[sz]e|"
    r"plot|draw_|show_|random_colou?rs?|get_colou?rs?|print|display|warm_?up|dummy|example|sanity|test|debug|profile|flops|"
    r"benchmark|summary|main_demo|check_",
    re.IGNORECASE,
)


def is_idle(event: Event) -> bool:
    """Whether a draw serves no computation, as far as the names around it tell."""
    names = [link.note.removeprefix("calls ").rpartition(".")[2] for link in event.chain]
    if event.frame is not None and event.call is not None:
        scope = event.frame.scope
        names.extend(_bound_to(event))
        if isinstance(scope.node, tree.FunctionDef):
            names.append(scope.node.name)
    return any(_IDLE.search(name) or name.lower().endswith("seed") for name in names)


def _bound_to(event: Event) -> list[str]:
    """The names that the draw's value is given to, in one assignment."""
    assert event.frame is not None and event.call is not None
    scope = event.frame.scope
    found = [
        name
        for name, bindings in scope.bindings.items()
        for binding in bindings
        if binding.kind == "assign" and _holds(binding.node, event.call)  # type: ignore[arg-type]
    ]
    for store in scope.stores:
        if isinstance(store.target, tree.Attribute) and _holds(store.value, event.call):
            found.append(store.target.attr)
    return found


def _holds(root: tree.Expr | None, call: tree.Call) -> bool:
    pending = [root] if root is not None else []
    while pending:
        node = pending.pop()
        if node is call:
            return True
        pending.extend(sub_expressions(node))
    return False
