"""Draws by which the data of a validation are other ones in each epoch: random crops, noise, flips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk, words_in
from torchrepro_lint.knowledge.calls import known_packages
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Instance, Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.epochs import says_evaluation
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.workers.index_seeds import draws_left

if TYPE_CHECKING:
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["EvaluationDraw", "evaluation_draw"]

_RNGS: Final = ("torch", "python", "numpy")


@dataclass(frozen=True, slots=True)
class EvaluationDraw:
    """A draw with which each sample of a validation is made, and the loader of the training beside it."""

    draw: Effect
    training: Site


def evaluation_draw(program: Program, loader: Loader) -> EvaluationDraw | None:
    """The draw of a loader that is for a validation by its name, in a program that has another one for its training,
    where nothing gives the validation random numbers of its own.
    """
    if not _is_called_validation(program, loader) or not _may_share_its_draws(loader):
        return None
    training = next(
        (one for one in program.loaders if one.facts is loader.facts and _is_for_training(program, one)), None
    )
    if training is None:
        return None
    run = program.worker_run(loader)
    if run.is_cut:
        return None
    draws = [draw for rng in _RNGS for draw in draws_left(program.ev, run, rng) if _surely_runs(program, loader, draw)]
    draw = min(draws, key=lambda one: len(one.event.chain), default=None)
    return EvaluationDraw(draw, training.site) if draw is not None else None


def _name_of(program: Program, loader: Loader) -> str:
    return parents_of(program.ev, loader.facts).target_name(loader.call)


def _is_called_validation(program: Program, loader: Loader) -> bool:
    name = _name_of(program, loader)
    return says_evaluation(name) and not function_words("means_training").search(name)


def _is_for_training(program: Program, loader: Loader) -> bool:
    return bool(function_words("means_training").search(_name_of(program, loader)))


def _may_share_its_draws(loader: Loader) -> bool:
    """Whether the loader is given neither a generator nor an init function: it draws with the rest of the program."""
    return (
        not any(arg.star for arg in loader.call.args) and loader.lacks("generator") and loader.lacks("worker_init_fn")
    )


def _surely_runs(program: Program, loader: Loader, draw: Effect) -> bool:
    """Whether the way to a draw depends on nothing that may ask for the training, and the task is not drawn itself."""
    event = draw.event
    scopes = list(_scopes(program, draw))
    if not _is_augmentation(event.name, scopes) or len(loader.value("dataset")) != 1:
        return False
    words = [event.name, *(scope.name for scope, _ in scopes), *(link.note for link in event.chain)]
    words += [value.cls.name for value in loader.value("dataset") if isinstance(value, Instance)]
    if any(
        function_words("draws_its_task").search(word) for word in (*words, loader.facts.path.stem, event.site.path.stem)
    ):
        return False
    if any(_may_call_another(program, link.site, link.frame) for link in event.chain):
        return False
    return all(_is_open(program, loader, scope, frame) for scope, frame in scopes)


def _may_call_another(program: Program, site: Site, frame: Frame | None) -> bool:
    """Whether what is called on the way to a draw may be something else: one of several transforms."""
    made = call_at(program.ev, site) if frame is not None else None
    return made is not None and frame is not None and len(program.ev.values(made[2].func, frame)) > 1


def _is_augmentation(name: str, scopes: Sequence[tuple[Scope, Frame | None]]) -> bool:
    """Whether a sample is made another one, as for a training: by a transform, or a function that is called so."""
    if name.partition(".")[0] in known_packages("augments"):
        return True
    return any(function_words("augments").search(scope.name) for scope, _ in scopes)


def _scopes(program: Program, draw: Effect) -> Iterator[tuple[Scope, Frame | None]]:
    """The functions that the way to a draw passes, each with the frame that is known of it."""
    for site, frame in ((draw.event.site, draw.event.frame), *((link.site, link.frame) for link in draw.event.chain)):
        place = place_of(program.ev, site)
        if place is not None:
            yield place.scope, frame


def _is_open(program: Program, loader: Loader, scope: Scope, frame: Frame | None) -> bool:
    """Whether no test in a function asks for what is not known, and may be whether it is for the training. Where the
    loader is made, those around it do not matter, nor do those that come later: they tell whether it is made.
    """
    if not isinstance(scope.node, tree.FunctionDef):
        return True
    is_made_here = scope is loader.frame.scope
    around = {branch for branch, _ in scope.path_at(loader.call.site)} if is_made_here else set()
    return not any(
        not (is_made_here and (one.site in around or one.site > loader.call.site))
        and function_words("asks_for_training").search(word)
        and (frame is None or program.ev.truth(one.test, frame) is None)
        for one in scope.branches.values()
        if isinstance(one, tree.If)
        for word in words_in([one.test])
        if not _draws(one.test)
    )


def _draws(test: tree.Expr) -> bool:
    """Whether a test is a throw of dice: `random.random() < self.p`."""
    return any(
        isinstance(node, tree.Call) and (called_name(node.func) or "").startswith("rand") for node in walk([test])
    )
