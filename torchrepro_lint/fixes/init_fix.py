"""Repairs of worker init functions, planned with the program's facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.init_body import (
    is_commented,
    plan_appended_seed,
    plan_canonical_body,
    plan_in_range,
    plan_seeds,
    seeds_alone,
)
from torchrepro_lint.fixes.init_parameter import plan_parameter
from torchrepro_lint.fixes.loader_fix import may_share_worker_seeds
from torchrepro_lint.fixes.rank_terms import are_apart, names_rank, rank_terms
from torchrepro_lint.fixes.unsafe_reasons import OWN_SEEDS, RANKS_APART, READS_MORE
from torchrepro_lint.program.evaluation.values import Partial, Site
from torchrepro_lint.program.intent.intent_at import is_in_a_loop
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.running.callers import visible_calls
from torchrepro_lint.program.worker_seeds.dependence import Term
from torchrepro_lint.program.worker_seeds.worker_init import InitRun
from torchrepro_lint.program.workers.init_faults import Fault, FaultySeeding, fault_of
from torchrepro_lint.program.workers.init_shape import CalledInit, Misfit, misfit

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["definition_of", "is_called", "parameter_fix", "passed_fix", "range_fix", "reseed_fix", "seed_numpy_fix"]

Planned = tuple[Fix | None, str | None]

_CANONICAL = "Seed NumPy and random from torch's worker seed"
_SEEDS = frozenset({"numpy", "python", "torch", "torch-cuda", "torch-device"})


def reseed_fix(program: Program, found: FaultySeeding) -> Planned:
    """Seed from torch's worker seed: the canonical body where the function only seeds, else another seed. A function
    that lacks its parameter gets it as well. Unsafe where the old seed kept ranks apart that torch's does not, and
    where it is taken from NumPy's state, which the program sets again in a loop for its workers.
    """
    fix, declined = _reseeded(program, found)
    was_apart = found.fault is Fault.ENTROPY and any(may_share_worker_seeds(program, one) for one in found.loaders)
    was_apart = was_apart or (
        found.seeding.seed.has(Term.NUMPY_WORD)
        and any(_sets_numpy_in_a_loop(program, one, found) for one in found.loaders)
    )
    if fix is not None and was_apart:
        fix = fix.made_unsafe(RANKS_APART)
    return _with_parameter(program, found.run, (fix, declined))


def _sets_numpy_in_a_loop(program: Program, loader: Loader, found: FaultySeeding) -> bool:
    """Whether a program of a loader seeds NumPy in the main process again and again: `np.random.seed(seed + epoch)`."""
    return any(
        one.effect == "seed" and "numpy" in one.seeds and one.site != found.seeding.site and is_in_a_loop(program, one)
        for one in program.evidence_in_programs_of(loader.frame)
    )


def _reseeded(program: Program, found: FaultySeeding) -> Planned:
    run = found.run
    canonical = _canonical_fix(program, run)
    if canonical is not None:
        return canonical, None
    if is_called(program, run):
        return None, f"`{run.name}` is called outside of workers, too, where its seed is to stay"
    old = program.target.admits_below("1.9")
    wrong = {one.top for one in run.seedings if fault_of(one, old_torch=old) not in (None, Fault.RANGE)}
    sites = sorted(wrong, key=lambda site: site.number)
    if len({site.path for site in wrong}) != 1:
        return None, "the function seeds in several files"
    document = document_of(program, sites[0].path)
    calls = [_call_at(program, document, site) for site in sites]
    located = [call for call in calls if call is not None]
    rank = _rank_terms(document, located)
    edits = plan_seeds(document, located, rank or "") if None not in calls else None
    if edits is None:
        return None, "the call that seeds takes more than a seed"
    function = run.function
    is_lambda = function is not None and isinstance(function.node, tree.Lambda) and _is_one_call(run)
    plain = is_lambda and (rank == "" or are_apart(rank or ""))
    return Fix.checked("Seed from torch's worker seed", tuple(edits), None if plain else OWN_SEEDS), None


def seed_numpy_fix(program: Program, run: InitRun) -> Planned:
    """Let a function that leaves NumPy out seed it too."""
    return _with_parameter(program, run, _numpy_seeded(program, run))


def _numpy_seeded(program: Program, run: InitRun) -> Planned:
    canonical = _canonical_fix(program, run)
    if canonical is not None:
        return canonical, None
    found = definition_of(program, run)
    edits = plan_appended_seed(*found) if found is not None else None
    if edits is None:
        return None, "there is no line in the function at which NumPy can be seeded"
    return Fix(Applicability.SAFE, "Seed NumPy from torch's worker seed", tuple(edits)), None


def range_fix(program: Program, found: FaultySeeding) -> Planned:
    """Bring a seed into NumPy's range."""
    document = document_of(program, found.seeding.site.path)
    call = _call_at(program, document, found.seeding.site)
    edits = plan_in_range(document, call) if call is not None and found.seeding.is_direct else None
    if edits is None:
        return None, "the seed is given by a function that the init function calls"
    fix = Fix(Applicability.SAFE, "Bring the seed into the range of NumPy's seeds", tuple(edits))
    return _with_parameter(program, found.run, (fix, None))


def parameter_fix(program: Program, wrong: Misfit) -> Planned:
    """Give a function the parameter that it lacks for the worker's number."""
    if wrong.lacking is None:
        return None, None
    planned = plan_parameter(program, wrong.lacking)
    if isinstance(planned, str):
        return None, planned
    return Fix.checked("Take the worker id", planned.edits, planned.because), None


def _with_parameter(program: Program, run: InitRun, planned: Planned) -> Planned:
    """The fix, and with it the parameter that the worker's number needs."""
    fix, _ = planned
    wrong = misfit(program.ev, run.value) if fix is not None else None
    if fix is None or wrong is None:
        return planned
    parameter, declined = parameter_fix(program, wrong)
    if parameter is None:
        return None, declined or f"the worker calls it with its number, and it {wrong.reason}"
    return replace(fix, edits=(*fix.edits, *parameter.edits)).made_unsafe(parameter.unsafe_because), None


def passed_fix(program: Program, loader: Loader, called: CalledInit) -> Planned:
    """Pass the function itself: drop the parentheses."""
    if called.function is None or called.call.args or not called.written:
        return None, "it is called with arguments, or not in the loader's own call"
    wrong = misfit(program.ev, called.function)
    parameter: tuple[Edit, ...] = ()
    if wrong is not None:
        planned = plan_parameter(program, called.function, apart=called.call) if wrong.lacking is not None else ""
        if isinstance(planned, str):
            return None, planned or f"the worker calls it with its number, and it {wrong.reason}"
        parameter = planned.edits
    document = document_of(program, loader.facts.path)
    call = _call_at(program, document, Site(loader.facts.path, called.call.site))
    if call is None or call.lpar:
        return None, "the call could not be located"
    end = document.outer_span(call.func)[1]
    edit = document.replacement(end, document.end(call), "")
    return Fix(Applicability.SAFE, f"Pass `{called.name}` itself", (edit, *parameter)), None


# --- parts ----------------------------------------------------------------------------------------------------


def _canonical_fix(program: Program, run: InitRun) -> Fix | None:
    """The canonical body for a function that only seeds, and that workers alone call. Unsafe where a rank took part
    and cannot be kept, or does not keep the ranks apart, and where a parameter of its own, or of the function around
    it, or a variable of the environment would not be read any more: callers choose the seed with that. None where
    comments say something about the body.
    """
    found = definition_of(program, run)
    if found is None or run.function is None or run.site is None or is_called(program, run):
        return None
    document, function = found
    if not run.seedings or not all(seeding.is_direct and seeding.rngs <= _SEEDS for seeding in run.seedings):
        return None
    calls = [_call_at(program, document, seeding.site) for seeding in run.seedings]
    located = [call for call in calls if call is not None]
    if not seeds_alone(document, function, located) or is_commented(function):
        return None
    rank = _rank_terms(document, located)
    edits: list[Edit] = plan_canonical_body(document, function, rank or "")
    plain = are_apart(rank) if rank else not names_rank(document.text_of(function))
    plain = plain and not _leaves_unread(document, function, run) and not _reads_environment(document, function)
    return Fix.checked(_CANONICAL, tuple(edits), None if plain else READS_MORE)


def _leaves_unread(document: Document, function: cst.FunctionDef, run: InitRun) -> bool:
    """Whether a parameter beside the worker's number is read in the body of a function, and nowhere else: one of its
    own, `def seed_worker(worker_id, base_seed=SEED):`, or of the function around it, `def make_init(base_seed):`. The
    number is the first that no partial gives: `partial(seed_worker, args.seed)`.
    """
    inside = {id(node) for node in document.nodes(cst.Name, function.body)}
    attributes = {id(node.attr) for node in document.nodes(cst.Attribute, function.body)}
    here = {node.value for node in document.nodes(cst.Name, function.body) if id(node) not in attributes}
    block = document.parent(function)
    is_method = block is not None and isinstance(document.parent(block), cst.ClassDef)
    given = run.value.arguments if isinstance(run.value, Partial) else None
    names_given = {name for name, _, _ in given.keywords} if given is not None else set()
    own = [name for name in _parameters(function)[is_method:] if name not in names_given]
    number = own[len(given.positional) :][:1] if given is not None else own[:1]
    if any(name in here and name not in number for name in _parameters(function)[is_method:]):
        return True
    around = document.function(function)
    if around is None:
        return False
    names = document.nodes(cst.Name, around.body)
    there = {node.value for node in names if id(node) not in inside}
    return any(name in here - there for name in _parameters(around))


def _reads_environment(document: Document, function: cst.FunctionDef) -> bool:
    return any(node.value in ("environ", "getenv") for node in document.nodes(cst.Name, function.body))


def _parameters(function: cst.FunctionDef) -> list[str]:
    params = function.params
    return [param.name.value for param in (*params.posonly_params, *params.params, *params.kwonly_params)]


def _rank_terms(document: Document, calls: Sequence[cst.Call]) -> str | None:
    """What the rank adds to the seeds that the calls give; None where that is not to be told."""
    seeds = [argument.value for call in calls for argument in call.args]
    bodies = {id(scope.node): scope.node for scope in (document.scope_of(seed) for seed in seeds)}
    terms = {rank_terms(document, seeds, _body(body)) for body in bodies.values()}
    return terms.pop() if len(terms) == 1 else None if terms else ""


def _body(node: cst.CSTNode) -> cst.CSTNode:
    return node.body if isinstance(node, cst.FunctionDef | cst.Lambda) else node


def definition_of(program: Program, run: InitRun) -> tuple[Document, cst.FunctionDef] | None:
    """The `def` of an init function and its file; None for a lambda and what is not the project's."""
    if run.function is None or not isinstance(run.function.node, tree.FunctionDef):
        return None
    path = run.function.frame.facts.path
    node = program.parsed(path).node(run.function.node.site)
    if not isinstance(node, cst.FunctionDef):
        return None
    document = document_of(program, path)
    start = program.parsed(path).spans[id(node.name)]
    for candidate in document.nodes(cst.FunctionDef):
        if document.span(candidate.name) == start:
            return document, candidate
    return None


def _call_at(program: Program, document: Document, site: Site) -> cst.Call | None:
    return document.node_at(*program.parsed(site.path).span(site.number), cst.Call)


def _is_one_call(run: InitRun) -> bool:
    """Whether a lambda is only one call that seeds."""
    assert run.function is not None
    node = run.function.node
    return isinstance(node, tree.Lambda) and len(run.seedings) == 1 and run.seedings[0].call is node.body


def is_called(program: Program, run: InitRun) -> bool:
    """Whether the project calls the function itself somewhere, and so relies on what it seeds with."""
    if run.function is None or not isinstance(run.function.node, tree.FunctionDef):
        return False
    scope = program.ev.function_scope(run.function)
    return bool(visible_calls(program.ev, run.function.frame.facts, scope))
