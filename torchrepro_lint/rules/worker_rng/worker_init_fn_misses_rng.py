"""TRL102 worker-init-fn-misses-rng.

What it does
    Finds loaders whose `worker_init_fn` does not seed a generator that the workers draw from and that torch does not
    seed itself: NumPy's global RNG before torch 1.9, and the generators of libraries, such as imgaug's global one and
    those that the transforms of albumentations hold since 1.4.21.

Why is this bad?
    Workers start with a copy of that generator's state in the main process. All of them draw the same numbers from it,
    and draw them again in every epoch. Seeding `random` or torch in the function does not help: torch does that itself.

Example
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
        random.seed(torch.initial_seed() % 2**32)

    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(Noisy(), num_workers=2, worker_init_fn=seed_worker, generator=g)
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
    For NumPy: if `target-torch` is unknown or includes a version before 1.9. For libraries: all versions of torch.

How it is proven
    Documented in pytorch/pytorch#5059; since #56488 (torch 1.9) workers seed NumPy too. `verify` shows on torch 2.13
    that the seeded workers differ.

Fix safety
    Safe: seeds NumPy as well, with the recommended body if the function does nothing but seed, or else by a line at its
    end. The generator of a library is seeded by a line at the end, if the library has a function for it. The draws
    change; they were the same in every worker, or different in every run. Unsafe if the fix seeds a pipeline that the
    dataset holds, since it relies on an attribute of the dataset being what the tool sees; and for NumPy, if the
    project admits torch from 1.9 on, which seeds NumPy in the workers itself.

Not reported
    - Functions with a call that could not be followed, functions that may come from elsewhere, and functions of
      libraries.
    - Functions that access the worker's dataset; pipelines only if the function assigns or seeds nothing but other
      attributes of it.
    - Loaders that a test makes, and draws of some versions of a library only (albumentations since 1.4.21), where the
      project names none: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from torchrepro_lint.diagnostics import Finding, Fix
from torchrepro_lint.fixes.init_fix import seed_numpy_fix
from torchrepro_lint.fixes.reseed_fix import missed_library_fix, reseed_library_fix
from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Event, Link
from torchrepro_lint.program.worker_seeds.worker_init import InitRun, init_runs
from torchrepro_lint.program.workers.dataset_reseeding import leaves_alone, reaches_dataset
from torchrepro_lint.program.workers.index_seeds import draws_left
from torchrepro_lint.program.workers.init_shape import misfit
from torchrepro_lint.program.workers.library_rngs import is_of_a_guessed_version, library_draws
from torchrepro_lint.program.workers.training_draws import without_those_of_training
from torchrepro_lint.rules.loader_rule import LoaderRule, safe_for_old_torch_alone

_Planned: TypeAlias = tuple[Fix | None, str | None]


class WorkerInitFnMissesRng(LoaderRule):
    code = "TRL102"
    name = "worker-init-fn-misses-rng"
    summary = "a worker init function does not seed a generator that the workers draw from"
    is_strict_in_tests = True

    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        return next(filter(None, (self._of_loader(program, loader) for loader in loaders)), None)

    def _of_loader(self, program: Program, loader: Loader) -> Finding | None:
        if not loader.has_workers or loader.lacks("worker_init_fn"):
            return None
        program.ev.begin_question()
        for run in init_runs(program.ev, loader):
            if run.function is None or misfit(program.ev, run.value) is not None:
                continue
            finding = (
                self._of_numpy(program, loader, run)
                or self._of_library(program, loader, run)
                or self._of_pipeline(program, loader, run)
            )
            if finding is not None:
                return finding
        return None

    def _of_numpy(self, program: Program, loader: Loader, run: InitRun) -> Finding | None:
        if not program.target.admits_below("1.9") or run.seeds("numpy"):
            return None
        draws = without_those_of_training(program, loader, draws_left(program.ev, program.worker_run(loader), "numpy"))
        if not draws:
            return None
        event = draws[0].event
        missed = f"NumPy, which the workers draw from (`{event.name}`): before torch 1.9,"
        fix, declined = seed_numpy_fix(program, run)
        planned = (safe_for_old_torch_alone(program, fix) if fix is not None else None, declined)
        return self._report(program, loader, run, event, missed, planned)

    def _of_library(self, program: Program, loader: Loader, run: InitRun) -> Finding | None:
        for rng, generator in generators().items():
            draws = program.worker_run(loader).draws_from(rng) if generator.copied and not run.seeds(rng) else []
            if draws:
                event = draws[0].event
                missed = f"{generator.called}, which the workers draw from (`{event.name}`):"
                return self._report(program, loader, run, event, missed, missed_library_fix(program, loader, rng))
        return None

    def _of_pipeline(self, program: Program, loader: Loader, run: InitRun) -> Finding | None:
        """What is told of generators that the objects of a library hold, such as the transforms of albumentations."""
        held = [draw for draw in library_draws(program, loader) if draw.effect.rng == "own" and draw.event.receiver]
        if held and reaches_dataset(program, loader):
            held = [draw for draw in held if leaves_alone(program, loader, draw.is_held_by)]
        elif run.seeds("receiver"):
            held = []
        if not held:
            return None
        missed = f"the generator of {held[0].shown}:"
        planned = reseed_library_fix(program, loader, held)
        seldom = is_of_a_guessed_version(program, held[0])
        return self._report(program, loader, run, held[0].event, missed, planned, seldom_matters=seldom)

    def _report(
        self, program: Program, loader: Loader, run: InitRun, draw: Event, missed: str, planned: _Planned, *,
        seldom_matters: bool = False,
    ) -> Finding:  # fmt: skip
        fix, declined = planned
        message = f"`{run.name}` does not seed {missed} all workers draw the same numbers"
        trace = _trace(run, draw)
        return self.finding(
            program, loader.site, message, trace, fix=fix, declined=declined, seldom_matters=seldom_matters
        )


def _trace(run: InitRun, draw: Event) -> list[Link]:
    links = [Link(run.site, f"the init function: {run.name}")] if run.site is not None else []
    return [*links, *draw.chain, Link(draw.site, f"draws: {draw.name}")]
