"""Draws on which no result hangs: a port, a name for the run, a colour in a plot; or that are seeds themselves."""

from __future__ import annotations

import re

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.reach import Event

__all__ = ["is_idle"]

_IDLE = re.compile(
    r"(?:^|_)(seed|port|url|addr|address|name|colou?rs?|palette|cmap|suffix|tmp|temp|tempfile|uid|uuid|token|filename|folder|path|"
    r"dir|run_?id|exp_?id|hash|sleep|delay|jitter_time|backoff|title|greeting|emoji)s?(?:_|$)|dist_url|init_method|visuali[sz]e|"
    r"plot|draw_|show_|random_colou?rs?|get_colou?rs?|print|display|warm_?up|dummy|example|sanity|test|debug|profile|flops|"
    r"benchmark|summary|main_demo|check_|(?:count|num|view)_\w*param|param\w*_count",
    re.IGNORECASE,
)


def is_idle(event: Event) -> bool:
    """Whether a draw serves no computation, as far as the names around it tell."""
    names = [last_part(link.note.removeprefix("calls ")) for link in event.chain]
    if event.frame is not None and event.call is not None:
        scope = event.frame.scope
        names.extend(scope.given_to(event.call))
        if isinstance(scope.node, tree.FunctionDef):
            names.append(scope.node.name)
    return any(_IDLE.search(name) or name.lower().endswith("seed") for name in names)
