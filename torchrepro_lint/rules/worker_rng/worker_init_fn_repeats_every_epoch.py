"""TRL104 worker-init-fn-repeats-every-epoch.

What it does
    Finds worker init functions whose seed depends on the worker only: `worker_id`, `SEED + worker_id`,
    `np.random.get_state()[1][0] + worker_id`.

Why is this bad?
    Workers are started anew for each epoch, and each time the function gives them the same seed as before. Every epoch
    draws the numbers of the first one: an augmentation that should vary is frozen. The `get_state` recipe is no better:
    since torch 1.9 the first word of the state is 0x80000000 in every worker of every run, so it also ignores every
    seed of the program.

Example
    ```python
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + np.random.randn()

    def seed_worker(worker_id):
        np.random.seed(2024 + worker_id)

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, worker_init_fn=seed_worker, generator=g)
    ```

Use instead
    ```python
    import random

    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + np.random.randn()

    def seed_worker(worker_id):
        worker_seed = torch.initial_seed() % 2**32
        np.random.seed(worker_seed)
        random.seed(worker_seed)

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, worker_init_fn=seed_worker, generator=g)
    ```

Since
    All versions of torch. Since torch 1.9 such a function makes things worse: without it, NumPy is seeded from torch's
    base seed, which differs in each epoch.

How it is proven
    `verify` on torch 2.13: the second epoch delivers the batches of the first. The seed is followed backwards as
    for TRL103. Where a configuration, a registry or a caller out of sight gives the data set, those that the
    project defines stand for it: what the program imports, and, where it finds modules by a text, what no program
    imports. Where one calls what it is given, classes stand for that which a library's registry or a YAML file of
    the project names. One data set that draws is enough, and the trace shows its draw.

Fix safety
    Safe if the function does nothing but seed: its body is replaced by the recommended one, and its name and parameters
    stay. If the rank is part of the seed, it is kept: `+ num_workers * rank`. Unsafe if that expression leaves no room
    for the workers of each rank, or this cannot be determined, and if the function is made by another, whose parameter
    nothing else reads (`def make_init(base_seed):`). Unsafe if the seed is read from NumPy's state, and the program
    sets that in a loop (`np.random.seed(seed + epoch)`): which epochs are to differ is the author's choice. Also unsafe
    if the function does other things as well, or the project calls it elsewhere: then only the seeds are replaced.

Not reported
    - Seeds that depend on an epoch, a step or torch's base seed.
    - Objects with an attribute that is assigned after their creation.
    - Loaders with `persistent_workers=True`, or `num_workers > 0` (the function runs once, and the streams continue).
    - Generators from which the workers do not draw, as far as their code can be followed, nor do the data sets of the
      project where one is chosen out of sight. Those of tests, of copied code and of other programs do not count.
    - Loaders of an evaluation, by their names, where the data set that may be chosen draws in training alone.
    - Functions that loaders get only where a setting is on that all code and all configurations set to False: reported
      in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
"""

from __future__ import annotations

from torchrepro_lint.program.worker_seeds.dependence import Term
from torchrepro_lint.program.workers.init_faults import Fault, FaultySeeding
from torchrepro_lint.rules.worker_rng.init_seed_rule import InitSeedRule


class WorkerInitFnRepeatsEveryEpoch(InitSeedRule):
    code = "TRL104"
    name = "worker-init-fn-repeats-every-epoch"
    summary = "a worker init function seeds with the worker id alone, so every epoch draws the same numbers"
    fault = Fault.REPEATS
    note = "each worker gets the seed that it had in the epoch before"

    def seed_and_effect(self, found: FaultySeeding) -> str:
        if found.seeding.seed.has(Term.NUMPY_WORD):
            return (
                "with `np.random.get_state()[1][0]`, a constant in workers since torch 1.9: every epoch draws the same"
            )
        return "with the worker id alone, so every epoch draws the same numbers"
