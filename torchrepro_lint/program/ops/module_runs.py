"""Where a module runs: it is built in one place, and runs where the object, or one that holds it, is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.values import ClassValue, External, FunctionValue
from torchrepro_lint.program.running.call_index import NamedCall
from torchrepro_lint.program.running.callers import contexts, frame_without_callers, instances_of
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.ways import Way, Waypoint, ways
from torchrepro_lint.program.running.written_arguments import receiving_parameter

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = [
    "calls_of_object",
    "is_called_only_where",
    "is_never_called",
    "is_of_uncalled_objects",
    "is_ruled_out",
    "module_runs",
    "runs_only_where",
]

MAX_HOLDERS = 4


def module_runs(ev: Evaluator, facts: ModuleFacts, scope: Scope, made: tree.Call) -> tuple[Way, ...]:
    """The ways to the calls of what `made` constructs in `scope`; none where somebody else may call it too."""
    found = _runs(ev, facts, scope, made, MAX_HOLDERS)
    return tuple(found) if found is not None else ()


def _runs(ev: Evaluator, facts: ModuleFacts, scope: Scope, made: tree.Call, holders: int) -> list[Way] | None:
    calls = _calls_anywhere(ev, facts, scope, made)
    if calls is None:
        return None
    found: list[Way] = []
    for way in _ways_to_calls(ev, calls):
        further = _of_holder(ev, way, holders) if way is not None else None
        if further is None:
            return None
        found.extend(further)
    return found


def _ways_to_calls(ev: Evaluator, calls: Iterable[_Called]) -> Iterator[Way | None]:
    """The ways to these calls; None for one in a lambda, which nobody follows."""
    for facts, call, _ in calls:
        function = parents_of(ev, facts).function(call)
        if isinstance(function, tree.Lambda):
            yield None
        else:
            yield from ways(ev, facts, facts.scope if function is None else facts.scope_of(function), call.site)


def _of_holder(ev: Evaluator, way: Way, holders: int) -> list[Way] | None:
    """A way that ends in the `forward` of a class, with the ways on to the calls of the objects of that class."""
    cls = _class_run(ev, way)
    if cls is None:
        return [way]
    found: list[Way] = []
    for made in _calls_making(ev, cls):
        further = _runs(ev, *made[:3], holders - 1) if holders and made is not None else None
        if further is None:
            return None
        found.extend((*way, *rest) for rest in further)
    return found


def runs_only_where(
    ev: Evaluator, made: NamedCall, holds: Callable[[Waypoint], bool], holders: int | None = None
) -> bool:
    """Whether each way to the calls of what a call constructs, or of what holds it, comes through a place for
    which `holds` is true; False where somebody else may call it. Beyond `MAX_HOLDERS` it is taken for granted.
    """
    left = MAX_HOLDERS if holders is None else holders
    calls = _calls_anywhere(ev, made.facts, made.scope, made.call)
    return bool(calls) and all(
        way is not None and (any(map(holds, way)) or _holders_run_only_where(ev, way, holds, left))
        for way in _ways_to_calls(ev, calls or [])
    )


def _holders_run_only_where(ev: Evaluator, way: Way, holds: Callable[[Waypoint], bool], holders: int) -> bool:
    cls = _class_run(ev, way)
    if cls is None or not holders:
        return cls is not None
    made = list(_calls_making(ev, cls))
    return bool(made) and all(one is not None and runs_only_where(ev, one, holds, holders - 1) for one in made)


def is_called_only_where(
    ev: Evaluator, way: Way, holds: Callable[[Waypoint], bool], holders: int = MAX_HOLDERS
) -> bool:
    """Whether `way` ends in the `forward` of a class whose objects are all called from places for which `holds` is
    true, or from such a `forward` again; False where somebody else may call one.
    """
    cls = _class_run(ev, way)
    if cls is None or not holders:
        return False
    outer: list[Way | None] = []
    for made in _calls_making(ev, cls):
        calls = _calls_anywhere(ev, *made[:3]) if made is not None else None
        outer += _ways_to_calls(ev, calls) if calls else [None]
    return bool(outer) and all(
        further is not None
        and (any(holds(waypoint) for waypoint in further) or is_called_only_where(ev, further, holds, holders - 1))
        for further in outer
    )


def _class_run(ev: Evaluator, way: Way) -> ClassValue | None:
    """The class in whose `forward` a way ends."""
    last = way[-1]
    return class_of_method(ev, last.facts, last.scope) if last.scope.name == "forward" else None


def _calls_making(ev: Evaluator, cls: ClassValue) -> Iterator[NamedCall | None]:
    """The calls that make the objects of a class; None for one that is made out of sight."""
    for instance in instances_of(ev, cls):
        yield call_at(ev, instance.site) if instance.site is not None else None


def is_never_called(program: Program, facts: ModuleFacts, made: tree.Call) -> bool:
    """Whether a module goes by an attribute that nothing in its program mentions but what gives it: neither another
    place nor a text. A class that runs all its parts (`self.children()`) may run it.
    """
    parents = parents_of(program.ev, facts)
    match parents.of(made):
        case tree.Assign(targets=(tree.Attribute(value=tree.Name(), attr=attr) as target,)):
            uses = parents.attributes.get(attr, ())
        case _:
            return False
    if any(use is not target for use in uses):
        return False
    cls = next((above for above in parents.around(made) if isinstance(above, tree.ClassDef)), None)
    if cls is None or any(cls in parents.around(use) for use in _uses_of_any_part(parents)):
        return False
    as_text = re.compile(rf"[\"']{attr}[\"']".encode())
    anyhow = re.compile(rf"(?:\.\s*|[\"']){attr}\b".encode())
    together = program.imports.together(facts.path)
    return not any(program.project.holds(path, as_text if path == facts.path else anyhow) for path in together)


def is_of_uncalled_objects(program: Program, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a scope is the `forward` of a class of which each object goes by an attribute that nothing mentions."""
    cls = class_of_method(program.ev, facts, scope) if scope.name == "forward" else None
    made = list(_calls_making(program.ev, cls)) if cls is not None else []
    return bool(made) and all(one is not None and is_never_called(program, one.facts, one.call) for one in made)


def is_ruled_out(ev: Evaluator, facts: ModuleFacts, scope: Scope, made: tree.Call) -> bool:
    """Whether all calls of a module stand under conditions that no object which has it satisfies:
    `if self.kind == "pool": x = self.pool(x)`, where each is made with another kind.
    """
    calls = calls_of_object(ev, facts, scope, made)
    return bool(calls) and not any(_may_run(ev, facts, call) for call in calls or ())


def _may_run(ev: Evaluator, facts: ModuleFacts, call: tree.Call) -> bool:
    function = parents_of(ev, facts).function(call)
    if not isinstance(function, tree.FunctionDef):
        return True
    around = facts.scope_of(function)
    path = around.path_at(call.site)
    return not path or any(ev.may_run(call.site, path, frame) for frame in contexts(ev, facts, around))


def _uses_of_any_part(parents: Parents) -> Iterator[tree.Expr]:
    """Where a file asks for all modules of one, or for one by a name that it makes."""
    for part in sorted(method_words("all_modules")):
        yield from parents.attributes.get(part, ())
    yield from parents.names.get("getattr", ())


def calls_of_object(ev: Evaluator, facts: ModuleFacts, scope: Scope, made: tree.Call) -> list[tree.Call] | None:
    """The calls of an object by the one name or attribute that it gets; None where it has another use as well, or a
    function that it is given to calls it.
    """
    calls = _calls_anywhere(ev, facts, scope, made)
    if calls is None or any(one.handed for one in calls):
        return None
    return [one.call for one in calls]


class _Called(NamedTuple):
    """A call of an object, in a function that is given the object if `handed`."""

    facts: ModuleFacts
    call: tree.Call
    handed: bool = False


def _calls_anywhere(ev: Evaluator, facts: ModuleFacts, scope: Scope, made: tree.Call) -> list[_Called] | None:
    """The calls of an object by the one name or attribute that it gets, or by the parameters of the functions of the
    project that are given it; None where it has another use as well.
    """
    parents = parents_of(ev, facts)
    outer = _outermost(ev, parents, made, scope, facts)
    match parents.of(outer):
        case tree.Call(func=func) as call if func is outer:
            return [_Called(facts, call)]
        case tree.Assign(targets=(tree.Name(id=name),)):
            uses: Iterable[tree.Expr] = parents.names.get(name, ())
        case tree.Assign(targets=(tree.Attribute(value=tree.Name(id=owner), attr=attr),)) if owner == scope.self_name:
            uses = parents.attributes.get(attr, ())
        case _:
            return None
    return _calls_by(ev, facts, scope, [use for use in uses if not parents.is_bound(use)], frozenset())


def _calls_by(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, uses: Iterable[tree.Expr], inside: frozenset[tree.FunctionDef]
) -> list[_Called] | None:
    """The calls among the uses of one object in a scope; `inside`: the functions that were given it on the way here."""
    parents = parents_of(ev, facts)
    found: list[_Called] = []
    for use in uses:
        match parents.of(use):
            case tree.Call(func=func) as called if func is use:
                found.append(_Called(facts, called, bool(inside)))
            case tree.Attribute():  # `model.train()`, `model.parameters()`
                continue
            case tree.Arg() as arg if isinstance(call := parents.of(arg), tree.Call):
                further = _calls_in_functions(ev, facts, scope, call, arg, inside)
                if further is None:
                    return None
                found += further
            case _:
                return None
    return found


def _calls_in_functions(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, call: tree.Call, arg: tree.Arg, inside: frozenset[tree.FunctionDef]
) -> list[_Called] | None:
    """The calls of a module in the functions of the project that `call` gives it to: none in `freeze(model)`, which
    asks for its parameters alone.
    """
    functions = ev.values(call.func, frame_without_callers(ev, facts, scope))
    found: list[_Called] = []
    for function in functions:
        node = ev.function_scope(function).node if isinstance(function, FunctionValue) else None
        if not isinstance(function, FunctionValue) or not isinstance(node, tree.FunctionDef):
            return None
        if node in inside:
            continue
        name = receiving_parameter(node, call, arg, skipped=False)
        its = function.frame.facts
        parents = parents_of(ev, its)
        uses = [one for one in parents.names.get(name or "", ()) if any(outer is node for outer in parents.around(one))]
        reads = [one for one in uses if not parents.is_bound(one)]
        further = _calls_by(ev, its, its.scope_of(node), reads, inside | {node}) if reads else None
        if further is None:
            return None
        found += further
    return found if functions else None


def _outermost(ev: Evaluator, parents: Parents, made: tree.Call, scope: Scope, facts: ModuleFacts) -> tree.Expr:
    """What is bound to a name: the object itself, moved to a device, or in the `nn.Sequential` that holds it."""
    node: tree.Expr = made
    while True:
        match parents.of(node):
            case tree.Attribute(attr=attr) as method if attr in method_words("same_module"):
                call = parents.of(method)
                if not (isinstance(call, tree.Call) and call.func is method):
                    return node
                node = call
            case tree.Arg(keyword=None) as arg:
                call = parents.of(arg)
                if not isinstance(call, tree.Call) or not _is_holder(ev, call, scope, facts):
                    return node
                node = call
            case _:
                return node


def _is_holder(ev: Evaluator, call: tree.Call, scope: Scope, facts: ModuleFacts) -> bool:
    values = ev.values(call.func, frame_without_callers(ev, facts, scope))
    holders = known_calls("module_holders")
    return bool(values) and all(isinstance(value, External) and value.name in holders for value in values)
