"""TRL504 seed-after-randomness.

What it does
    Follows each program from where it starts, and finds what it builds or draws before the first call that seeds the
    generator: a model whose first weights are drawn, noise, a shuffled list. The trace shows both ways.

Why is this bad?
    The seed reaches only what comes after it. A model that is built first has other weights in every run, although the
    program seeds, and nothing in the results tells why they differ.

Example
    ```python
    import torch
    from torch import nn

    model = nn.Linear(4, 2)
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(model(torch.ones(1, 4)))
    ```

Use instead
    ```python
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(model(torch.ones(1, 4)))
    ```

Since
    All versions of torch.

How it is proven
    `verify` shows that two runs of the bad program differ, and that those of the repaired one agree.

Fix safety
    No fix: the call has to move above what it should reach, and its seed must be known there.

Do not flag
    Models that are built to be loaded with trained weights only (no optimizer in the program); splits and samplers
    (TRL202, TRL209); draws that no result hangs on; arms of an `if` that do not run together with the seed; programs in
    which something that cannot be followed may have seeded before.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.late_seeds import LateSeed, late_seeds
from torchrepro_lint.rules.base import Rule


class SeedAfterRandomness(Rule):
    code = "TRL504"
    name = "seed-after-randomness"
    summary = "A model is built, or a number drawn, before the first call that seeds"

    def check(self, program: Program) -> Iterator[Finding]:
        for late in late_seeds(program):
            yield self.finding(program, late.site, _message(late), _trace(late))


def _message(late: LateSeed) -> str:
    if late.built is not None:
        what = f"`{late.built}` is built, with weights drawn by `{late.early.name}`,"
    elif late.early.name.startswith(("torch.nn.", "torchvision.")):
        what = f"`{late.early.name}` draws its first weights"
    else:
        what = f"`{late.early.name}` draws"
    return f"{what} before `{late.seed.name}` seeds the program: no seed reaches it"


def _trace(late: LateSeed) -> list[Link]:
    return [
        Link(late.run.entry.site, "the program starts"),
        *late.early.chain,
        Link(late.early.site, f"draws: {late.early.name}"),
        *late.seed.chain,
        Link(late.seed.site, f"only then seeds: {late.seed.name}"),
    ]
