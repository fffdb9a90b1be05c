"""Draws for the parts of a module that has none yet: a constructor calls `self.reset_parameters()`, which goes through
`self.modules()`, before it assigns the first layer.
"""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.classes import has_unknown_base, mro
from torchrepro_lint.program.evaluation.values import ClassValue, Constant, External, FunctionValue, Site
from torchrepro_lint.program.running.call_index import calls_in
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.guards import Place, place_of
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.evaluation.frames import Frame

__all__ = ["is_of_no_part"]

_PARTS: Final = frozenset({"modules", "named_modules", "children", "named_children", "parameters", "named_parameters"})
_PLAIN_BASES: Final = frozenset({"torch.nn.Module", "builtins.object", "abc.ABC"})
_INIT: Final = "__init__"


def is_of_no_part(ev: Evaluator, event: Event, files: Set[Path]) -> bool:
    """Whether a draw of a program with these files is for each part of a module to which its constructor has assigned
    no attribute that may be one, as far as its class and the bases show.
    """
    calls = [link.site for link in event.chain if link.note.startswith("calls ")]
    sites = (*calls, event.site)
    for before, site in zip((None, *sites), sites, strict=False):
        if ev.remembered(("no parts", before, site), partial(_has_none, ev, before, site), False):
            caller, called = (place_of(ev, one) if one is not None else None for one in (before, site))
            if called is not None and (called.scope.name == _INIT or _is_the_only_call(ev, caller, called, files)):
                return True
    return False


def _has_none(ev: Evaluator, before: Site | None, site: Site) -> bool:
    """Whether a place is in a loop through the parts of `self`, in the constructor or a method that this calls at the
    place `before`, and no part is assigned above that.
    """
    place = place_of(ev, site)
    if place is None or not _goes_through_parts(ev, place):
        return False
    if place.scope.name == _INIT:
        return _are_none_above(ev, place, site.number)
    caller = place_of(ev, before) if before is not None else None
    if caller is None or before is None or caller.scope.name != _INIT or caller.scope.self_name is None:
        return False
    calls_its_own = any(
        call.site == before.number and _is_of(call.func, caller.scope) and call.func.attr == place.scope.name
        for call, _ in caller.scope.calls
        if isinstance(call.func, tree.Attribute)
    )
    return calls_its_own and _are_none_above(ev, caller, before.number)


def _is_the_only_call(ev: Evaluator, caller: Place | None, called: Place, files: Set[Path]) -> bool:
    """Whether a constructor calls a method of its class once, and no constructor or method of a subclass nor, by its
    name, any other code of the program calls it: what is drawn there by a later call is not told apart.
    """
    cls = class_of_method(ev, called.facts, called.scope)
    for path in ev.project.matching(any_word({called.scope.name})):
        facts = ev.project.facts(path) if path in files else None
        for one in calls_in(ev, facts, called.scope.name) if facts is not None else ():
            if not isinstance(one.call.func, tree.Attribute):
                continue
            if caller is not None and one.scope is caller.scope and one.call.site == caller.site.number:
                continue
            base = (dotted_name(one.call.func.value) or "").partition(".")[0]
            if base != one.scope.self_name:
                return False
            other = class_of_method(ev, one.facts, one.scope)
            is_own = _is_of(one.call.func, one.scope)
            if is_own and other is not None and cls is not None and cls.node in _nodes(ev, other):
                return False
    return True


def _nodes(ev: Evaluator, cls: ClassValue) -> list[tree.ClassDef]:
    return [base.node for base in mro(ev, cls) if isinstance(base, ClassValue)]


def _goes_through_parts(ev: Evaluator, place: Place) -> bool:
    loops = parents_of(ev, place.facts).loops
    for site, _ in place.arms:
        match loops.get(site):
            case tree.For(iter=tree.Call(func=tree.Attribute(attr=attr) as func)):
                if attr in _PARTS and _is_of(func, place.scope):
                    return True
    return False


def _is_of(node: tree.Expr, scope: Scope) -> bool:
    """Whether an expression is an attribute of `self`."""
    return isinstance(node, tree.Attribute) and isinstance(node.value, tree.Name) and node.value.id == scope.self_name


def _are_none_above(ev: Evaluator, place: Place, end: int) -> bool:
    """Whether a constructor assigns no part of its object before a place in it, and its bases assign none."""
    value = class_of_method(ev, place.facts, place.scope)
    if value is None or has_unknown_base(ev, value):
        return False
    for base in mro(ev, value):
        if isinstance(base, External):
            if canonical(base.name) not in _PLAIN_BASES:
                return False
            continue
        inits = (one for one in base.frame.facts.scope_of(base.node).children if one.name == _INIT)
        init = place.scope if base.node is value.node else next(inits, None)
        if init is not None and not _assigns_no_part(ev, base, init, end if init is place.scope else None):
            return False
    return True


def _assigns_no_part(ev: Evaluator, cls: ClassValue, init: Scope, end: int | None) -> bool:
    frame = frame_without_callers(ev, cls.frame.facts, init)
    for store in init.stores:
        if (end is None or store.statement.site < end) and _is_of(store.target, init):
            if store.value is None or store.unpack or not _is_no_module(ev, init, store.value, frame):
                return False
    for call, _ in init.calls:
        if end is not None and call.site >= end:
            continue
        if _is_of(call.func, init):
            return False
        given = (node for arg in call.args for node in walk([arg.value]))
        if any(isinstance(node, tree.Name) and node.id == init.self_name and not _reads(call, node) for node in given):
            return False
    return True


def _reads(call: tree.Call, name: tree.Name) -> bool:
    """Whether a name is only that of an object of which an argument reads an attribute, or what `super` is given."""
    if isinstance(call.func, tree.Name) and call.func.id == "super":
        return True
    given = (node for arg in call.args for node in walk([arg.value]))
    return any(isinstance(node, tree.Attribute) and node.value is name for node in given)


def _is_no_module(ev: Evaluator, init: Scope, node: tree.Expr, frame: Frame) -> bool:
    """Whether what is assigned is no module: by its values, or as the options that the constructor is given."""
    if isinstance(node, tree.Name) and function_words("holds_arguments").fullmatch(node.id) is not None:
        return True
    match node:
        case tree.Call(func=tree.Name(id="getattr"), args=(tree.Arg(value=tree.Attribute(value=owner)), *_)):
            return isinstance(owner, tree.Name) and owner.id == init.self_name
    values = ev.values(node, frame)
    return bool(values) and all(isinstance(one, (Constant, FunctionValue)) for one in values)
