"""TRL109 library-rng-in-workers.

What it does
    Finds DataLoaders without a `worker_init_fn` whose workers draw from a generator that belongs to a library and that
    torch does not seed. Such are the global generators of imgaug and OpenCV, those in the objects of albumentations
    since 1.4.21 and in MONAI's random transforms, the one that scikit-image creates from entropy, and others.

Why is this bad?
    In each worker, torch seeds its own generator, Python's and (since 1.9) NumPy's, and no others. Generators that were
    created in the main process are copied: the workers draw the same numbers, again in every epoch. Those that are
    created from entropy differ in every run, whatever is seeded.

Example
    ```python
    import imgaug.augmenters as iaa
    from torch.utils.data import DataLoader, Dataset

    class Images(Dataset):
        def __init__(self, images):
            self.images = images
            self.augment = iaa.Sequential([iaa.Fliplr(0.5)])

        def __len__(self):
            return len(self.images)

        def __getitem__(self, index):
            return self.augment(image=self.images[index])

    loader = DataLoader(Images([]), num_workers=2)
    ```

Use instead
    ```python
    import imgaug
    import imgaug.augmenters as iaa
    import torch
    from torch.utils.data import DataLoader, Dataset

    def seed_worker(worker_id):
        imgaug.seed(torch.initial_seed() % 2**31)

    class Images(Dataset):
        def __init__(self, images):
            self.images = images
            self.augment = iaa.Sequential([iaa.Fliplr(0.5)])

        def __len__(self):
            return len(self.images)

        def __getitem__(self, index):
            return self.augment(image=self.images[index])

    loader = DataLoader(Images([]), num_workers=2, worker_init_fn=seed_worker)
    ```

Since
    All versions of torch. The versions of the libraries are read from the project's requirements. If these allow a
    range, it is enough that one version in it has the problem. If they name no version, the newest one must have it
    that runs with the other versions named (albumentations since 1.4 needs NumPy 1.24.4, since 1.4.19 Python 3.9). Code
    that the newest release does not run (`A.Flip()`) says nothing of which older one it runs with, and is not reported.

How it is proven
    From the libraries' source code: each row of the tool's table of random calls names the place. No run shows it,
    since the libraries are not installed where the tool is tested.

Fix safety
    Unsafe: inserts and passes a worker init function that seeds the library, or the pipeline that the dataset holds.
    This changes what is drawn, and relies on an attribute of the dataset being what the tool sees. There is no fix for
    a generator that is created from entropy in each call, or if no attribute leads to the pipeline.

Not reported
    - Loaders with a `worker_init_fn`, which TRL102 examines.
    - Code that reseeds the library.
    - MONAI's own loader.
    - Pipelines without anything random (`iaa.Sequential([iaa.Resize(32)])`, augmenters made by `to_deterministic()`).
    - Objects that are created anew for every item.
    - Loaders of a test, or of a self-test that trains nothing, and draws of some versions of a library only
      (albumentations since 1.4.21), where the project names none: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/data.html#randomness-in-multi-process-data-loading
    https://imgaug.readthedocs.io/en/latest/source/api_random.html
    https://albumentations.ai/docs/4-advanced-guides/seeds-and-randomness/
"""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.reseed_fix import reseed_library_fix
from torchrepro_lint.knowledge.generators import generators
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.library_rngs import LibraryDraw, is_of_a_guessed_version, library_draws
from torchrepro_lint.rules.loader_rule import LoaderRule


class LibraryRngInWorkers(LoaderRule):
    code = "TRL109"
    name = "library-rng-in-workers"
    summary = "DataLoader workers draw from a library's own generator, which torch does not seed"
    seldom = "nothing says that the project uses a release of the library that draws so"
    severity = Severity.WARNING
    is_strict_in_tests = True

    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        for loader in loaders:
            if loader.has_workers and loader.may_lack("worker_init_fn"):
                draws = library_draws(program, loader)
                if draws:
                    return self._report(program, loader, draws)
        return None

    def _report(self, program: Program, loader: Loader, draws: Sequence[LibraryDraw]) -> Finding:
        event = draws[0].event
        trace = [*event.chain, Link(event.site, f"draws: {event.name}")]
        fix, declined = reseed_library_fix(program, loader, draws)
        seldom = is_of_a_guessed_version(program, draws[0])
        message = _message(draws[0])
        return self.finding(program, loader.site, message, trace, fix=fix, declined=declined, seldom_matters=seldom)


def _message(draw: LibraryDraw) -> str:
    what = f"workers call {draw.shown}"
    if draw.effect.rng == "fresh":
        return f"{what}, which creates an unseeded generator each time, so no seed makes it repeatable"
    whose = generators()[draw.effect.rng].called
    return f"{what}, which draws from {whose}, and nothing seeds it in the workers"
