"""TRL510 search-unseeded.

What it does
    Finds searches of hyperparameters without a seed: `optuna.create_study` without a sampler, a sampler of Optuna
    without `seed`, `Trainer.hyperparameter_search` with `backend="optuna"` and without a sampler, `hyperopt.fmin`
    without `rstate`, `BayesianOptimization` without `random_state`, searches of Ray Tune without their seed. Also a
    study of Optuna that has a seeded sampler and is optimized with `n_jobs` above 1, which seeds it in each thread.
    Only in the `strict` profile: on public repositories all that it said was true, and nobody would have changed it,
    since a search is seldom run twice.

Why is this bad?
    Each of them has a generator of its own, whose first state comes from the operating system. `random.seed`,
    `np.random.seed` and `torch.manual_seed` do not affect it: a program that seeds everything else tries other
    hyperparameters in each run, and finds others.

Example
    ```python
    import optuna
    import torch

    torch.manual_seed(0)
    study = optuna.create_study(direction="minimize")
    study.optimize(lambda trial: trial.suggest_float("lr", 1e-4, 1e-1), n_trials=20)
    ```

Use instead
    ```python
    import optuna
    import torch

    torch.manual_seed(0)
    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("lr", 1e-4, 1e-1), n_trials=20)
    ```

Since
    All versions.

How it is proven
    `verify` runs the programs with Optuna where that is installed: two runs differ, and with a seed they agree. The
    others are not run; the source code and the documentation of their libraries say so.

Fix safety
    Safe: passes the program's own seed, or torch's where torch is seeded on every path before; to `create_study` with
    one direction as `TPESampler(seed=...)`, the sampler that it has by default. Unsafe where the seed can only be
    written as a number, and beside another search of the repository that no safe fix mends. The search tries other
    points once, when the fix is applied. There is no fix for a study that is optimized with `n_jobs` above 1, since
    Optuna gives its sampler a new seed in each thread (`optuna/study/_optimize.py`), for one with several directions,
    nor for `fmin`: which sampler is the default, and what `rstate` takes, depends on the release.

Not reported
    - Arguments that may be a seed or a sampler.
    - A study that gets its sampler later (`study.sampler = ...`), and `fmin` where `HYPEROPT_FMIN_SEED` is set.
    - Samplers and studies that nothing reads, and those in a handler of a `try` that makes one with a seed.
    - A study with `storage=`, which other processes or a later run may go on with: with one seed, each would try the
      same points.
    - A grid: it tries the same points in each run, in another order.
    - scikit-optimize, Nevergrad and scikit-learn's `RandomizedSearchCV`: these draw from NumPy's global generator,
      which TRL502 is about.

References
    https://optuna.readthedocs.io/en/stable/faq.html#how-can-i-obtain-reproducible-optimization-results
    https://docs.ray.io/en/latest/tune/faq.html
    https://github.com/hyperopt/hyperopt
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Fix, Severity
from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.split_fix import random_state_fix
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.seeds.reseeded_searches import reseeded_searches
from torchrepro_lint.program.seeds.unseeded_searches import (
    UnseededSearch,
    draws_afresh_in_threads,
    unseeded_searches,
)
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.lacking import named_without

_IN_THREADS = "with `n_jobs` above 1 each thread gives the sampler a new seed: its own has no effect"


class SearchUnseeded(Rule):
    code = "TRL510"
    name = "search-unseeded"
    summary = "a search of hyperparameters has no seed, so each run tries others"
    severity = Severity.WARNING
    profile = "strict"
    is_about_control = True
    is_of_the_caller = True

    def check(self, program: Program) -> Iterator[Finding]:
        for one in unseeded_searches(program):
            fix, declined = _fix(program, one)
            yield self.finding(program, one.call.site, _message(one), fix=fix, declined=declined)
        for call in reseeded_searches(program):
            yield self.finding(program, call.site, _IN_THREADS, declined="run it with `n_jobs=1`, which takes longer")


def _fix(program: Program, one: UnseededSearch) -> tuple[Fix | None, str | None]:
    if draws_afresh_in_threads(program, one):
        return None, "with `n_jobs` above 1, `optimize` gives the sampler a new seed in each thread: run it with 1"
    if one.row.takes:
        return None, f"older releases take a `RandomState`, newer ones `{one.row.takes}(seed)`"
    if one.row.seed is not None:
        return random_state_fix(program, one.call, one.row.seed)
    func = one.call.call.func
    if any(arg.keyword == "directions" for arg in one.call.call.args):
        return None, "which sampler is the default for several directions depends on the release"
    makes_a_study = one.row.through is not None and last_part(one.call.name) == "create_study"
    if not makes_a_study or not isinstance(func, tree.Attribute) or not isinstance(func.value, tree.Name):
        return None, "the module that has the samplers is not at hand: pass `sampler=TPESampler(seed=...)`"
    assert one.row.through is not None
    return random_state_fix(program, one.call, one.row.through, f"{func.value.id}.samplers.TPESampler(seed={{}})")


def _message(one: UnseededSearch) -> str:
    name, parameter = last_part(one.call.name), one.row.seed or one.row.through
    assert parameter is not None
    what = named_without(f"`{name}`", one.call.call, parameter)
    return f"{what}: the search tries other points in each run, whatever the program seeds"
