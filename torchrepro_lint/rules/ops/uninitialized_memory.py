"""TRL403 uninitialized-memory.

What it does
    Finds memory that is read before anything is written to it: a tensor from `torch.empty`, `empty_like`, `new_empty`,
    `torch.Tensor(rows, columns)` or `resize_` that is first used in a sum, a product, `+=` or `print`, and parameters
    of a module that nothing initializes. Only in the `strict` profile.

Why is this bad?
    These calls leave the memory as they find it: the rest of a freed tensor, a page of zeros, bits that form a NaN. The
    content differs between runs and between machines, no seed affects it, and most of the time it is small enough to
    look right. Since torch 2.1, `torch.use_deterministic_algorithms(True)` fills it with NaN, which is repeatable but
    still wrong.

Example
    ```python
    import torch

    def mean_of(batches):
        count = 0
        first_moment = torch.empty(3)
        for batch in batches:
            first_moment = (count * first_moment + batch.sum(0)) / (count + len(batch))
            count += len(batch)
        return first_moment
    ```

Use instead
    ```python
    import torch

    def mean_of(batches):
        count = 0
        first_moment = torch.zeros(3)
        for batch in batches:
            first_moment = (count * first_moment + batch.sum(0)) / (count + len(batch))
            count += len(batch)
        return first_moment
    ```

Since
    All versions.

How it is proven
    `verify` runs the fixtures under `torch.use_deterministic_algorithms(True)`, where uninitialized memory is NaN, and
    observes that the NaN reaches the output.

Fix safety
    No fix: only the author knows whether zeros are meant, or whether a call that fills the memory is missing.

Not reported
    - Memory to which anything may write first: `fill_`, `copy_`, an assignment to an item, `out=`, `torch.nn.init`,
      another function, a kernel, a collective operation, an alias.
    - Tensors without elements, and tensors on the `meta` device.
    - Uses of the shape, the type or the device alone, and results that are thrown away (`_ = torch.empty(1) + 1`).
    - `torch.baddbmm(torch.empty(...), ..., beta=0)`.

References
    https://docs.pytorch.org/docs/stable/generated/torch.empty.html
    https://docs.pytorch.org/docs/stable/deterministic.html#torch.utils.deterministic.fill_uninitialized_memory
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.ops.uninitialized import uninitialized_reads
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.backends.switches import intent_link
from torchrepro_lint.rules.base import Rule

_FILLING = frozenset({"algorithms", "algorithms-warn"})


class UninitializedMemory(Rule):
    code = "TRL403"
    name = "uninitialized-memory"
    summary = "memory that is read before anything is written to it"
    severity = Severity.WARNING
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for made, read in uninitialized_reads(program):
            filling = [one for one in program.evidence_for(made.site.path) if one.effect in _FILLING]
            trace = [Link(made.site, "leaves the memory uninitialized"), Link(read, "reads it")]
            what = "it differs between runs"
            if filling and program.target.admits_from("2.1"):
                what = "NaN under `use_deterministic_algorithms(True)` since torch 2.1"
                trace.append(intent_link(filling[0]))
            message = f"`{made.short}` is read before anything is written to it: {what}"
            yield self.finding(program, made.site, f"{message}; use torch.zeros", trace)
