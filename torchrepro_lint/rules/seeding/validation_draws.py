"""TRL509 validation-draws.

What it does
    Finds loaders of validation or test data whose samples are cropped, flipped or otherwise augmented at random,
    without a generator of their own, in a file that also makes the loader of a training. Only in the `strict` profile:
    of seven findings in public repositories five were worth a change, though all were true.

Why is this bad?
    The score of the same weights differs each time: whether an epoch is the best one, and when a training stops early,
    depends on the crops that were drawn. The draws also move the generator of the training, so a run that is evaluated
    more often trains otherwise.

Example
    ```python
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Patches(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return self.crop(torch.arange(8.0)) + index

        def crop(self, image):
            top = torch.randint(0, 5, (1,)).item()
            return image[top : top + 4]

    torch.manual_seed(0)
    train_loader = DataLoader(Patches(), batch_size=2)
    val_loader = DataLoader(Patches(), batch_size=2)
    print([sum(batch.sum().item() for batch in val_loader) for epoch in range(3)], len(train_loader))
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Patches(Dataset):
        def __init__(self, is_random):
            self.is_random = is_random

        def __len__(self):
            return 8

        def __getitem__(self, index):
            return self.crop(torch.arange(8.0)) + index

        def crop(self, image):
            top = torch.randint(0, 5, (1,)).item() if self.is_random else 2
            return image[top : top + 4]

    torch.manual_seed(0)
    train_loader = DataLoader(Patches(is_random=True), batch_size=2)
    val_loader = DataLoader(Patches(is_random=False), batch_size=2)
    print([sum(batch.sum().item() for batch in val_loader) for epoch in range(3)], len(train_loader))
    ```
    Or draw from a generator that is made from the index of the sample.

Since
    All versions of torch.

How it is proven
    The programs of the fixtures print the score of the same weights in several epochs.

Fix safety
    No fix: which crop to evaluate on is the author's choice.

Not reported
    - Loaders with a `generator` or a `worker_init_fn`, and draws that are seeded by the index of the sample.
    - Datasets and transforms that ask, in any way that is not proven, whether they are for a training. So may the
      function that makes the loader; an `if` around the loader, or after it, does not count there.
    - Tasks that are drawn for each sample: masks, noise, views of self-supervised learning, episodes, as far as names
      tell.
    - Tests.

Known limits
    That a loader is for a validation is told from its name.

References
    https://github.com/yunxiaoshi/Neural-IMage-Assessment/issues/15
    https://github.com/SwinTransformer/Swin-Transformer-Object-Detection/issues/99
    https://github.com/Nerogar/OneTrainer/pull/660
"""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.evaluation_draws import evaluation_draw
from torchrepro_lint.rules.loader_rule import LoaderRule


class ValidationDraws(LoaderRule):
    code = "TRL509"
    name = "validation-draws"
    summary = "validation data are drawn at random, so the score of the same weights differs each time"
    severity = Severity.WARNING
    profile = "strict"
    is_about_control = True
    is_strict_in_tests = True

    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        found = [evaluation_draw(program, loader) for loader in loaders]
        one = found[0]
        if one is None or None in found:
            return None
        event = one.draw.event
        message = (
            f"these validation samples are drawn anew in each pass (`{event.name}`): the same weights score differently"
        )
        trace = [
            *event.chain,
            Link(event.site, f"draws: {event.name}"),
            Link(one.training, "the loader of the training"),
        ]
        return self.finding(program, loaders[0].site, message, trace)
