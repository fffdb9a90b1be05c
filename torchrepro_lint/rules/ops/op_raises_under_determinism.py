"""TRL401 op-raises-under-determinism.

What it does
    Finds operations that have no deterministic CUDA kernel in the targeted version of torch, in a program that calls
    `torch.use_deterministic_algorithms(True)`: in the forward pass, or in the backward pass of what is trained.

Why is this bad?
    The operation raises a RuntimeError as soon as it runs on the GPU. If it is the backward pass that raises, this
    happens in the first training step, far from the line that causes it. On the CPU the same code works, so tests do
    not show the problem.

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
    torch 1.7. The finding says which operation raises and since which version. It holds for the newest release that the
    project's requirements allow, or else for the newest known one. Where an option sets the flag
    (`Trainer(deterministic=cfg.deterministic)`), the finding is a warning.

How it is proven
    The table of operations comes from the determinism alerts in torch's CUDA libraries, release by release, and from
    torch's documentation. `verify` runs the fixtures on a GPU and expects the error.

Fix safety
    No fix: the message suggests an alternative.

Not reported
    - `warn_only=True`.
    - Code between `use_deterministic_algorithms(False)` and `(True)`, and modules that are only called there, wherever
      they are built; gradients that the file of the operation computes below `use_deterministic_algorithms(False)`.
      What Lightning's Trainer runs that is given `deterministic=False` after the flag was set.
    - Programs that never mention a GPU, and tensors that are proven to stay on the CPU. Data preparation in files
      called transforms or datasets that mention no device.
    - Backward passes that do not happen (`torch.no_grad()`, data that needs no gradient).
    - Methods of the same name on something that is not a tensor.
    - Operations that are nondeterministic only for certain shapes or kernels, if the code does not prove that these
      occur.
    - Functions and classes whose name occurs in no program that sets the flag.
    - Modules that a constructor replaces by others before they run, itself or by a method that it calls, and those that
      are only called under a condition that no object of the project satisfies.
    - Networks that the program with the switch does not build, by the arguments that it gives: another one may.
    - Further calls of the same operation in a file: the trace of the first names them, and the `strict` profile reports
      each.
    - The flag of a test, or of the `__main__` block of a module that others import: reported in the `strict` profile
      only.

References
    https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.ops.op_runs import flag_is_off
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import is_of_a_self_test
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.one_cause import first_for_all
from torchrepro_lint.rules.ops.candidates import (
    OTHERS_SPEAK,
    adds_along_sparse_edges,
    candidates,
    releases,
    when_it_runs,
)


class OpRaisesUnderDeterminism(Rule):
    code = "TRL401"
    name = "op-raises-under-determinism"
    summary = "an operation without a deterministic CUDA kernel, under use_deterministic_algorithms(True)"
    seldom = "only self-tests turn the flag on"

    def check(self, program: Program) -> Iterator[Finding]:
        yield from first_for_all(self._each(program))

    def _each(self, program: Program) -> Iterator[tuple[Hashable, Finding]]:
        """The findings, each with its cause: calls of one operation in one file."""
        for operation, row, intent in candidates(program, _is_wanted, _speaks_of, flag="raise"):
            if row.phase == "backward" and _is_off_for_gradients(program, operation):
                continue
            if not flag_is_off(program, operation) and not adds_along_sparse_edges(program, operation):
                switches = [one for one in intent if _is_wanted(one)]
                of_runs = [one for one in switches if not is_of_a_self_test(program, one.site)]
                found = self._report(program, operation, row, (of_runs or switches)[0], seldom_matters=not of_runs)
                yield (operation.site.path, operation.short, row, found.severity), found

    def _report(
        self, program: Program, operation: Operation, row: OpRow, switch: Evidence, *, seldom_matters: bool
    ) -> Finding:
        device = "on every device" if row.device == "any" else "on CUDA"
        is_proven = all(isinstance(value, Constant) and value.value for value in switch.values)
        set_by = "as `use_deterministic_algorithms(True)` is set"
        message = f"`{operation.short}` raises RuntimeError {device} {when_it_runs(row)}, " + (
            set_by if is_proven else "where an option sets `use_deterministic_algorithms(True)`"
        )
        trace = [
            Link(switch.site, f"asks for determinism: {switch.name}"),
            Link(operation.site, f"has no deterministic kernel {releases(row)}{_alert(row)}"),
            Link(operation.site, f"instead: {row.alternative}", 0),
        ]
        severity = Severity.ERROR if is_proven else Severity.WARNING
        return self.finding(program, operation.site, message, trace, severity=severity, seldom_matters=seldom_matters)


def _is_off_for_gradients(program: Program, operation: Operation) -> bool:
    """Whether the file of an operation switches the flag off right above where it computes gradients: that is for what
    these pass through.
    """
    return any(
        one.effect == "algorithms-off"
        and one.roots
        and one.site.path == operation.site.path
        and _is_above_a_pass(program, one)
        for one in program.evidence
    )


def _is_above_a_pass(program: Program, switch: Evidence) -> bool:
    scope = switch.frame.scope
    on_again = [one.site.number for one in program.evidence if _is_wanted(one) and one.frame.scope is scope]
    return any(
        called_name(call.func) == "backward"
        and path[: len(switch.path)] == switch.path
        and switch.site.number < call.site
        and not any(switch.site.number < site < call.site for site in on_again)
        for call, path in scope.calls
    )


def _alert(row: OpRow) -> str:
    return f"; torch's message names {row.alert}" if row.alert else ""


def _is_wanted(one: Evidence) -> bool:
    return one.effect == "algorithms"


def _speaks_of(row: OpRow) -> bool:
    return row.effect == "throws" and not row.flags & (OTHERS_SPEAK - {"third-party"})
