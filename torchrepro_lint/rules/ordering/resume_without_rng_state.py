"""TRL210 resume-without-rng-state.

What it does
    Finds checkpoints that are saved and loaded again with an optimizer and a count of epochs or steps, but without the
    state of any random number generator.

Why is this bad?
    A resumed run seeds again and starts at the beginning of its random numbers, where the uninterrupted run is far
    ahead. It shuffles and augments differently, and repeats the orders of its first epochs: the two runs do not give
    the same model.

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
    `verify` shows that the batches in the second half of a run differ after resuming, and agree if the state is
    restored.

Not reported
    Programs that save the state of a generator anywhere; Lightning, Hugging Face's Trainer, accelerate and other
    frameworks that save it.

Known limits
    Checkpoints whose keys cannot be read from the code are not reported.

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
    summary = "training is resumed from a checkpoint without the state of any RNG"
    severity = Severity.WARNING
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in checkpoints_without_rng(program):
            message = "this checkpoint has no RNG state, so a resumed run draws other random numbers"
            yield self.finding(program, one.save.site, message, [Link(one.load.site, "loads it")])
