"""TRL504 seed-after-randomness.

What it does
    Follows each program from its start, and finds what it builds or draws before the first call that seeds the
    generator: a model whose initial weights are random, noise, a shuffled list. The trace shows how the program reaches
    both.

Why is this bad?
    A seed only affects what comes after it. A model that is built before has different weights in every run although
    the program seeds, and nothing in the results shows why they differ.

Example
    ```python
    import torch
    from torch import nn

    model = nn.Linear(4, 2)
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(model(torch.ones(1, 4)))
    ```

Use instead
    ```python
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(model(torch.ones(1, 4)))
    ```

Since
    All versions of torch.

How it is proven
    `verify` shows that two runs of the bad program differ, and that those of the repaired one agree.

Fix safety
    No fix: the seeding call has to be moved above what it should affect, and its seed must be known there.

Not reported
    - Models that are only built in order to load trained weights (no optimizer in the program), and models into which
      all weights are surely loaded afterwards, in the function that builds them or in those that call it. With
      `strict=False`, these are not all if some are taken out or chosen; nor are the model's own weights, of which some
      were given other values.
    - Models at the top level of an imported module for which the program never asks, or into which it loads weights.
    - Models of which only the form, the name or the configuration is used.
    - Dropout in a model that is switched to evaluation before.
    - Splits and samplers (TRL202, TRL209).
    - Draws that no result depends on, such as a part of the path of a folder that the same function makes; the default
      of a parameter that each call in the program is given.
    - Random actions that show what an environment is like: what comes of them is printed or plotted, and the
      environment is reset before an agent plays. What is replaced before anything reads it, and a draw that a line of
      a script or a cell has alone.
    - Draws of `random` and NumPy in a function that shows something, by its name or that of its module (`plotting.py`).
    - A number that is drawn for a seed, and put into a configuration under that name.
    - Anything but first weights before the arguments of Hugging Face's Trainer, if these are given no seed. Where
      nothing else seeds the program, first weights are reported in the `strict` profile only.
    - What a cell of a notebook draws, if no cell uses it from the seed on.
    - A shuffle that only orders a list of runs each of which seeds first: reported in the `strict` profile only.
    - What is tried before the seed, where the same call is made once more after it, with another switch
      (`main(debug=True)`, `set_seed(0)`, `main(debug=False)`): reported in the `strict` profile only.
    - Branches of an `if` that do not run together with the seed.
    - What the program reaches by no way on which each option of the command line has one value: reported in the
      `strict` profile only.
    - Programs in which something that cannot be followed may have seeded before.
    - What is drawn in a function or file that evaluates, by its name, and in programs that only evaluate or show
      something: reported in the `strict` profile only.
    - First weights in a program that evaluates, by the name of its file (`predict.py`), and scripts for debugging, by
      theirs (`train_debug.py`): reported in the `strict` profile only.
    - What a package that the project builds makes inside, where the program only imports it: it makes it for many
      programs, and which of its parts one of them gets is seldom to be told.
    - What is drawn from torch, if it is not shown that the program trains what is made of it: an optimizer gets the
      parameters of that very object, or a trainer the object. A network that is looked at, while another one is built
      under the seed and trained, is reported in the `strict` profile only; so are noise, and dropout.
    - Tests, and the `__main__` block of a module that others import: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.dotted import last_part
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.loaders.worker_runs import effects_of
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.first_weights import draws_weights, is_of_a_model
from torchrepro_lint.program.repetition import only_evaluates
from torchrepro_lint.program.running.chains import branches
from torchrepro_lint.program.running.partings import is_tried_before
from torchrepro_lint.program.running.reach import Event, Link, shown
from torchrepro_lint.program.seeds.late_seeds import LateSeed, late_seeds
from torchrepro_lint.program.seeds.shown_draws import is_outside_the_training, orders_seeded_runs
from torchrepro_lint.program.seeds.trained_models import is_trained
from torchrepro_lint.rules.base import Rule

_NOT_TRAINED = "the program is not seen to train what is made of it"


#: How the note of a link begins that is a call of the project's own.
_CALLS = "calls "


class SeedAfterRandomness(Rule):
    code = "TRL504"
    name = "seed-after-randomness"
    summary = "a model is built, or a number drawn, before the first call that seeds"
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        for late in late_seeds(program):
            # What only evaluates uses weights that were trained, which replace those that it draws.
            name = late.run.entry.site.path.stem
            evaluates = function_words("evaluates").search(name) is not None
            seldom = (
                (not late.is_possible and "no run comes to both: they need other options")
                or (is_tried_before(program, late.early, late.seed) and "the run that counts comes after the seed")
                or (orders_seeded_runs(program, late.early, late.seed) and "each of the runs that it orders is seeded")
                or (evaluates and draws_weights(late.early) and "trained weights replace these")
                or (is_outside_the_training(program, late.early) and "it is outside of the training")
                or (only_evaluates(program, late.seed.site) and "the program only evaluates")
                or (function_words("debug_scripts").search(name) is not None and "the program tries something out")
                or (_is_of_torch(late.early) and not is_trained(program, late.run, late.early) and _NOT_TRAINED)
            )
            yield self.finding(program, late.site, _message(program, late), _trace(late), seldom_matters=seldom)


def _is_of_torch(event: Event) -> bool:
    """Whether something draws from torch's generator."""
    return any(one.effect.rng == "torch" for one in effects_of(event))


def _message(program: Program, late: LateSeed) -> str:
    """ "`Net` is created (line 41) before `torch.manual_seed` (line 55), so its initial weights are not seeded"."""
    weights = draws_weights(late.early) and is_of_a_model(program, late.early)
    what = _built(late) if weights else _written(late.early)
    created = "is created" if last_part(what)[:1].isupper() else "is called"
    verb, effect = (created, "its initial weights are") if weights else ("draws", "what it draws is")
    early = _line(program, late, late.site)
    parted = _parted(late)
    if parted is None:
        seeds = f"`{_written(late.seed)}` ({_line(program, late, late.seed.site)})"
    else:
        name, site = parted
        seeds = f"`{name}` ({_line(program, late, site)}) calls `{_written(late.seed)}`"
    return f"`{what}` {verb} ({early}) before {seeds}, so {effect} not seeded"


def _parted(late: LateSeed) -> tuple[str, Site] | None:
    """The call by which the program comes to the seed, after it has left the way to the draw: its name and its place.
    None where the seeding call itself is that.
    """
    to_draw = [link.site for link in late.early.chain]
    for link in late.seed.chain:
        if link.note.startswith(_CALLS) and link.site not in to_draw:
            return link.note.removeprefix(_CALLS), link.site
    return None


def _built(late: LateSeed) -> str:
    """What is created at the place of the finding: the class of the model, or the layer itself."""
    for link in late.early.chain:
        if link.site == late.site and link.note.startswith(_CALLS):
            return link.note.removeprefix(_CALLS)
    return _written(late.early)


def _written(event: Event) -> str:
    """The call as it is written there."""
    return shown(event.call.func) if event.call is not None else event.name


def _line(program: Program, late: LateSeed, site: Site) -> str:
    """`line 41`, with the file where it is not that of the finding; with the cell of a notebook."""
    cell, row = program.places.row(site)
    line = f"line {row}" if cell is None else f"cell {cell}, line {row}"
    return line if site.path == late.site.path else f"{site.path.name}, {line}"


def _trace(late: LateSeed) -> list[Link]:
    start = Link(late.run.entry.site, "the program starts")
    return branches(
        (start, *late.early.chain, Link(late.early.site, f"draws: {late.early.name}")),
        (start, *late.seed.chain, Link(late.seed.site, f"seeds only then: {late.seed.name}")),
    )
