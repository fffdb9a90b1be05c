"""Whether all ranks of a distributed program seed their workers alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.core.backward import Backward
from torchrepro_lint.program.core.queries import Query
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    ExternalObject,
    FunctionValue,
    MethodValue,
    Partial,
    Site,
    Values,
)
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.seeds.seeding import has_generator, seeding_of
from torchrepro_lint.program.worker_seeds.dependence import Term
from torchrepro_lint.program.worker_seeds.worker_init import init_runs
from torchrepro_lint.program.workers.dataset_reseeding import init_values
from torchrepro_lint.program.workers.rank_names import depends_on_rank, names_rank

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["init_decides", "is_same_on_all_ranks", "shared_seed"]

#: How many callers up the ranks are looked for that a function starts.
MAX_DEPTH: Final = 4


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
    if any(_may_differ(program.ev, node, facts, scope) for node, facts, scope, _ in seeds):
        return None
    return seeds[0][3] if seeds else None


def is_same_on_all_ranks(program: Program, seedings: Sequence[Evidence]) -> bool:
    """Whether all ranks are seeded with one and the same number, by those of these seedings that run in them."""
    ev = program.ev
    reaching = [one for one in seedings if not _is_before_spawn(ev, one.frame.facts, one.frame.scope)]
    return bool(reaching) and not any(
        one.value is None or _may_differ(ev, one.value, one.frame.facts, one.frame.scope) for one in reaching
    )


def _may_differ(ev: Evaluator, node: tree.Expr, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a rank takes part in a number, or it may be another one in each process."""
    if depends_on_rank(ev, node, facts, scope):
        return True
    differing = _Differing(ev, beyond=True)
    frames = (frame_without_callers(ev, facts, scope), *contexts(ev, facts, scope))
    return any(differing.of(node, frame) for frame in frames)


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


class _Differing(Backward[bool]):
    """Whether a number may be another in each process without naming a rank: it is drawn, timed, or computed unseen, or
    further away than is followed.
    """

    def made(self, query: Query) -> bool | None:
        """What an operation makes of what may differ may differ; so may what a call gives, but for a setting in it."""
        match query.node:
            case tree.Const() | tree.Lambda() | tree.Name():
                return None
            case tree.Call(func=tree.Name(id="int" | "abs"), args=args):
                return self._any_of(query, [arg.value for arg in args])
            case tree.Call(func=tree.Attribute(attr="getint")):
                return None
            case tree.Call():
                return None if query.access and query.access[0].kind in ("attribute", "key") else True
            case tree.Binary() | tree.Unary() | tree.Display():
                return self._any_of(query, sub_expressions(query.node))
        return True

    def _any_of(self, query: Query, parts: Iterable[tree.Expr]) -> bool | None:
        return True if any(self.operands(query, parts)) else None


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
