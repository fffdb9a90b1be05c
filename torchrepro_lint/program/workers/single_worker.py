"""Loaders with one worker, of which a single pass is taken: nothing can draw the same numbers as that worker.

Before torch 1.9, a worker that is forked begins with the state of NumPy's global RNG in the main process, as every
other worker and that of the next pass do (torch/utils/data/_utils/worker.py@1.8.1 seeds `random` and torch alone).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.programs.frequency import Often, frequency
from torchrepro_lint.program.running.never_read import uses_of_its_name
from torchrepro_lint.program.running.parents import Parents, is_named, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["has_one_worker", "is_gone_over_once"]


def has_one_worker(loader: Loader) -> bool:
    """Whether it is proven that a loader has exactly one worker."""
    numbers = loader.value("num_workers")
    return bool(numbers) and all(isinstance(one, Constant) and one.value == 1 for one in numbers)


def is_gone_over_once(program: Program, loader: Loader) -> bool:
    """Whether it is proven that one loop or one iterator, `batches = iter(loader)`, goes over a loader, once in each
    run of the program, and that its workers are not asked to start in another way than the platform's.
    """
    if not loader.lacks("multiprocessing_context"):
        return False
    uses = uses_of_its_name(program.ev, loader.facts, loader.call)
    if uses is None:
        return False
    parents = parents_of(program.ev, loader.facts)
    loops = [(use, scope) for use, scope in uses if not _is_an_argument_of(parents, use, "len")]
    if len(loops) != 1:
        return False
    use, scope = loops[0]
    around = [above for above in parents.around(use) if isinstance(above, tree.For | tree.While | tree.Comprehension)]
    if around or not _is_an_argument_of(parents, use, "iter"):
        if len(around) != 1 or not isinstance(around[0], tree.For) or not _is_iterated(parents, use, around[0]):
            return False
    return frequency(program, loader.facts, scope, use.site).often is Often.ONCE


def _is_an_argument_of(parents: Parents, use: tree.Name, function: str) -> bool:
    argument = parents.of(use)
    above = parents.of(argument) if isinstance(argument, tree.Arg) else None
    return isinstance(above, tree.Call) and is_named(above.func, function)


def _is_iterated(parents: Parents, use: tree.Name, loop: tree.For) -> bool:
    """Whether the loop is over the use, or over what counts it or shows its progress: `enumerate(tqdm(loader))`."""
    node: object = use
    while node is not loop.iter:
        argument = parents.of(node)  # type: ignore[arg-type]
        above = parents.of(argument) if isinstance(argument, tree.Arg) else None
        if not isinstance(above, tree.Call) or not isinstance(above.func, tree.Name):
            return False
        if above.func.id not in ("enumerate", "tqdm"):
            return False
        node = above
    return True
