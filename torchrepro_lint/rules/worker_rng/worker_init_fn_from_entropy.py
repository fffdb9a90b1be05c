"""TRL105 worker-init-fn-from-entropy.

What it does
    Finds worker init functions that seed from what differs in every run: `np.random.seed()` or `None`, the clock, the
    process number, `os.urandom`, `uuid4`, an unseeded `default_rng()`.

Why is this bad?
    The workers differ, but nobody can get the same numbers again: no seed of the program affects them. A clock in whole
    seconds does not even distinguish the workers.

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
        np.random.seed()

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
    `verify` on torch 2.13: two runs with the same seeds deliver different batches.

Fix safety
    Safe if the function does nothing but seed: its body is replaced by the recommended one, and its name and parameters
    stay. If the rank is part of the seed, it is kept: `+ num_workers * rank`. Unsafe if that expression leaves no room
    for the workers of each rank, or this cannot be determined. Also unsafe if the function does other things as well,
    or the project calls it elsewhere: then only the seeds are replaced. And where several ranks may seed torch alike:
    entropy kept their workers apart, and torch's seed does not.

Not reported
    - Entropy that only replaces a missing value, on a path that is not proven to be taken.
    - Programs that seed nothing, ask for no determinism and give their loaders no `generator`: the `strict` profile
      reports it there.
    - A seed that the main process takes from the clock (TRL503).
    - Loaders whose workers are proven to draw nothing.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
"""

from __future__ import annotations

from torchrepro_lint.program.workers.init_faults import Fault, FaultySeeding
from torchrepro_lint.rules.worker_rng.init_seed_rule import InitSeedRule


class WorkerInitFnFromEntropy(InitSeedRule):
    code = "TRL105"
    name = "worker-init-fn-from-entropy"
    summary = "a worker init function seeds from the clock or the operating system"
    # In a program that seeds nothing it is how workers are kept apart, and no run is repeated whatever the seed is.
    is_about_control = True
    fault = Fault.ENTROPY
    note = "the seed differs in every run"

    def seed_and_effect(self, found: FaultySeeding) -> str:
        return "from the clock or the operating system, so no run can be repeated"
