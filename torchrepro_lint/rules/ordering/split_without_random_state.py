"""TRL209 split-without-random-state.

What it does
    Finds scikit-learn's `train_test_split`, `KFold(shuffle=True)`, `ShuffleSplit` and related classes without
    `random_state`, `DataFrame.sample` used as a split without `random_state`, and `train_test_split` of Hugging Face's
    datasets without `seed`.

Why is this bad?
    They draw from NumPy's global random number generator. `torch.manual_seed` does not affect it, and if nothing seeds
    it, the parts are different in every run: results are not comparable, and a resumed run trains on its former
    validation data.

Example
    ```python
    from sklearn.model_selection import train_test_split

    train, val = train_test_split(range(40), test_size=0.25)
    ```

Use instead
    ```python
    from sklearn.model_selection import train_test_split

    train, val = train_test_split(range(40), test_size=0.25, random_state=0)
    ```

Since
    All versions.

How it is proven
    Not shown by `verify`, because it needs scikit-learn or pandas. Their documentation says so.

Fix safety
    Safe: passes the program's own seed, or torch's (`torch.initial_seed() % 2**32`: what torch was last seeded with, in
    the 32 bits that NumPy takes) where torch is seeded on every path before. Unsafe where the seed can only be written
    as a number, a copy of the program's or one that nobody chose. The parts change once, when the fix is applied.
    Splits that take no seed are not fixed: those of scikit-multilearn, and folds of iterative-stratification that do
    not shuffle (they draw all the same).

Not reported
    - `shuffle=False`, and splits that are made and dropped.
    - Programs that seed NumPy's global generator before the split, or call a helper of an unknown library whose name
      says that it seeds. These are reported in the `strict` profile, since another draw before the split still changes
      it.
    - Programs of which TRL502 says that they do not seed NumPy's generator: that is one finding, whose fix seeds the
      split as well. Reported in the `strict` profile only.
    - `sample(frac=1)` of a table that is not split afterwards, and likewise `table = table.sample(..)`.
    - Programs that do not show that they want to repeat, tests, and code for other programs (a package that the project
      builds, copied code) that none in sight asks for: reported in the `strict` profile only.

References
    https://scikit-learn.org/stable/common_pitfalls.html#controlling-randomness
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Fix, Severity
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.split_fix import random_state_fix
from torchrepro_lint.program.ordering.numpy_splits import (
    NumpySplit,
    may_seed_numpy_unseen,
    numpy_splits,
    seeding_before,
)
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.partial_seeding import is_said_of_the_program
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.lacking import named_without


class SplitWithoutRandomState(Rule):
    code = "TRL209"
    name = "split-without-random-state"
    summary = "split by scikit-learn, pandas or datasets without a seed: it draws from NumPy's global RNG"
    seldom = "TRL502 says of this program that it does not seed NumPy"
    severity = Severity.WARNING
    is_about_control = True
    is_of_the_caller = True

    def check(self, program: Program) -> Iterator[Finding]:
        for one in numpy_splits(program):
            seeding = seeding_before(program, one.call)
            seeded = seeding is not None or may_seed_numpy_unseen(program, one.call)
            if seeded and not program.strict:
                continue
            trace = [Link(seeding.site, "seeds NumPy's global RNG")] if seeding is not None else []
            fix, declined = _fix(program, one)
            message = _message(one, seeded=seeded)
            said = is_said_of_the_program(program, one.call.frame, one.call.call, "numpy")
            yield self.finding(program, one.call.site, message, trace, fix=fix, declined=declined, seldom_matters=said)


def _fix(program: Program, one: NumpySplit) -> tuple[Fix | None, str | None]:
    if one.parameter is None:
        return None, "it takes no seed: `np.random.seed` has to run right before it"
    return random_state_fix(program, one.call, one.parameter)


def _message(one: NumpySplit, *, seeded: bool) -> str:
    name = last_part(one.call.name)
    why = "so any earlier random draw changes the split" if seeded else "which nothing seeds before"
    if one.parameter is None:
        return f"`{name}` has no seed parameter here, and draws from NumPy's global RNG, {why}"
    return f"{named_without(name, one.call.call, one.parameter)}: it draws from NumPy's global RNG, {why}"
