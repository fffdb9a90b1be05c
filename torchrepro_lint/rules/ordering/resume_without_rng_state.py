"""TRL210 resume-without-rng-state.

What it does
    Finds checkpoints with an optimizer and a count of epochs or steps that are saved and loaded again, with no state
    of a random number generator in them.

Why is this bad?
    A run that is resumed seeds again and starts at the beginning of its random numbers, where the run that was never
    stopped is far ahead. So it shuffles and augments otherwise, and repeats the orders of its first epochs: the two
    runs do not give the same model.

Example
    ```python
    import torch
    from torch import nn

    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


    def save(epoch):
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, "last.pt")


    def resume():
        state = torch.load("last.pt")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["epoch"] + 1
    ```

Use instead
    ```python
    import torch
    from torch import nn

    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


    def save(epoch):
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        state["rng_state"] = torch.get_rng_state()
        torch.save(state, "last.pt")


    def resume():
        state = torch.load("last.pt")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng_state"])
        return state["epoch"] + 1
    ```

Since
    All versions.

How it is proven
    `verify` shows that the second half of a run has other batches after a resumption, and not with the state restored.

Do not flag
    Programs that save the state of a generator anywhere; Lightning, Hugging Face's Trainer, accelerate and other
    frameworks that keep it.

Known limits
    Checkpoints whose keys cannot be read from the code.

References
    https://docs.pytorch.org/docs/stable/generated/torch.get_rng_state.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.ordering.checkpoints import checkpoints_without_rng
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule


class ResumeWithoutRngState(Rule):
    code = "TRL210"
    name = "resume-without-rng-state"
    summary = "checkpoint with optimizer and epoch is resumed from without the state of any RNG"
    severity = Severity.WARNING
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in checkpoints_without_rng(program):
            message = "the checkpoint is resumed from and holds no RNG state: a resumed run draws other numbers"
            yield self.finding(program, one.save.site, message, [Link(one.load, "loads it")])
