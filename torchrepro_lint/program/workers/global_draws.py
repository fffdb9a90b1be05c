"""What a loader without a generator takes from torch's global RNG: its order, and the base seed of its workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import conjuncts, is_none_literal, walk, words_in, written_alike
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.conditions import agreed, truthiness
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import Effect, WorkerRun
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.epochs import is_step
from torchrepro_lint.program.running.never_read import uses_of_its_name
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.workers.drawn_items import ignores_the_index
from torchrepro_lint.program.workers.index_seeds import draws_left
from torchrepro_lint.program.workers.measured_loaders import is_only_measured, is_trained_with
from torchrepro_lint.program.workers.worker_reseeding import seeds_by_the_number, seeds_from_the_system

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = [
    "brings_a_sampler",
    "first_draw",
    "is_in_an_evaluation",
    "is_of_an_evaluation",
    "serves_an_evaluation",
    "shuffles_itself",
    "surely_shuffles",
]

_SEEDED_BY_TORCH = ("torch", "python", "numpy")
_SAMPLERS = ("sampler", "batch_sampler")


def brings_a_sampler(loader: Loader) -> bool:
    """Whether a sampler or a batch sampler is, or may be, passed."""
    return not all(loader.lacks(role) for role in _SAMPLERS)


def shuffles_itself(program: Program, loader: Loader) -> bool:
    """Whether the loader's own sampler is, or may be, random, and decides something: it has one where no other is
    passed, on some way, and its data set gives one item or another by the index.
    """
    if loader.known.order != "torch" or not all(_may_lack(loader, role) for role in _SAMPLERS):
        return False
    if _shuffles_with_a_sampler_only(loader) or ignores_the_index(program.ev, loader):
        return False
    shuffles = _is_told_to_shuffle(program, loader)
    return shuffles is not False and (shuffles or not _is_of_an_evaluation(loader))


def surely_shuffles(program: Program, loader: Loader) -> bool:
    """Whether it is proven that the loader is told to shuffle."""
    return _is_told_to_shuffle(program, loader) is True


def _is_told_to_shuffle(program: Program, loader: Loader) -> bool | None:
    return agreed(truthiness(program.ev, value) for value in loader.value("shuffle"))


def _shuffles_with_a_sampler_only(loader: Loader) -> bool:
    """Whether the loader is told to shuffle where it gets a sampler, and then not: `sampler = balanced() if train else
    None` with `shuffle=train and sampler is None`.
    """
    sampler, shuffle = (written_argument(loader.call, Parameter(name)) for name in ("sampler", "shuffle"))
    if sampler is None or shuffle is None:
        return False
    chosen = loader.scope.behind(sampler)
    if not isinstance(chosen, tree.Conditional) or not is_none_literal(chosen.orelse) or is_none_literal(chosen.body):
        return False
    return any(written_alike(one, chosen.test) for one in conjuncts(loader.scope.behind(shuffle)))


def _is_of_an_evaluation(loader: Loader) -> bool:
    """Whether what `shuffle` is given is, by its words, a setting of the evaluation: `cfg.val.shuffle`."""
    written = written_argument(loader.call, Parameter("shuffle"))
    if not isinstance(written, (tree.Attribute, tree.Subscript, tree.Call)):
        return False
    return any(function_words("says_evaluation").search(word) for word in words_in([written]))


def is_of_an_evaluation(program: Program, loader: Loader) -> bool:
    """Whether a loader is for an evaluation, or for a look at the data; see `serves_an_evaluation`."""
    return serves_an_evaluation(program, loader.facts, loader.scope, loader.call)


def serves_an_evaluation(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether a loader or a sampler is, by its name or that of the function that makes it, for an evaluation, or for a
    look at the data: `val_loader = ...`, `{"val": ...}`, a `return` in `test_dataloader`, any loader that is
    not one of training data in `evaluate` or `plot_samples`, one of which only the first batch is looked at, one with
    which nothing is trained, `accuracy(model, train_loader)`; but none in a loop over which an optimizer takes steps.
    In which order a network is evaluated, and what a worker draws, seldom matters.
    """
    words, parents = function_words("says_evaluation"), parents_of(program.ev, facts)
    chosen = _chosen(parents, call)
    is_assigned = parents.target_of(chosen) is not None
    name = parents.target_name(chosen) if is_assigned else _name_around(parents, scope, chosen)
    if is_only_measured(program, facts, scope, call):
        return True
    if is_trained_with(program, facts, scope, call):
        return False
    if function_words("for_an_evaluation").search(name):
        return True
    if function_words("means_training").search(name):
        return False
    if words.search(name) or function_words("only_looks").search(name):
        return True
    if words.search(scope.name) and not function_words("means_training").search(scope.name):
        return True
    return _is_evaluation(facts, scope) or _is_looked_at(program, facts, call)


def _chosen(parents: Parents, call: tree.Call) -> tree.Expr:
    """The conditional expression of which a call is an arm: `DataLoader(...) if files else None`."""
    node: tree.Expr = call
    while isinstance(above := parents.of(node), tree.Conditional) and node is not above.test:
        node = above
    return node


def _name_around(parents: Parents, scope: Scope, call: tree.Expr) -> str:
    """The key under which a call stands in a dict, `{"val": DataLoader(...)}`, the name of a list of such, or the
    function that returns it.
    """
    match parents.of(call):
        case tree.Return():
            return scope.name
        case tree.Comprehension() | tree.Display(kind="list") as several:
            return parents.target_name(several)
        case tree.DictDisplay(items=items):
            keys = (key.value for key, value in items if value is call and isinstance(key, tree.Const))
            return next((key for key in keys if isinstance(key, str)), "")
    return ""


def _is_looked_at(program: Program, facts: ModuleFacts, call: tree.Call) -> bool:
    """Whether nothing but the first batch of a loader is taken, and no step of a training with it."""
    parents = parents_of(program.ev, facts)
    uses = uses_of_its_name(program.ev, facts, call)
    target = parents.target_of(call)
    if uses is None and isinstance(target, tree.Name) and target.id in facts.scope.bindings:
        uses = [(use, facts.scope) for use in parents.reads(target.id)]
    around = next((one for one in parents.around(call) if isinstance(one, tree.FunctionDef)), None)
    if target is None:
        uses_at: list[tuple[tree.Expr, Scope]] = [(call, facts.scope if around is None else facts.scope_of(around))]
    else:
        uses_at = [*(uses or ())]
    return bool(uses_at) and all(_is_a_look(parents, use, scope) for use, scope in uses_at)


def _is_a_look(parents: Parents, use: tree.Expr, scope: Scope) -> bool:
    """Whether a use of a loader takes its first batch alone, and no step of a training: a loop that a `break` ends, or
    `next(iter(loader))` outside of all loops, in a function that gives nothing.
    """
    loop = _loop_over(parents, use)
    if loop is None:
        gives = any(one.value is not None for one, _ in scope.returns) or scope.yields
        return not gives and _gives_the_first(parents, use) and not any(is_step(one) for one, _ in scope.calls)
    return any(isinstance(one, tree.Jump) and one.kind == "break" for one in loop.body) and not any(
        is_step(inner) and any(branch == loop.site for branch, _ in path) for inner, path in scope.calls
    )


def _gives_the_first(parents: Parents, use: tree.Expr) -> bool:
    above = parents.of(use)
    iterated = parents.of(above) if isinstance(above, tree.Arg) else None
    given = parents.of(iterated) if isinstance(iterated, tree.Call) and called_name(iterated.func) == "iter" else None
    first = parents.of(given) if isinstance(given, tree.Arg) else None
    if not isinstance(first, tree.Call) or called_name(first.func) != "next":
        return False
    return not any(isinstance(one, tree.For | tree.While) for one in parents.around(first))


def _loop_over(parents: Parents, use: tree.Expr) -> tree.For | None:
    loop = parents.statement(use)
    return loop if isinstance(loop, tree.For) and any(part is use for part in walk([loop.iter])) else None


def is_in_an_evaluation(program: Program, loader: Loader) -> bool:
    """Whether a loader is made by a function or a file that, by its name, evaluates a network or looks at data, or is
    one of an evaluation in a file that makes none for a training.
    """
    if _is_evaluation(loader.facts, loader.scope):
        return True
    path = loader.facts.path
    return program.once(
        ("evaluates alone", path),
        lambda: all(is_of_an_evaluation(program, one) for one in program.loaders if one.facts.path == path),
    )


def _is_evaluation(facts: ModuleFacts, scope: Scope) -> bool:
    # `evaluate`, `pose_eval.py`, `plot_samples`; `save_features.py` by the first of its words.
    stem = facts.path.stem
    if any(function_words("evaluates").search(one) for one in (scope.name, stem)):
        return True
    return any(function_words("only_looks").search(one) for one in (scope.name, stem.partition("_")[0]))


def _may_lack(loader: Loader, role: str) -> bool:
    return loader.lacks(role) or loader.may_lack(role)


def first_draw(program: Program, loader: Loader) -> Effect | None:
    """A draw in the workers that depends on the base seed, which comes from the generator."""
    if not loader.has_workers:
        return None
    run = program.worker_run(loader)
    draws = [
        draw
        for rng in _SEEDED_BY_TORCH
        if (drawn := draws_left(program.ev, run, rng)) and not _seeds_otherwise(program, run, rng)
        for draw in drawn
    ]
    return min(draws, key=lambda draw: len(draw.event.chain)) if draws else None


def _seeds_otherwise(program: Program, run: WorkerRun, rng: str) -> bool:
    """Whether the workers seed a generator themselves, and not from the base seed."""
    return seeds_from_the_system(program.ev, run, rng) or seeds_by_the_number(program.ev, run, rng)
