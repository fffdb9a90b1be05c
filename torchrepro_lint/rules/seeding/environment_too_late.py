"""TRL505 environment-too-late.

What it does
    Finds environment variables for determinism that are set after their reader has started: `PYTHONHASHSEED` in a
    program that starts no other process, `CUDA_LAUNCH_BLOCKING` after CUDA has been used.

Why is this bad?
    Python chooses the key of its string hash when it starts. `os.environ["PYTHONHASHSEED"] = "0"` in a running program
    does not change anything in that program: sets of strings still have a different order in every run, although the
    line suggests otherwise. Only processes that are started later see the value, and the workers of a DataLoader are
    not among them.

Example
    ```python
    import os
    import random

    import torch


    def seed_everything(seed):
        os.environ["PYTHONHASHSEED"] = str(seed)
        random.seed(seed)
        torch.manual_seed(seed)


    seed_everything(0)
    print(sorted({"cat", "dog", "bird"}))
    ```

Use instead
    ```python
    import random

    import torch


    def seed_everything(seed):
        random.seed(seed)
        torch.manual_seed(seed)


    seed_everything(0)
    print(sorted({"cat", "dog", "bird"}))
    ```

Since
    Python 3.3; all versions of torch.

How it is proven
    `verify` runs each program with two values of `PYTHONHASHSEED` and shows that the order of a set differs although
    the program sets the variable.

Fix safety
    No fix: set the variable where the program is started (`PYTHONHASHSEED=0 python train.py`), or sort the set.

Not reported
    - Programs that start other processes afterwards (subprocess, `os.exec*`, multiprocessing, job launchers), or that
      set the variable only if it is missing and then call something, which may start them again.
    - Helper functions that nothing calls, and tests.
    - `CUBLAS_WORKSPACE_CONFIG`, which is TRL303.
    - `PYTHONHASHSEED` in a program in which nothing is seen to depend on it, neither a `hash` nor the order of a set of
      strings, be it that another program which imports the same file has one: reported in the `strict` profile only.
    - Programs that do not show that they want to repeat, and tests: reported in the `strict` profile only.

References
    https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.switches.late_environment import LateVariable, late_variables
from torchrepro_lint.rules.base import Rule


class EnvironmentTooLate(Rule):
    code = "TRL505"
    name = "environment-too-late"
    summary = "an environment variable is set after what reads it has started"
    severity = Severity.WARNING
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        for late in late_variables(program):
            if not late.matters and not program.strict:
                continue
            trace = [Link(late.reader, "CUDA has started here")] if late.reader is not None else []
            yield self.finding(program, late.site, _message(late), trace)


def _message(late: LateVariable) -> str:
    if late.reader is not None:
        return f"`{late.name}` is read when CUDA starts: set here, it has no effect any more"
    return f"`{late.name}` is read when Python starts: set here, it has no effect on this process and its forks"
