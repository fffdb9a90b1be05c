"""Whether all ranks of a distributed program seed their workers alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.inner_tests import options_of
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    ExternalObject,
    FunctionValue,
    MethodValue,
    Partial,
    Site,
    Values,
)
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.workers.dataset_reseeding import init_values
from torchrepro_lint.program.workers.dependence import Term
from torchrepro_lint.program.workers.loaders import Loader
from torchrepro_lint.program.workers.rank_names import MAX_DEPTH, depends_on_rank, names_rank, passed_for
from torchrepro_lint.program.workers.seeding import has_generator, seeding_of
from torchrepro_lint.program.workers.worker_init import init_runs

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["init_decides", "shared_seed"]


def init_decides(program: Program, loader: Loader, rngs: frozenset[str]) -> bool:
    """Whether the init function may make the ranks differ in what it seeds: it names a rank, draws, or is unknown."""
    values = init_values(program, loader)
    if UNKNOWN in values or _functions_name_rank(program.ev, values):
        return True
    return any(
        not run.is_complete or any(one.rngs & rngs and one.seed.has(Term.ENTROPY, Term.UNKNOWN) for one in run.seedings)
        for run in init_runs(program.ev, loader)
    )


def shared_seed(program: Program, loader: Loader) -> Site | None:
    """The seeding that decides the base seed of the workers, where it is the same on all ranks."""
    if has_generator(loader):
        seeds = _generator_seeds(program, loader)
    else:
        evidence = seeding_of(program, loader)
        if any(one.value is None for one in evidence):
            return None
        seeds = [
            (one.value, one.frame.facts, one.frame.scope, one.site)
            for one in evidence
            if one.value is not None and not _is_before_spawn(program.ev, one.frame.facts, one.frame.scope)
        ]
    for node, facts, scope, _ in seeds:
        if depends_on_rank(program.ev, node, facts, scope) or _may_differ(program.ev, node, facts, scope):
            return None
    return seeds[0][3] if seeds else None


def _generator_seeds(program: Program, loader: Loader) -> list[tuple[tree.Expr, ModuleFacts, Scope, Site]]:
    """What the generator that the loader is given is seeded with: the expressions, and where they stand."""
    ev = program.ev
    given, _ = loader.given("generator")
    sites = {value.site for value in given if isinstance(value, ExternalObject) and value.name == "torch.Generator"}
    found = []
    for path in sorted({site.path for site in sites if site is not None} | {loader.facts.path}):
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            for call, _ in scope.calls:
                match call:
                    case tree.Call(func=tree.Attribute(value=owner, attr="manual_seed"), args=(arg, *_)):
                        for frame in contexts(ev, facts, scope)[:1]:  # type: ignore[arg-type]
                            owners = ev.values(owner, frame)
                            if any(isinstance(value, ExternalObject) and value.site in sites for value in owners):
                                found.append((arg.value, frame.facts, scope, ev.site(call, frame)))
    return found


# --- expressions -----------------------------------------------------------------------------------------------


def _may_differ(ev: Evaluator, node: tree.Expr, facts: ModuleFacts, scope: Scope, depth: int = 0) -> bool:
    """Whether a seed may be another in each process without naming a rank: it is drawn, timed, or computed unseen, or
    further away than is followed.
    """
    if depth > MAX_DEPTH:
        return True

    def any_of(*parts: tree.Expr) -> bool:
        return any(_may_differ(ev, part, facts, scope, depth) for part in parts)

    match node:
        case tree.Const() | tree.Starred():
            return False
        case tree.Attribute(attr=word) | tree.Subscript(index=tree.Const(value=str() as word)):
            return _any_store(ev, word, facts, depth)
        case tree.Subscript(value=value) | tree.Unary(operand=value):
            return any_of(value)
        case tree.Name(id=name):
            return _bound_to_what_differs(ev, name, facts, scope, depth)
        case tree.Binary(left=left, right=right):
            return any_of(left, right)
        case tree.Boolean() | tree.Conditional():
            return any_of(*options_of(ev, node, frame_without_callers(ev, facts, scope)))
        case tree.Call(func=tree.Name(id="int" | "abs"), args=args):
            return any_of(*(arg.value for arg in args))
        case tree.Call(func=tree.Name(id="getattr") | tree.Attribute(attr="get" | "getint")):
            return False
    return True


def _bound_to_what_differs(ev: Evaluator, name: str, facts: ModuleFacts, scope: Scope, depth: int) -> bool:
    home = scope.binder(name)
    if home is None:
        return False
    for binding in home.bindings[name]:
        if binding.kind == "assign" and binding.node is not None:
            if _may_differ(ev, binding.node, facts, home, depth + 1):  # type: ignore[arg-type]
                return True
        elif binding.kind == "param":
            passed = passed_for(ev, name, facts, home)
            if any(_may_differ(ev, given, where, caller, depth + 1) for given, where, caller in passed):
                return True
    return False


def _any_store(ev: Evaluator, word: str, facts: ModuleFacts, depth: int) -> bool:
    """Whether the file assigns something that may differ to an attribute or a key of this name (`args.seed = ...`)."""
    for scope in facts.walk_scopes():
        for store in scope.stores:
            match store.target:
                case tree.Attribute(attr=name) | tree.Subscript(index=tree.Const(value=name)) if name == word:
                    if _may_differ(ev, store.value, facts, scope, depth + 1):
                        return True
    return False


def _is_before_spawn(ev: Evaluator, facts: ModuleFacts, scope: Scope, depth: int = 0) -> bool:
    """Whether the function, or one that calls it, starts the ranks itself: what it seeds does not reach them."""
    if any(called_name(call.func) in ("spawn", "start_processes", "Process") for call, _ in scope.calls):
        return True
    if not isinstance(scope.node, tree.FunctionDef):
        return False
    if depth >= MAX_DEPTH:
        return True  # for all that is known
    callers = calling_places(ev, facts, scope)
    return bool(callers) and all(_is_before_spawn(ev, one.facts, one.scope, depth + 1) for one in callers)


def _functions_name_rank(ev: Evaluator, values: Values) -> bool:
    """Whether any of the functions names a rank, in its body, its defaults or what a partial gives it."""
    for value in values:
        if isinstance(value, Partial):
            given = [name for name, _, _ in value.arguments.keywords]
            if any(names_rank(name) for name in given) or _functions_name_rank(ev, value.function):
                return True
        function = value.function if isinstance(value, MethodValue) else value
        if isinstance(function, FunctionValue):
            scope = ev.function_scope(function)
            for call, _ in scope.calls:
                if any(depends_on_rank(ev, part, function.frame.facts, scope) for part in (call.func, *_given(call))):
                    return True
            if any(names_rank(param.name) for param in function.node.params):
                return True
    return False


def _given(call: tree.Call) -> list[tree.Expr]:
    return [arg.value for arg in call.args]
