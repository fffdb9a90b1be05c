"""The calls of losses that are objects: made in one place, handed to a function, called in another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ExternalObject, Instance, Site
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers, is_open

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["runs_of"]

#: How losses are called. Which object a call is of, its values tell.
_CRITERION: Final = re.compile(r"crit|loss|cost|objective|xent|nll|(?:^|_)ce(?:_|$)|entropy", re.IGNORECASE)
_FILES: Final = re.compile(_CRITERION.pattern.encode(), re.IGNORECASE)


def runs_of(ev: Evaluator, made: Site) -> list[tuple[tree.Call, Frame]]:
    """The calls of the object that is made at a place, in files that speak of losses."""
    nothing: dict[Site, list[tuple[tree.Call, Frame]]] = {}
    return ev.of_project("criterion-runs", lambda: _runs(ev), nothing).get(made, [])


def _runs(ev: Evaluator) -> dict[Site, list[tuple[tree.Call, Frame]]]:
    found: dict[Site, list[tuple[tree.Call, Frame]]] = {}
    for path in ev.project.matching(_FILES):
        facts = ev.project.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            calls = [call for call, _ in scope.calls if len(call.args) > 1 and _is_criterion(call)]
            if not calls or facts is None:
                continue
            ev.begin_question()
            alone = frame_without_callers(ev, facts, scope)
            for call in calls:
                frames = contexts(ev, facts, scope) if is_open(ev, call.func, alone) else [alone]
                for frame in frames:
                    for value in ev.values(call.func, frame):
                        if isinstance(value, (ExternalObject, Instance)) and value.site is not None:
                            found.setdefault(value.site, []).append((call, frame))
    return found


def _is_criterion(call: tree.Call) -> bool:
    return bool(_CRITERION.search(called_name(call.func) or ""))
