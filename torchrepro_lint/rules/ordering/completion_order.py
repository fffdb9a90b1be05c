"""TRL213 completion-order.

What it does
    Finds results that are taken in the order in which their jobs are done (`pool.imap_unordered`, `as_completed`, the
    `get` of a queue that several threads or processes fill) if that order decides the samples of a data set, a split, a
    shuffle, or which number a class or a word gets. Also finds loaders with workers and `in_order=False`, and sums of
    numbers with a point that are added up in that order.

    Only in the `strict` profile: on public repositories, 14 of 16 findings were worth a change, though all were true.

Why is this bad?
    Which process or thread is done first depends on the load of the machine. The list of results has another order in
    every run, so that a seeded shuffle or split gives other samples, and numbers by position mean something else.

Example
    ```python
    from multiprocessing import Pool

    import torch
    from torch.utils.data import DataLoader, TensorDataset

    def load(number):
        return torch.full((3,), float(number))

    if __name__ == "__main__":
        torch.manual_seed(0)
        with Pool(4) as pool:
            samples = torch.stack(list(pool.imap_unordered(load, range(24))))
        print(next(iter(DataLoader(TensorDataset(samples), batch_size=6))))
    ```

Use instead
    ```python
    from multiprocessing import Pool

    import torch
    from torch.utils.data import DataLoader, TensorDataset

    def load(number):
        return torch.full((3,), float(number))

    if __name__ == "__main__":
        torch.manual_seed(0)
        with Pool(4) as pool:
            samples = torch.stack(list(pool.imap(load, range(24))))
        print(next(iter(DataLoader(TensorDataset(samples), batch_size=6))))
    ```

Since
    All versions of torch.

How it is proven
    `verify` runs programs whose jobs take differently long, and shows that what they print differs between runs.

Fix safety
    Safe: writes `imap` for `imap_unordered`, which gives the same results in the order of the arguments. There is no
    fix for `as_completed`: go through the futures in the order in which they were submitted, or sort by their number;
    nor for queues: let each worker put the number of its job beside the result, and sort by it.

Not reported
    - Results that are sorted, put away under a key or a number of their own, counted or only waited for.
    - Results that are not seen to reach any of the uses above, such as those that are written to files.
    - Queues that one worker fills, as one that reads ahead, or several that run one after the other; that hold jobs, or
      what only some may use at once; and into which nothing but constants is put, to say that a worker is done.

Known limits
    Sums that begin as a whole number, or in another function, are not found; nor are queues of `asyncio`, and those out
    of which no loop takes the results.

References
    https://docs.python.org/3/library/multiprocessing.html#multiprocessing.pool.Pool.imap_unordered
    https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.as_completed
    https://github.com/openclimatefix-archives/nwp/pull/25
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.order_fix import in_order_fix
from torchrepro_lint.program.orders.completions import completion_orders
from torchrepro_lint.program.orders.unordered_results import completion_sums, unordered_loaders
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule

_DECIDES = {
    "samples": "the order of the samples",
    "split": "a split, a shuffle or a random choice",
    "index": "the numbers of the classes or items",
    "position": "what is looked up by position",
}


class CompletionOrderDecides(Rule):
    code = "TRL213"
    name = "completion-order"
    summary = "results in the order in which they are done decide samples, a split or numbers"
    severity = Severity.WARNING
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in completion_orders(program):
            message = f"`{last_part(one.call.name)}` gives first what is done first, which differs between runs, and"
            yield self._finding(program, one.call, f"{message} decides {_DECIDES[one.sink.kind]}", one.sink.chain)
        for call in unordered_loaders(program):
            message = "with `in_order=False` the batches come as workers finish them, in another order in every run"
            yield self.finding(program, call.site, message)
        for call, added in completion_sums(program):
            message = f"`{last_part(call.name)}` gives first what is done first: the last digits of this sum differ"
            yield self._finding(program, call, f"{message} between runs", [Link(added, "adds up what is done")])

    def _finding(self, program: Program, call: KnownCall, message: str, trace: Sequence[Link]) -> Finding:
        fix, declined = in_order_fix(program, call)
        return self.finding(program, call.site, message, trace, fix=fix, declined=declined)
