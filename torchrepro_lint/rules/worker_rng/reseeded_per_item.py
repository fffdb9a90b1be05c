"""TRL108 reseeded-per-item.

What it does
    Finds constant seeds that are set again for every item: a constant seed of a global generator, or a generator
    created with a constant, in the code that fetches an item (`__getitem__`, a transform, and what they call) or
    collates a batch. Also finds generators created there from `torch.initial_seed()` or the worker info alone, which
    are the same for all items of a worker. The finding is at the first draw that follows.

Why is this bad?
    Every item gets the same draw: the same crop, the same flip, the same noise. With torch's seed of the worker, this
    holds for all items of one worker. A constant seed of a global generator also resets the stream for everything else
    in the process that draws from it.

Example
    ```python
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            rng = np.random.default_rng(42)
            return index + rng.normal()

    loader = DataLoader(Noisy(), batch_size=2)
    ```

Use instead
    ```python
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            rng = np.random.default_rng([42, index])
            return index + rng.normal()

    loader = DataLoader(Noisy(), batch_size=2)
    ```
    This fixes the noise of each item for all epochs; `[torch.initial_seed(), index]` gives new noise in every epoch.

Since
    All versions of torch, with workers and without.

How it is proven
    `verify` observes equal batches within each worker.

Not reported
    - Seeds that depend on the item, the epoch or something unknown.
    - Generators that are created once and kept (under `if self.rng is None`, in a cached property).
    - Streams that seed before their loop.
    - A state that is saved before and restored afterwards.
    - Worker init functions.

Known limits
    Fixed noise is often intended for evaluation. It is not reported if the code itself says so: the class of the
    dataset is named for testing or validation, or the seed is in a branch for evaluation (`if not self.train`) which
    constant arguments prove to be the one that this dataset runs. If a configuration decides, the `strict` profile
    reports it as a warning: the items get equal noise there too, and including the index in the seed would give each
    its own.
    A constant `random_state=` that is passed to a library is not reported.
    A seed in a test, and one that only loaders of tests show, is reported in the `strict` profile only.

References
    https://numpy.org/doc/stable/reference/random/generator.html#numpy.random.default_rng
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.item_seeds import ItemSeed, is_in_evaluation_arm, item_seeds
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.worker_rng.faults import Fault, Faults


class ReseededPerItem(Rule):
    code = "TRL108"
    name = "reseeded-per-item"
    summary = "a seed that never changes is set for every item, so every item gets the same draw"
    seldom = "it is of an evaluation"
    is_strict_in_tests = True

    def check(self, program: Program) -> Iterator[Finding]:
        faults = Faults[ItemSeed]()
        for loader in program.loaders:
            if self.passes_over(program, loader.site.path):
                continue
            for found in item_seeds(program, loader):
                faults.add(found, loader, (found.seed.site, found.draw.site))
        for fault in faults:
            if program.is_asked(fault.what.draw.site.path):
                yield self._report(program, fault)

    def _report(self, program: Program, fault: Fault[ItemSeed]) -> Finding:
        found, loader = fault.what, fault.loader
        seed, draw = found.seed, found.draw
        trace = [
            Link(loader.site, "the loader"), *seed.chain, Link(seed.site, f"sets the same seed for every {found.unit}"),
            Link(draw.site, f"draws {draw.name}"),
            *(Link(site, "another loader over it") for site in fault.others),
        ]  # fmt: skip
        is_for_evaluation = is_in_evaluation_arm(program, seed, proven=False)
        severity = Severity.WARNING if is_for_evaluation else Severity.ERROR
        return self.finding(
            program, draw.site, _message(found), trace, severity=severity, seldom_matters=is_for_evaluation
        )


def _message(found: ItemSeed) -> str:
    call = f"`{found.seed.name}`"
    each = f"every {found.unit}"
    if found.kind == "worker":
        whose = "batches" if found.unit == "batch" else "items"
        return (
            f"{call} has the worker's seed alone, so all {whose} of a worker draw the same numbers: add the index to it"
        )
    return f"{call} has the same seed for {each}, so each draws the same numbers: add the index to the seed"
