"""The calls in a project of functions from outside it, by their qualified names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.running.call_index import aliases_of, called_name
from torchrepro_lint.program.running.callers import contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["calls_of"]


def calls_of(ev: Evaluator, names: frozenset[str], files: Iterable[Path]) -> Iterator[tuple[tree.Call, Frame]]:
    """The calls in `files` of any of `names` (canonical), in the order of the text, each in one frame in which it runs.
    What a file calls otherwise counts too.
    """
    last = last_parts(names)
    for path in files:
        facts = ev.project.facts(path)
        if facts is None:
            continue
        wanted = last | aliases_of(facts, last)
        for scope in facts.walk_scopes():
            calls = [(call, arms) for call, arms in scope.calls if called_name(call.func) in wanted]
            frame = contexts(ev, facts, scope)[0] if calls else None
            for call, arms in sorted(calls, key=lambda pair: pair[0].site):
                assert frame is not None
                ev.begin_question()
                found = {canonical(v.name) for v in ev.values(call.func, frame) if isinstance(v, External)}
                if not found.isdisjoint(names) and ev.may_run(call.site, arms, frame):
                    yield call, frame
