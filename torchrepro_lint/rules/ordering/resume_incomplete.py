"""TRL211 resume-incomplete.

What it does
    Finds checkpoints that a training is resumed from, with the optimizer's state and without that of something else
    that the same run moves on: a learning rate scheduler, a gradient scaler, a moving average of the weights, a
    stateful loader. Only in the `strict` profile: on public repositories, one of eleven findings was worth a change,
    and four were about runs that do not read such a checkpoint.

Why is this bad?
    The resumed run begins its schedule anew: the warm-up comes a second time, the decay comes too late, and the model
    is another one than that of a run that was not interrupted. A new gradient scaler starts at 65536 and skips steps
    until it has found its scale. A new moving average starts from the current weights, a loader at its first batch.

Example
    ```python
    import torch
    from torch import nn

    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)


    def resume():
        state = torch.load("last.pt")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["epoch"] + 1


    for epoch in range(resume(), 10):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        scheduler.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")
    ```

Use instead
    ```python
    import torch
    from torch import nn

    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)


    def resume():
        state = torch.load("last.pt")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        return state["epoch"] + 1


    for epoch in range(resume(), 10):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        scheduler.step()
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        state["scheduler"] = scheduler.state_dict()
        torch.save(state, "last.pt")
    ```

Since
    All versions.

How it is proven
    `verify --perturb resume` shows that the learning rate of the first resumed step differs from that of the whole run.

Fix safety
    Unsafe: saves the state beside the optimizer's and loads it below the optimizer's, `if "scheduler" in checkpoint:`,
    since checkpoints that exist already do not have it. Only where both are written out in one file, and what is
    missing has a name in both functions.

Not reported
    - Schedulers that are made anew from the epoch (`last_epoch=`), that get the epoch in `step(epoch)`, or that a loop
      brings to the epoch; `ExponentialLR` and `MultiplicativeLR`, which go on from the rate in the optimizer's state.
    - Programs that save or load such a state anywhere; Lightning, Hugging Face's Trainer, accelerate and other
      frameworks that save it.
    - A gradient scaler that is turned off.
    - Checkpoints of which the resuming reads a key that is not in them: they are not what it loads.
    - Checkpoints that are only loaded in another arm of an `if` than the one that saves them, as for a test.

Known limits
    Checkpoints whose keys cannot be read from the code are not reported, nor are moving averages that a project
    implements itself. Sub-commands that a helper starts, `run(main)`, count as one program: a scheduler of one may be
    missed in the checkpoint of another.

References
    https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html
    https://docs.pytorch.org/docs/stable/optim.html#torch.optim.lr_scheduler.LRScheduler.state_dict
    https://docs.pytorch.org/tutorials/recipes/recipes/amp_recipe.html#saving-resuming
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.checkpoint_fix import checkpoint_fix
from torchrepro_lint.program.ordering.incomplete_checkpoints import incomplete_checkpoints
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule


class ResumeIncomplete(Rule):
    code = "TRL211"
    name = "resume-incomplete"
    summary = "training is resumed from a checkpoint without the state of the scheduler, the scaler or the loader"
    severity = Severity.WARNING
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in incomplete_checkpoints(program):
            missing = " and ".join(kind.called for kind, _ in one.missing)
            message = f"this checkpoint lacks the state of {missing}, which a resumed run starts anew"
            trace = [Link(site, f"moves on {kind.called}", 0) for kind, site in one.missing]
            fix, declined = checkpoint_fix(program, one) if program.is_asked(one.save.path) else (None, None)
            trace.append(Link(one.load, "loads it", 0))
            yield self.finding(program, one.save, message, trace, fix=fix, declined=declined)
