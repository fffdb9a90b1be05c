"""TRL301 cudnn-benchmark-in-deterministic-context.

What it does
    Finds cuDNN's benchmark mode switched on (`torch.backends.cudnn.benchmark = True`, `cudnn.flags(benchmark=True)`,
    Lightning's `Trainer(benchmark=True)`) in a program that asks for determinism, or whose settings have `intent =
    "deterministic"`. The trace shows where it does so. In a program that only seeds torch it is a warning, which the
    `strict` profile alone reports: seeds do not make its convolutions repeat either, so that the advice would cost
    speed and gain nothing.

Why is this bad?
    In benchmark mode, cuDNN times several algorithms for each new shape and keeps the fastest. Which one wins can
    change from run to run, and the algorithms round differently, so the same seed no longer gives the same loss. Even
    with `cudnn.deterministic = True` it still chooses among the deterministic algorithms by timing.

Example
    ```python
    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = True
    ```

Use instead
    ```python
    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    ```

Since
    All versions of torch.

How it is proven
    `verify` shows that the switch is on when the program ends. That the algorithm is chosen by timing is documented;
    whether two runs differ depends on the GPU and its load. On an H100, a network for images of many sizes agrees in
    five runs with `cudnn.deterministic = True`, and differs in each with the benchmark beside it.

Fix safety
    Safe if the program asks for determinism: replaces the value by `False`, as that request requires. cuDNN then
    always uses the same one of these algorithms; the program may become slower.

    Unsafe:
    - The program asks for determinism in some runs only (`if args.seed is not None:`). All others would become slower.
    - The program only seeds. Its author may have chosen speed.
    - No program that runs the switch seeds torch: its results differ with it and without it.
    - The project sets the mode in another place that no safe fix mends, such as an argument of a framework, or in
      another program that asks for determinism, though that only evaluates.
    - A package that the project builds sets the mode as it is imported: its author chose the speed of all its users.
    - The switch is `with cudnn.flags(benchmark=True)`, which ends with its block.
    - A comment beside the switch, or above the `if` that it begins, says what it is for, or a text beside it says that
      it is on (`print("cudnn.benchmark is on")`).

Not reported
    - Programs that ask neither for determinism nor seed torch. What a framework seeds though nobody gives it a seed
      does not count (`TrainingArguments`), nor a switch that is given a setting which the code has as False and as
      nothing else (`_C.CUDNN.DETERMINISTIC = False`).
    - The branch of an `if` that is not the deterministic one (`if args.deterministic: ... else: cudnn.benchmark =
      True`).
    - A switch that is set back to `False` on the same path, be it by a function that also runs above it and is called
      again before anything is trained, or next to the request for determinism (`benchmark = True`,
      then `if args.deterministic: benchmark = False`); also where a module sets it when it is imported, and the program
      sets it back below its imports.
    - A switch with an option of its own (`if args.benchmark:`), whose value is not proven.
    - A switch that is set for a region: its value is saved before and given back after (`old = cudnn.benchmark`, ...,
      `cudnn.benchmark = old`), or it is put back where a region ends: in `__exit__`, in `tearDown`, in `finally`, or
      below the `yield` of a context manager.
    - Code that nothing calls.
    - A process that afterwards only starts others by `torch.multiprocessing.spawn`: they begin with torch's defaults.
    - Processes that are started so, where the wish is of their parent, and their function raises an exception if the
      parent calls it itself (`if args.distributed: ... else: raise NotImplementedError`): they have neither its seed
      nor its switches, which TRL502 and TRL305 report. Reported in the `strict` profile only.
    - Programs that only evaluate or show something, and those whose code, as far as the program reaches it by name,
      never computes gradients, or builds no convolution: it stands in a class of another program, under an `if` that
      no caller satisfies, in `isinstance(layer, nn.Conv2d)`. Transformers for text and recurrent networks have none.
      Where a network is chosen by a text or out of a table, all that may be chosen count; where no layer is in sight
      at all, the network is somewhere else, and the switch is reported. The others are reported in the `strict`
      profile only.
    - Tests, and the `__main__` block of a module that others import: reported in the `strict` profile only.
    - A seed that only the tests set does not count for the code that they test, nor does one that a function draws for
      each sample or each pair of draws.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#cuda-convolution-benchmarking
    https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.benchmark
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.switch_fix import set_value_fix
from torchrepro_lint.fixes.unsafe_reasons import FOR_OTHERS, NOT_ASKED, SOME_RUNS, first_that_holds
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import (
    holds_for_all_runs,
    intent_at,
    is_chosen_against,
    is_opposed,
    is_taken_back,
    not_heeded,
    seedings_at,
    ways_of,
)
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.for_others import is_for_others
from torchrepro_lint.program.programs.turns import may_train
from torchrepro_lint.program.repetition import only_evaluates
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.ways import Way
from torchrepro_lint.program.seeds.run_seedings import is_of_a_framework
from torchrepro_lint.program.seeds.split_seeds import is_for_a_split, is_for_the_next_draw
from torchrepro_lint.program.switches.convolutions import may_train_convolutions
from torchrepro_lint.program.switches.parents_alone import is_of_a_parent_alone, is_of_children_alone
from torchrepro_lint.rules.backends.switches import intent_link, switch_site
from torchrepro_lint.rules.base import Rule

#: The context manager that puts the switches back.
_FLAGS = "torch.backends.cudnn.flags"
_OPTION: Final = function_words("says_benchmark")


def _is_for_more_than_one_draw(program: Program, one: Evidence) -> bool:
    """Whether a seed is not for a split or for one draw alone, nor one that a framework sets though nobody asks."""
    if is_of_a_framework(one):
        return False
    return not is_for_a_split(program, one) and not is_for_the_next_draw(program, one)


class CudnnBenchmarkInDeterministicContext(Rule):
    code = "TRL301"
    name = "cudnn-benchmark-in-deterministic-context"
    summary = "cuDNN's benchmark mode is on in a program that asks for determinism"
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        for one in program.asked_evidence():
            if one.effect != "benchmark" or not (one.roots and one.always) or is_chosen_against(program, one, _OPTION):
                continue
            if is_of_a_parent_alone(program, one):
                continue
            places = ways_of(program, one)
            shown = not_heeded(program, one, intent_at(program, one.site.path, places), "benchmark-off")
            intent = [other for other in shown if other.level == "deterministic"]
            is_asked = bool(intent) or program.settings.intent == "deterministic"
            level = "deterministic" if is_asked else "seeded"
            if level == "seeded":
                seedings = [
                    other
                    for other in seedings_at(program, one.site.path, places)
                    if _is_for_more_than_one_draw(program, other)
                ]
                intent = not_heeded(program, one, seedings, "benchmark-off")
                if program.settings.intent is None and not any("torch" in other.seeds for other in intent):
                    continue
            if is_opposed(program, places, one) or is_taken_back(program, one, "benchmark-off", may_train):
                continue
            yield self._report(program, one, intent, level, places)

    def _report(
        self, program: Program, one: Evidence, intent: list[Evidence], level: str, places: tuple[Way, ...]
    ) -> Finding:
        wish = "asks for determinism" if level == "deterministic" else "seeds its random numbers"
        message = f"cuDNN benchmark mode picks algorithms by timing, in a program that {wish}: set it to False"
        site = switch_site(one)
        trace = [*(intent_link(other) for other in intent[:1]), Link(site, "switches benchmark mode on")]
        is_asked = level == "deterministic"
        is_for_all = program.settings.intent is not None or (
            any(holds_for_all_runs(program, shown, places) for shown in intent)
            and any("torch" in other.seeds for other in seedings_at(program, one.site.path, places))
        )
        # A package that sets it as it is imported has chosen the speed of all who use it.
        is_of_users = one.frame.scope.parent is None and is_for_others(program, one.site.path)
        because = first_that_holds(
            (not is_asked, NOT_ASKED),
            (one.name == _FLAGS or not is_for_all, SOME_RUNS),
            (is_of_users, FOR_OTHERS),
        )
        fix, declined = set_value_fix(program, one, "False", because)
        severity = Severity.ERROR if is_asked else Severity.WARNING
        return self.finding(
            program,
            site,
            message,
            trace,
            severity=severity,
            fix=fix,
            declined=declined,
            seldom_matters=_why_seldom(program, site, places, intent, is_asked=is_asked),
        )


def _why_seldom(
    program: Program, site: Site, places: tuple[Way, ...], intent: list[Evidence], *, is_asked: bool
) -> str | bool:
    """Why nobody would act on the finding; False where somebody would."""
    shown = (ways_of(program, one) for one in intent)
    return (
        (not is_asked and "the program seeds, and does not ask for determinism")
        or (is_of_children_alone(program, places, shown) and "it runs in processes that have no seed of the program")
        or (only_evaluates(program, site) and "the program only evaluates")
        or (not may_train_convolutions(program, places) and "the program is not seen to train a convolution")
    )
