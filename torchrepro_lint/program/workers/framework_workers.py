"""Lightning's `seed_everything` without `workers=True`, and loaders that Lightning makes itself.

Loaders that the project makes can be given a worker init function; those of `LightningDataModule.from_datasets` cannot:
only `workers=True` lets Lightning seed NumPy in their workers. Torch does so itself since 1.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.loaders import manager
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Arguments, Constant, External, Site
from torchrepro_lint.program.intent.intent import Evidence, running_modules
from torchrepro_lint.program.loaders.worker_runs import argument, effects_of
from torchrepro_lint.program.running.callers import called_name, contexts
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["UnseededWorkers", "unseeded_workers"]

_MAKES_LOADERS = "lightning.pytorch.LightningDataModule.from_datasets"
_DATASETS = (("train_dataset", 0), ("val_dataset", 1), ("test_dataset", 2), ("predict_dataset", 3))
_NUM_WORKERS = ("num_workers", 5)
_SINCE_TORCH_SEEDS_NUMPY = "1.9"


@dataclass(frozen=True, slots=True)
class UnseededWorkers:
    """A `seed_everything` without `workers=True`, the call that makes the loaders, and a draw in their workers."""

    seeding: Evidence
    loaders: Site
    draw: Event


def unseeded_workers(program: Program) -> Iterator[UnseededWorkers]:
    """One for each such seeding call, in the order of files and text."""
    if not program.target.admits_below(_SINCE_TORCH_SEEDS_NUMPY):
        return
    made = list(_loaders(program))
    for one in program.evidence if made else ():
        if not isinstance(one.node, tree.Call) or program.is_test(one.site.path) or not _seeds_all_workers(one.name):
            continue
        given, values = argument(program.ev.arguments(one.node.args, one.frame), "workers", 1)
        if given and not (values and all(isinstance(value, Constant) and not value.value for value in values)):
            continue
        above = program.runs_with(one.roots)
        for site, roots, draw in made:
            if roots & above or one.roots & program.runs_with(roots):
                yield UnseededWorkers(one, site, draw)
                break


def _seeds_all_workers(name: str) -> bool:
    """Whether a call can have the workers of every loader seeded."""
    known = manager(name)
    return known is not None and known.reaches == "program"


def _loaders(program: Program) -> Iterator[tuple[Site, frozenset[Path], Event]]:
    """The calls that let Lightning make loaders with workers which draw from NumPy."""
    ev = program.ev
    for path in program.project.containing("from_datasets"):
        facts = program.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for call, arms in scope.calls:
                if called_name(call.func) != "from_datasets":
                    continue
                for frame in contexts(ev, facts, scope)[:1]:
                    ev.begin_question()
                    draw = _drawn(program, call, frame) if ev.may_run(call.site, arms, frame) else None
                    if draw is not None:
                        yield ev.site(call, frame), running_modules(ev, facts, scope), draw


def _drawn(program: Program, call: tree.Call, frame: Frame) -> Event | None:
    names = {value.name for value in program.ev.values(call.func, frame) if isinstance(value, External)}
    if _MAKES_LOADERS not in names:
        return None
    arguments = program.ev.arguments(call.args, frame)
    if not _has_workers(arguments):
        return None
    for name, position in _DATASETS:
        _, values = argument(arguments, name, position)
        for event in program.walker.fetching(values):
            if any(one.effect.kind == "draw" and one.effect.rng == "numpy" for one in effects_of(event)):
                return event
    return None


def _has_workers(arguments: Arguments) -> bool:
    given, values = argument(arguments, *_NUM_WORKERS)
    return given and not (values and all(isinstance(value, Constant) and not value.value for value in values))
