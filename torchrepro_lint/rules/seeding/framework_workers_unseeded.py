"""TRL507 framework-workers-unseeded.

What it does
    Finds Lightning's `seed_everything(...)` without `workers=True` in a program whose loaders are created by Lightning
    (`LightningDataModule.from_datasets`), if the code of their workers draws from NumPy's global RNG and the target
    includes a torch older than 1.9.

Why is this bad?
    Torch before 1.9 does not seed NumPy in the workers of a loader: every worker draws the same numbers, again in every
    epoch. With `workers=True`, Lightning passes a worker init function that seeds NumPy to each loader without one.

Example
    ```python
    import numpy as np
    import pytorch_lightning as pl
    from torch.utils.data import Dataset


    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return np.random.rand(3)


    pl.seed_everything(1)
    data = pl.LightningDataModule.from_datasets(Noisy(), batch_size=2, num_workers=2)
    ```

Use instead
    ```python
    import numpy as np
    import pytorch_lightning as pl
    from torch.utils.data import Dataset


    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return np.random.rand(3)


    pl.seed_everything(1, workers=True)
    data = pl.LightningDataModule.from_datasets(Noisy(), batch_size=2, num_workers=2)
    ```

Since
    Lightning 1.3 (`workers=`). Torch from 1.9 on seeds NumPy in its workers itself.

How it is proven
    Not shown, because `verify` runs without Lightning. That workers of torch < 1.9 draw the same numbers is documented
    in pytorch/pytorch#5059, and was changed by #56488.

Fix safety
    Safe: adds `workers=True`. The draws of the workers change; they did not depend on the program's seed before.

Not reported
    - Loaders that the project creates itself: these are TRL101 and TRL102, whose fix also works without Lightning.
    - A `target-torch` of 1.9 or newer.
    - `num_workers` missing or 0.

References
    https://lightning.ai/docs/pytorch/stable/common/trainer.html#reproducibility
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.fixes.keyword_fix import keyword_fix
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.framework_workers import unseeded_workers
from torchrepro_lint.rules.base import Rule

_MESSAGE = (
    "`seed_everything` without `workers=True`: before torch 1.9, all workers of Lightning's loaders draw the same "
    "numbers from NumPy"
)


class FrameworkWorkersUnseeded(Rule):
    code = "TRL507"
    name = "framework-workers-unseeded"
    summary = "seed_everything without workers=True, and workers that draw from an RNG which torch does not seed"

    def check(self, program: Program) -> Iterator[Finding]:
        for found in unseeded_workers(program):
            fix, declined = keyword_fix(program, found.seeding.site, "workers", "True")
            trace = [
                Link(found.loaders, "Lightning uses the loaders"),
                *found.draw.chain,
                Link(found.draw.site, f"draws from NumPy's global RNG: {found.draw.name}"),
            ]
            yield self.finding(program, found.seeding.site, _MESSAGE, trace, fix=fix, declined=declined)
