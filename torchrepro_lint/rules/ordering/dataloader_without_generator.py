"""TRL201 dataloader-without-generator.

What it does
    Finds DataLoaders that take their order, or the seeds of their workers, from torch's global random number generator
    because no `generator` is passed: `shuffle` is true or not provably false, or there are workers whose code draws
    random numbers.

Why is this bad?
    The global generator is shared with everything else that draws: one more `torch.rand`, another initialisation, an
    evaluation pass more or less, and every later epoch comes in another order. Where nothing seeds torch, the order
    differs in every run. A generator of the loader's own makes its order a function of its seed alone.

Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.arange(16)), batch_size=4, shuffle=True)
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.arange(16)), batch_size=4, shuffle=True, generator=g)
    ```

Since
    torch 1.6 (`DataLoader(generator=)`).

How it is proven
    `verify` shows that the order of the bad program differs between runs, and that of the fixed one does not. Measured
    on 2.13: one stray `torch.rand` between two epochs changes the order of the second without a generator, and does
    not with one.

Fix safety
    Safe: makes a generator once, outside the epoch loop, seeded with the program's own seed, and passes it. The order
    changes once, when the fix is applied. Beside the `**kwargs` of a function it is made where no caller in the project
    passes a generator; one elsewhere who does would get a TypeError.

Do not flag
    `shuffle=False` with nothing random in the workers; a `sampler` or `batch_sampler` that is given on every way (the
    loader's generator does not reach it: that is TRL202) unless worker code draws and nothing seeds torch; workers that
    seed themselves from the system (TRL503), or each item from its index; what a dataset draws that only a test has;
    frameworks that seed the sampler themselves (Hugging Face's Trainer, accelerate); what stands in `except TypeError`
    for the same call with a generator, which torch before 1.6 did not take.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.loader_fix import loader_fix
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.fallbacks import stands_in_for
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.global_draws import brings_a_sampler, first_draw, shuffles_itself
from torchrepro_lint.program.workers.loaders import Loader
from torchrepro_lint.program.workers.managers import managing
from torchrepro_lint.program.workers.seeding import has_generator, may_be_seeded
from torchrepro_lint.program.workers.workers import Effect
from torchrepro_lint.rules.loader_rule import LoaderRule


class DataLoaderWithoutGenerator(LoaderRule):
    code = "TRL201"
    name = "dataloader-without-generator"
    summary = "DataLoader takes its order or its workers' seeds from torch's global RNG: no generator is passed"
    severity = Severity.WARNING

    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        for loader in loaders:
            if not loader.known.takes_generator or has_generator(loader) or not loader.may_lack("generator"):
                continue
            shuffles = shuffles_itself(program, loader)
            draw = first_draw(program, loader) if not shuffles else None
            if not shuffles and draw is None:
                continue
            if not shuffles and brings_a_sampler(loader) and may_be_seeded(program, loader):
                continue
            if any(manager.order for manager, _ in managing(program, loader)):
                continue
            if stands_in_for(parents_of(program.ev, loader.facts), loader.call, "generator"):
                continue
            fix, declined = loader_fix(program, loader, init=False, generator=True)
            message = _message(draw)
            trace = [*draw.event.chain, Link(draw.event.site, f"draws: {draw.event.name}")] if draw is not None else []
            return self.finding(program, loader.site, message, trace, fix=fix, declined=declined)
        return None


def _message(draw: Effect | None) -> str:
    if draw is not None:
        drawing = f"which draw random numbers ({draw.event.name})"
        return f"no `generator`: the seeds of the workers, {drawing}, come from torch's global RNG"
    return "no `generator`: the shuffled order comes from torch's global RNG, and any other draw changes it"
