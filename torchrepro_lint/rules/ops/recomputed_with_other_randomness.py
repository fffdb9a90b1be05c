"""TRL405 recomputed-with-other-randomness.

What it does
    Finds dropout in what activation checkpointing computes again in the backward pass without the random numbers of the
    forward pass: `checkpoint(..., preserve_rng_state=False)`, and an `autograd.Function` of the project that calls its
    function again in `backward` and does not restore the state of the generators. It is rare: none of more than three
    hundred public repositories had one that the default profile reports.

Why is this bad?
    The backward pass draws another mask. The gradients are those of another function than the one whose loss was
    computed: with enough dropout the training diverges. A run with checkpointing and one without also differ.

Example
    ```python
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.2))
    x = torch.rand(2, 4, requires_grad=True)
    checkpoint(block, x, use_reentrant=False, preserve_rng_state=False).sum().backward()
    ```

Use instead
    ```python
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.2))
    x = torch.rand(2, 4, requires_grad=True)
    checkpoint(block, x, use_reentrant=False).sum().backward()
    ```

Since
    `preserve_rng_state` is in torch 1.1 and later.

How it is proven
    The fixtures print the gradients: they differ from those of the same mask.

Fix safety
    Unsafe: passes `preserve_rng_state=True`. The gradients change. An `autograd.Function` of the project is not fixed:
    `torch.utils.checkpoint.checkpoint` can take its place.

Not reported
    - Functions that do not drop, or only with a probability of 0, and checkpointing that no caller in sight turns on.
    - Files that save and restore the state of a generator (`get_rng_state`, `fork_rng`).
    - Dropout whose probability is not known, as it comes from a configuration: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/checkpoint.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Fix
from torchrepro_lint.fixes.keyword_fix import keyword_fix
from torchrepro_lint.fixes.unsafe_reasons import ALWAYS
from torchrepro_lint.program.ops.recomputation import Recomputation, recomputations
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule

_MESSAGES = {
    "switched off": "`preserve_rng_state=False`: the backward pass computes this again with another dropout mask",
    "own": "the forward pass is computed again here with another dropout mask: no state of a generator is restored",
}


class RecomputedWithOtherRandomness(Rule):
    code = "TRL405"
    name = "recomputed-with-other-randomness"
    summary = "activation checkpointing computes dropout again with another mask"
    seldom = "whether the recomputed part draws is not certain"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in recomputations(program):
            fix, declined = _fix(program, one) if program.is_asked(one.site.path) else (None, None)
            trace = [*one.chain, Link(one.draw.site, "drops")]
            yield self.finding(
                program,
                one.site,
                _MESSAGES[one.kind],
                trace,
                fix=fix,
                declined=declined,
                seldom_matters=not one.is_sure,
            )


def _fix(program: Program, one: Recomputation) -> tuple[Fix | None, str | None]:
    if one.kind == "own":
        return None, "`torch.utils.checkpoint.checkpoint` restores the states, and can take the place of this class"
    fix, declined = keyword_fix(program, one.site, "preserve_rng_state", "True", position=1 << 30)
    return (fix.made_unsafe(ALWAYS["TRL405"]) if fix is not None else None), declined
