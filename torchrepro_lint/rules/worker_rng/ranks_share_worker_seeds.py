"""TRL111 ranks-share-worker-seeds.

What it does
    Finds DataLoaders of distributed programs whose workers draw random numbers, if every rank seeds torch with the same
    value, and the first draw of a function of torch in the steps of such a training (`torch.randn_like(x)`), also where
    the network itself draws. Only in the `strict` profile: of eight such draws in public repositories about five were
    worth a change.

Why is this bad?
    The seeds of the workers come from torch's seed. If all ranks have the same seed, worker 0 of each rank draws the
    same numbers as worker 0 of every other rank: the ranks apply the same augmentations to different samples, and the
    effective variety of a batch shrinks with the number of ranks. In the same way all ranks of a diffusion model draw
    the same noise and time steps. This is a matter of degree, and many programs live with it.

Example
    ```python
    import random

    import torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader, Dataset, DistributedSampler

    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + random.random()

    def main():
        dist.init_process_group("gloo")
        torch.manual_seed(0)
        dataset = Noisy()
        loader = DataLoader(dataset, sampler=DistributedSampler(dataset), num_workers=2)
        for batch in loader:
            print(batch)

    if __name__ == "__main__":
        main()
    ```

Use instead
    ```python
    import random

    import torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader, Dataset, DistributedSampler

    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + random.random()

    def main():
        dist.init_process_group("gloo")
        torch.manual_seed(0)
        g = torch.Generator()
        g.manual_seed(dist.get_rank())
        dataset = Noisy()
        loader = DataLoader(dataset, sampler=DistributedSampler(dataset), num_workers=2, generator=g)
        for batch in loader:
            print(batch)

    if __name__ == "__main__":
        main()
    ```
    The sampler keeps a seed of its own, which must be equal on all ranks.

Since
    All versions of torch with torch.distributed.

How it is proven
    From torch's source code: the base seed of the workers is drawn from torch's generator
    (torch/utils/data/dataloader.py). `verify` cannot run several ranks.

Fix safety
    Unsafe: adds the rank to the seed of the loader's generator, or passes a generator with the rank in its seed. The
    augmentations change, and the rank is queried where the process group may not be initialized yet. A generator that a
    split or a sampler uses too is left as it is, and the loader gets a separate one.

Not reported
    - Programs in which the rank is part of a seed of torch, of the generator's seed, or of the init function's seed.
    - Workers that draw nothing.
    - Layers that draw themselves, such as dropout, permutations, and what is drawn once, as the weights of a model.
    - Loaders without a sampler, which may exist on one rank only.
    - A seed that is set before the ranks are spawned, drawn at random, or computed in code that cannot be followed.
    - Init functions that draw their seeds.
    - Frameworks that include the rank (Lightning with `seed_everything(workers=True)`, Hugging Face's Trainer).

References
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
    https://github.com/pytorch/pytorch/issues/5059
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.rank_fix import rank_fix
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.rank_draws import shared_draws
from torchrepro_lint.program.seeds.rank_seeds import init_decides, shared_seed
from torchrepro_lint.program.workers.managers import managing
from torchrepro_lint.program.workers.ranks import distributed_start
from torchrepro_lint.rules.loader_rule import LoaderRule

_FROM_BASE_SEED = ("torch", "python", "numpy")


class RanksShareWorkerSeeds(LoaderRule):
    code = "TRL111"
    name = "ranks-share-worker-seeds"
    summary = "every rank seeds torch alike, so the workers of all ranks draw the same numbers"
    severity = Severity.WARNING
    profile: ClassVar[Literal["default", "strict"]] = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        yield from super().check(program)
        for one in shared_draws(program):
            event = one.draw.event
            trace = _trace(one.start, one.seed.site, one.draw)
            message = f"every rank has the same seed, so all ranks draw the same numbers in each step (`{event.name}`)"
            yield self.finding(program, event.site, message, trace, declined=_ADD_THE_RANK)

    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        for loader in loaders:
            if not loader.has_workers:
                continue
            if loader.lacks("sampler") and loader.lacks("batch_sampler"):
                continue  # the ranks do not share its samples out: it may be there for one of them alone
            start = distributed_start(program, loader)
            draw = _first_draw(program, loader) if start is not None else None
            if start is None or draw is None:
                continue
            if init_decides(program, loader, draw.rngs):
                continue
            if any(manager.workers for manager, _ in managing(program, loader)):
                continue
            seed = shared_seed(program, loader)
            if seed is not None:
                trace = _trace(start, seed, draw)
                fix, declined = rank_fix(program, loader, seed)
                message = _MESSAGE.format(draw.event.name)
                return self.finding(program, loader.site, message, trace, fix=fix, declined=declined)
        return None


_ADD_THE_RANK = (
    "add the rank to the seed of torch once the model is made, or draw from a generator with the rank in its seed"
)
_MESSAGE = (
    "every rank has the same seed, so the workers of all ranks draw the same numbers (`{}`): add the rank to the seed "
    "of the `generator`"
)


def _trace(start: Site, seed: Site, draw: Effect) -> list[Link]:
    return [
        Link(start, "makes it one of several ranks"),
        Link(seed, "the seed is the same on every rank"),
        *draw.event.chain,
        Link(draw.event.site, f"draws: {draw.event.name}"),
    ]


def _first_draw(program: Program, loader: Loader) -> Effect | None:
    run = program.worker_run(loader)
    return next((draw for rng in _FROM_BASE_SEED for draw in run.draws_from(rng)[:1]), None)
