"""Processes that are objects of the project's own classes: what derives from `Process` and has a `run` of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.processes import process_starts
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.values import ClassValue, Instance, Site, Values
from torchrepro_lint.program.running.callers import contexts, frame_without_callers
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["made_processes", "runs_of"]


def made_processes(program: Program) -> Iterator[list[KnownCall]]:
    """The calls that make an object of such a class, grouped by place, each as a call of the class behind it."""
    seen: set[Site] = set()
    for cls, base in _classes(program):
        for one in making_places(program.ev, cls):
            if Site(one.facts.path, one.call.site) in seen:
                continue
            seen.add(Site(one.facts.path, one.call.site))
            yield [
                KnownCall(base, one.call, frame, one.path, program.ev.arguments(one.call.args, frame))
                for frame in contexts(program.ev, one.facts, one.scope)
                if program.ev.may_run(one.call.site, one.path, frame)
            ]


def runs_of(program: Program, call: KnownCall) -> Values:
    """The `run` of what a call makes, if that is an object of the project."""
    made = program.ev.values(call.call, call.frame)
    return frozenset(method for one in made if isinstance(one, Instance) for method in program.ev.attribute(one, "run"))


def _classes(program: Program) -> Iterator[tuple[ClassValue, str]]:
    """The classes of the project that derive from one of which each object is a process, with the name of that."""
    names = _bases()
    for path in program.project.matching(any_word(sorted(last_parts(names)))):
        may_derive = any(program.project.may_subclass(path, name) for name in last_parts(names))
        facts = program.facts(path) if may_derive else None
        for scope in facts.walk_scopes() if facts is not None else ():
            if isinstance(scope.node, tree.ClassDef) and scope.node.bases and scope.parent is not None:
                assert facts is not None
                program.ev.begin_question()
                cls = ClassValue(scope.node, frame_without_callers(program.ev, facts, scope.parent))
                base = _process_among(program.ev, cls, names)
                if base is not None:
                    yield cls, base


def _process_among(ev: Evaluator, cls: ClassValue, names: frozenset[str]) -> str | None:
    return next((name for base in external_bases(ev, cls) if (name := canonical(base)) in names), None)


@cache
def _bases() -> frozenset[str]:
    return frozenset(name for name, row in process_starts().items() if row.alone)
