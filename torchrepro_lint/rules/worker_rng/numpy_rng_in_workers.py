"""TRL101 numpy-rng-in-workers.

What it does
    Finds DataLoaders with worker processes whose code draws from NumPy's global random number generator, if no
    `worker_init_fn` is passed. The draw may be anywhere in the code that workers run: in the dataset's `__getitem__`,
    in a transform of another file, in the collate function, or in a library (`scipy.stats.*.rvs`, scikit-learn with
    `random_state=None`, `skimage.util.random_noise`, `DataFrame.sample`, ...). The trace shows how it is reached.

Why is this bad?
    Before torch 1.9, every worker starts with a copy of the parent's NumPy state: all workers draw the same numbers,
    and draw them again in every epoch. Since torch 1.9, workers reseed NumPy from torch's base seed, so the numbers
    differ; but `np.random.seed` in the main process no longer affects them, and if torch is not seeded, they differ in
    every run.

Example
    ```python
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + np.random.randn()

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, generator=g)
    ```

Use instead
    ```python
    import random

    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + np.random.randn()

    def seed_worker(worker_id):
        worker_seed = torch.initial_seed() % 2**32
        np.random.seed(worker_seed)
        random.seed(worker_seed)

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, worker_init_fn=seed_worker, generator=g)
    ```

Since
    All versions of torch. If the torch that the project uses may be older than 1.9, the finding is an error. If it is
    not, the finding is a warning, and only the `strict` profile has it if the program seeds torch, if the loader has a
    generator, or if the program seeds nothing at all. If nothing says which torch the project uses (`--show-settings`
    tells), or only a lower bound does (`torch>=1.4` installs the newest one, unless a pin or the README names an older
    one), the finding is a warning too, and the setting `target-torch` states the version; it is an error if the
    program seeds NumPy and not torch, since that seed affects the workers of no version. There too the `strict` profile
    alone has it if torch or the loader's generator is seeded, if the loader has one worker, or if the program seeds
    nothing at all: it does not want to repeat, and most likely has a torch that seeds NumPy in the workers. If the
    items seed NumPy with `get_worker_info().id`, every epoch draws the same numbers on any version of torch, which is
    an error.

How it is proven
    `verify` on torch 2.13 shows that two runs of the bad program differ, or that `np.random.seed` does not affect the
    workers. That workers of torch < 1.9 draw the same numbers is documented in pytorch/pytorch#5059, and was changed by
    #56488.

Fix safety
    Safe: inserts the recommended `seed_worker` (or reuses the project's own), and a generator with the program's seed
    if the program has one; an option `--seed` that nothing reads is none. It inserts the function alone where no
    generator can be written, as for a loader that is made anew in every epoch, or where nobody would merge it unread
    (see TRL201). The function seeds with
    `torch.initial_seed()`, which in a worker is that worker's own number, another one in each epoch. The draws change;
    they were not under the program's control before.

    The function alone is safe only where the project admits no torch from 1.9 on (`torch==1.8`, `torch<1.9`): later
    versions seed NumPy in the workers themselves, so that it changes nothing there.

    Unsafe where the generator's seed can only be written as a number: a copy of the one in `np.random.seed(0)`, in a
    program that does not seed torch, or one that nobody chose. Unsafe as well for a loader of an evaluation, by the
    name of its function or its file, or its own in a file that makes none for a training. Unsafe where the rule finds
    another loader of the repository that no safe fix mends, in the same file one of an evaluation too. Unsafe where
    nothing tells which data set the workers of another loader have. Unsafe where the loader would get a generator and
    another one would still draw its order from torch's global one.

    There is no fix if the items seed NumPy with the worker id, nor with torch >= 1.9 where only the function could be
    written: torch itself seeds NumPy in the workers then, and what is missing is a seed for torch. If the loader's
    class has an init function of its own (MONAI's), the new function calls that as well.

Not reported
    - Draws in `__init__` only.
    - Loaders for an evaluation, by their names, of a data set that draws under a test for training (`if self.phase ==
      "train":`).
    - Loaders of a test, or of a self-test that trains nothing, and those with which, by their names and uses, a network
      is only evaluated, so that what is drawn alike hardly changes a mean: reported in the `strict` profile only.
    - Loaders whose `num_workers` is missing or proven to be 0.
    - Loaders that a framework seeds (MONAI's with `set_determinism`, timm's `create_loader`, Lightning with
      `seed_everything(workers=True)`).
    - Datasets that seed NumPy themselves from torch's seed of the worker, from the system (`np.random.seed()`, which is
      TRL503), or with the worker id if `persistent_workers=True` keeps the workers alive.
    - Draws after a seed from the item's index (`np.random.seed(index)` in `__getitem__`, for each item or for the
      first of a worker).
    - A single pass over a loader with one worker, if torch is seeded: before torch 1.9, that worker goes on from the
      state of NumPy in the main process, and nothing else does.
    - Draws in an `except`, of another item for one that cannot be read.
    - Branches that a constant argument rules out (`train=False` for the evaluation loader), or the test that chooses
      the loader (`if split == "val": return DataLoader(Digits(split), ...)`), also by an option of the command line.
    - Draws that nothing uses, but for putting them in order.
    - Orders of all rows of a batch that a collate function draws, and by which it does nothing but to order them
      (`order = np.random.permutation(len(images))`, `images = images[order]`).
    - Draws that are made only where an option of the command line is on which is off by default (`if args.cutout > 0:
      transforms.append(Cutout(args.cutout))`), if scripts or READMEs of the project give commands of the program, and
      none of them and no configuration turns it on: reported in the `strict` profile only.
    - Draws that can give one number only, whatever is drawn: `np.random.binomial(1, 0.0)`, `np.random.randint(1)`.
    - With torch >= 1.9, loaders that no program in sight makes, if programs of the project seed torch.
    - Functions that numba compiles: they draw from generators of the compiled code.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from torchrepro_lint.diagnostics import Finding, Fix, Severity
from torchrepro_lint.dotted import shortened
from torchrepro_lint.fixes.loader_fix import asks_for_generator, loader_fix
from torchrepro_lint.fixes.unsafe_reasons import EVALUATION
from torchrepro_lint.program.intent.options_left_off import needs_an_option_left_off
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.seeding import (
    has_seeded_generator,
    may_be_seeded,
    numpy_seeding,
)
from torchrepro_lint.program.workers.global_draws import is_in_an_evaluation, is_of_an_evaluation
from torchrepro_lint.program.workers.index_seeds import draws_left
from torchrepro_lint.program.workers.init_shape import called_init
from torchrepro_lint.program.workers.managers import managing, seeds_its_workers
from torchrepro_lint.program.workers.single_worker import has_one_worker, is_gone_over_once
from torchrepro_lint.program.workers.training_draws import without_those_of_training
from torchrepro_lint.program.workers.worker_reseeding import seeds_by_the_number, seeds_itself
from torchrepro_lint.rules.loader_rule import LoaderRule, safe_for_old_torch_alone

#: How many characters of a name a message has room for; the trace has it in full.
_LONGEST_NAME: Final = 36


_LEFT_OFF = "no command of the project turns on the option with which it draws"
_UNKNOWN_TORCH = "nothing says that the program is for torch < 1.9"


class NumpyRngInWorkers(LoaderRule):
    code = "TRL101"
    name = "numpy-rng-in-workers"
    summary = "DataLoader workers draw from NumPy's global RNG, and no worker_init_fn seeds it"
    is_strict_in_tests = True

    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        for loader in loaders:
            if not loader.has_workers or not loader.may_lack("worker_init_fn") or seeds_its_workers(loader):
                continue
            if called_init(program.ev, loader) is not None:  # TRL106
                continue
            run = program.worker_run(loader)
            draws = without_those_of_training(program, loader, draws_left(program.ev, run, "numpy"))
            draws = sorted(draws, key=lambda draw: needs_an_option_left_off(program, draw.event))
            if not draws or seeds_itself(program.ev, run, "numpy"):
                continue
            if any("numpy" in manager.workers for manager, _ in managing(program, loader)):
                continue
            if seeds_by_the_number(program.ev, run, "numpy"):
                if not loader.keeps_workers:
                    return self._report_repeated(program, loader, draws[0])
                continue
            controlled = has_seeded_generator(loader) or may_be_seeded(program, loader)
            alone = has_one_worker(loader)
            is_old = program.target.admits_below("1.9") and not (alone and is_gone_over_once(program, loader))
            if not is_old and not program.target.admits_from("1.9"):
                continue
            if not is_old and controlled and not program.strict:
                continue
            return self._report(program, loader, draws[0], is_old, controlled, alone)
        return None

    def _report_repeated(self, program: Program, loader: Loader, draw: Effect) -> Finding:
        name = draw.event.name
        message = f"items seed NumPy with the worker id alone, so every epoch draws the same numbers (`{name}`)"
        declined = "a `worker_init_fn` would not help: seed with `torch.initial_seed() % 2**32` where the items seed"
        return self.finding(program, loader.site, message, _trace(draw), declined=declined)

    def _report(
        self, program: Program, loader: Loader, draw: Effect, is_old: bool, controlled: bool, alone: bool
    ) -> Finding:
        fix, declined = None, None
        is_stated = program.target.is_run_below("1.9")
        seeding = None if controlled or is_stated or not is_old else numpy_seeding(program, loader)
        # Nobody changes a program that seeds nothing for a torch that it most likely does not have.
        is_about_control = not is_old or (not is_stated and seeding is None)
        if self.is_told(program, loader.site, about_control=is_about_control):
            fix, declined = loader_fix(program, loader, init=True, generator=asks_for_generator(program, loader))
        if fix is not None and is_in_an_evaluation(program, loader):
            fix = fix.made_unsafe(EVALUATION)
        if fix is not None and not _seeds_the_loader(fix):
            fix = safe_for_old_torch_alone(program, fix)
        if fix is not None and not is_old and not controlled and not _seeds_the_loader(fix):
            fix, declined = None, "since torch 1.9, a `worker_init_fn` alone changes nothing: seed torch"
        trace = _trace(draw)
        if seeding is not None:
            trace.append(Link(seeding.site, "seeds NumPy in the main process, which does not affect the workers", 0))
        is_error = seeding is not None or (is_old and _is_surely_old(program))
        severity = Severity.ERROR if is_error else Severity.WARNING
        message = (
            f"workers draw from NumPy (`{shortened(draw.event.name, _LONGEST_NAME)}`) without a `worker_init_fn`: "
        )
        if seeding is not None:
            before = "every epoch repeats" if alone else "they repeat each other"
            message += f"`np.random.seed` does not affect them, and before torch 1.9 {before}"
        else:
            message += _consequence(program, is_old, controlled, alone)
        return self.finding(
            program,
            loader.site,
            message,
            trace,
            severity=severity,
            fix=fix,
            declined=declined,
            about_control=is_about_control,
            seldom_matters=(is_of_an_evaluation(program, loader) and "it is of an evaluation")
            or (needs_an_option_left_off(program, draw.event) and _LEFT_OFF)
            or (seeding is None and not is_stated and (controlled or alone) and _UNKNOWN_TORCH),
        )


def _is_surely_old(program: Program) -> bool:
    """Whether the project says that it runs with torch before 1.9; a lower bound alone leaves that open."""
    return program.target.known and not program.target.admits_from("1.9")


def _seeds_the_loader(fix: Fix) -> bool:
    """Whether a fix passes a seeded generator."""
    return any("manual_seed" in edit.content for edit in fix.edits)


def _trace(draw: Effect) -> list[Link]:
    return [*draw.event.chain, Link(draw.event.site, f"draws from NumPy's global RNG: {draw.event.name}")]


def _consequence(program: Program, is_old: bool, controlled: bool, alone: bool) -> str:
    if is_old and alone:
        every = "before torch 1.9, every epoch draws the same numbers"
        return every if _is_surely_old(program) else f"{every} (set `target-torch` if newer)"
    if is_old and _is_surely_old(program):
        return "before torch 1.9, all draw the same numbers in every epoch"
    if is_old:
        return "before torch 1.9, all draw the same numbers (set `target-torch` if newer)"
    if controlled:
        return "`np.random.seed` does not affect them, only torch's seed does"
    return "`np.random.seed` does not affect them and torch is not seeded, so every run differs"
