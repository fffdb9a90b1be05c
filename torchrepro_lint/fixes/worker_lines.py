"""Statements of a worker init function that seed what torch does not: objects of the dataset, globals, libraries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.knowledge.reseeding import Reseeding

if TYPE_CHECKING:
    from torchrepro_lint.fixes.imports import ImportPlanner

__all__ = ["WorkerTarget", "global_lines", "worker_lines"]


@dataclass(frozen=True, slots=True)
class WorkerTarget:
    """What is to be seeded in a worker: an object at the chain of attributes `attribute` of the dataset, a global
    variable of the module at `path`, or, with neither, the generator that a library keeps for itself.
    """

    reseeding: Reseeding
    attribute: str = ""
    global_name: str = ""
    path: Path | None = None


def global_lines(targets: Sequence[WorkerTarget]) -> list[str]:
    """The declarations that the statements of `worker_lines` need above them."""
    names = [target.global_name for target in targets if target.global_name and target.reseeding.replaces]
    return [f"global {', '.join(names)}"] if names else []


def worker_lines(
    planner: ImportPlanner,
    targets: Sequence[WorkerTarget],
    seed: str,
    dataset: str = "dataset",
    *,
    is_bound: bool = False,
    at: cst.CSTNode | None = None,
) -> list[str]:
    """The statements that seed the targets with the expression `seed`, with the imports that they need planned.

    `dataset` is a name that is free in the function, or that `is_bound` there to the worker's dataset already. `at` is
    as in `ImportPlanner.require`.
    """
    lines = []
    if any(target.attribute for target in targets) and not is_bound:
        info = planner.find("torch.utils.data", "get_worker_info", at=at)
        info = info or f"{planner.require('torch', at=at)}.utils.data.get_worker_info"
        lines.append(f"{dataset} = {info}().dataset")
    twins: Counter[Reseeding] = Counter()
    for target in targets:
        # Two generators with one seed would draw the same numbers.
        twin = twins[target.reseeding]
        twins[target.reseeding] += 1
        place = f"{dataset}.{target.attribute}" if target.attribute else target.global_name
        modules = {module: planner.require(module, at=at) for module in target.reseeding.modules}
        own = f"[{seed}, {twin}]" if twin else seed
        lines.append(target.reseeding.statement.format(target=place, seed=own, **modules))
    return lines
