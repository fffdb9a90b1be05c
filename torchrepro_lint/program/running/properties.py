"""Methods that run where an attribute is read: properties."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.descriptors import getter
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, Instance
from torchrepro_lint.program.running.callers import contexts, frame_without_callers, may_be
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["property_of", "reads_of_property"]

_Read: TypeAlias = tuple[ModuleFacts, Scope, tree.Expr]

_MAX_FILES: Final = 24
_MAX_READS: Final = 8
#: Those that run each time: the others keep what they return.
_ALWAYS: Final = frozenset({"property", "abstractproperty"})


def property_of(ev: Evaluator, instance: Instance, attr: str) -> FunctionValue | None:
    """The function that runs where an attribute of an object is read; None where that is no property."""
    for base in classes.mro(ev, instance.cls):
        if isinstance(base, ClassValue):
            scope = base.frame.facts.scope_of(base.node)
            for binding in reversed(scope.bindings.get(attr, ())):
                if isinstance(binding.node, tree.FunctionDef):
                    names = {classes.decorator_name(d) for d in binding.node.decorators}
                    if names & method_words("decorators", "properties") and len(binding.node.params) == 1:
                        return FunctionValue(binding.node, ev.class_frame(base))
                elif isinstance(binding.node, tree.Call) and classes.decorator_name(binding.node) == "property":
                    return getter(classes.class_attribute(ev, base, attr))
                else:
                    return None
            if attr in scope.bindings:
                return None
    return None


def reads_of_property(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> tuple[tuple[_Read, ...], bool]:
    """The places that read a property, each time anew, and so make its function run, and whether these are all; none
    for any other function.
    """
    node = scope.node
    if not isinstance(node, tree.FunctionDef) or not _ALWAYS & {classes.decorator_name(d) for d in node.decorators}:
        return (), True

    def find() -> tuple[tuple[_Read, ...], bool]:
        found = tuple(islice(_reads(ev, facts, node), _MAX_READS + 1))
        reads = tuple(one for one in found if one is not None)
        return reads[:_MAX_READS], len(reads) == len(found) <= _MAX_READS

    nothing: tuple[tuple[_Read, ...], bool] = ((), True)
    return ev.remembered(("property-reads", id(scope)), find, nothing, ((), False))


def _reads(ev: Evaluator, facts: ModuleFacts, node: tree.FunctionDef) -> Iterator[_Read | None]:
    """The reads, and None where files are left out."""
    own = facts.path in ev.project.mentioning(node.name)
    others = [path for path in ev.project.containing(node.name) if path != facts.path]
    for path in ([facts.path, *others] if own else others)[:_MAX_FILES]:
        user = ev.project.facts(path)
        if user is None:
            continue
        parents = parents_of(ev, user)
        for read in parents.attributes.get(node.name, ()):
            if parents.is_bound(read):
                continue
            function = parents.function(read)
            place = user.scope if function is None else user.scope_of(function)
            if may_be(ev, read.value, frame_without_callers(ev, user, place), lambda one: isinstance(one, Instance)):
                frames = contexts(ev, user, place)
                if any(_is_of(ev, one, node) for frame in frames for one in ev.values(read.value, frame)):
                    yield user, place, read
    if len(others) + own > _MAX_FILES:
        yield None


def _is_of(ev: Evaluator, value: object, node: tree.FunctionDef) -> bool:
    function = property_of(ev, value, node.name) if isinstance(value, Instance) else None
    return function is not None and function.node is node
