"""TRL501 unseeded-entry-point.

What it does
    Finds programs (a `__main__` guard, a console script, a script with code at module level) that draw random numbers,
    through the weights of a model, a loader, NumPy or `random`, and seed nothing. Only in the `strict` profile.

Why is this bad?
    No run of such a program can be repeated, whether to reproduce a result or to debug a failure.

Example
    ```python
    import torch
    from torch import nn

    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(model(torch.ones(1, 4)))
    ```

Use instead
    ```python
    import torch
    from torch import nn

    torch.manual_seed(0)

    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(model(torch.ones(1, 4)))
    ```

Since
    All versions of torch.

How it is proven
    `verify` shows that two runs of the bad program differ, and that those of the fixed one agree.

Fix safety
    Unsafe: seeds at the top of the file, below the imports, where it also affects those who import the file. A command
    line option for the seed is often better.

Not reported
    - Modules that only contain definitions, tests, demonstrations and benchmarks.
    - Programs that load trained weights and draw nothing else.
    - Programs whose framework or configuration seeds, or that call a seeding helper which cannot be followed.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.entry_fix import seeding_block_fix
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.chains import branches
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.unseeded import UnseededProgram, unseeded_programs
from torchrepro_lint.rules.base import Rule

_WORDS = {"python": "`random`", "numpy": "NumPy", "torch": "torch"}


class UnseededEntryPoint(Rule):
    code = "TRL501"
    name = "unseeded-entry-point"
    summary = "a program draws random numbers and seeds nothing"
    severity = Severity.WARNING
    profile: ClassVar[Literal["default", "strict"]] = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for found in unseeded_programs(program):
            fix, declined = seeding_block_fix(program, found)
            yield self.finding(program, found.site, _message(found), _trace(found), fix=fix, declined=declined)


def _message(found: UnseededProgram) -> str:
    names = [f"{_WORDS[rng]} (`{draw.event.name}`)" for rng, draw, _ in found.draws]
    return f"the program that starts here seeds nothing, and draws from {' and '.join(names)}"


def _trace(found: UnseededProgram) -> list[Link]:
    return branches(
        *(
            (*chain, Link(draw.event.site, f"draws from {_WORDS[rng]}: {draw.event.name}"))
            for rng, draw, chain in found.draws
        )
    )
