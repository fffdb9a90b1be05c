"""TRL801 dropout-always-on.

What it does
    Finds calls of `torch.nn.functional.dropout` that do not pass `training`.

Why is this bad?
    It is True by default: the function goes on to drop at evaluation, after `model.eval()`, and every evaluation differs.

Example
    ```python
    import torch.nn.functional as F


    def head(x):
        return F.dropout(x, 0.5)
    ```

Use instead
    ```python
    import torch.nn.functional as F


    def head(x, training):
        return F.dropout(x, 0.5, training=training)
    ```

Fix safety
    Unsafe: it passes `self.training`, which is right in a module's method only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchrepro_lint.api import Applicability, Call, Finding, Fix, Project, Rule


class DropoutAlwaysOn(Rule):
    code = "TRL801"
    name = "dropout-always-on"
    summary = "functional dropout that also drops at evaluation: `training` is not passed"

    def findings(self, project: Project) -> Iterator[Finding]:
        for call in project.calls("torch.nn.functional.dropout"):
            training = call.argument("training", position=2)
            if training.given is False or training.is_proven(True):
                fix = _fix(call) if training.given is False else None
                yield self.finding(call, "dropout is on at evaluation too: pass `training`", fix=fix)


def _fix(call: Call) -> Fix | None:
    fix = call.passing("training", "self.training", position=2)
    return None if fix is None else replace(fix, applicability=Applicability.UNSAFE)
