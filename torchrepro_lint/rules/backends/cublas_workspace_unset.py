"""TRL303 cublas-workspace-unset.

What it does
    Finds `torch.use_deterministic_algorithms(True)` in a program that may run on torch 1.7 to 2.9 and does not set the
    environment variable `CUBLAS_WORKSPACE_CONFIG`, sets it only after CUDA has been used, or sets it to anything other
    than `:4096:8` or `:16:8`.

Why is this bad?
    cuBLAS is deterministic only with a fixed workspace for each stream. Torch 1.7 to 2.9 checks this: the first matrix
    product on the GPU (a Linear layer, `matmul`, `einsum`) raises a RuntimeError. Since 2.10, torch allocates the
    workspaces itself and no longer checks.

Example
    ```python
    import torch

    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(torch.nn.Linear(2, 2).to(device)(torch.ones(2, device=device)))
    ```

Use instead
    ```python
    import os

    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(torch.nn.Linear(2, 2).to(device)(torch.ones(2, device=device)))
    ```

Since
    torch 1.7, until 2.9.

How it is proven
    From torch's source code: pull request 161749 removed the check, and 2.10 is the first release with it. On other
    versions of torch there is nothing to observe.

Fix safety
    Safe: sets the variable above the switch, unless the environment has set it already; or corrects the value. No
    result is lost, because without the variable cuBLAS calls raise under the switch. The workspace takes some 24 MiB of
    GPU memory. Unsafe where a comment beside the value says what it is for, and where an option decides what the switch
    is set to (`use_deterministic_algorithms(args.deterministic)`). There is no fix where the switch is set
    again and again, as in a step of the training: the variable has to be set once, before CUDA is first used.

Not reported
    - `warn_only=True`, and a second call without it where torch is too old for that argument (`except TypeError:`).
    - A switch in a later arm of an `if` that has another one, or in a handler of a `try` that tries another one: what
      is set before that is set for both.
    - `torch.set_deterministic` alone, where nothing says that the program is for a torch below 1.10: it raises an error
      itself in the torch of today.
    - Tensors and networks that were moved to a device that is the GPU or the CPU, before anything is multiplied there.
    - Programs with networks in whose files nothing names a product of matrices, or a network of a library that may have
      one: reported in the `strict` profile only.
    - Programs that never mention a GPU, or a device that is not proven to be the CPU.
    - Projects in which a shell script, container file, Makefile, .env file or CI file sets the variable, or a Python
      file writes such a script (`export CUBLAS_WORKSPACE_CONFIG=`).
    - A switch that is turned on again where it was found to be on (`if torch.are_deterministic_algorithms_enabled():`):
      what turned it on first had to set the variable.
    - A function that asks for the variable and decides by it (`if os.getenv("CUBLAS_WORKSPACE_CONFIG")`).
    - Frameworks that set it themselves (Lightning's Trainer, transformers' `enable_full_determinism`), or that take the
      switch back: the Trainer of Lightning 1.5 to 1.9 does so where it is not given `deterministic=`.
    - Tests, and the `__main__` block of a module that others import: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/2.9/generated/torch.use_deterministic_algorithms.html
    https://docs.nvidia.com/cuda/cublas/#results-reproducibility
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.scopes import Binding
from torchrepro_lint.fixes.environment_fix import correct_value_fix, set_variable_fix
from torchrepro_lint.fixes.unsafe_reasons import OPTION_DECIDES
from torchrepro_lint.knowledge.environment import CUBLAS_WORKSPACE, EnvironmentVariable, environment_variables
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import Constant
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.ops.op_runs import speaks_of_a_device
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.fallbacks import handled_by, tried_in
from torchrepro_lint.program.running.if_tests import says, tests_around
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.switches.cublas_use import first_product_before
from torchrepro_lint.program.switches.cuda_use import first_use_before
from torchrepro_lint.program.switches.environment import Setting, is_set_outside, settings_of
from torchrepro_lint.rules.base import Rule

#: The name that torch has lost.
_LOST = "set_deterministic"
#: Functions of torch that tell whether the switch is on.
_TELL = ("are_deterministic_algorithms_enabled", "get_deterministic_debug_mode")

_IS_SET = re.compile(re.escape(CUBLAS_WORKSPACE.encode()))


class CublasWorkspaceUnset(Rule):
    code = "TRL303"
    name = "cublas-workspace-unset"
    summary = "use_deterministic_algorithms(True) without CUBLAS_WORKSPACE_CONFIG, on torch 1.7 to 2.9"
    seldom = "no matrix product is seen on CUDA"
    severity = Severity.WARNING
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        if not any(map(_variable().is_checked_by, program.target.admitted)):
            return
        if next(program.asked_evidence(), None) is None and not program.asked_with(_IS_SET):
            return
        wanted = [one for one in program.evidence if one.effect == "algorithms" and one.roots and one.always]
        if not wanted or is_set_outside(program, CUBLAS_WORKSPACE):
            return
        settings = settings_of(program.ev, CUBLAS_WORKSPACE)
        for one in wanted:
            program.ev.begin_question()
            if _is_spoken_for(program, one, wanted) or _is_of_a_torch_of_old(program, one, wanted):
                continue
            if not one.name.startswith("torch.") or not speaks_of_a_device(program, one.site.path):
                continue
            here = [setting for setting in settings if _shares_a_program(program, setting, one)]
            if not here and not _is_asked_for(one) and not _is_put_back(one) and not _set_by_a_framework(program, one):
                yield self._unset(program, one, wanted)
            finding = self._of_setting(program, here[0], one) if len(here) == 1 else None
            if finding is not None:
                yield finding

    def _unset(self, program: Program, one: Evidence, wanted: Sequence[Evidence]) -> Finding:
        message = f"{CUBLAS_WORKSPACE} is not set: with torch 1.7 to 2.9, matrix products on CUDA raise a RuntimeError"
        branches = [branch for other in wanted if (branch := _parted_by(one, other)) is not None]
        around = min(branches, default=None)
        fix, declined = set_variable_fix(program, one, CUBLAS_WORKSPACE, _variable().accepted[0], around)
        if fix is not None and not _is_surely_on(one):
            fix = fix.made_unsafe(OPTION_DECIDES)
        together, path = program.imports.any_together, one.site.path
        has_no_product = together(path, program_words("has_a_network")) and not together(
            path, program_words("multiplies_matrices")
        )
        return self.finding(
            program,
            one.site,
            message,
            [Link(one.site, one.name)],
            fix=fix,
            declined=declined,
            seldom_matters=has_no_product,
        )

    def _of_setting(self, program: Program, setting: Setting, one: Evidence) -> Finding | None:
        """The finding on the one place that sets the variable, if that is wrong or too late."""
        site = program.site(setting.node, setting.frame)
        trace = [Link(one.site, one.name), Link(site, f"sets {CUBLAS_WORKSPACE}")]
        text = setting.text()
        if text is not None and text not in _variable().accepted:
            message = f"{CUBLAS_WORKSPACE} is set to {text!r}: torch 1.7 to 2.9 accepts ':4096:8' and ':16:8' only"
            fix, declined = correct_value_fix(program, site.path, setting.value, _variable().accepted[0])
            return self.finding(program, site, message, trace, fix=fix, declined=declined)
        use = first_use_before(program.ev, setting.frame, setting.node.site)
        used = program.site(use, setting.frame) if use is not None else None
        used = used or first_product_before(program, setting.frame, setting.node.site)
        if used is None or program.is_test(site.path):
            return None
        trace.insert(0, Link(used, "uses CUDA" if use is not None else "uses CUDA where there is a GPU"))
        message = f"{CUBLAS_WORKSPACE} is set after CUDA was used: cuBLAS may have read it already"
        return self.finding(program, site, message, trace, declined="set it before the first line that uses CUDA")


def _is_surely_on(one: Evidence) -> bool:
    """Whether a switch is on whenever its line runs: `use_deterministic_algorithms(deterministic)` is not, where its
    argument comes from an option.
    """
    return one.value is None or isinstance(one.value, tree.Const) or one.values <= {Constant(True)}


def _is_spoken_for(program: Program, one: Evidence, wanted: Sequence[Evidence]) -> bool:
    """Whether a switch is in a later arm of an `if` that has another one in an earlier arm, or in a handler of a `try`
    that tries another one: what is set before that is set for both.
    """
    if any(_parted_by(other, one) is not None and other.node.site < one.node.site for other in wanted):
        return True
    if not isinstance(one.node, tree.Call) or not any(arm.startswith("except") for _, arm in one.path):
        return False
    parents = parents_of(program.ev, one.frame.facts)
    tried = {
        id(around)
        for other in wanted
        if isinstance(other.node, tree.Call) and other.frame.facts is one.frame.facts
        for around in tried_in(parents, other.node)
    }
    return any(id(around) in tried for around in handled_by(parents, one.node))


def _is_asked_for(one: Evidence) -> bool:
    """Whether the function around a switch decides by the variable: `if os.getenv("CUBLAS_WORKSPACE_CONFIG")`."""
    tests = [branch.test for branch in one.frame.scope.branches.values() if isinstance(branch, tree.If)]
    return any(isinstance(part, tree.Const) and part.value == CUBLAS_WORKSPACE for part in walk(tests))


def _is_put_back(one: Evidence) -> bool:
    """Whether a switch is turned on where it was found to be on, also under a name that holds the answer."""
    scope = one.frame.scope
    names = [name for name, bindings in scope.bindings.items() if bindings and all(map(_tells_the_switch, bindings))]
    word = re.compile("|".join([*(rf"\A{re.escape(name)}\Z" for name in names), *_TELL]))
    return any(says(test, holds, word) for test, holds in tests_around(scope, one.path))


def _tells_the_switch(binding: Binding) -> bool:
    return isinstance(binding.node, tree.Call) and called_name(binding.node.func) in _TELL


def _parted_by(first: Evidence, second: Evidence) -> int | None:
    """The site of the outermost `if` that has the two switches in different arms."""
    if first.frame.scope is not second.frame.scope:
        return None
    arms, branches = dict(first.path), first.frame.scope.branches
    apart = (branch for branch, arm in second.path if arms.get(branch, arm) != arm)
    return next((branch for branch in apart if isinstance(branches.get(branch), tree.If)), None)


def _is_of_a_torch_of_old(program: Program, one: Evidence, wanted: Sequence[Evidence]) -> bool:
    """Whether a switch has a name that torch has lost, where nothing says that the program is for a torch of old: in
    the torch of today it raises an error itself, or what the file has besides only warns.
    """
    return (
        not program.target.known
        and isinstance(one.node, tree.Call)
        and called_name(one.node.func) == _LOST
        and not any(
            other.site.path == one.site.path
            and not (isinstance(other.node, tree.Call) and called_name(other.node.func) == _LOST)
            for other in wanted
        )
    )


def _variable() -> EnvironmentVariable:
    return environment_variables()[CUBLAS_WORKSPACE]


def _shares_a_program(program: Program, setting: Setting, one: Evidence) -> bool:
    """Whether the place that sets the variable belongs to a program in which the switch is set."""
    path = setting.frame.facts.path
    return any(path in program.imports.together(root) for root in one.roots)


def _set_by_a_framework(program: Program, one: Evidence) -> bool:
    """Whether a framework that is asked for determinism sets the variable, in a program with the switch in it, or its
    trainer takes the switch back.
    """
    files = frozenset().union(*(program.imports.together(root) for root in one.roots))
    return any(
        other.effect.startswith("algorithms")
        and not other.name.startswith("torch.")
        and (other.roots & one.roots or other.site.path in files)
        for other in program.evidence
    )
