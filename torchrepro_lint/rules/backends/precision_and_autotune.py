"""TRL306 precision-and-autotune.

What it does
    Finds TF32 switched on (`allow_tf32 = True`, `fp32_precision = "tf32"`, `set_float32_matmul_precision("high")`) and
    `torch.compile(mode="max-autotune")` in a program that asks for determinism; and, in a program that seeds torch,
    networks that draw, by dropout or in their own `forward`, and that an option compiles (`if args.compile:`). Only in
    the `strict` profile: in more than a hundred public repositories it reported nine lines, all of them right, and
    about TF32, so that how often the last is worth a change is not known.

Why is this bad?
    TF32 keeps ten bits of the mantissa on GPUs that support it, and all bits on others, so the same program gives
    different results on another generation of GPUs. Autotuning chooses kernels by timing, and different kernels round
    differently. Compiled code makes its random numbers in another way than eager code. Each repeats itself, but with
    and without the option the same seed gives other masks, and another loss.

Example
    ```python
    import torch

    torch.backends.cudnn.deterministic = True
    torch.backends.cuda.matmul.allow_tf32 = True
    ```

Use instead
    ```python
    import torch

    torch.backends.cudnn.deterministic = True
    torch.backends.cuda.matmul.allow_tf32 = False
    ```

Since
    torch 1.7 for TF32, 2.0 for `torch.compile`, 2.9 for `fp32_precision`.

How it is proven
    From the documentation. `verify` shows that the switch is on when the program ends.

Fix safety
    No fix: results with TF32 are repeatable on one kind of GPU, and whether to use it is a question of speed. So is
    `torch._inductor.config.fallback_random`, with which compiled code draws as eager code does.

Not reported
    - Programs that do not ask for determinism.
    - Values that are not proven, and helper functions that nothing calls.
    - Programs that always compile, or where the machine decides (`if hasattr(torch, "compile"):`).
    - Projects that set `fallback_random`, and what is drawn outside of the network that is compiled.
    - A switch that is set for a region: its value is saved before and given back after, or put back where the region
      ends (in `__exit__`, `tearDown`, `finally`, or below the `yield` of a context manager).

References
    https://docs.pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices
    https://docs.pytorch.org/docs/stable/generated/torch.compile.html
    https://github.com/pytorch/pytorch/issues/118735
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.intent.intent_at import intent_at, is_opposed, ways_of
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.compiled_draws import compiled_draws
from torchrepro_lint.rules.backends.switches import intent_link, switch_site
from torchrepro_lint.rules.base import Rule

_WHY = {
    "precision": "matrix products are rounded differently on other GPUs",
    "autotune": "kernels are chosen by timing, and may differ in the next run",
}


_FALL_BACK = "`torch._inductor.config.fallback_random = True` draws as eager code does, and is slower"


class PrecisionAndAutotune(Rule):
    code = "TRL306"
    name = "precision-and-autotune"
    summary = "TF32 or autotuning in a program that asks for determinism, or draws that an option compiles"
    severity = Severity.WARNING
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in program.asked_evidence():
            if one.effect not in _WHY or not (one.roots and one.always):
                continue
            places = ways_of(program, one)
            intent = [other for other in intent_at(program, one.site.path, places) if other.level == "deterministic"]
            forced = program.settings.intent == "deterministic"
            if (not intent and not forced) or is_opposed(program, places, one):
                continue
            site = switch_site(one)
            trace = [*(intent_link(other) for other in intent[:1]), Link(site, "switches it on")]
            message = f"{one.name}: {_WHY[one.effect]}, in a program that asks for determinism"
            yield self.finding(program, site, message, trace)
        for drawn in compiled_draws(program):
            trace = [
                Link(drawn.seed.site, f"seeds: {drawn.seed.name}"),
                Link(drawn.compile, "compiles it where an option says so"),
                *drawn.draw.chain,
                Link(drawn.draw.site, f"draws: {drawn.draw.name}"),
            ]
            what = f"`{drawn.draw.name}`" if drawn.is_own else "dropout"
            message = f"with the same seed, compiled code draws other numbers for {what} than eager code does"
            yield self.finding(program, drawn.compile, message, trace, declined=_FALL_BACK)
