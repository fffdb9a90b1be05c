"""Statements that look as if they seeded or switched something, and do not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import NEVER, Scope, Store
from torchrepro_lint.knowledge.dead_switches import backend_attributes, dropped_generators, meant_attribute
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import call_switches, seeding_call
from torchrepro_lint.program.evaluation.command_line import is_parsed
from torchrepro_lint.program.evaluation.conditions import compare, truth
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Constant,
    External,
    ExternalObject,
    MemberOf,
    Site,
    Value,
    Values,
)
from torchrepro_lint.program.running.call_index import aliases_of
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.guards import Place, guards
from torchrepro_lint.program.running.never_read import is_never_read
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.statements import own_statements
from torchrepro_lint.program.switches.older_torch import is_hidden
from torchrepro_lint.program.switches.own_generators import own_generators_in
from torchrepro_lint.source.cells import is_notebook

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["DeadSwitch", "dead_switches", "dropped_in"]

_WORDS = re.compile(rb"cudnn|torch\.backend|torch\.cuda|seed|determinis|benchmark|\bRandom\(|RandomState|default_rng")

Fault = Literal["misspelt", "unbound", "assigned-over", "not-called", "compared", "dropped", "unread", "gone"]


@dataclass(frozen=True, slots=True)
class DeadSwitch:
    """One such statement. `name` is what it is about; `meant` the attribute or function that it means.

    `misspelt`: no attribute of that name is read by torch; `unbound`: the name `cudnn` means nothing in the file;
    `assigned-over`: a function is replaced by a value; `not-called`: a function is named and not called; `compared`:
    `==` is written for `=`; `dropped`: a generator is made with a seed, and no name keeps it; `unread`: nothing reads
    the name `held` that does; `gone`: the target's torch has no such function, and what guards the call hides that.
    `target` is the expression to repair.
    """

    fault: Fault
    name: str
    meant: str
    statement: tree.Stmt
    target: tree.Expr
    value: tree.Expr | None
    frame: Frame
    held: str | None = None


def dead_switches(program: Program) -> Iterator[DeadSwitch]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    ev = program.ev
    for path in program.asked_with(_WORDS):
        facts = ev.project.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            ev.begin_question()
            found = [
                *_stores(ev, facts, scope),
                *_expressions(ev, facts, scope),
                *_gone(program, facts, scope),
                *dropped_in(program, facts, scope),
            ]
            comes_to_run = (one for one in found if not _is_behind_the_end(scope, one.statement.site))
            yield from sorted(comes_to_run, key=lambda one: one.statement.site)


def _is_behind_the_end(scope: Scope, site: int) -> bool:
    """Whether a statement stands below one that leaves its function, or surely raises: it never runs."""
    return any(arm == NEVER for _, arm in scope.path_at(site))


# --- assignments --------------------------------------------------------------------------------------------------


def _stores(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[DeadSwitch]:
    for store in scope.stores:
        if not isinstance(store.target, tree.Attribute) or not _is_plausible(store.target.attr):
            continue
        if _may_be_module(scope, store.target.value):
            frame = frame_without_callers(ev, facts, scope)
            found = _of_store(ev, store, store.target, frame)
            if found is not None and not (found.fault == "unbound" and _never_runs(ev, store, frame)):
                yield found


def _never_runs(ev: Evaluator, store: Store, frame: Frame) -> bool:
    """Whether a test around a statement is proven to keep it from running."""
    site = store.statement.site
    place = Place(frame.facts, frame.scope, frame.scope.path_at(site), Site(frame.facts.path, site))
    return any(
        truth(ev, one.test, frame) is (not one.holds) or _of_what_was_set(ev, one.test, frame) is (not one.holds)
        for one in guards(ev, place)
    )


def _of_what_was_set(ev: Evaluator, test: tree.Expr, frame: Frame) -> bool | None:
    """The outcome of a comparison of an attribute that the function has set before, `args.device = torch.device(...)`,
    under no test of its own; None for others.
    """
    match test:
        case tree.Compare(left=tree.Attribute() as left, ops=(op,), comparators=(right,)):
            scope, name = frame.scope, dotted_name(left)
            before = [one for one in scope.stores if one.statement.site < test.site and dotted_name(one.target) == name]
            if name is None or not before or before[-1].value is None:
                return None
            arms = scope.path_at(before[-1].statement.site)
            if arms == scope.path_at(test.site)[: len(arms)]:
                return compare(op, ev.values(before[-1].value, frame), ev.values(right, frame))
    return None


_TELLING: Final = function_words("like_a_switch")


def _is_plausible(attr: str) -> bool:
    """A quick look: whether an attribute of that name could be meant as a switch or a seed at all."""
    return bool(_TELLING.search(attr)) or len(attr) >= 6


def _may_be_module(scope: Scope, node: tree.Expr) -> bool:
    """A quick look: whether a dotted name may be one of an imported module, and not of an object that is made here."""
    while isinstance(node, tree.Attribute):
        node = node.value
    if not isinstance(node, tree.Name):
        return False
    home = scope.binder(node.id)
    return home is None or any(
        binding.kind in ("import", "import-from") or isinstance(binding.node, (tree.Name, tree.Attribute))
        for binding in home.bindings[node.id]
    )


def _of_store(ev: Evaluator, store: Store, target: tree.Attribute, frame: Frame) -> DeadSwitch | None:
    values = ev.values(target.value, frame)
    if _is_unbound(target.value, frame):
        name = f"torch.backends.cudnn.{target.attr}"
        meant = name if name in backend_attributes() else meant_attribute(name)
        if meant is None:
            return None
        return DeadSwitch("unbound", f"cudnn.{target.attr}", meant, store.statement, target, store.value, frame)
    names = {canonical(f"{value.name}.{target.attr}") for value in values if isinstance(value, External)}
    if len(names) != 1 or len(values) != 1:
        return None
    (name,) = names
    is_plain = _is_plain_value(store.value, ev.values(store.value, frame))
    if _is_seed_or_switch(name):
        if not is_plain:
            return None
        return DeadSwitch("assigned-over", name, name, store.statement, target, store.value, frame)
    meant = meant_attribute(name) if name.startswith("torch.") else None
    if meant is None or not is_plain:
        return None
    return DeadSwitch("misspelt", name, meant, store.statement, target, store.value, frame)


def _is_unbound(node: tree.Expr, frame: Frame) -> bool:
    """Whether this is the name `cudnn` in a file that binds it nowhere. A notebook that imports nothing has the names
    of another one, which runs it: `%run model.ipynb`.
    """
    if not isinstance(node, tree.Name) or node.id != "cudnn":
        return False
    if is_notebook(frame.facts.path) and not _imports(frame.facts):
        return False
    return not any(scope.stars or "cudnn" in scope.bindings for scope in frame.facts.walk_scopes())


def _imports(facts: ModuleFacts) -> bool:
    bindings = (one for found in facts.scope.bindings.values() for one in found)
    return bool(facts.scope.stars) or any(one.kind in ("import", "import-from") for one in bindings)


def _is_seed_or_switch(name: str) -> bool:
    return seeding_call(name) is not None or (name.startswith("torch.") and bool(call_switches(name)))


_KEPT: Final = function_words("kept_originals")


def _is_plain_value(node: tree.Expr, values: Values) -> bool:
    """Whether what is assigned is a value, not something to call that stands in for the function."""
    if values and all(isinstance(value, Constant) for value in values):
        return True
    match node:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            if not all(_may_be_plain(value) for value in values):
                return False  # a function of the program's own, or of another module
            return bool(function_words("says_switch").search(name)) and not _KEPT.search(name)
        case tree.Unary() | tree.Compare() | tree.Boolean():
            return True
    return False


def _may_be_plain(value: Value) -> bool:
    """Whether a value may be a number or a flag: a constant, an option of the command line, anything at all."""
    match value:
        case MemberOf(receiver=ExternalObject() as receiver):
            return is_parsed(receiver)
    return isinstance(value, Constant) or value == UNKNOWN


# --- expressions that nothing takes -------------------------------------------------------------------------------


def _expressions(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[DeadSwitch]:
    node = scope.node
    body = facts.body if node is None else node.body if isinstance(node, (tree.FunctionDef, tree.ClassDef)) else ()
    for statement in own_statements(body):
        match statement:
            case tree.ExprStmt(value=tree.Attribute() | tree.Name() as named):
                fault: Fault = "not-called"
            case tree.ExprStmt(value=tree.Compare(left=tree.Attribute() as named, ops=("==",))):
                fault = "compared"
            case _:
                continue
        frame = frame_without_callers(ev, facts, scope)
        names = {canonical(v.name) for v in ev.values(named, frame) if isinstance(v, External)}
        name = names.pop() if len(names) == 1 else ""
        wanted = name in backend_attributes() and not _is_seed_or_switch(name)
        if (fault == "not-called" and _is_seed_or_switch(name)) or (fault == "compared" and wanted):
            yield DeadSwitch(fault, name, name, statement, named, None, frame)


# --- names that torch no longer has -------------------------------------------------------------------------------


def _gone(program: Program, facts: ModuleFacts, scope: Scope) -> Iterator[DeadSwitch]:
    for statement in own_statements(_body_of(facts, scope)):
        match statement:
            case tree.ExprStmt(value=tree.Call(func=tree.Attribute(value=owner) as func) as call) if is_hidden(
                program.ev, call, facts, scope, program.target
            ):
                frame = frame_without_callers(program.ev, facts, scope)
                if any(isinstance(one, External) and one.name == "torch" for one in program.ev.values(owner, frame)):
                    meant = "torch.use_deterministic_algorithms"
                    yield DeadSwitch("gone", "torch.set_deterministic", meant, statement, func, None, frame)


def _body_of(facts: ModuleFacts, scope: Scope) -> tree.Block:
    """The statements of a module or a function; none of a class."""
    node = scope.node
    return facts.body if node is None else node.body if isinstance(node, tree.FunctionDef) else ()


# --- generators that nothing keeps --------------------------------------------------------------------------------


def dropped_in(program: Program, facts: ModuleFacts, scope: Scope) -> Sequence[DeadSwitch]:
    """The generators that a scope makes with a seed and drops, or gives a name that nothing reads, so that the seed
    reaches no draw. Where the scope also seeds the global generator of the same kind, nothing is missing.
    """

    def find() -> tuple[DeadSwitch, ...]:
        return (*_dropped(program, facts, scope), *_unread(program, facts, scope))

    return program.once(("dropped generators", id(scope)), find)


def _dropped(program: Program, facts: ModuleFacts, scope: Scope) -> Iterator[DeadSwitch]:
    names = _generator_names(program, facts)
    for statement in own_statements(_body_of(facts, scope)) if names else ():
        match statement:
            case tree.ExprStmt(value=tree.Call(func=tree.Attribute() | tree.Name() as func, args=(tree.Arg(), *_))):
                if called_name(func) not in names:
                    continue
                frame = frame_without_callers(program.ev, facts, scope)
                found = {canonical(v.name) for v in program.ev.values(func, frame) if isinstance(v, External)}
                name = found.pop() if len(found) == 1 else ""
                known = dropped_generators().get(name)
                if known is not None and not _seeds(program, scope, known.rng):
                    yield DeadSwitch("dropped", name, known.meant, statement, func, None, frame)


def _generator_names(program: Program, facts: ModuleFacts) -> frozenset[str]:
    """The names by which a file may call what makes a generator: no call of another name is looked into."""

    def find() -> frozenset[str]:
        words = last_parts(dropped_generators())
        if not program.project.may_call_any(facts.path, words):
            return frozenset()
        return words | aliases_of(facts, words)

    return program.once(("names of generators", facts.path), find)


def _seeds(program: Program, scope: Scope, rng: str) -> bool:
    return any(one.frame.scope is scope and rng in one.seeds for one in program.evidence_of("seed"))


# --- generators that nothing reads --------------------------------------------------------------------------------


def _unread(program: Program, facts: ModuleFacts, scope: Scope) -> Iterator[DeadSwitch]:
    """Generators that get a seed and a name that nothing reads, beside draws from the global one of the same kind."""
    for one in own_generators_in(program, facts.path):
        if one.scope is not scope or one.held is None or not is_never_read(program.ev, facts, one.call):
            continue
        if _seeds(program, scope, one.rng) or not _draws(program, facts, scope, one.rng):
            continue
        statement = parents_of(program.ev, facts).statement(one.call)
        if isinstance(statement, tree.Assign):
            meant = dropped_generators()[one.name].meant
            frame = frame_without_callers(program.ev, facts, scope)
            yield DeadSwitch("unread", one.name, meant, statement, one.call, None, frame, one.held)


def _draws(program: Program, facts: ModuleFacts, scope: Scope, rng: str) -> bool:
    """Whether calls written in a scope draw from a global generator."""
    frame = frame_without_callers(program.ev, facts, scope)
    return any(
        effect.kind == "draw" and effect.rng == rng
        for call, _ in scope.calls
        for value in program.ev.values(call.func, frame)
        if isinstance(value, External)
        for effect in rng_effects(value.name)
    )
