"""TRL107 generator-held-by-dataset.

What it does
    Finds generator objects (`numpy.random.Generator`, `RandomState`, `random.Random`, `torch.Generator`) that are
    created in the main process (in `__init__`, at class or module level) and that code in DataLoader workers draws
    from. There is one finding for each generator, at its first draw; the trace shows where it is created and how the
    workers reach it.

Why is this bad?
    Every worker gets a copy of the object, and all copies have the same state: the workers draw the same numbers. The
    workers of the next epoch get copies of the same object again, so every epoch repeats the first. Neither torch nor
    the recommended `seed_worker` affects such an object, since both only seed the global generators. With
    `persistent_workers=True` the copies live on, but the workers still repeat each other. In addition, a
    `torch.Generator` on the dataset keeps spawn and forkserver workers from starting, because it cannot be pickled.

Example
    ```python
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(0)

        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + self.rng.normal()

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, generator=g)
    ```

Use instead
    ```python
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset, get_worker_info

    class Noisy(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(0)

        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + self.rng.normal()

    def seed_worker(worker_id):
        info = get_worker_info()
        info.dataset.rng = np.random.default_rng(info.seed)

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, worker_init_fn=seed_worker, generator=g)
    ```

Since
    All versions of torch; measured on 2.13. ruff's NPY002 recommends replacing the global functions, which torch seeds
    since 1.9, by such objects, which it does not seed.

How it is proven
    `verify` observes that the workers of the bad program deliver equal batches, and that every epoch repeats the one
    before.

Fix safety
    Unsafe: the generator is seeded at the end of the worker init function, through `get_worker_info().dataset` or as a
    global, and the loader gets a seeded `generator` if nothing seeds torch. This changes what is drawn, and relies on
    the worker's dataset being the one that the tool sees. A NumPy `Generator` cannot be reseeded and is replaced; other
    names for the old object keep it. There is no fix if no chain of attributes leads from the dataset to the generator,
    or if the worker init function is used for other datasets too.

Not reported
    - Generators that worker code creates or seeds itself (on first use, by process or worker id, in `__iter__`).
    - An init function that accesses the dataset through `get_worker_info()`, or that is a method of the dataset.
    - MONAI's loader, which seeds its `Randomizable` objects.
    - Draws in samplers and other code of the main process.
    - A separate generator for each worker.
    - A loader with one worker over which a single loop or iterator goes, once in a run: nothing else has a copy.
    - A stream that shards itself and shuffles with the generator, since its workers must agree on the order.

Known limits
    Anything that an init function does to `get_worker_info().dataset` is assumed to reseed it.

References
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
    https://numpy.org/doc/stable/reference/random/parallel.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.reseed_fix import reseed_held_fix
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.reach import Link, shown
from torchrepro_lint.program.workers.held_generators import (
    HeldGenerator,
    generator_expression,
    held_generators,
    starts_again_in_every_epoch,
)
from torchrepro_lint.program.workers.single_worker import has_one_worker, is_gone_over_once
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.worker_rng.faults import Fault, Faults


class GeneratorHeldByDataset(Rule):
    code = "TRL107"
    name = "generator-held-by-dataset"
    summary = "DataLoader workers draw from copies of one generator object, all in the same state"

    def check(self, program: Program) -> Iterator[Finding]:
        faults = Faults[HeldGenerator]()
        holders = {loader: held_generators(program, loader) for loader in program.loaders if loader.has_workers}
        for loader, copied in holders.items():
            if copied and has_one_worker(loader) and is_gone_over_once(program, loader):
                continue
            for held in copied:
                faults.add(held, loader, (*held.made, *(event.site for event in held.draws)))
        for fault in faults:
            if program.is_told(fault.what.draws[0].site.path):
                yield self._report(program, fault, holders)

    def _report(
        self, program: Program, fault: Fault[HeldGenerator], holders: Mapping[Loader, Sequence[HeldGenerator]]
    ) -> Finding:
        held, loader = fault.what, fault.loader
        first, *others = held.draws
        made = [Link(site, f"creates the {held.type}") for site in held.made]
        draws = [Link(event.site, "draws from it as well") for event in others]
        head = Link(loader.site, "each worker of this loader gets a copy")
        cannot_start = held.type == "torch.Generator" and _where(program, held.made[0]) != "at module level"
        rest = [Link(site, "another loader with such workers") for site in fault.others]
        if cannot_start:
            rest.append(Link(held.made[0], "cannot be sent to workers that are started by spawn or forkserver"))
        trace = [head, *made, *first.chain, Link(first.site, "draws from the copy"), *draws, *rest]
        fix, declined = reseed_held_fix(program, held, holders)
        message = _message(program, loader, held)
        return self.finding(program, first.site, message, trace, fix=fix, declined=declined)


def _message(program: Program, loader: Loader, held: HeldGenerator) -> str:
    expression = generator_expression(held.draws[0])
    name = f"`{shown(expression)}`" if expression is not None else "this generator"
    where = _where(program, held.made[0])
    repeats = "all workers draw the same numbers from it"
    if starts_again_in_every_epoch(program, loader, held):
        repeats += ", again in every epoch"
    return f"{name}, a {held.type} made {where}, is copied into each worker: {repeats}"


def _where(program: Program, site: Site) -> str:
    place = place_of(program.ev, site)
    node = place.scope.node if place is not None else None
    match node:
        case None:
            return "at module level"
        case tree.ClassDef():
            return "at class level"
        case tree.FunctionDef(name=name):
            return f"in `{name}`"
    return "in the main process"
