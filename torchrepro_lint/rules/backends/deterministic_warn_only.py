"""TRL304 deterministic-warn-only.

What it does
    Finds deterministic mode that only warns: `use_deterministic_algorithms(True, warn_only=True)`,
    `set_deterministic_debug_mode("warn")`, Lightning's `Trainer(deterministic="warn")`. Only in the `strict` profile.

Why is this bad?
    Operations without a deterministic kernel keep running nondeterministically, with a single warning. Moreover, two
    operations that have a deterministic kernel do not use it: the backward passes of flash attention and of
    memory-efficient attention are deterministic only if `warn_only` is off.

Example
    ```python
    import torch

    torch.use_deterministic_algorithms(True, warn_only=True)
    ```

Use instead
    ```python
    import os

    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

    import torch

    torch.use_deterministic_algorithms(True, warn_only=False)
    ```

Since
    torch 1.11.

How it is proven
    `verify` shows that the program ends with `warn_only` on. That attention depends on it is known from torch's source
    code.

Fix safety
    Unsafe: turns `warn_only` off. The program then raises where an operation has no deterministic kernel.

Not reported
    - Values that are not proven.
    - Helper functions that nothing calls.
    - Functions of libraries that always warn.
    - The branch for users who ask for warnings (`if mode == "warn":`).

References
    https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
    https://docs.pytorch.org/docs/stable/generated/torch.set_deterministic_debug_mode.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.switch_fix import set_value_fix
from torchrepro_lint.fixes.unsafe_reasons import ALWAYS
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import is_chosen_against
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.backends.switches import switch_site
from torchrepro_lint.rules.base import Rule

_OPTION: Final = function_words("says_warnings")


class DeterministicWarnOnly(Rule):
    code = "TRL304"
    name = "deterministic-warn-only"
    summary = "deterministic mode only warns, so operations stay nondeterministic"
    severity = Severity.WARNING
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in program.asked_evidence():
            strict = _strict_value(one)
            if one.effect != "algorithms-warn" or not one.roots or strict is None:
                continue
            if is_chosen_against(program, one, _OPTION):
                continue
            site = switch_site(one)
            fix, declined = set_value_fix(program, one, strict, ALWAYS[self.code])
            message = (
                f"`{one.name}` only warns here: nondeterministic operations still run, and attention does not use its "
                "deterministic backward pass"
            )
            yield self.finding(program, site, message, [Link(site, "only warns")], fix=fix, declined=declined)


def _strict_value(one: Evidence) -> str | None:
    """What to write for the value, where it is a constant that says "warn"."""
    value = next(iter(one.values)) if len(one.values) == 1 else None
    if not isinstance(value, Constant):
        return None
    if value.value == "warn" and one.name.endswith(".Trainer"):
        return "True"
    if value.value is True and "warn_only" not in _parameter(one) and not one.name.startswith("torch."):
        return None  # a library's function that has no other way
    if value.value is True:
        return "False"
    return {"int": "2", "str": '"error"'}.get(type(value.value).__name__)


def _parameter(one: Evidence) -> str:
    """The name of the parameter that is switched, as the call writes it."""
    args = getattr(one.node, "args", ())
    return next((arg.keyword or "warn_only" for arg in args if arg.value is one.value), "")
