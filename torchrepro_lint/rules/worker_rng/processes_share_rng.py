"""TRL112 processes-share-rng.

What it does
    Finds processes that a program starts itself and that draw from the global generator of NumPy, torch or `random`,
    which nothing seeds there. They are started by `multiprocessing.Pool`, `ProcessPoolExecutor`, Pebble's pool,
    `process_map`, `Process` in a loop or a class of the project that derives from it, `map` and `filter` of Hugging
    Face's datasets with `num_proc`, `ParallelMapper` of torchdata with `method="process"`, or by Ray: `tune.run`,
    `tune.Tuner` and `TorchTrainer` with a function or a `Trainable` of the project. Only in the `strict` profile: on
    public repositories, five of thirteen findings were worth a change, though all were true.

Why is this bad?
    A process that is forked, as on Linux before Python 3.14, begins with a copy of its parent's state of NumPy and
    torch. All processes of a pool then draw the same numbers: a data set that is generated in four processes holds each
    sample up to four times, and episodes that eight processes collect are the same. A seed in the parent does not
    change that. From NumPy 2.0 on it takes a seed or a draw in the parent: until its first use NumPy has no state that
    could be copied. `random` seeds itself anew after a fork, and processes that are spawned, or that Ray starts, begin
    without a seed: their numbers differ in every run, whatever the program seeds.

Example
    ```python
    import multiprocessing

    import numpy as np
    import torch

    def create_sample(number):
        return np.random.uniform(size=4)

    if __name__ == "__main__":
        np.random.seed(0)
        with multiprocessing.get_context("fork").Pool(4) as pool:
            samples = pool.map(create_sample, range(1000))
        print(torch.tensor(np.stack(samples)).unique(dim=0).shape)
    ```

Use instead
    ```python
    import multiprocessing

    import numpy as np
    import torch

    def create_sample(seed):
        return np.random.default_rng(seed).uniform(size=4)

    if __name__ == "__main__":
        with multiprocessing.get_context("fork").Pool(4) as pool:
            samples = pool.map(create_sample, np.random.SeedSequence(0).spawn(1000))
        print(torch.tensor(np.stack(samples)).unique(dim=0).shape)
    ```
    A seed for each task, and not for each process: which process takes a task depends on the time that others take.

Since
    All versions of torch. `random` seeds itself after a fork since Python 3.7, and from Python 3.14 on the processes of
    Linux are not forked by default. Where nothing in sight seeds NumPy in the parent, the finding is a warning.

How it is proven
    `verify` shows the draws that repeat, and that runs differ.

Fix safety
    No fix: what makes the tasks has to give each a seed.

Not reported
    - Functions and initializers that seed the generator, with whatever number, or that call something by the name of a
      seed which cannot be followed.
    - Pools that are proven to have one process, and a `Process` that is started once.
    - Threads: they share the generators of the program.
    - Draws that decide no result: the length of a pause, the name of a file; and the first weights of a network, which
      are mostly replaced by others, except in what Ray runs, where models are trained. Dropout of a model that is in
      evaluation mode, or of a part that such a model was made from.
    - The first values of a tensor that is fitted (`torch.rand(n, requires_grad=True)`), as first weights are, and the
      first positions of a layout of NetworkX (`spring_layout`).
    - The workers of a `DataLoader` (TRL101), and `torch.multiprocessing.spawn` (TRL502).

Known limits
    Processes of `joblib`, `loky`, `pathos` and Dask are not looked at, nor are tasks and actors of Ray
    (`@ray.remote`).

References
    https://numpy.org/doc/stable/reference/random/parallel.html
    https://github.com/numpy/numpy/issues/9650
    https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
    https://docs.ray.io/en/latest/tune/faq.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.process_draws import ProcessDraw, process_draws
from torchrepro_lint.rules.base import Rule

_WORDS = {"numpy": "NumPy's global RNG", "torch": "torch's RNG", "python": "`random`"}


class ProcessesShareRng(Rule):
    code = "TRL112"
    name = "processes-share-rng"
    summary = "processes that the program starts draw from a global RNG which nothing seeds there"
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in process_draws(program):
            if not program.is_told(one.call.facts.path) or _begins_a_fit(one):
                continue
            draw = one.draw.event
            trace = [*draw.chain, Link(draw.site, f"draws from {_WORDS[one.rng]}: {draw.name}")]
            yield self.finding(
                program,
                one.call.site,
                _message(one),
                trace,
                severity=Severity.ERROR if one.is_copied and one.is_used_before else Severity.WARNING,
                about_control=not one.is_copied,
            )


def _begins_a_fit(one: ProcessDraw) -> bool:
    """Whether what is drawn is a tensor to be fitted: its first value, which is replaced as the weights of a network
    are.
    """
    given = one.draw.event.arguments.keyword("requires_grad")
    return given is not None and given[0] == {Constant(True)}


def _message(one: ProcessDraw) -> str:
    where = "the processes of this pool" if one.is_pool else "these processes"
    drawn = f"`{one.draw.event.name}`"
    if one.is_copied and one.is_used_before:
        return f"{where} are forked with one state of {_WORDS[one.rng]}, so all draw the same numbers ({drawn})"
    if one.is_copied:
        return f"{where} draw from NumPy unseeded ({drawn}): forked before NumPy 2.0, all draw the same numbers"
    return f"nothing seeds {_WORDS[one.rng]} in {where}, so each run draws other numbers ({drawn})"
