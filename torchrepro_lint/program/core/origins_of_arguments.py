"""Where the value of a parameter comes from: the arguments of the calls that run the function, and its default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.core.access import Access, bound, item
from torchrepro_lint.program.core.queries import Origin, Origins, Query
from torchrepro_lint.program.evaluation.attributes import find_method
from torchrepro_lint.program.evaluation.classes import is_static, takes_context
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, Partial, Site
from torchrepro_lint.program.running.call_index import NamedCall, called_name, calls_in
from torchrepro_lint.program.running.callers import (
    calls_of_lambda,
    frame_without_callers,
    has_further_calls,
    is_called_outside,
    is_called_unseen,
    uses_without_calls,
    visible_calls,
)
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.decorator_uses import is_function
from torchrepro_lint.program.running.property_sets import property_sets
from torchrepro_lint.program.running.started_uses import started_calls

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["of_parameter"]


class _Given(NamedTuple):
    """An argument that a call gives, and the frame in which it is written."""

    arg: tree.Arg
    frame: Frame


def of_parameter(ev: Evaluator, query: Query, param: tree.Param, frame: Frame) -> Origins:
    """The values that a parameter of the function of `frame` may have: on the query's call path what that call gives,
    else what any call does.
    """
    scope = frame.scope
    if _is_receiver(scope, param) or not isinstance(scope.node, (tree.FunctionDef, tree.Lambda)):
        return Origins((), True)
    if query.calls and query.calls[-1].scope is scope:
        entered = query.calls[-1]
        found = _given_by(ev, query.leaving(), entered.call, entered.caller, frame, param)
        return found if found is not None else Origins((), True)
    if query.is_cut and not query.calls:
        return Origins((), True)
    # The `__init__` of a base runs on the call path of the construction, and is called by that of the derived class.
    outside = query if scope.name == "__init__" else replace(query, calls=())
    options: list[Origin] = []
    is_open = _is_called_unseen(ev, frame)
    seen: set[int] = set()
    for call, caller in _calls(ev, frame):
        seen.add(id(call))
        given = _given_by(ev, outside, call, caller, frame, param)
        if given is None:
            is_open = True
        else:
            options += given.options
            is_open = is_open or given.is_open
    options += _held_in_partials(ev, outside, frame, param)
    return Origins(tuple(dict.fromkeys(options)), is_open or not seen)


def _is_called_unseen(ev: Evaluator, frame: Frame) -> bool:
    """Whether there may be calls of the function of a frame that are not seen as such."""
    scope = frame.scope
    if not isinstance(scope.node, tree.FunctionDef):
        return True
    if is_called_unseen(scope.name) and scope.name not in ("__init__", "__call__"):
        return True
    if has_further_calls(ev, frame.facts, scope) or is_called_outside(ev, frame.facts, scope):
        return True
    return any(uses_without_calls(ev, frame.facts, scope))


def _calls(ev: Evaluator, frame: Frame) -> Iterator[tuple[tree.Call, Frame]]:
    """The calls that run the function of a frame, each with the frame in which it is made."""
    scope = frame.scope
    if isinstance(scope.node, tree.FunctionDef):
        yield from visible_calls(ev, frame.facts, scope)
        yield from _constructions(ev, frame)
        yield from started_calls(ev, scope)
        yield from ((call, caller) for call, _, caller in property_sets(ev, frame.facts, scope))
    elif frame.parent is not None:
        yield from calls_of_lambda(ev, frame.facts, scope, frame.parent)


def _is_receiver(scope: Scope, param: tree.Param) -> bool:
    """Whether a parameter is the object or the class whose method it is."""
    return scope.self_name == param.name and isinstance(scope.node, tree.FunctionDef) and not is_static(scope.node)


def _held_in_partials(ev: Evaluator, query: Query, frame: Frame, param: tree.Param) -> Iterator[Origin]:
    """What a `functools.partial` of the function holds for a parameter, wherever that is called."""
    nothing: dict[str, list[NamedCall]] = {}
    table = ev.of_project("partials by what they hold", lambda: _partials(ev), nothing)
    for one in table.get(frame.scope.name, ()):
        for maker in ev.contexts(one.facts, one.scope):
            if any(is_function(value, frame.scope) for value in ev.values(one.call.args[0].value, maker)):
                yield Origin(query.at(one.call, maker, bound(param.name)), "argument", ev.site(one.call, maker))


def _partials(ev: Evaluator) -> dict[str, list[NamedCall]]:
    """The calls of `partial` in the project, by the name of the function that they hold."""
    found: dict[str, list[NamedCall]] = {}
    for path in ev.project.containing("partial"):
        facts = ev.project.facts(path)
        for one in calls_in(ev, facts, "partial") if facts is not None else ():
            name = called_name(one.call.args[0].value) if one.call.args else None
            if name is not None:
                found.setdefault(name, []).append(one)
    return found


def _constructions(ev: Evaluator, frame: Frame) -> Iterator[tuple[tree.Call, Frame]]:
    """The calls that make an object, where a function is the `__init__` that runs then."""
    home = frame.parent
    if frame.scope.name != "__init__" or home is None or home.parent is None:
        return
    if isinstance(home.scope.node, tree.ClassDef):
        for one in making_places(ev, ClassValue(home.scope.node, home.parent)):
            caller = frame_without_callers(ev, one.facts, one.scope)
            made = [value for value in ev.values(one.call.func, caller) if isinstance(value, ClassValue)]
            inits = [found for cls in made if (found := find_method(ev, cls, "__init__")) is not None]
            if any(getattr(init, "node", None) is frame.scope.node for _, each in inits for init in each):
                yield one.call, caller


def _given_by(
    ev: Evaluator, query: Query, call: tree.Call, caller: Frame, frame: Frame, param: tree.Param
) -> Origins | None:
    """What one call gives a parameter; None where that cannot be told."""
    arguments = [_Given(arg, caller) for arg in call.args]
    site = Site(caller.facts.path, call.site)
    node = frame.scope.node
    assert isinstance(node, (tree.FunctionDef, tree.Lambda))
    names = [one.name for one in node.params if one.kind == "positional"]
    names = names[_unwritten(ev, call, caller, frame.scope) :]
    for partial in ev.values(call.func, caller):
        if isinstance(partial, Partial):
            held = len(partial.arguments.positional)
            if partial.arguments.keyword(param.name) is not None or param.name in names[:held]:
                return Origins((Origin(query.at(call.func, caller, bound(param.name)), "argument", site),))
            names = names[held:]
            break

    def origin(given: _Given, *access: Access) -> Origin:
        return Origin(query.at(given.arg.value, given.frame, *access), "argument", site)

    positional = [one for one in arguments if one.arg.keyword is None and one.arg.star != "**"]
    spread = [one for one in arguments if one.arg.star == "**"]
    options: list[Origin] = []
    if param.kind == "star":
        return _extra_positional(query, positional[len(names) :], site)
    if param.kind == "double-star":
        return _extra_keywords(query, [one for one in arguments if one.arg.keyword not in (None, *names)], spread, site)
    for given in arguments:
        if given.arg.keyword == param.name:
            return Origins((origin(given),))
    if param.name in names:
        position = names.index(param.name)
        for index, given in enumerate(positional[: position + 1]):
            if given.arg.star:
                options.append(origin(given, item(position - index)))
                break
            if index == position:
                return Origins((origin(given),))
    options += [origin(one, Access("key", param.name)) for one in spread]
    if param.default is not None:
        outer = frame.parent if frame.parent is not None else frame
        options.append(Origin(query.at(param.default, outer), "default" if options else "argument"))
    return Origins(tuple(options), not options)


def _unwritten(ev: Evaluator, call: tree.Call, caller: Frame, scope: Scope) -> int:
    """How many of the first parameters a call does not write: `self`, unless the method is called on the class."""
    node = scope.node
    if scope.self_name is None or not isinstance(node, tree.FunctionDef):
        return 0
    if is_static(node) and not takes_context(scope):
        return 0
    functions = ev.values(call.func, caller)
    return 0 if any(isinstance(one, FunctionValue) and one.node is node for one in functions) else 1


def _extra_positional(query: Query, extra: list[_Given], site: Site) -> Origins:
    """What `*args` holds, of which the query asks for a part."""
    if not query.access:
        return Origins((), True)
    first, below = query.access[0], query.below()
    options = []
    for index, given in enumerate(extra):
        if given.arg.star:
            options.append(Origin(below.at(given.arg.value, given.frame, Access("each")), "argument", site))
        elif first.kind != "item" or first.of == index:
            options.append(Origin(below.at(given.arg.value, given.frame), "argument", site))
    return Origins(tuple(options), not options)


def _extra_keywords(query: Query, extra: list[_Given], spread: list[_Given], site: Site) -> Origins:
    """What `**kwargs` holds, of which the query asks for a part."""
    if not query.access:
        return Origins((), True)
    first, below = query.access[0], query.below()
    named = [one for one in extra if first.kind != "key" or first.of == one.arg.keyword]
    options = [Origin(below.at(one.arg.value, one.frame), "argument", site) for one in named]
    if first.kind != "key" or not named:
        options += [Origin(query.at(one.arg.value, one.frame), "argument", site) for one in spread]
    return Origins(tuple(options), not options)
