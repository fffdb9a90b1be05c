"""From a use of a name to its reaching definitions, in whichever scope they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import END, MAX_BINDINGS, Binding
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.imported import star_sources
from torchrepro_lint.program.evaluation.outside_stores import bound_outside
from torchrepro_lint.program.evaluation.scoping import frames_of_name
from torchrepro_lint.program.evaluation.values import ModuleValue

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Definition", "definitions", "global_definitions"]


class Definition(NamedTuple):
    """A binding that reaches a use, and the frame in which it is made."""

    binding: Binding
    frame: Frame


def definitions(ev: Evaluator, name: str, site: int, frame: Frame) -> tuple[list[Definition], bool]:
    """The definitions of a name that reach a use of it at `site`, and whether it surely is one of them."""
    for current, place in frames_of_name(name, site, frame):
        bindings, certain = current.scope.reaching(name, place, lambda path, at=current: ev.decide(path, at))  # type: ignore[misc]
        if bindings and (certain or not isinstance(current.scope.node, tree.ClassDef)):
            found = [one for binding in bindings for one in _in_frames(ev, binding, current)]
            if place == END and current.scope.parent is None:
                found += [Definition(*one) for one in bound_outside(ev, current.facts, name)]
            return found, certain and len(bindings) <= MAX_BINDINGS
    return list(_from_stars(ev, name, ev.module_frame(frame.facts))), False


def global_definitions(ev: Evaluator, module: ModuleValue, name: str) -> tuple[list[Definition], bool]:
    """The definitions of a global name of a module that hold when it has run to its end."""
    if module.facts is None:
        return [], False
    return definitions(ev, name, END, ev.module_frame(module.facts))


def _in_frames(ev: Evaluator, binding: Binding, frame: Frame) -> Iterator[Definition]:
    """A binding with its frame; that of a function's `global name` is the function's."""
    if binding.scope is None or binding.scope is frame.scope:
        yield Definition(binding, frame)
        return
    for inner in ev.contexts(frame.facts, binding.scope):
        if inner.scope is binding.scope:
            yield Definition(binding, inner)


def _from_stars(ev: Evaluator, name: str, module: Frame) -> Iterator[Definition]:
    """The definitions that star imports of modules of the project bring."""
    if name.startswith("_"):
        return
    for statement in module.scope.stars:
        for source in star_sources(ev, statement, module):
            if isinstance(source, ModuleValue) and source.facts is not None:
                bindings, _ = source.facts.scope.reaching(name)
                yield from (Definition(one, ev.module_frame(source.facts)) for one in bindings)
