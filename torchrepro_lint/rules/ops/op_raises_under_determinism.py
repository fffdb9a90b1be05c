"""TRL401 op-raises-under-determinism.

What it does
    Finds operations that have no deterministic CUDA kernel at the torch version in use, in a program that calls
    `torch.use_deterministic_algorithms(True)`: forward, or in the backward pass of what is trained.

Why is this bad?
    The operation raises a RuntimeError as soon as it runs on the GPU; where the backward pass raises, it does so in the
    first training step, far from the line that is to blame. On the CPU the same code works, so tests do not show it.

Example
    ```python
    import torch

    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    labels = torch.tensor([0, 1, 1], device=device)
    print(torch.bincount(labels, weights=torch.ones(3, device=device)))
    ```

Use instead
    ```python
    import torch

    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    labels = torch.tensor([0, 1, 1], device=device)
    one_hot = torch.nn.functional.one_hot(labels).to(torch.float32)
    print(torch.ones(3, device=device) @ one_hot)
    ```

Since
    torch 1.7. Which operation raises, and since when, is said by the finding: it holds for the newest release that the
    project's requirements admit, or for the newest one that is known.

How it is proven
    The table of operations comes from the alerts in torch's CUDA libraries, release by release, and from torch's own
    documentation; `verify` runs the fixtures on a GPU and waits for the error.

Fix safety
    No fix: the message names an alternative.

Do not flag
    `warn_only=True`; code between `use_deterministic_algorithms(False)` and `(True)`, and modules that are called there
    alone, wherever they are built; programs that never speak of a GPU and tensors that are proven to stay on the CPU;
    backward passes that do not happen (`torch.no_grad()`, data that needs no gradient); methods of the same name on
    what is no tensor; conditions on a shape or a kernel that the text does not prove; functions and classes for which
    no program that sets the flag has a name.

References
    https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.program.ops.op_runs import flag_is_off
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.switches.intent import Evidence
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.ops.candidates import OTHERS_SPEAK, candidates, releases, when_it_runs


class OpRaisesUnderDeterminism(Rule):
    code = "TRL401"
    name = "op-raises-under-determinism"
    summary = "an operation without a deterministic CUDA kernel, under use_deterministic_algorithms(True)"

    def check(self, program: Program) -> Iterator[Finding]:
        for operation, row, intent in candidates(program, _is_wanted, _speaks_of, flag="raise"):
            if not flag_is_off(program, operation):
                yield self._report(program, operation, row, intent[0])

    def _report(self, program: Program, operation: Operation, row: OpRow, switch: Evidence) -> Finding:
        device = "on every device" if row.device == "any" else "on CUDA"
        message = (
            f"{operation.short} raises RuntimeError {device} {when_it_runs(row)} under "
            f"use_deterministic_algorithms(True), {releases(row)}; instead: {row.alternative}"
        )
        trace = [
            Link(switch.site, f"asks for determinism: {switch.name}"),
            Link(operation.site, f"alerts as {row.alert}" if row.alert else "has no deterministic kernel"),
        ]
        return self.finding(program, operation.site, message, trace)


def _is_wanted(one: Evidence) -> bool:
    return one.effect == "algorithms"


def _speaks_of(row: OpRow) -> bool:
    return row.effect == "throws" and not row.flags & OTHERS_SPEAK
