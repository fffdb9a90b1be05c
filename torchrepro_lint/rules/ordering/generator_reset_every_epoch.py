"""TRL205 generator-reset-every-epoch.

What it does
    Finds the generator of a loader or sampler that is seeded with the same number in every epoch: in the epoch loop
    itself, in a function called from it, in a method that a framework calls again, or in the `__iter__` of a custom
    sampler. Updates of a model that an endless loop (`while True:`) runs count as epochs do.

Why is this bad?
    A generator that starts from the same seed gives the same order. Every epoch then has the same batches, and the
    workers draw the same augmentations for them: the loss goes down, and nothing shows that shuffling is broken.

Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.arange(16))
    for epoch in range(3):
        g = torch.Generator()
        g.manual_seed(0)
        for (batch,) in DataLoader(data, batch_size=4, shuffle=True, generator=g):
            print(batch)
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.arange(16))
    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(data, batch_size=4, shuffle=True, generator=g)
    for epoch in range(3):
        for (batch,) in loader:
            print(batch)
    ```

Since
    torch 1.6 (`DataLoader(generator=)`).

How it is proven
    `verify` shows that all epochs of the bad program deliver the same batches, and those of the good one do not.

Not reported
    - A seed that contains the epoch.
    - What is made when it is first needed, and then kept: `if self._loader is None: self._loader = ...`.
    - Loops of which each turn is a training of its own: it makes the model, or seeds torch with another number.
    - Loaders that do not shuffle and whose workers draw nothing, and loaders that are used for evaluation.
    - Workers that go on from one epoch to the next (`persistent_workers=True`).
    - Infinite samplers.
    - Generators that draw something else, such as the fixed noise of a sample that is drawn once per epoch to look at.

Known limits
    A seed that is the result of a call is assumed to change, unless it is `torch.initial_seed()`.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ordering.generator_uses import GeneratorUse, first_use
from torchrepro_lint.program.ordering.generators import Seeding, seedings
from torchrepro_lint.program.ordering.sampler_seeds import RepeatedOrder, repeated_orders
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.frequency import Repetition, going_on
from torchrepro_lint.program.programs.varying import varies_within
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.ways import ways
from torchrepro_lint.rules.base import Rule


class GeneratorResetEveryEpoch(Rule):
    code = "TRL205"
    name = "generator-reset-every-epoch"
    summary = "generator of a loader is seeded with the same number in every epoch: each epoch has the same order"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        yield from self._in_loops(program)
        for one in repeated_orders(program):
            if program.is_asked(one.seed.site.path):
                yield self._of_sampler(one, program)

    def _of_sampler(self, one: RepeatedOrder, program: Program) -> Finding:
        message = "the sampler seeds its generator with the same number in every epoch, so each has the same order"
        trace = [
            Link(one.loop.site, "runs once per epoch"),
            Link(one.loader.site, "makes the loader over the sampler"),
            Link(one.seed.site, "seeds the generator"),
            Link(one.draw.site, "draws the order from it"),
        ]
        return self.finding(program, one.seed.site, message, trace)

    def _in_loops(self, program: Program) -> Iterator[Finding]:
        for one in seedings(program):
            if one.method != "manual_seed" or one.seed is None or not one.made or not program.is_asked(one.site.path):
                continue
            program.ev.begin_question()
            use = first_use(program, one.made)
            run = _repeated(program, one) if use is not None else None
            if use is None or run is None:
                continue
            calls = [Link(_site(run, at), "is called") for at in range(run.index, 0, -1)]
            trace = [_loop(run), *calls, Link(one.site, "seeds the generator"), *_links(use)]
            yield self.finding(program, one.site, _message(use), trace)


def _message(use: GeneratorUse) -> str:
    first = "the generator is seeded with the same number in every epoch"
    if use.draw is None:
        return f"{first}, so each has the same order"
    return f"{first}, so the workers draw the same numbers in each"


def _links(use: GeneratorUse) -> list[Link]:
    if use.draw is None:
        return [Link(use.site, "draws its order from it")]
    return [Link(use.site, "draws the seed of its workers from it"), Link(use.draw, "draws in the workers")]


def _repeated(program: Program, one: Seeding) -> Repetition | None:
    """What repeats the seeding within one training, with a seed that stays."""
    assert one.seed is not None
    for way in ways(program.ev, one.facts, one.scope, one.call.site):
        found = going_on(program, way)
        if found is not None and not varies_within(program.ev, way, found.index, one.seed, given=found.loop is None):
            return found
    return None


def _loop(found: Repetition) -> Link:
    if found.loop is None:
        return Link(found.site, "is called again in each epoch")
    return Link(found.site, "runs once per epoch" if isinstance(found.loop, tree.For) else "runs again and again")


def _site(found: Repetition, index: int) -> Site:
    return Site(found.way[index].facts.path, found.way[index].site)
