"""TRL301 cudnn-benchmark-in-deterministic-context.

What it does
    Finds cuDNN's benchmark mode switched on (`torch.backends.cudnn.benchmark = True`, `cudnn.flags(benchmark=True)`,
    Lightning's `Trainer(benchmark=True)`) in a program that asks for determinism (an error), or that seeds torch
    and one of `random` and NumPy (a warning). The trace shows where it does so. In the profile `strict`, a seed of
    torch alone is enough.

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
    - The switch is `with cudnn.flags(benchmark=True)`, which ends with its block.
    - A comment beside the switch, or above the `if` that it begins, says what it is for, or a text beside it says that
      it is on (`print("cudnn.benchmark is on")`).

Not reported
    - Programs that ask neither for determinism nor seed, or that seed torch alone (but see above), or all but torch:
      without its seed no two runs begin alike (TRL502). What a framework seeds though nobody gives it a seed does not
      count (`TrainingArguments`).
    - Further switches of a file that only seeds: the trace of the first names them.
    - Programs that only seed, where `cudnn.deterministic = False` or TF32 beside the switch says that speed is meant,
      or where a script or function evaluates a trained network, by its name (`test.py`; the `strict` profile reports
      it).
    - The branch of an `if` that is not the deterministic one (`if args.deterministic: ... else: cudnn.benchmark =
      True`).
    - A switch that is set back to `False` on the same path, or next to the request for determinism (`benchmark = True`,
      then `if args.deterministic: benchmark = False`).
    - A switch with an option of its own (`if args.benchmark:`), whose value is not proven.
    - A switch that is set for a region: its value is saved before and given back after (`old = cudnn.benchmark`, ...,
      `cudnn.benchmark = old`), or it is put back where a region ends: in `__exit__`, in `tearDown`, in `finally`, or
      below the `yield` of a context manager.
    - In a program that only seeds, a switch beside which a comment mentions speed, or `deterministic=False` in the
      same call: reported in the `strict` profile only.
    - Code that nothing calls.
    - A process that afterwards only starts others by `torch.multiprocessing.spawn`: they begin with torch's defaults.
    - Tests, and the `__main__` block of a module that others import: reported in the `strict` profile only.
    - A seed that only the tests set does not count for the code that they test, nor does one that a function draws for
      each sample or each pair of draws.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#cuda-convolution-benchmarking
    https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.benchmark
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

from torchrepro_lint.diagnostics import Applicability, Finding, Severity
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.switch_fix import set_value_fix
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.ways import Way
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.seeds.reasons_given import wants_speed
from torchrepro_lint.program.seeds.run_seedings import is_of_a_framework
from torchrepro_lint.program.seeds.split_seeds import is_for_a_split, is_for_the_next_draw
from torchrepro_lint.program.switches.intent import Evidence
from torchrepro_lint.program.switches.intent_at import (
    holds_for_all_runs,
    intent_at,
    is_chosen_against,
    is_opposed,
    is_taken_back,
    not_heeded,
    seedings_at,
    ways_of,
)
from torchrepro_lint.program.switches.parents_alone import is_of_a_parent_alone
from torchrepro_lint.rules.backends.switches import intent_link, switch_site
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.one_cause import first_for_all

_GLOBAL_RNGS = frozenset({"python", "numpy", "torch"})
#: The context manager that puts the switches back.
_FLAGS = "torch.backends.cudnn.flags"
#: What a switch beside it does where speed is wanted.
_FOR_SPEED = frozenset({"cudnn-off", "precision"})
_OPTION: Final = function_words("says_benchmark")


def _is_of_an_evaluation(way: Way) -> bool:
    """Whether a place is in a function or a script that evaluates what was trained, by its name: there no difference
    adds up from step to step.
    """
    evaluates = function_words("evaluates")
    return any(evaluates.search(name) for name in (way[-1].facts.path.stem, *(at.scope.name for at in way)))


def _is_for_more_than_one_draw(program: Program, one: Evidence) -> bool:
    """Whether a seed is not for a split or for one draw alone, nor one that a framework sets though nobody asks."""
    if is_of_a_framework(one):
        return False
    return not is_for_a_split(program, one) and not is_for_the_next_draw(program, one)


def _declines_determinism(one: Evidence) -> bool:
    """Whether a call is told `deterministic=False` beside the benchmark mode."""
    if not isinstance(one.node, tree.Call):
        return False
    written = written_argument(one.node, Parameter("deterministic"))
    return isinstance(written, tree.Const) and written.value is False


class CudnnBenchmarkInDeterministicContext(Rule):
    code = "TRL301"
    name = "cudnn-benchmark-in-deterministic-context"
    summary = "cuDNN's benchmark mode is on in a program that asks for determinism"
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        yield from first_for_all(self._each(program))

    def _each(self, program: Program) -> Iterator[tuple[Hashable, Finding]]:
        """The findings, each with its cause: a file that only seeds, and may switch the mode on in several places."""
        for one in program.asked_evidence():
            if one.effect != "benchmark" or not (one.roots and one.always) or is_chosen_against(program, one, _OPTION):
                continue
            if is_of_a_parent_alone(program, one):
                continue
            places = ways_of(program, one)
            shown = not_heeded(program, one, intent_at(program, one.site.path, places), "benchmark-off")
            intent = [other for other in shown if other.level == "deterministic"]
            level = program.settings.intent or ("deterministic" if intent else "seeded")
            if level == "seeded":
                seedings = [
                    other
                    for other in seedings_at(program, one.site.path, places)
                    if _is_for_more_than_one_draw(program, other)
                ]
                intent = not_heeded(program, one, seedings, "benchmark-off")
                if not self._is_meant(program, intent) or self._is_chosen(program, one):
                    continue
                if not program.strict and all(map(_is_of_an_evaluation, places)):
                    continue
            if is_opposed(program, places, one) or is_taken_back(program, one, "benchmark-off"):
                continue
            cause = (one.site.path, level) if level == "seeded" else None
            yield cause, self._report(program, one, intent, level, places)

    def _is_meant(self, program: Program, seedings: list[Evidence]) -> bool:
        """Whether seeds show that the whole run is to be repeated: those of torch alone may be for something else, and
        without one of torch no two networks begin alike, whatever algorithm is picked (TRL502).
        """
        seeded = {rng for one in seedings for rng in one.seeds}
        if program.settings.intent is not None or (program.strict and "torch" in seeded):
            return True
        return not seeded.isdisjoint(("torch", "torch-cuda")) and len(seeded & _GLOBAL_RNGS) > 1

    def _is_chosen(self, program: Program, one: Evidence) -> bool:
        """Whether a file that only seeds says that it is to be fast: with another switch (both of cuDNN's, or TF32), or
        in a comment, or with `deterministic=False` in the same call.
        """
        if not program.strict and (wants_speed(program, one.site) or _declines_determinism(one)):
            return True
        beside = program.evidence_in(one.site.path)
        return not program.strict and any(other.effect in _FOR_SPEED for other in beside)

    def _report(
        self, program: Program, one: Evidence, intent: list[Evidence], level: str, places: tuple[Way, ...]
    ) -> Finding:
        wish = "asks for determinism" if level == "deterministic" else "seeds its random numbers"
        message = f"cuDNN benchmark mode picks algorithms by timing, in a program that {wish}: set it to False"
        site = switch_site(one)
        trace = [*(intent_link(other) for other in intent[:1]), Link(site, "switches benchmark mode on")]
        is_asked = level == "deterministic"
        is_always = program.settings.intent is not None or any(
            holds_for_all_runs(program, shown, places) for shown in intent
        )
        is_safe = is_asked and is_always and one.name != _FLAGS
        applicability = Applicability.SAFE if is_safe else Applicability.UNSAFE
        fix, declined = set_value_fix(program, one, "False", applicability)
        severity = Severity.ERROR if is_asked else Severity.WARNING
        return self.finding(program, site, message, trace, severity=severity, fix=fix, declined=declined)
