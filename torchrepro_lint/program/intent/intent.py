"""What a program says of its determinism: seeds, switches, and the modules for which they hold.

Evidence is a call or an assignment that seeds or switches. It holds for the modules in which it runs (a helper runs
where it is called from) and for all that they import. A helper that nothing calls is not evidence. A switch that is
given an option of that name (`cudnn.deterministic = args.deterministic`) shows intent as `if args.deterministic:`
around it does: in some runs it is on. A setting that the code has as False, and as nothing else, shows none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope, Store
from torchrepro_lint.knowledge.conditions import Condition, Parameter
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.switches import (
    SeedingCall,
    assignment_switch,
    call_switches,
    seeding_call,
    switch_call_names,
)
from torchrepro_lint.program.evaluation import containers
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    Constant,
    External,
    FunctionValue,
    MemberOf,
    Site,
    Value,
    Values,
)
from torchrepro_lint.program.intent.configured_defaults import is_off_by_default
from torchrepro_lint.program.intent.configured_seeds import configured_seed
from torchrepro_lint.program.intent.library_releases import switches_of
from torchrepro_lint.program.intent.wishes import SWITCHED, Given, takes_effect
from torchrepro_lint.program.loaders.worker_runs import argument, condition_holds
from torchrepro_lint.program.running.call_index import aliases_of, called_name
from torchrepro_lint.program.running.callers import (
    contexts,
    decorator_uses,
    frame_without_callers,
    may_be,
)
from torchrepro_lint.program.running.calling_places import MANY, making_places
from torchrepro_lint.program.running.compiled_functions import is_compiled
from torchrepro_lint.program.running.references import places_of_use

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["EVIDENCE_WORDS", "Evidence", "fetches_items", "find_evidence", "running_modules", "settings_in"]

EVIDENCE_WORDS = re.compile(
    rb"seed|default_setup|determinis|benchmark|Trainer|Runner|TrainingArguments|colossalai|allow_tf32|fp32_precision|float32_matmul"
    rb"|max-autotune|max_autotune|coordinate_descent_tuning"
)
_ATTRIBUTES = frozenset(
    {"deterministic", "benchmark", "allow_tf32", "fp32_precision"}
    | {"max_autotune", "max_autotune_gemm", "max_autotune_pointwise", "coordinate_descent_tuning"}
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One seeding call or switch.

    `effect` is "seed" or an effect of knowledge/switches.py; `level` the intent it shows (None: against one). `node` is
    the call or the assignment; `value` the expression with the seed or the switched value, where one is written there;
    `roots` the modules in which it runs, none for a helper that nothing calls. `always` is false where some call in
    sight gives it another value.
    """

    name: str
    effect: str
    level: str | None
    seeds: frozenset[str]
    site: Site
    node: tree.Call | tree.Assign
    value: tree.Expr | None
    values: Values
    frame: Frame
    path: ArmPath
    roots: frozenset[Path] = frozenset()
    always: bool = True


def find_evidence(ev: Evaluator) -> list[Evidence]:
    """All evidence in the project, in the order of files and text."""
    found: list[Evidence] = []
    for path in ev.project.matching(EVIDENCE_WORDS):
        facts = ev.project.facts(path)
        if facts is None:
            continue
        names = switch_call_names()
        if ev.project.holds(path, _renaming()):
            names |= aliases_of(facts, names)
        for scope in facts.walk_scopes():
            found.extend(_in_scope(ev, facts, scope, names))
    return found


@cache
def _renaming() -> re.Pattern[bytes]:
    """What a file says that gives another name to a function which switches or seeds."""
    words = b"|".join(sorted(re.escape(name.encode()) for name in switch_call_names()))
    return re.compile(rb"(?<!\w)(?:%s)(?:\s+as\s|[ \t]*(?:#.*)?$)" % words, re.MULTILINE)


def _in_scope(ev: Evaluator, facts: ModuleFacts, scope: Scope, names: frozenset[str]) -> Iterator[Evidence]:
    calls = [(call, path) for call, path in scope.calls if called_name(call.func) in names or _is_setattr(call)]
    stores = [
        store
        for store in scope.stores
        if isinstance(store.target, tree.Attribute) and store.target.attr in _ATTRIBUTES and not store.augmented
    ]
    if not calls and not stores:
        return
    ev.begin_question()
    alone = frame_without_callers(ev, facts, scope)
    if alone.parent is not None and is_compiled(ev, scope.node, alone.parent):
        return
    calls = [(call, path) for call, path in calls if _is_setattr(call) or may_be(ev, call.func, alone, _is_known)]
    stores = [one for one in stores if may_be(ev, one.target.value, alone, partial(_has_switch, store=one))]
    if not calls and not stores:
        return
    found: dict[tuple[int, str, str], list[Evidence]] = {}
    running: dict[int, int] = {}  # how many frames reach each node
    for frame in contexts(ev, facts, scope):
        ev.begin_question()
        places = {node.site: path for node, path in (*calls, *((one.statement, one.path) for one in stores))}
        for number, path in places.items():
            if ev.may_run(number, path, frame):
                running[number] = running.get(number, 0) + 1
        for one in (*_from_calls(ev, calls, frame), *_from_stores(ev, stores, frame)):
            found.setdefault((one.site.number, one.effect, one.name), []).append(one)
    for same in found.values():
        if same[0].level == "deterministic" and all(is_off_by_default(ev, one) for one in same):
            continue
        always = len(same) >= running[same[0].site.number]
        yield replace(same[0], always=always, roots=running_modules(ev, facts, scope))


def _is_known(value: Value) -> bool:
    """Whether a call of the value switches or seeds something; `re.compile(...)` does not, as `torch.compile(...)`."""
    name = _called_name(value)
    return name is not None and (bool(call_switches(name)) or seeding_call(name) is not None)


def _has_switch(owner: Value, store: Store) -> bool:
    return isinstance(owner, External) and bool(assignment_switch(_assigned_name(owner, store)))


def _assigned_name(owner: External, store: Store) -> str:
    assert isinstance(store.target, tree.Attribute)
    return canonical(f"{owner.name}.{store.target.attr}")


def _called_name(value: Value) -> str | None:
    """The name of a function of a library, or of a method by which one of its objects seeds."""
    if isinstance(value, External):
        return value.name
    name = member_name(value) if isinstance(value, MemberOf) else None
    return name if name is not None and seeding_call(name) is not None else None


def _from_calls(ev: Evaluator, calls: list[tuple[tree.Call, ArmPath]], frame: Frame) -> Iterator[Evidence]:
    for call, path in calls:
        if not ev.may_run(call.site, path, frame):
            continue
        if _is_setattr(call):
            yield from _from_setattr(ev, call, path, frame)
            continue
        for value in ordered(ev.values(call.func, frame)):
            name = _called_name(value)
            if name is None:
                continue
            site = ev.site(call, frame)
            for switch in switches_of(ev.project.root, name):
                args = settings_in(call, switch.within)
                arguments = ev.arguments(args, frame)
                if takes_effect(switch, arguments, partial(_written, args, arguments)):
                    node, values = _written(args, arguments, switch.parameter)
                    nothing: frozenset[str] = frozenset()
                    yield Evidence(name, switch.effect, switch.level, nothing, site, call, node, values, frame, path)
            seeding = seeding_call(name)
            if seeding is None:
                continue
            args = settings_in(call, seeding.within)
            arguments = ev.arguments(args, frame)
            if all(condition_holds(c, arguments) is not False for c in seeding.when):
                if seeding.configured_by:
                    node, values = configured_seed(ev, seeding, call, frame)
                    is_intent = node is not None
                else:
                    node, values = _written(args, arguments, seeding.seed_parameter)
                    is_intent = "torch" in seeding.seeds and not _is_entropy(seeding, arguments, values)
                level = "seeded" if is_intent and not fetches_items(frame.scope) else None
                yield Evidence(name, "seed", level, seeding.seeds, site, call, node, values, frame, path)


def settings_in(call: tree.Call, within: str | None) -> tuple[tree.Arg, ...]:
    """The arguments that decide what a call seeds or switches: its own, or, where they are `within` a mapping that is
    given for one of its parameters, those: `Runner(randomness=dict(seed=0))`.
    """
    if within is None:
        return call.args
    written = next((arg.value for arg in call.args if arg.keyword == within), None)
    if written is None:
        return tuple(arg for arg in call.args if arg.star == "**")  # which may hold the mapping, and so anything
    match written:
        case tree.Call(func=tree.Name(id="dict"), args=args):
            return args
        case tree.DictDisplay(items=items) if all(isinstance(key, tree.Const) for key, _ in items):
            named = [(key.value, value) for key, value in items if isinstance(key, tree.Const)]
            return tuple(tree.Arg(value.site, value, keyword=str(key)) for key, value in named)
    return (tree.Arg(written.site, written, star="**"),)


def fetches_items(scope: Scope) -> bool:
    """Whether this is the method of a data set that makes one item: a seed there is about the item, not the program."""
    return scope.self_name is not None and scope.name in ("__getitem__", "__getitems__")


def _is_entropy(seeding: SeedingCall, arguments: Arguments, values: Values) -> bool:
    """Whether the seed is proven to differ in every run: none is given, and there is no default."""
    if seeding.default is not None:
        return False
    if seeding.seed_parameter is None:
        return True
    given, _ = argument(arguments, seeding.seed_parameter.name, seeding.seed_parameter.position)
    return not given or values == frozenset((Constant(None),))


def _written(args: tuple[tree.Arg, ...], arguments: Arguments, parameter: Parameter | Condition | None) -> Given:
    """The expression written for a parameter, and what it can be."""
    if parameter is None:
        return None, frozenset()
    name = parameter.name if isinstance(parameter, Parameter) else parameter.parameter
    position = parameter.position
    _, values = argument(arguments, name, position)
    for arg in args:
        if arg.keyword == name:
            return arg.value, values
    if position is not None and position < len(args) and not args[position].star:
        if args[position].keyword is None:
            return args[position].value, values
    return None, values


def _is_setattr(call: tree.Call) -> bool:
    """`setattr(cudnn, "benchmark", True)`, or `setattr(cudnn, flag, True)` with what may be the name of a switch."""
    match call:
        case tree.Call(func=tree.Name(id="setattr"), args=(tree.Arg(), tree.Arg(value=attr), tree.Arg())):
            if isinstance(attr, tree.Const):
                return attr.value in _ATTRIBUTES
            return SWITCHED.search(dotted_name(call.args[0].value) or "") is not None
    return False


def _from_setattr(ev: Evaluator, call: tree.Call, path: ArmPath, frame: Frame) -> Iterator[Evidence]:
    owner, attr, written = (arg.value for arg in call.args)
    values = ev.values(written, frame)
    attributes = [one.value for one in ordered(ev.values(attr, frame)) if isinstance(one, Constant)]
    if len(attributes) > 1 and len(values) > 1:
        return  # which of them gets which value is not known
    given = (written if isinstance(attr, tree.Const) else None, values)  # it may be written for other attributes too
    for one in ordered(ev.values(owner, frame)):
        for attribute in attributes:
            yield from _switched(ev, call, path, frame, one, attribute, given)


def _switched(
    ev: Evaluator, call: tree.Call, path: ArmPath, frame: Frame, owner: Value, attribute: object, given: Given
) -> Iterator[Evidence]:
    """The evidence in a value that an attribute is set to, whose name is told by a value."""
    name = canonical(f"{owner.name}.{attribute!s}") if isinstance(owner, External) else ""
    written, values = given
    for switch in assignment_switch(name):
        if takes_effect(switch, Arguments((), (("value", values, True),)), partial(_itself, given)):
            nothing: frozenset[str] = frozenset()
            site = ev.site(call, frame)
            yield Evidence(name, switch.effect, switch.level, nothing, site, call, written, values, frame, path)


def _from_stores(ev: Evaluator, stores: list[Store], frame: Frame) -> Iterator[Evidence]:
    for store in stores:
        statement = store.statement
        if not isinstance(statement, tree.Assign) or not ev.may_run(statement.site, store.path, frame):
            continue
        for owner in ev.values(store.target.value, frame):
            if not isinstance(owner, External):
                continue
            name = _assigned_name(owner, store)
            values = containers.unpack(ev, ev.values(store.value, frame), store.unpack)
            for switch in assignment_switch(name):
                written = _item(store)
                if takes_effect(switch, Arguments((), (("value", values, True),)), partial(_itself, (written, values))):
                    site = ev.site(statement, frame)
                    yield Evidence(
                        name, switch.effect, switch.level, frozenset(), site, statement, written, values, frame,
                        store.path,
                    )  # fmt: skip


def _itself(given: Given, _condition: Condition) -> Given:
    return given


def _item(store: Store) -> tree.Expr | None:
    """The expression that is assigned to the one target; None where it is not written as such."""
    value: tree.Expr = store.value
    for index in store.unpack:
        if not isinstance(value, tree.Display) or index >= len(value.items):
            return None
        value = value.items[index]
    return value


def running_modules(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> frozenset[Path]:
    """The modules whose code makes `scope` run: its own at the top level, its callers' for a function."""
    return ev.remembered(("running", id(scope)), lambda: _running_modules(ev, facts, scope), frozenset())


def _running_modules(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> frozenset[Path]:
    if scope.parent is None:
        return frozenset((facts.path,))
    node = scope.node
    if not isinstance(node, tree.FunctionDef):
        return running_modules(ev, facts, scope.parent)
    found: set[Path] = set()
    for user, place, _ in places_of_use(ev, facts, scope, MANY):
        if place is not scope:
            found |= running_modules(ev, user, place)
    if found:
        return frozenset(found)
    # Nothing visible calls it. A method is called by a framework, a decorated function through its decorator, a main
    # by a console script; any other function is a helper that may never run.
    if isinstance(scope.parent.node, tree.ClassDef):
        return _where_made(ev, facts, scope) or frozenset((facts.path,))
    if isinstance(scope.parent.node, tree.FunctionDef):  # what a decorator gives, too: it runs where that is used
        return running_modules(ev, facts, scope.parent) | frozenset(_decorated(ev, scope.parent))
    return frozenset((facts.path,)) if node.decorators or function_words("entry").fullmatch(node.name) else frozenset()


def _decorated(ev: Evaluator, scope: Scope) -> Iterator[Path]:
    """The modules with functions and classes to which a function is applied as a decorator."""
    for _, arguments in decorator_uses(ev, scope):
        for decorated in ordered(arguments.positional[0]):
            if isinstance(decorated, (FunctionValue, ClassValue)):
                yield decorated.frame.facts.path


def _where_made(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> frozenset[Path]:
    """The modules that make objects of the class whose `__init__` this is."""
    assert scope.parent is not None and scope.parent.parent is not None
    cls, around = scope.parent.node, scope.parent.parent
    if scope.name != "__init__" or around.parent is not None or not isinstance(cls, tree.ClassDef):
        return frozenset()
    return frozenset(one.facts.path for one in making_places(ev, ClassValue(cls, ev.module_frame(facts)), MANY))
