"""Functions that seed for themselves alone: they save the state of a generator before, and put it back after."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.call_index import called_name

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_undone"]

_SAVES = re.compile(r"getstate|get_state|get_rng_states?(_all)?")
_RESTORES = re.compile(r"setstate|set_state|set_rng_states?(_all)?")


def is_undone(ev: Evaluator, scope: Scope, site: int) -> bool:
    """Whether the state of a generator is saved above a place of a function and restored below it; of a context
    manager, by `__exit__`.
    """
    saving = ev.of_text(("saving calls", id(scope)), lambda: _calls(scope, _SAVES))
    if not any(call.site < site for call in saving):
        return False
    return any(one is not scope or call.site > site for one in _closing(scope) for call in _calls(one, _RESTORES))


def _calls(scope: Scope, names: re.Pattern[str]) -> list[tree.Call]:
    return [call for call, _ in scope.calls if names.fullmatch(called_name(call.func) or "")]


def _closing(scope: Scope) -> list[Scope]:
    cls = scope.parent
    if scope.name != "__enter__" or cls is None:
        return [scope]
    return [scope, *(method for method in cls.children if method.name == "__exit__")]
