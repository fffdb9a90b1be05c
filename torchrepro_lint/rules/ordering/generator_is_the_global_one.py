"""TRL204 generator-is-the-global-one.

What it does
    Finds `generator=torch.manual_seed(x)` and `generator=torch.default_generator`.

Why is this bad?
    `torch.manual_seed` returns torch's global generator, which everything else draws from too. Passing it does not
    isolate the order from other draws, as a generator is meant to; and as a side effect it reseeds the whole program.

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
    `verify` shows that a draw between two epochs changes the order of the second one, and no longer does so when the
    loader has a generator of its own.

Fix safety
    Safe: passes a new generator with the same seed, so that the order depends on that seed alone. If nothing else seeds
    torch, the call is kept on a line above, so that all other draws stay the same.

Not reported
    A call that draws at once with `generator=torch.manual_seed(x)` written in it (`torch.randn`, `random_split`, the
    `__call__` of a pipeline): nothing draws in between, so the seed alone decides what it gets.

    A name in a function for such a generator, if all its uses draw at once there and nothing else in between may draw.

    A generator that a test makes, or a program that evaluates or makes pictures and trains nothing, where a seed is set
    for each of them: reported in the `strict` profile only.

    A draw that names `torch.default_generator`, which it would take without a name as well (`torch.rand(3,
    generator=torch.default_generator)`): often it is the one of two arms in which no seed is wanted. A split or a
    sampler that names it in a program that seeds torch repeats: reported in the `strict` profile only, as without the
    name (TRL202).

    A parameter that defaults to the global generator, as in torch's own functions: the callers of the function decide.

References
    https://docs.pytorch.org/docs/stable/generated/torch.manual_seed.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.generator_fix import own_generator_fix
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.ordering.global_generators import GlobalGenerator, global_generators
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import only_evaluates
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.ways import surely_before
from torchrepro_lint.program.seeds.torch_seeds import seedings_around
from torchrepro_lint.rules.base import Rule

_NAMED = "the program seeds torch, and would take this generator without a name, too"


class GeneratorIsTheGlobalOne(Rule):
    code = "TRL204"
    name = "generator-is-the-global-one"
    summary = "torch's global generator is passed as generator=: torch.manual_seed(..) or torch.default_generator"
    seldom = "the program only evaluates or makes pictures"
    severity = Severity.WARNING
    is_strict_in_tests = True

    def check(self, program: Program) -> Iterator[Finding]:
        for one in global_generators(program):
            trace = [Link(one.use, "passed as the generator")] if one.use != one.made else []
            fix, declined = own_generator_fix(program, one.made, keep_seeding=not _is_seeded_elsewhere(program, one))
            yield self.finding(
                program,
                one.made,
                _message(one),
                trace,
                fix=fix,
                declined=declined,
                seldom_matters=only_evaluates(program, one.made) or (_repeats(program, one) and _NAMED),
            )


def _message(one: GlobalGenerator) -> str:
    what = "`torch.manual_seed()` returns" if one.by_seeding else "`torch.default_generator` is"
    return f"{what} torch's global generator: passed as `generator`, it is changed by every other random draw"


def _repeats(program: Program, one: GlobalGenerator) -> bool:
    """Whether the generator is named that would be taken without a name as well, in a program that seeds torch."""
    seeds = seedings_around(program, one.frame.facts, one.frame.scope)
    return not one.by_seeding and any("torch" in seed.seeds for seed in seeds)


def _is_seeded_elsewhere(program: Program, one: GlobalGenerator) -> bool:
    """Whether the program stays seeded without the call: another one surely seeds torch before it, and it is none of
    several by which a function seeds the whole program.
    """
    found = [seed for seed in program.evidence_in_programs_of(one.frame) if seed.effect == "seed"]
    made = next((seed for seed in found if seed.site == one.made), None)
    if made is None:
        return False
    if any(seed.frame.scope is made.frame.scope and "torch" not in seed.seeds for seed in found):
        return False
    others = [ways_of(program, seed) for seed in found if "torch" in seed.seeds and seed is not made]
    return all(
        any(surely_before(before, way) is not None for other in others for before in other)
        for way in ways_of(program, made)
    )
