"""Models that get other weights after they are built, so that nothing of their first ones is left.

`load_state_dict` is looked for in the function that builds the model and in those that it comes through on its way to
the start of the program: `net = build()`, `net.load_state_dict(...)`. It may also be called by a function that the
model is handed to, or by a method of what holds it, where that calls it whatever its arguments are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import FunctionValue, MethodValue, Site
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.guards import Place, called_at, place_of
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.first_weights import built_at

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["are_loaded_over"]

_LOADS = "load_state_dict"


def are_loaded_over(program: Program, event: Event) -> bool:
    """Whether a program surely loads other weights into all of the model of which a draw makes the first ones."""
    built = built_at(program, event)
    return any(
        program.once(("loaded over", site), partial(_is_loaded_over, program, site))
        for site in (*_calls_to(event, built), built)
    )


def _calls_to(event: Event, built: Site) -> Iterator[Site]:
    """The calls on the way to where a model is built, from the outside in."""
    for link in event.chain:
        if link.site == built:
            return
        if link.note.startswith("calls "):
            yield link.site


def _is_loaded_over(program: Program, site: Site) -> bool:
    place = place_of(program.ev, site)
    call = called_at(place) if place is not None else None
    if place is None or call is None:
        return False
    scope = place.scope
    after = [later for later, arms in scope.calls if later.site > call.site and set(arms) <= set(place.arms)]
    names = {_without_self(name, scope) for name in scope.given_to(call)}
    loaded = {name for name in names if any(_loads_into(program, place, one, name) for one in after)}
    return bool(loaded) and _parts_given(scope, call) <= loaded


def _parts_given(scope: Scope, call: tree.Call) -> set[str]:
    """The names that get one each of the things that a call returns: `encoder, decoder = build()`."""
    bindings = (binding for each in scope.bindings.values() for binding in each)
    return {_without_self(one.name, scope) for one in bindings if one.node is call and one.unpack}


def _loads_into(program: Program, place: Place, call: tree.Call, name: str) -> bool:
    """Whether a call loads weights into what a name or an attribute of the function's own object holds."""
    if isinstance(call.func, tree.Attribute) and _written(call.func.value, place.scope) == name:
        if _is_load(call):
            return not _leaves_some_out(program, place, call)
        return _is_done_by(program, place, call, None)
    given = [arg for arg in call.args if _written(arg.value, place.scope) == name]
    return any(_is_done_by(program, place, call, arg) for arg in given)


def _is_done_by(program: Program, place: Place, call: tree.Call, given: tree.Arg | None) -> bool:
    """Whether a function that is called loads weights into an argument, or with None into the object it belongs to. Of
    one that cannot be followed, its name tells.
    """
    functions = [
        value.function if isinstance(value, MethodValue) else value
        for value in program.ev.values(call.func, frame_without_callers(program.ev, place.facts, place.scope))
        if isinstance(value, (FunctionValue, MethodValue))
    ]
    if not functions:
        return function_words("loads_weights").fullmatch(last_part(dotted_name(call.func) or "")) is not None
    return all(_always_loads(program.ev.function_scope(function), call, given) for function in functions)


def _always_loads(scope: Scope, call: tree.Call, given: tree.Arg | None) -> bool:
    name = scope.self_name if given is None else _parameter(scope, call, given)
    return name is not None and any(
        _is_load(inner) and (dotted_name(inner.func) or "").partition(".")[0] == name and _is_unconditional(path)
        for inner, path in scope.calls
    )


def _parameter(scope: Scope, call: tree.Call, given: tree.Arg) -> str | None:
    """The parameter of a function that gets an argument of the call."""
    if given.keyword is not None or given.star or not isinstance(scope.node, tree.FunctionDef):
        return given.keyword
    params = [param.name for param in scope.node.params if param.kind == "positional"]
    position = call.args.index(given) + (scope.self_name is not None)
    return params[position] if position < len(params) else None


def _is_unconditional(path: ArmPath) -> bool:
    return all(arm == "try" for _, arm in path)


def _is_load(call: tree.Call) -> bool:
    return isinstance(call.func, tree.Attribute) and call.func.attr == _LOADS


def _written(node: tree.Expr, scope: Scope) -> str | None:
    """A chain of names as it is written; of what the function's own object holds, without that."""
    written = dotted_name(node)
    return _without_self(written, scope) if written is not None else None


def _without_self(name: str, scope: Scope) -> str:
    return name.removeprefix(f"{scope.self_name}.")


# --- what is not loaded -------------------------------------------------------------------------------------------


def _leaves_some_out(program: Program, place: Place, call: tree.Call) -> bool:
    """Whether weights of the model may stay as they are, with `strict=False`: some are taken out of those to load, or
    these are chosen or written out one by one. Without any of that, what is not strict about it is that there are more.
    """
    strict = next((arg.value for arg in call.args if arg.keyword == "strict"), None)
    if strict is None and len(call.args) > 1 and call.args[1].keyword is None:
        strict = call.args[1].value
    if strict is None or (isinstance(strict, tree.Const) and strict.value is True) or not call.args:
        return False
    weights = call.args[0].value
    if not isinstance(weights, tree.Name):
        return _is_choice(weights)
    if any(
        binding.kind == "assign" and _is_choice(binding.node) for binding in place.scope.bindings.get(weights.id, ())
    ):
        return True
    if any(touch.method in ("pop", "popitem", "clear") for touch in place.scope.touches(weights.id)):
        return True
    parents = parents_of(program.ev, place.facts)
    return any(isinstance(parents.statement(name), tree.Delete) for name in parents.names.get(weights.id, ()))


def _is_choice(node: object) -> bool:
    match node:
        case tree.DictDisplay():
            return True
        case tree.Comprehension(clauses=clauses):
            return any(clause.conditions for clause in clauses)
    return False
