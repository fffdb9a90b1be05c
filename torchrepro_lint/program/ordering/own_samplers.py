"""Samplers of a project's own that derive from a library's, seen as the library's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.construction import base_arguments
from torchrepro_lint.program.evaluation.values import Arguments, ClassValue, External, FunctionValue, Instance
from torchrepro_lint.program.running.callers import contexts, instances_of
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["own_samplers"]


def own_samplers(program: Program, names: frozenset[str]) -> Iterator[KnownCall]:
    """The constructions of classes that derive from the samplers `names`, with the arguments that reach these.

    Left out are classes that go through their samples by an order of their own, on which no epoch has a bearing.
    """
    for cls in _classes(program, names):
        for instance in instances_of(program.ev, cls):
            for base, arguments in base_arguments(program.ev, instance):
                if canonical(base) in names:
                    yield from _construction(program, instance, canonical(base), arguments)


def _classes(program: Program, names: frozenset[str]) -> Iterator[ClassValue]:
    words = sorted(last_parts(names))
    for path in program.project.matching(re.compile("|".join(map(re.escape, words)).encode())):
        facts = program.facts(path)
        for node in facts.classes if facts is not None else ():
            assert facts is not None
            if parents_of(program.ev, facts).of(node) is not None:
                continue
            program.ev.begin_question()
            cls = ClassValue(node, program.ev.module_frame(facts))
            bases = classes.mro(program.ev, cls)
            if any(isinstance(base, External) and canonical(base.name) in names for base in bases):
                if not _has_its_own_order(program, facts, cls):
                    yield cls


def _has_its_own_order(program: Program, facts: ModuleFacts, cls: ClassValue) -> bool:
    """Whether the class has an `__iter__` of its own that neither reads an epoch nor asks the base for its order."""
    own = [
        method.node
        for base in classes.mro(program.ev, cls)
        if isinstance(base, ClassValue)
        for method in classes.class_attribute(program.ev, base, "__iter__")
        if isinstance(method, FunctionValue)
    ]
    parents = parents_of(program.ev, facts)
    reads = [read for name in ("epoch", "__iter__") for read in parents.attributes.get(name, ())]
    return bool(own) and not any(any(above is cls.node for above in parents.around(read)) for read in reads)


def _construction(program: Program, instance: Instance, name: str, arguments: Arguments) -> Iterator[KnownCall]:
    """The call that makes an object, as one of the library's class `name`."""
    site = instance.site
    facts = program.facts(site.path) if site is not None else None
    if site is None or facts is None:
        return
    for scope in facts.walk_scopes():
        for call, arms in scope.calls:
            if call.site == site.number:
                frame = contexts(program.ev, facts, scope)[0]
                yield KnownCall(name, call, frame, arms, arguments)
