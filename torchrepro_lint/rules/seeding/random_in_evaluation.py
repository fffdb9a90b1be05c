"""TRL508 random-in-evaluation.

What it does
    Finds dropout that is active while a model is evaluated: `F.dropout` without `training`, the `dropout_p` of
    `scaled_dot_product_attention` and of flash attention that does not depend on the mode, an `nn.Dropout` that is
    created where it is called, and programs that evaluate a model with dropout and never call its `eval()`. They may
    call that of another model, such as a teacher. Only in the `strict` profile: in public repositories most of what it
    finds is in networks that the programs do not use, and no scores come of it.

Why is this bad?
    An evaluation gives another result each time, worse than the model is. `F.dropout` drops unless it is given
    `training=False`, and `scaled_dot_product_attention` always drops: `model.eval()` changes neither. A new
    `nn.Dropout` is in training mode, whatever mode the module around it is in. `torch.no_grad()` does not change the
    mode. The draws also change all later random numbers of the training.

Example
    ```python
    import torch
    from torch import nn
    from torch.nn import functional as F


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 2)

        def forward(self, x):
            return self.layer(F.dropout(x, 0.5))


    model = Net()
    model.eval()
    print(model(torch.ones(1, 4)))
    ```

Use instead
    ```python
    import torch
    from torch import nn
    from torch.nn import functional as F


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 2)

        def forward(self, x):
            return self.layer(F.dropout(x, 0.5, training=self.training))


    model = Net()
    model.eval()
    print(model(torch.ones(1, 4)))
    ```

Since
    All versions; `scaled_dot_product_attention` is in torch 2.0 and later.

How it is proven
    `verify` shows that the output of the same model for the same input differs between two evaluations.

Fix safety
    Unsafe: passes `training=self.training`, or a probability of 0 in evaluation mode. In a program that only uses a
    trained model, inserts `model.eval()` above its call and all that is around it. The results of evaluations change.
    There is no fix outside the methods of a module, and for a layer that is created where it is called. Nor is there
    one for a missing `model.eval()` in a program that trains, where `model.train()` has to follow.

Not reported
    - `training=True`, which says that it is on purpose, and names that say so: Monte Carlo dropout, the prenet of
      Tacotron 2, perturbations, augmentations.
    - A script that trains nothing and puts the model into training mode itself (`model.train()`).
    - Calls under an `if` that asks for the mode, and probabilities that depend on it or are 0,
      also those that a layer holds (`self.drop.p`), where nothing in the project gives another than 0.
    - Dropout of a generator in a project that names pix2pix, in its code or by its folder: there it is the noise from
      which an image is made.
    - Functions that take a training step themselves, and classes that no program in sight uses.
    - A missing `model.eval()` in a program that calls `eval` of what may be the model, or of something that may have it
      inside, or that uses a framework that may (Lightning, a `Trainer` that it imports, `from_pretrained`).

References
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.evaluation_fix import evaluation_fix
from torchrepro_lint.fixes.mode_fix import mode_fix
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.dropout_in_evaluation import LastingDropout, lasting_dropout
from torchrepro_lint.program.seeds.unswitched_evaluation import Evaluation, unswitched_evaluations
from torchrepro_lint.rules.base import Rule


class RandomInEvaluation(Rule):
    code = "TRL508"
    name = "random-in-evaluation"
    summary = "dropout is active in an evaluation: model.eval() is not called, or does not switch it off"
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in lasting_dropout(program):
            if _is_noise_of_a_generator(program, one):
                continue
            fix, declined = mode_fix(program, one) if program.is_asked(one.site.path) else (None, None)
            yield self.finding(program, one.site, _message(one), fix=fix, declined=declined)
        for found in unswitched_evaluations(program):
            message = f"dropout is active in this evaluation: {_why(found)}"
            trace = [*found.chain, Link(found.layer.site, f"draws: {last_part(found.layer.name.rpartition('.')[0])}")]
            fix, declined = evaluation_fix(program, found) if program.is_asked(found.site.path) else (None, None)
            yield self.finding(program, found.site, message, trace, fix=fix, declined=declined)


def _is_noise_of_a_generator(program: Program, one: LastingDropout) -> bool:
    """Whether a network that makes images drops in a project that speaks of pix2pix, where dropout is its noise."""
    around = one.call.scope.parent
    if around is None or function_words("makes_images").search(around.name) is None:
        return False
    words = program_words("draws_by_dropout")
    return words.search(program.root.name.encode()) is not None or program.imports.any_together(one.site.path, words)


def _why(found: Evaluation) -> str:
    if not found.switched:
        return "nothing in the program calls `model.eval()`"
    return f"the program calls `{found.switched[0]}.eval()`, and never `eval()` of this model"


def _message(one: LastingDropout) -> str:
    name = last_part(one.call.name)
    if one.kind == "layer":
        return f"`nn.{name}` that is created here is always in training mode: `model.eval()` does not switch it off"
    if one.kind == "rate" and one.row is not None:
        return f"`{name}` drops in evaluation too: its `{one.row.rate.name}` does not depend on `self.training`"
    return f"`{name}` without `training` drops in evaluation too: `model.eval()` does not switch it off"
