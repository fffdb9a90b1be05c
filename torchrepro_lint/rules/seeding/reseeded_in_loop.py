"""TRL506 reseeded-in-loop.

What it does
    Finds seeding calls for the global random number generators (`random`, NumPy, torch) in the loop over epochs or
    training steps, directly or in a function called from it, with the same seed each time. Methods that Lightning,
    Hugging Face's Trainer and others call in each epoch or step count as such a loop.

Why is this bad?
    Every iteration draws the same numbers as the one before: the same order of batches, the same augmentations, the
    same dropout masks. The model sees less variety than it should, and there is no error.

Example
    ```python
    import torch

    for epoch in range(3):
        torch.manual_seed(42)
        print(epoch, torch.randperm(8))
    ```

Use instead
    ```python
    import torch

    torch.manual_seed(42)
    for epoch in range(3):
        print(epoch, torch.randperm(8))
    ```

Since
    All versions of torch.

How it is proven
    `verify` shows that the epochs of the bad program repeat each other, and those of the good one do not.

Fix safety
    No fix: the call may have to be moved above the loop, to include the epoch in its seed, or to be wrapped in
    `torch.random.fork_rng()`, and only the author knows which.

Not reported
    - A seed that contains the epoch or the step.
    - Loops over seeds, folds, runs or configurations, where each iteration is a separate run, and loops that make a new
      model and its optimizer, give the model new weights, or evaluate another saved model in each iteration, also one
      that a function or a method of the project loads (`agent.load(path)`).
    - Further seeding calls in the same loop: the trace of the first names them, and the `strict` profile reports each.
    - The other arm of an `if` in which the generators of another device are seeded: one finding is for both.
    - `torch.random.fork_rng()`, and code that saves the state of the generator and restores it.
    - Seeding in the first iteration only (`if epoch == 0:`), or with an option that asks for the same batch each time
      or the same numbers in each validation (`if args.overfit_one_batch:`, `if args.fixed_validation_seed:`).
    - A loop that also seeds with the epoch, or from the system (`np.random.seed()`): the constant seed is then for an
      evaluation or a sample.
    - Seeds in a function that evaluates, by its name, or of a program that only evaluates: each evaluation is to see
      the same: reported in the `strict` profile only.
    - A `torch.Generator` that is reset in each epoch (TRL205), and worker init functions and code of the dataset
      (TRL1xx). A seed that is called where it was to be passed as `worker_init_fn` (TRL106).

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html
    https://docs.pytorch.org/docs/stable/random.html#torch.random.fork_rng
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import only_evaluates
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.reseeding import is_of_an_evaluation, reseedings
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.one_cause import first_for_all


class ReseededInLoop(Rule):
    code = "TRL506"
    name = "reseeded-in-loop"
    summary = "a global random number generator gets the same seed again in every epoch or step"
    seldom = "the loop evaluates"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        yield from first_for_all(self._each(program))

    def _each(self, program: Program) -> Iterator[tuple[Hashable, Finding]]:
        """The findings, each with its cause: the loop."""
        for again in reseedings(program):
            name = again.seeding.name
            turn = "call of this hook" if again.by_framework else "turn of the loop"
            message = (
                f"`{name}` sets the same seed in every {turn}, so each {turn.split()[0]} draws the same random numbers"
            )
            inner, *outer = again.between
            steps = [Link(site, "called here") for site in reversed(outer)]
            repeated = "the framework calls this in each epoch or step" if again.by_framework else "in this loop"
            trace = [Link(again.loop, repeated), *steps, Link(inner, f"seeds: {name}")]
            evaluates = is_of_an_evaluation(program, again) or only_evaluates(program, again.site)
            yield again.loop, self.finding(program, again.site, message, trace, seldom_matters=evaluates)
