"""TRL103 worker-init-fn-same-in-every-worker.

What it does
    Finds worker init functions that give all workers the same seed: a constant, a seed of the main process, or the
    upper bits of torch's seed (`torch.initial_seed() // 2**32` without the worker id), which all workers of an
    epoch share.

Why is this bad?
    All workers then draw the same numbers: the same crops, the same noise, the same negatives, once per worker. With a
    constant, every epoch repeats them too.

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
        np.random.seed(42)

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
    All versions of torch.

How it is proven
    `verify` on torch 2.13: two workers deliver equal batches. The seed is followed backwards through local variables,
    the functions called on the way, `partial` and closures; a seed that could not be followed is never reported.

Fix safety
    Safe if the function does nothing but seed: its body is replaced by the recommended one, and its name and parameters
    stay. If the rank is part of the seed, it is kept: `+ num_workers * rank`. Unsafe if that expression leaves no room
    for the workers of each rank, or this cannot be determined, and if the function is made by another, whose parameter
    nothing else reads (`def make_init(base_seed):`). Also unsafe if the function does other things as well, or the
    project calls it elsewhere: then only the seeds are replaced.

Not reported
    - `torch.initial_seed() % 2**32`, `torch.initial_seed() // 2**32 + worker_id`, and `get_worker_info().seed % 2**32`.
    - Draws of torch or `random` in the worker as a seed.
    - Loaders whose workers are proven to draw nothing. Those whose workers are not seen to draw from the generator that
      is seeded so are reported in the `strict` profile only.
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


class WorkerInitFnSameInEveryWorker(InitSeedRule):
    code = "TRL103"
    name = "worker-init-fn-same-in-every-worker"
    summary = "a worker init function gives every worker the same seed"
    fault = Fault.SAME
    note = "every worker gets the same seed here"

    def seed_and_effect(self, found: FaultySeeding) -> str:
        return f"with {_source(found)}, so all workers draw the same numbers"


def _source(found: FaultySeeding) -> str:
    seed = found.seeding.seed
    if seed.has(Term.SHARED_SEED):
        return "the part of torch's seed that all workers share"
    if seed.has(Term.NUMPY_STATE):
        return "NumPy's state, a copy of the main process's before torch 1.9"
    if seed.has(Term.EPOCH):
        return "a number that changes with the epoch but not with the worker"
    return "a number that is the same in every worker"
