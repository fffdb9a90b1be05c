"""TRL302 cudnn-deterministic-off.

What it does
    Finds `torch.backends.cudnn.deterministic = False`, or `cudnn.flags(deterministic=False)`, in a program that asks
    for determinism in another place. The trace shows where.

Why is this bad?
    One part of the program undoes what another part asks for: cuDNN chooses nondeterministic algorithms for
    convolutions again, and runs differ although the program says that they do not.

Example
    ```python
    import torch

    def seed_everything(seed):
        torch.manual_seed(seed)
        torch.backends.cudnn.deterministic = True

    seed_everything(0)
    torch.backends.cudnn.deterministic = False
    ```

Use instead
    ```python
    import torch

    def seed_everything(seed):
        torch.manual_seed(seed)
        torch.backends.cudnn.deterministic = True

    seed_everything(0)
    torch.backends.cudnn.deterministic = True
    ```

Since
    All versions of torch.

How it is proven
    `verify` shows that the switch is off when the bad program ends, and on at the end of the fixed one.

Fix safety
    Safe: replaces the value by `True`, as the program has it elsewhere. cuDNN then has fewer algorithms to choose from;
    convolutions may become slower. Unsafe where a comment beside the switch says what it is for: the comment stays; and
    next to `cudnn.benchmark = True`, since both were chosen for speed.

Not reported
    - Programs that do not ask for determinism anywhere else.
    - The branch of an `if` that is not the deterministic one, or in which the helper that has just asked for
      determinism turns it off again (`if args.debugmode < 1: cudnn.deterministic = False`).
    - A switch that is set back to `True` on the same path, or next to the request for determinism (`if
      args.deterministic: cudnn.deterministic = True`).
    - A switch that is set for a region: its value is saved before and given back after (`old = cudnn.deterministic`,
      ..., `cudnn.deterministic = old`), or it is put back where a region ends: in `__exit__`, in `tearDown`, in
      `finally`, or below the `yield` of a context manager.
    - Values that are not proven.
    - A switch that is turned off where `torch.use_deterministic_algorithms(True)` is what asks for determinism, and
      nothing turns that off: torch then takes cuDNN's deterministic convolutions whatever this switch says, and asks it
      for nothing else (its CTC loss is deterministic in any case, its recurrent networks do not read it).
    - A switch that is turned off beside `torch.use_deterministic_algorithms(False)`: reported in the `strict` profile
      only.
    - Tests, and the `__main__` block of a module that others import: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.deterministic
    https://docs.pytorch.org/docs/stable/notes/randomness.html#cuda-convolution-determinism
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.switch_fix import set_value_fix
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import (
    intent_at,
    is_opposed,
    is_taken_back,
    not_heeded,
    programs_of_ways,
    ways_of,
)
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.turns import may_train
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.ways import Way, runs_with
from torchrepro_lint.rules.backends.switches import intent_link, switch_site
from torchrepro_lint.rules.base import Rule

#: The effects of the flag for all operations.
_FLAGS: Final = frozenset({"algorithms", "algorithms-warn"})


class CudnnDeterministicOff(Rule):
    code = "TRL302"
    name = "cudnn-deterministic-off"
    summary = "cuDNN's deterministic switch is turned off in a program that asks for determinism elsewhere"
    seldom = "the program turns determinism off altogether"
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        for one in program.asked_evidence():
            if one.effect != "cudnn-off" or not (one.roots and one.always):
                continue
            places = ways_of(program, one)
            elsewhere = [
                other
                for other in not_heeded(program, one, intent_at(program, one.site.path, places), "cudnn")
                if other.level == "deterministic" and other.node is not one.node
            ]
            elsewhere = _of_cudnn_alone(program, elsewhere, places)
            if not elsewhere or is_opposed(program, places, one) or is_taken_back(program, one, "cudnn", may_train):
                continue
            site = switch_site(one)
            trace = [intent_link(elsewhere[0]), Link(site, "turns it off for cuDNN again")]
            fix, declined = set_value_fix(program, one, "True")
            message = "cuDNN may pick nondeterministic algorithms again, in a program that asks for determinism"
            seldom = _is_off_altogether(program, one)
            message += ": set it to True"
            yield self.finding(program, site, message, trace, fix=fix, declined=declined, seldom_matters=seldom)


def _of_cudnn_alone(program: Program, wishes: list[Evidence], places: tuple[Way, ...]) -> list[Evidence]:
    """The wishes that cuDNN's switch alone fulfils: not the flag for all operations, unless a program that runs the
    place turns it off, nor what it comes with. Its convolutions are deterministic where either is on
    (aten/src/ATen/native/Convolution.cpp@1.8 to 2.13: `deterministicCuDNN() || deterministicAlgorithms()`).
    """
    roots = programs_of_ways(program, places)
    if any(not roots.isdisjoint(other.roots) for other in program.evidence_of("algorithms-off")):
        return wishes
    flags = [one for one in wishes if one.effect in _FLAGS]
    return [one for one in wishes if one not in flags and not any(_comes_with(program, one, other) for other in flags)]


def _comes_with(program: Program, one: Evidence, flag: Evidence) -> bool:
    """Whether a program sets the flag for all operations wherever it shows the wish, as far as its torch has it."""
    scope = flag.frame.scope
    if one.frame.scope is not scope:
        return runs_with(ways_of(program, one), ways_of(program, flag))
    left = any(one.site.number < done.site < flag.site.number and path != one.path for done, path in scope.returns)
    return not left and all(
        arm in one.path or _is_for_old_torch(scope.branches.get(arm[0]), arm[1], flag) for arm in flag.path
    )


def _is_for_old_torch(branch: tree.Stmt | None, arm: str, flag: Evidence) -> bool:
    """Whether what is around the flag only asks whether torch has it: `if hasattr(torch, ...)`, or a `try` that begins
    with it.
    """
    match branch:
        case tree.If(test=tree.Call(func=tree.Name(id="hasattr"), args=(tree.Arg(value=tree.Name(id="torch")), *_))):
            return arm == "then"
        case tree.Try(body=(tree.ExprStmt(value=first), *_)):
            return arm == "try" and first is flag.node
    return False


def _is_off_altogether(program: Program, one: Evidence) -> bool:
    """Whether the flag for all operations is turned off in the same block: determinism is given up there on purpose."""
    scope = one.frame.scope
    arms = scope.path_at(one.site.number)
    return any(
        other.effect == "algorithms-off" and other.frame.scope is scope and scope.path_at(other.site.number) == arms
        for other in program.evidence_in(one.site.path)
    )
