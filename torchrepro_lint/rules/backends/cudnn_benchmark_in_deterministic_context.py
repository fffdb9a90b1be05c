"""TRL301 cudnn-benchmark-in-deterministic-context.

What it does
    Finds cuDNN's benchmark mode switched on (`torch.backends.cudnn.benchmark = True`, `cudnn.flags(benchmark=True)`,
    Lightning's `Trainer(benchmark=True)`) in a program that asks for determinism or seeds torch. The trace shows where
    it does so.

Why is this bad?
    In benchmark mode, cuDNN times several algorithms for each new shape and keeps the fastest. Which one wins can
    change from run to run, and the algorithms round differently, so the same seed no longer gives the same loss. Even
    with `cudnn.deterministic = True` it still chooses among the deterministic algorithms by timing.

Example
    ```python
    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = True
    ```

Use instead
    ```python
    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    ```

Since
    All versions of torch.

How it is proven
    `verify` shows that the switch is on when the program ends. That the algorithm is chosen by timing is documented;
    whether two runs differ depends on the GPU and its load.

Fix safety
    Safe: replaces the value by `False`, as the program's own request for repeatable runs requires. cuDNN then always
    uses the same one of these algorithms; the program may become slower.

Not reported
    - Programs that ask neither for determinism nor seed.
    - The branch of an `if` that is not the deterministic one (`if args.deterministic: ... else: cudnn.benchmark =
      True`).
    - A switch that is set back to `False` on the same path, or next to the request for determinism (`benchmark = True`,
      then `if args.deterministic: benchmark = False`).
    - A switch with an option of its own (`if args.benchmark:`), whose value is not proven.
    - A switch that is put back at the end of a region: in `__exit__`, in `tearDown`, in `finally`, or below the `yield`
      of a context manager.
    - Code that nothing calls.
    - A seed that only the tests set does not count for the code that they test, nor does one that a function draws for
      each sample or each pair of draws.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#cuda-convolution-benchmarking
    https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.benchmark
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.switch_fix import set_value_fix
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.switches.intent import Evidence
from torchrepro_lint.program.switches.intent_at import (
    intent_at,
    is_chosen_against,
    is_opposed,
    is_taken_back,
    not_heeded,
    ways_of,
)
from torchrepro_lint.rules.backends.switches import intent_link, switch_site
from torchrepro_lint.rules.base import Rule

_OPTION = re.compile("benchmark", re.IGNORECASE)


class CudnnBenchmarkInDeterministicContext(Rule):
    code = "TRL301"
    name = "cudnn-benchmark-in-deterministic-context"
    summary = "cuDNN's benchmark mode is on in a program that asks for determinism"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in program.asked_evidence():
            if one.effect != "benchmark" or not (one.roots and one.always) or is_chosen_against(program, one, _OPTION):
                continue
            places = ways_of(program, one)
            intent = not_heeded(program, one, intent_at(program, one.site.path, places), "benchmark-off")
            level = program.settings.intent or (intent[0].level if intent else None)
            if level is None or is_opposed(program, places, one) or is_taken_back(program, one, "benchmark-off"):
                continue
            yield self._report(program, one, intent, level)

    def _report(self, program: Program, one: Evidence, intent: list[Evidence], level: str) -> Finding:
        wish = "asks for determinism" if level == "deterministic" else "seeds torch"
        message = f"cuDNN benchmark mode picks algorithms by timing, in a program that {wish}: set it to False"
        site = switch_site(one)
        trace = [*(intent_link(other) for other in intent[:1]), Link(site, "switches benchmark mode on")]
        fix, declined = set_value_fix(program, one, "False")
        severity = Severity.ERROR if level == "deterministic" else Severity.WARNING
        return self.finding(program, site, message, trace, severity=severity, fix=fix, declined=declined)
