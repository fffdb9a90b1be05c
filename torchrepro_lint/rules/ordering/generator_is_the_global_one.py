"""TRL204 generator-is-the-global-one.

What it does
    Finds `generator=torch.manual_seed(x)` and `generator=torch.default_generator`.

Why is this bad?
    `torch.manual_seed` returns torch's global generator, which everything else draws from too. So passing it does not
    keep the order apart from other draws, as a generator is meant to; and in passing it seeds the whole program anew.

Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.arange(16))
    loader = DataLoader(data, batch_size=4, shuffle=True, generator=torch.manual_seed(0))
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.arange(16))
    loader = DataLoader(data, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(0))
    ```

Since
    All versions that have `generator` arguments.

How it is proven
    `verify` shows that a draw between two epochs moves the order of the second, and does not once the generator is the
    loader's own.

Fix safety
    Safe: passes a generator with the same seed, so that the order is the one of that seed, whatever else draws. Where
    nothing else seeds torch, the call stays in a line above, and all other draws stay what they are.

Do not flag
    A parameter with the global generator as its default, as torch's own functions have: who calls the function decides.

References
    https://docs.pytorch.org/docs/stable/generated/torch.manual_seed.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.generator_fix import own_generator_fix
from torchrepro_lint.program.ordering.global_generators import GlobalGenerator, global_generators
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.ways import surely_before
from torchrepro_lint.program.switches.intent_at import ways_of
from torchrepro_lint.rules.base import Rule


class GeneratorIsTheGlobalOne(Rule):
    code = "TRL204"
    name = "generator-is-the-global-one"
    summary = "generator= is given torch's global generator: torch.manual_seed(..) or torch.default_generator"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        for one in global_generators(program):
            trace = [Link(one.use, "passed as the generator")] if one.use != one.made else []
            fix, declined = own_generator_fix(program, one.made, keep_seeding=not _is_seeded_elsewhere(program, one))
            yield self.finding(program, one.made, _message(one), trace, fix=fix, declined=declined)


def _message(one: GlobalGenerator) -> str:
    if one.by_seeding:
        return "torch.manual_seed() returns torch's global generator: as `generator` it keeps no order apart"
    return "torch.default_generator is torch's global generator: as `generator` it keeps no order apart"


def _is_seeded_elsewhere(program: Program, one: GlobalGenerator) -> bool:
    """Whether the program stays seeded without the call: another one surely seeds torch before it, and it is none of
    several by which a function seeds the whole program.
    """
    found = [seed for seed in program.evidence_in_programs_of(one.facts, one.frame) if seed.effect == "seed"]
    made = next((seed for seed in found if seed.site == one.made), None)
    if made is None:
        return any("torch" in seed.seeds for seed in found)
    if any(seed.frame.scope is made.frame.scope and "torch" not in seed.seeds for seed in found):
        return False
    others = [ways_of(program, seed) for seed in found if "torch" in seed.seeds and seed is not made]
    return all(
        any(surely_before(before, way) is not None for other in others for before in other)
        for way in ways_of(program, made)
    )
