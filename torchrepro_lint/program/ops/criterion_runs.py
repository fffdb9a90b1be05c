"""The calls of losses that are objects: created in one place, passed to a function, called in another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ExternalObject, Instance, Site
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers, is_open
from torchrepro_lint.program.word_index import part_of_word

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["runs_in_own_file", "runs_of"]

_Runs: TypeAlias = dict[Site, list[tuple[tree.Call, Frame]]]

#: How losses are called. Which object a call is of, its values tell.
_CRITERION: Final = function_words("criteria")
_MOST_GIVEN: Final = 4  # CTC takes two lengths
_MAX_FILES: Final = 256  # where more mention losses, a loss is looked for in its own file alone
_FILES: Final = part_of_word(_CRITERION.pattern)


def runs_of(ev: Evaluator, made: Site) -> list[tuple[tree.Call, Frame]]:
    """The calls of the object that is created at a place: those in its own file, or else those in all files that
    mention losses.
    """
    nothing: _Runs = {}
    own = runs_in_own_file(ev, made)
    return own or ev.of_project("criterion-runs", lambda: _runs(ev), nothing).get(made, [])


def runs_in_own_file(ev: Evaluator, made: Site) -> list[tuple[tree.Call, Frame]]:
    """The calls, in the same file, of the object that is created at a place: by the name that it was given there; if
    there is none, by its possible values; and last by the callers of the functions it may be passed to.
    """
    by_name = _by_name(ev, made.path).get(made.number)
    if by_name:
        return by_name
    return _runs_in(ev, made.path, handed=False).get(made, []) or _runs_in(ev, made.path, handed=True).get(made, [])


def _by_name(ev: Evaluator, path: Path) -> dict[int, list[tuple[tree.Call, Frame]]]:
    """The calls of what the same function has created: `loss_fct = CrossEntropyLoss()`, `loss_fct(logits, labels)`."""
    nothing: dict[int, list[tuple[tree.Call, Frame]]] = {}
    return ev.of_project(f"criterion-runs by name in {path}", lambda: _find_by_name(ev, path), nothing)


def _find_by_name(ev: Evaluator, path: Path) -> dict[int, list[tuple[tree.Call, Frame]]]:
    found: dict[int, list[tuple[tree.Call, Frame]]] = {}
    facts = ev.project.facts(path)  # asked within the question, which rests on it
    if facts is None:
        return found
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            if not isinstance(call.func, tree.Name) or not _is_criterion(call):
                continue
            for binding in scope.reaching(call.func.id, call.site)[0]:
                if binding.kind == "assign" and isinstance(binding.node, tree.Call) and not binding.unpack:
                    run = call, frame_without_callers(ev, facts, scope)
                    found.setdefault(binding.node.site, []).append(run)
    return found


def _runs(ev: Evaluator) -> _Runs:
    found: _Runs = {}
    files = ev.project.matching(_FILES)
    for path in files if len(files) <= _MAX_FILES else ():
        for handed in (False, True):
            for made, runs in _runs_in(ev, path, handed=handed).items():
                found.setdefault(made, []).extend(runs)
    return found


def _runs_in(ev: Evaluator, path: Path, *, handed: bool) -> _Runs:
    """The calls of losses in one file, by where each is created: either of those that are passed to functions
    (`handed`), or of the others.
    """
    nothing: _Runs = {}
    name = f"criterion-runs of {'what is handed in ' if handed else ''}{path}"
    return ev.of_project(name, lambda: _find_runs_in(ev, path, handed), nothing)


def _find_runs_in(ev: Evaluator, path: Path, handed: bool) -> _Runs:
    found: _Runs = {}
    facts = ev.project.facts(path)
    if facts is None:
        return found
    for scope in facts.walk_scopes():
        calls = [call for call, _ in scope.calls if _is_criterion(call)]
        if not calls:
            continue
        ev.begin_question()
        alone = frame_without_callers(ev, facts, scope)
        for call in calls:
            if is_open(ev, call.func, alone) is not handed:
                continue
            for frame in contexts(ev, facts, scope) if handed else [alone]:
                for value in ev.values(call.func, frame):
                    if isinstance(value, (ExternalObject, Instance)) and value.site is not None:
                        found.setdefault(value.site, []).append((call, frame))
    return found


def _is_criterion(call: tree.Call) -> bool:
    """Whether this may be the call of a loss: with an input and a target, and perhaps weights or lengths."""
    is_plain = 1 < len(call.args) <= _MOST_GIVEN and not any(arg.star for arg in call.args)
    return is_plain and bool(_CRITERION.search(called_name(call.func) or ""))
