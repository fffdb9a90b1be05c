"""TRL403 uninitialized-memory.

What it does
    Finds memory that is read before anything is written to it: a tensor of `torch.empty`, `empty_like`, `new_empty`,
    `torch.Tensor(rows, columns)` or `resize_` whose first use is a sum, a product, `+=` or `print`, and parameters of
    a module that nothing initialises. Only in the `strict` profile.

Why is this bad?
    These calls leave the memory as they find it: the rest of a tensor that was freed, a page of zeros, bits that are a
    NaN. It differs between runs and between machines, no seed reaches it, and mostly it is small enough to look right.
    Since torch 2.1 `torch.use_deterministic_algorithms(True)` fills it with NaN: repeatable, and still wrong.

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
    `verify` runs the fixtures under `torch.use_deterministic_algorithms(True)`, where memory that nobody wrote is NaN,
    and sees the NaN arrive in what is printed.

Fix safety
    No fix: whether zeros are meant, or a call that was to fill the memory is missing, is for the author to say.

Do not flag
    Memory that anything may write first: `fill_`, `copy_`, an item that is assigned, `out=`, `torch.nn.init`, another
    function, a kernel, a collective operation, an alias; tensors without elements and on the `meta` device; questions
    for the shape, the type or the device alone; `torch.baddbmm(torch.empty(...), ..., beta=0)`.

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
            trace = [Link(made.site, "leaves the memory as it finds it"), Link(read, "reads it")]
            what = "it differs between runs"
            if filling and program.target.admits_from("2.1"):
                what = "NaN, under use_deterministic_algorithms(True) from torch 2.1 on"
                trace.append(intent_link(filling[0]))
            message = f"{made.short} leaves memory as it finds it, and that is read before anything is written: {what}"
            yield self.finding(program, made.site, f"{message}; instead: torch.zeros, or write to it first", trace)
