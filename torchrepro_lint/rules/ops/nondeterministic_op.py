"""TRL402 nondeterministic-op.

What it does
    Finds operations that are nondeterministic on CUDA in a program that asks for determinism through cuDNN's switch, or
    through a framework's setting that is equivalent to it, but does not call `torch.use_deterministic_algorithms`. In
    the `strict` profile, it is enough that the program seeds torch.

Why is this bad?
    `torch.backends.cudnn.deterministic = True` affects cuDNN's convolutions and nothing else, and a seed affects only
    random draws. Torch's own kernels that use atomic additions (`scatter_add_`, `index_add_`, the backward passes of
    `interpolate`, `gather`, pooling) add in the order in which CUDA threads happen to run: two runs differ in the last
    bits, and after some thousand steps in everything.

Example
    ```python
    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    totals = torch.zeros(3, device=device)
    totals.index_add_(0, torch.tensor([0, 1, 1], device=device), torch.rand(3, device=device))
    ```

Use instead
    ```python
    import os

    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    totals = torch.zeros(3, device=device)
    totals.index_add_(0, torch.tensor([0, 1, 1], device=device), torch.rand(3, device=device))
    ```

Since
    torch 1.7; each operation since the release that the table of operations names.

How it is proven
    `verify` runs the fixtures on a busy GPU, and observes that two runs differ, and that they agree with the fix.

Fix safety
    Unsafe: calls `torch.use_deterministic_algorithms(True)` below the switch, or with the option that the switch is
    given. The program may become slower, and raises where an operation has no deterministic kernel. If the tool sees
    such an operation, there is no fix.

Not reported
    - What cuDNN's switch covers (convolutions, recurrent layers), matrix products (`CUBLAS_WORKSPACE_CONFIG`) and
      attention (TRL404).
    - Plain assignment by index (`x[i] = y`, `scatter_` without `reduce`, `index_copy_`) and sums of integers.
    - Programs and tensors that stay on the CPU. To seed CUDA (`torch.cuda.manual_seed_all(seed)`) is no use of it.
    - Backward passes that do not happen, such as those of data preparation (in files called transforms, augmentation,
      datasets), of code that uses a trained network (in files called inference or predict), or back into what a network
      is given as its input, by its name (`image`, `xyz`).
    - Backward passes into what a model is given where all that calls it gives it batches.
    - Operations in which no two values are added to the same element: windows that do not overlap, one index for each
      row, permutations, positions from a counting loop or a mask.
    - Operations in which at most two gradients meet, whose sum is the same in either order: adaptive pooling along one
      dimension, mirrored ends of a row (`ReflectionPad1d`). Average pooling in 3D by steps of 1, which has a kernel
      without atomics.
    - Operations in which the order does not matter: equal numbers are added (a histogram of ones), the maximum or the
      minimum is taken (`index_reduce_` with `amax`), or only the values of a median are used.
    - Programs that give the switch a setting which the code has as False and as nothing else (`_C.CUDNN.DETERMINISTIC =
      False`). An option of the command line is there to be given, and counts. This holds for every rule that asks
      whether a program asks for determinism.
    - Programs in which an option may set torch's own flag (`torch.set_deterministic_debug_mode(debug_mode)`).
    - Functions and classes whose name occurs in no program that asks for determinism: in a file of many networks, such
      a program may use only one.
    - Modules that a constructor replaces by others before they run, itself or by a method that it calls, and those that
      are only called under a condition that no object of the project satisfies.
    - The `forward` of classes of which each object is a part of another that never mentions it.
    - Networks that the program with the switch does not build, by the arguments that it gives: another one may.
    - Further calls of the same operation in a file: the trace of the first names them, and the `strict` profile reports
      each.
    - Backward passes of `gather`, `index_select`, `take` and `take_along_dim`, which add only where an index comes
      twice, and the call does not show that: reported in the `strict` profile, and where the settings ask for
      determinism.
    - Operations under an `if` that asks for an option of the command line which is off by default, and which no command
      in scripts or READMEs of the project, which give some of the program, and no configuration turns on: reported in
      the `strict` profile, and where the settings ask for determinism.
    - Operations without a deterministic kernel, and others in a program with one, where only another network would be
      deterministic: reported in the `strict` profile, and where the settings ask for determinism.
    - Tests, and the `__main__` block of a module that others import: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#avoiding-nondeterministic-algorithms
    https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.diagnostics import Finding, Fix, Severity
from torchrepro_lint.fixes.switch_fix import deterministic_algorithms_fix
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.ops.op_collisions import adds_exactly, never_collides
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.switches.open_flags import with_open_flag
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.one_cause import first_for_all
from torchrepro_lint.rules.ops.candidates import OTHERS_SPEAK, Candidate, candidates, when_it_runs

_EFFECTS = frozenset({"throws", "made_deterministic", "silent"})
_FLAG = frozenset({"algorithms", "algorithms-warn"})
_COVERED = OTHERS_SPEAK | {"cudnn", "indexing", "plain"}

_Raising: TypeAlias = Callable[[frozenset[Path]], Operation | None]


class NondeterministicOp(Rule):
    code = "TRL402"
    name = "nondeterministic-op"
    summary = "an operation that is nondeterministic on CUDA, which neither cuDNN's switch nor a seed covers"
    seldom = "an operation that does the same deterministically is chosen elsewhere, or what is left is another network"
    severity = Severity.WARNING
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        yield from first_for_all(self._each(program))

    def _each(self, program: Program) -> Iterator[tuple[Hashable, Finding]]:
        """The findings, each with its cause: calls of one operation in one file."""
        found = _found(program, asked=True)

        @cache
        def throwing() -> list[Candidate]:
            return [one for one in (*found, *_found(program, asked=False)) if one[1].effect == "throws"]

        def raising(programs: frozenset[Path]) -> Operation | None:
            """The first operation of the programs, by what asks for determinism there, that would raise under the
            flag.
            """
            of_them = (one for one, _, intent in throwing() if not programs.isdisjoint(_programs(intent)))
            return min(of_them, key=lambda one: one.site.path, default=None)

        for operation, row, intent in found:
            program.ev.begin_question()
            if not _may_be_made_deterministic(program, row):
                continue
            if not adds_exactly(program.ev, operation, row) and not never_collides(program.ev, operation, row):
                cause = (operation.site.path, operation.short, row)
                yield cause, self._report(program, operation, row, intent, raising)

    def _report(
        self, program: Program, operation: Operation, row: OpRow, intent: list[Evidence], raising: _Raising
    ) -> Finding:
        what = f"`{operation.short}` is nondeterministic on CUDA {when_it_runs(row)}".rstrip()
        remedy = row.alternative if row.effect == "made_deterministic" else f"instead: {row.alternative}"
        trace = [
            *(Link(one.site, f"asks for determinism: {one.name}") for one in intent[:1]),
            Link(operation.site, "adds in no fixed order" if row.effect != "silent" else "differs between runs"),
            Link(operation.site, remedy, 0),
        ]
        other = raising(_programs(intent)) if row.effect == "made_deterministic" else None
        if other is not None:
            trace.append(Link(other.site, "would raise under it: this call has no deterministic kernel", 0))
        fix, declined = _fix(program, row, intent, other)
        return self.finding(
            program,
            operation.site,
            f"{what}: seeds and cuDNN's switches do not change that",
            trace,
            fix=fix,
            declined=declined,
            # What is left is to take another network, as for an operation that raises itself.
            seldom_matters=program.settings.intent != "deterministic" and (other is not None or _picks(row)),
        )


def _picks(row: OpRow) -> bool:
    """Whether the operation reads by an index, so that only its backward pass adds, and only where an index comes
    twice: in public repositories three of eight such findings were of indices of which none did.
    """
    return row.phase == "backward" and "indices" in row.flags


def _programs(intent: list[Evidence]) -> frozenset[Path]:
    """The modules in which what asks for determinism runs."""
    return frozenset().union(*(one.roots for one in intent))


def _may_be_made_deterministic(program: Program, row: OpRow) -> bool:
    """Whether torch can make the operation deterministic. What takes another network instead is of the strict profile,
    unless the settings ask for determinism.
    """
    return row.effect == "made_deterministic" or program.strict or program.settings.intent == "deterministic"


def _found(program: Program, *, asked: bool) -> list[Candidate]:
    # Where the flag is set beside it, no run that reaches a switch runs without the flag.
    flagged = {(id(one.frame.scope), one.path) for one in program.evidence if one.level and one.effect in _FLAG}

    def is_wanted(one: Evidence) -> bool:
        is_intent = one.level == "deterministic" or (program.strict and one.level is not None)
        return one.effect not in _FLAG and is_intent and (id(one.frame.scope), one.path) not in flagged

    found = list(candidates(program, is_wanted, _speaks_of, flag="off", asked=asked))
    open_flags = with_open_flag(program) if found else frozenset()
    return [
        (operation, row, intent)
        for operation, row, intent in found
        if not any(one.effect in _FLAG or one.roots & open_flags for one in intent)
    ]


def _speaks_of(row: OpRow) -> bool:
    return row.effect in _EFFECTS and not row.flags & _COVERED


def _fix(
    program: Program, row: OpRow, intent: Sequence[Evidence], other: Operation | None
) -> tuple[Fix | None, str | None]:
    """The fix, unless the flag would make this operation or the `other` one raise."""
    if row.effect != "made_deterministic":
        return None, "torch.use_deterministic_algorithms(True) would make it raise"
    if other is not None:
        return (
            None,
            f"torch.use_deterministic_algorithms(True) would make another call of the project raise: {other.short}",
        )
    if not intent:
        return None, "the settings ask for determinism, no switch in the program"
    return deterministic_algorithms_fix(program, intent[0])
