"""TRL206 missing-set-epoch.

What it does
    Finds epoch loops over a loader with a shuffling `DistributedSampler` that is never told the epoch, and other loops
    that iterate over such a loader again and again (`while step < max_steps:`). An iterator over the loader that is
    made again where it ends (`except StopIteration: batches = iter(loader)`) is such a loop too.

Why is this bad?
    The order depends only on the sampler's seed and on its epoch. Without `set_epoch` the epoch stays 0: every epoch
    has the order of the first, and each rank sees its own part of the data in the same batches again and again.
    `torch.manual_seed` has no effect on it.

Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    from torch.utils.data.distributed import DistributedSampler

    data = TensorDataset(torch.arange(16))
    sampler = DistributedSampler(data, num_replicas=2, rank=0, shuffle=True)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    for epoch in range(3):
        for (batch,) in loader:
            print(batch)
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    from torch.utils.data.distributed import DistributedSampler

    data = TensorDataset(torch.arange(16))
    sampler = DistributedSampler(data, num_replicas=2, rank=0, shuffle=True)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for (batch,) in loader:
            print(batch)
    ```

Since
    All versions.

How it is proven
    `verify` shows that the epochs of the bad program repeat each other, and that those of the fixed one do not.

Fix safety
    Unsafe: inserts `sampler.set_epoch(epoch)` at the beginning of the epoch loop, which changes the order of the
    training data. A loop over `_` gets the name `epoch`. There is no fix if the loop is inside another that goes on
    with the same sampler, where its numbers would repeat.

Not reported
    - `shuffle=False`.
    - Samplers of validation and test data.
    - Programs that call `set_epoch` anywhere.
    - Loaders that go through the data in their order where there is one process (`SequentialSampler(data) if rank == -1
      else DistributedSampler(data)`, or no sampler and `shuffle=False`): the same order in each epoch is wanted there.
      They are reported in the `strict` profile only.
    - Samplers that are made only where a setting is on (`if config.use_ddp:`) that all code and all configurations set
      to False.
    - Lightning, Hugging Face's Trainer, accelerate and other frameworks that call it.

References
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.epoch_fix import set_epoch_fix
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ordering.epoch_samplers import forgotten_epochs
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.restarted_iterators import Restart
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule

_IN_ORDER = "one process goes through the data in their order, too"
_SET_EPOCH = "`DistributedSampler.set_epoch` is not called"


class MissingSetEpoch(Rule):
    code = "TRL206"
    name = "missing-set-epoch"
    summary = "epoch loop over a DistributedSampler whose set_epoch is not called: each epoch has the same order"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        for one in forgotten_epochs(program):
            trace = [Link(one.sampler.site, "makes the sampler"), Link(one.loader.site, "makes the loader over it")]
            if isinstance(one.loop, Restart):
                message = f"{_SET_EPOCH} before the loader is iterated over again, so every pass has the same order"
            else:
                message = f"{_SET_EPOCH} in this loop, so every epoch has the same order"
                site = Site(one.loop.facts.path, one.loop.iteration.site)
                trace.append(Link(site, "iterates over the loader in every epoch"))
            fix, declined = set_epoch_fix(program, one)
            seldom = one.in_order_alone and _IN_ORDER
            at = program, one.loop.site, message, trace
            yield self.finding(*at, fix=fix, declined=declined, seldom_matters=seldom)
