"""TRL106 worker-init-fn-broken.

What it does
    Finds worker init functions that cannot work:
    - one that is called instead of passed: `worker_init_fn=seed_worker()` passes None, which torch silently accepts;
    - one that cannot be called with the worker id, or a class whose constructor does not accept it;
    - something that cannot be called at all (`worker_init_fn=generator`, `worker_init_fn=0`);
    - a seed outside NumPy's range (`np.random.seed(torch.initial_seed())`).

Why is this bad?
    If the function is called, it seeds the main process and leaves the workers unseeded. The others raise in the worker
    at the first batch: torch's seed has 64 bits, but NumPy accepts only 0 to 2**32 - 1.

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
        np.random.seed(torch.initial_seed())

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, worker_init_fn=seed_worker, generator=g)
    ```

Use instead
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
        np.random.seed(torch.initial_seed() % 2**32)

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, worker_init_fn=seed_worker, generator=g)
    ```

Since
    All versions of torch.

How it is proven
    `verify` on torch 2.13: the program raises, or its workers ignore the function.

Fix safety
    Safe: removes `()` if a function without arguments is called in the loader's own call, adds `% 2**32` to a seed that
    is out of range, and gives a function that lacks only the parameter for the worker id this parameter. Before, the
    function was not passed, or raised. The parameter is an unsafe fix if the function is also mentioned elsewhere than
    at loaders. A function that is called elsewhere, or takes other arguments, and something that is no function, are
    left to the author.

Not reported
    - A function that is called instead of passed, where all that the workers run is known and nothing of it draws:
      reported in the `strict` profile only.
    - A call that returns a function (a factory), a factory that explicitly returns None (`return None`), `partial` that
      leaves one argument free.
    - Bound methods, objects with `__call__`, decorated functions, and classes with bases that cannot be followed.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.fixes.init_fix import parameter_fix, passed_fix, range_fix
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ExternalObject, Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.workers.init_faults import Fault, draw_nothing, faulty_seedings
from torchrepro_lint.program.workers.init_shape import Misfit, called_init, misfit, not_callable
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.worker_rng.init_seed_rule import trace_of


class WorkerInitFnBroken(Rule):
    code = "TRL106"
    name = "worker-init-fn-broken"
    summary = "a worker init function is called instead of passed, cannot take the worker id, or raises"

    def check(self, program: Program) -> Iterator[Finding]:
        yield from self._called(program)
        yield from self._no_functions(program)
        yield from self._misfits(program)
        for found in faulty_seedings(program, Fault.RANGE):
            fix, declined = range_fix(program, found)
            message = f"`{found.run.name}` seeds NumPy with a 64-bit number, but NumPy accepts only 32 bits: ValueError"
            trace = trace_of(found, "the seed is out of range")
            yield self.finding(program, found.seeding.top, message, trace, fix=fix, declined=declined)

    def _called(self, program: Program) -> Iterator[Finding]:
        for loaders in program.asked_loader_sites():
            for loader in loaders:
                called = called_init(program.ev, loader) if loader.has_workers else None
                if called is None:
                    continue
                trace = []
                if called.function is not None:
                    site = Site(called.function.frame.facts.path, called.function.node.site)
                    trace.append(Link(site, f"{called.name} returns nothing"))
                fix, declined = passed_fix(program, loader, called)
                message = f"`{called.name}` is called here instead of passed, so `worker_init_fn` is None"
                seldom = all(draw_nothing(program, one) for one in loaders) and "the workers draw nothing"
                yield self.finding(
                    program, loader.site, message, trace, fix=fix, declined=declined, seldom_matters=seldom
                )
                break

    def _no_functions(self, program: Program) -> Iterator[Finding]:
        for loaders in program.asked_loader_sites():
            for loader in loaders:
                what = not_callable(loader.value("worker_init_fn")) if loader.has_workers else None
                if what is not None:
                    message = f"`worker_init_fn` is {what}, which cannot be called: every worker raises TypeError"
                    yield self.finding(program, loader.site, message, _where_it_is(loader, what))
                    break

    def _misfits(self, program: Program) -> Iterator[Finding]:
        found: dict[Misfit, list[Link]] = {}
        for loader in program.loaders:
            if not loader.has_workers:
                continue
            program.ev.begin_question()
            for value in ordered(loader.value("worker_init_fn")):
                wrong = misfit(program.ev, value)
                if wrong is not None:
                    link = Link(loader.site, "the loader whose workers call it")
                    links = found.setdefault(wrong, [])
                    if link not in links:
                        links.append(link)
        for wrong, links in found.items():
            message = f"`{wrong.name}` cannot be called with the worker id: it {wrong.reason}"
            fix, declined = parameter_fix(program, wrong)
            yield self.finding(program, wrong.site, message, links, fix=fix, declined=declined)


def _where_it_is(loader: Loader, what: str) -> list[Link]:
    """Where what is passed instead of a function is made, and where it is passed."""
    made = {value.site for value in loader.value("worker_init_fn") if isinstance(value, ExternalObject) and value.site}
    trace = [Link(site, f"makes {what}") for site in sorted(made, key=lambda one: (str(one.path), one.number))]
    written = written_argument(loader.call, Parameter("worker_init_fn"))
    if written is not None:
        trace.append(Link(Site(loader.facts.path, written.site), "passes it as `worker_init_fn`"))
    return trace
