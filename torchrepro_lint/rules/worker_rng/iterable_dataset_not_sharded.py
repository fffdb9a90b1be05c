"""TRL110 iterable-dataset-not-sharded.

What it does
    Finds DataLoaders with worker processes and an `IterableDataset` whose `__iter__` goes through stored data (a list,
    a file, an array, another dataset) without finding out in which worker it runs. In the `strict` profile also finds
    an `IterableDataset` that splits its data by the worker and not by the rank, in a program that starts several
    processes for a training (`init_process_group`, `DistributedDataParallel`).

Why is this bad?
    Each worker has a copy of the dataset and iterates over all of it, so every sample comes once per worker. With four
    workers an epoch is four times as long, and a validation score is computed over four copies. Nor do workers
    know of other processes: with a split by the worker alone, every rank trains on all of the data, and the gradients
    that are averaged are of the same samples.

Example
    ```python
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    class Rows(IterableDataset):
        def __init__(self, rows):
            self.rows = rows

        def __iter__(self):
            for row in self.rows:
                yield row * 2

    loader = DataLoader(Rows(torch.arange(8)), num_workers=2)
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, IterableDataset, get_worker_info

    class Rows(IterableDataset):
        def __init__(self, rows):
            self.rows = rows

        def __iter__(self):
            info = get_worker_info()
            start, step = (0, 1) if info is None else (info.id, info.num_workers)
            for row in self.rows[start::step]:
                yield row * 2

    loader = DataLoader(Rows(torch.arange(8)), num_workers=2)
    ```

Since
    torch 1.2 (`IterableDataset`).

How it is proven
    `verify` observes that each sample of the bad program comes twice.

Not reported
    - Code that uses the worker info anywhere on the way to the data, dataset classes whose methods mention workers or
      shards, and init functions that access the dataset.
    - Loaders with one worker.
    - Ranks, where the class, what it is created with or what is set on it mentions a rank, a node, the number of a
      shard (`shards` alone are files) or a device; where Accelerate, Lightning or a Trainer runs the training; and
      where the stream is drawn at random.
    - A stream of generated data (nothing stored is iterated over), and an infinite one in random order.
    - Libraries that shard by themselves (Hugging Face's datasets, webdataset, torchdata).
    - Anything that cannot be followed, and what a stream collects from there.

References
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
"""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.rank_streams import SharedStream, shared_stream
from torchrepro_lint.program.workers.streams import WholeStream, whole_streams
from torchrepro_lint.rules.loader_rule import LoaderRule


class IterableDatasetNotSharded(LoaderRule):
    code = "TRL110"
    name = "iterable-dataset-not-sharded"
    summary = "every worker reads the whole of an IterableDataset, so each sample comes once per worker"
    seldom = "the program may give each process a part by other means"

    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        for loader in loaders:
            shared = shared_stream(program, loader)
            if shared is not None:
                return self._of_ranks(program, loader, shared)
            count = _workers(loader)
            if not loader.has_workers or count == 1:
                continue
            for stream in whole_streams(program, loader):
                return self._report(program, loader, stream, count)
        return None

    def _of_ranks(self, program: Program, loader: Loader, stream: SharedStream) -> Finding:
        name = stream.dataset.cls.name
        message = (
            f"`{name}.__iter__` splits the data by the worker and not by the rank, so every process of the training "
            "delivers all of it: each sample comes once for each rank"
        )
        made = stream.dataset.site
        trace = [Link(made, f"the dataset: {name}")] if made is not None else []
        trace.append(Link(stream.start, "the program runs in several processes"))
        return self.finding(program, loader.site, message, trace, seldom_matters=True)

    def _report(self, program: Program, loader: Loader, stream: WholeStream, count: int | None) -> Finding:
        made = stream.dataset.site
        trace = [*([Link(made, f"the dataset: {stream.dataset.cls.name}")] if made is not None else []), *stream.chain]
        times = f"{count} times" if count is not None else "once for each worker"
        message = (
            f"`{stream.dataset.cls.name}.__iter__` ignores `get_worker_info()`, so every worker delivers all of the "
            f"data: each sample comes {times}"
        )
        return self.finding(program, loader.site, message, trace)


def _workers(loader: Loader) -> int | None:
    """The number of workers, where it is proven."""
    values = loader.value("num_workers")
    if len(values) == 1:
        (value,) = values
        if isinstance(value, Constant) and isinstance(value.value, int):
            return int(value.value)
    return None
