"""TRL503 seed-differs-every-run.

What it does
    Finds seeds of random number generators that are different in every run:
    - from the clock, the process id, the operating system or a UUID;
    - from Python's `hash` of a string;
    - from a draw from Python's or NumPy's global generator that nothing has seeded;
    - `random.seed()` and `np.random.seed()` without a seed or with `None`, and `torch.seed()`;
    - Composer's `Trainer` without `seed`, which seeds everything anew from the clock.

    Generators that a program creates itself count too: if their seed is such a number (`random.Random(time.time())`),
    and if they have no seed (`np.random.default_rng()`), in a program that seeds the global generators and draws from
    this one as well. So do calls of libraries that shuffle or sample with a generator of their own, if they are given
    no seed: `IterableDataset.shuffle` and `interleave_datasets` of Hugging Face's datasets, `shuffle` of webdataset,
    `random_shuffle` of Ray's data sets, `scipy.stats.qmc.Sobol`. webdataset's `ResampledShards`, also as
    `WebDataset(resampled=True)`, takes one from the system even if it is given a seed, unless `deterministic=True`.

Why is this bad?
    The call looks like seeding, but no run can be repeated. Python hashes strings with a random key that it chooses
    when it starts, so `hash("experiment")` is not a constant, although a widely copied recipe from an experiment
    tracker uses it as a seed. A seed from the clock also undoes the seeding of another line. A generator created
    without a seed takes one from the operating system: neither `np.random.seed(0)` nor `torch.manual_seed(0)` reaches
    it.

Example
    ```python
    import time

    import torch

    torch.manual_seed(int(time.time()))
    print(torch.rand(3))
    ```

Use instead
    ```python
    import torch

    torch.manual_seed(0)
    print(torch.rand(3))
    ```

Since
    All versions of torch, NumPy and Python (hashes of texts: Python 3.3).

How it is proven
    `verify` shows that the output of two runs differs, and agrees after the fix. Each run gets a different
    `PYTHONHASHSEED`.

Fix safety
    Unsafe: replaces the seed by `torch.initial_seed()` where torch is seeded on every path before, else by the
    expression that the program seeds with, by a constant in programs that have no such expression, and the hash of a
    text by `zlib.crc32`, which has no salt. A program that is meant to behave differently each time, such as a game,
    would no longer do so. There is no fix where the program's seed has no name at that place, nor for a generator
    without a seed that is created in a loop or in a function called several times, because all of them would draw the
    same numbers. There is none for shuffles and samples of libraries either: whether processes and workers must agree
    on their seed depends on how the data is split among them. A buffer of webdataset with a `seed` shuffles alike in
    each epoch, unlike `detshuffle`.

Not reported
    - A fallback for a seed that the user can give (`seed if seed is not None else int(time.time())`, or what follows
      after `if args.deterministic: ... return`) is only reported in the `strict` profile, and not at all if the chosen
      seed is printed, logged, saved or returned.
    - A search over hyperparameters, or a self-test (by the names of its functions), that seeds itself anew in a program
      that seeds its run: reported in the `strict` profile only.
    - A drawn seed that is recorded somewhere, or that is drawn for each sample, game or trial, unless it seeds torch
      and another generator, as at the beginning of a training.
    - A seed from the clock that is printed or saved where it is chosen, and one of which a comment beside it says that
      other numbers are wanted (`# another order in each run`): reported in the `strict` profile only.
    - Worker init functions, which are TRL105.
    - A seed that is None where torch is seeded with the same: `torch.manual_seed(None)` raises, and no run goes on.
    - `np.random.seed(None)` right after a draw for which a constant seed stands alone: it gives back what was there.
    - A function that saves the generator's state and restores it later, and so seeds only for itself.
    - A seed that the same function replaces with a given one before anything that can be seen is drawn.
    - A generator of the program's own that only chooses a name, a port or a delay, as far as names tell.
    - A generator without a seed that is seeded or given a state later, that may be another one, or that no draw on the
      program's path uses; and any in a program that seeds nothing, which is TRL501. One that a function creates because
      its caller hands over none (`rng or np.random.default_rng()`) is only reported in the `strict` profile, and one
      that workers draw from copies of is TRL107.
    - Shuffles of a data set that may be streamed or not (`load_dataset(..., streaming=args.streaming)`): one that is
      not streamed takes its seed from NumPy.
    - Environments of reinforcement learning, which may need a new seed for each game.
    - Tests, and the hash of a number.
    - A seed from the system that ends what a seed above it in the function is for (`torch.manual_seed(0)`, a split,
      `torch.seed()`), and a seed that is drawn from a generator (`seed = random.randint(0, 9999)`), by which its author
      means to begin anew each time: reported in the `strict` profile only.
    - Programs that do not show that they want to repeat, and tests: reported in the `strict` profile only. To seed
      `random` or NumPy with the clock where it is written (`random.seed(time.time())`) shows no such wish.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html
    https://docs.python.org/3/reference/datamodel.html#object.__hash__
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.seed_fix import changing_seed_fix
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.reasons_given import says_why
from torchrepro_lint.program.seeds.seed_faults import (
    ChangingSeed,
    changing_seeds,
    ends_a_region,
    is_drawn,
    is_recorded,
    wants_fresh_numbers,
)
from torchrepro_lint.program.seeds.unseeded_generators import unseeded_generators
from torchrepro_lint.program.seeds.unseeded_streams import UnseededStream, unseeded_streams
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.lacking import named_without

_DECLINED = (
    "whether processes and workers must agree on the seed, or must not, depends on how the data is split among them"
)


class SeedDiffersEveryRun(Rule):
    code = "TRL503"
    name = "seed-differs-every-run"
    summary = "the seed comes from the clock, the system or the hash of a string, so it differs in every run"
    seldom = "the seed ends a part that repeats, or comes from a generator that nothing seeds"
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        for fault in chain(changing_seeds(program), unseeded_generators(program)):
            if not program.strict and (
                fault.fallback
                or wants_fresh_numbers(program, fault)
                or is_recorded(program, fault)
                or says_why(program, fault.site)
            ):
                continue
            fix, declined = changing_seed_fix(program, fault)
            seldom = ends_a_region(program, fault) or (fault.seeded is None and is_drawn(fault))
            yield self.finding(
                program, fault.site, _message(fault), _trace(fault), fix=fix, declined=declined, seldom_matters=seldom
            )
        for one in unseeded_streams(program):
            if program.strict or not says_why(program, one.call.site):
                yield self.finding(program, one.call.site, _of_stream(one), declined=_DECLINED)


def _message(fault: ChangingSeed) -> str:
    name = fault.seeding.name
    if fault.source is None:
        what = (
            "takes a seed from the system" if name.startswith("torch.") else "without a seed takes one from the system"
        )
        message = f"`{name}` {what}, which differs in every run"
    elif fault.source.name == "builtins.hash":
        message = f"the seed of `{name}` is the hash of a string, which differs in every run of Python"
    else:
        source = fault.source.name.removeprefix("builtins.")
        message = f"the seed of `{name}` comes from `{source}`, which differs in every run"
    return f"{message}, if the user gives none" if fault.fallback else message


def _of_stream(one: UnseededStream) -> str:
    what = named_without(f"`{last_part(one.call.name)}`", one.call.call, one.parameter)
    return f"{what} takes a seed from the system, which differs in every run: no seed of the program reaches it"


def _trace(fault: ChangingSeed) -> list[Link]:
    if fault.seeded is not None:
        head = Link(fault.seeded.site, f"seeds the program: {fault.seeded.name}")
        return [head, Link(fault.site, "takes another seed from the system"), *fault.drawn]
    if fault.source is None:
        return []
    passed = [Link(site, "passed on") for site in fault.source.path]
    return [Link(fault.site, fault.source.name), *passed, Link(fault.seeding.site, f"seeds: {fault.seeding.name}")]
