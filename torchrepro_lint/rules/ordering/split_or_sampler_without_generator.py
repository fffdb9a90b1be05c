"""TRL202 split-or-sampler-without-generator.

What it does
    Finds `random_split`, `RandomSampler`, `SubsetRandomSampler`, `WeightedRandomSampler`, and permutations by
    `torch.randperm` that split a dataset, without a `generator`.

Why is this bad?
    They draw from torch's global random number generator, which everything else draws from as well. One more draw
    before them, such as a different initialization, changes the split: what was validation data in one run is trained
    on in the next, and a resumed run has already trained on its validation data. If each rank of a distributed program
    seeds with its own number, each has a different split, and trains on what the others validate on. The generator of
    the DataLoader does not affect a sampler that is passed to it.

Example
    ```python
    import torch
    from torch.utils.data import TensorDataset, random_split

    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    train, val = random_split(TensorDataset(torch.arange(16)), [12, 4])
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import TensorDataset, random_split

    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    g = torch.Generator()
    g.manual_seed(0)
    train, val = random_split(TensorDataset(torch.arange(16)), [12, 4], generator=g)
    ```

Since
    All versions; `generator` exists since torch 1.6 (`random_split`) and 1.7 (the samplers).

How it is proven
    `verify` shows that the parts differ between runs, and that two ranks which seed with their rank share samples
    between training and validation.

Fix safety
    Safe: creates a generator with the program's own seed and passes it: `torch.initial_seed()`, the number with which
    torch was last seeded, where torch is seeded on every path before, else the expression with which the program seeds.
    In a distributed program, the call gets a separate generator whose seed does not depend on the rank. Only a sampler
    in a program that seeds each rank with another number keeps another order on each rank. There is no fix where the
    only seed in reach holds the rank and the ranks need the same split. The split changes once, when the fix is
    applied.

    Unsafe where the seed can only be written as a number: one that nobody chose, in a program that seeds nothing, or a
    copy of the one in a call that seeds something else, or later. Unsafe where a function gives two samplers or splits
    one name, whose generators would differ in a number, or makes more than two that need one. Unsafe as well where,
    after all safe fixes, another split of the project, or beside a sampler another loader or sampler, would still draw
    from torch's global generator.

Not reported
    - Splits under `torch.random.fork_rng()`, or after a call that seeds torch, also above the `if` that they are in or
      before each call of their function, if nothing between draws from torch, nor calls what is not known.
    - `torch.randperm` that shuffles or drops within a batch, and samplers over a single item.
    - What a sampler cuts out of a permutation for one episode (`__iter__`, `sample_episode`), by whatever names.
    - A sampler that is passed as `shuffle=`, where it only counts as true, or one whose generator the project sets
      afterwards (`sampler.generator = g`).
    - Frameworks that give the sampler a generator (Hugging Face's Trainer, accelerate).
    - Code for a torch that accepts no generator yet: where the target is older, and the same call without one in
      `except TypeError`. If the target may be older, there is no fix.
    - Samplers for an evaluation, or for a look at the data, by their name, or that of the function or of the files of
      all programs that make it, and those that put
      the numbers of a range into minibatches (`BatchSampler(SubsetRandomSampler(range(size)), ...)`, as in the storage
      of a policy's steps): reported in the `strict` profile only.
    - Splits and samplers in programs that seed torch, or call a helper of an unknown module whose name says that it
      seeds (`importlib.import_module(cfg.utils).set_seed(0)`), unless that comes only after they have drawn, or the
      ranks of a split have different seeds: two runs with one seed get the same parts and the same order. A split draws
      where it is made, a sampler in each pass over it or over a loader that gets it. What else is drawn in the program
      still moves them: reported in the `strict` profile only, unless an option is seen to move the order of a sampler,
      as TRL201 says of loaders. So are permutations that are drawn again in a loop or in a function that trains, for
      which they are an order and no split. Where no program in sight runs a split, as where a configuration names its
      class, all programs of the project that seed torch count.
    - Splits and samplers in programs of which TRL502 says that they do not seed torch: that is one finding, whose fix
      seeds these as well. Reported in the `strict` profile only.
    - Further splits of a function for which no fix can be written, and samplers of one whose order an option moves: the
      trace of the first names them, and the `strict` profile reports each. So does it alone with samplers for which
      none can be written, as where a function makes them again in one training, torch may not be seeded before, or the
      project supports a torch without generators.
    - Programs that do not show that they want to repeat, tests, code for other programs (a package that the project
      builds, copied code) that none in sight asks for, and such a package where no seed can be written: reported in the
      `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Sampler
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.loader_fix import why_rewritten
from torchrepro_lint.fixes.split_fix import generator_fix
from torchrepro_lint.knowledge.loaders import GENERATOR_SINCE, SAMPLER_GENERATOR_SINCE
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ordering.samplers import (
    UnseededSplit,
    gives_minibatches,
    is_drawn_again,
    is_surely_unseeded,
    loaders_given,
    seeds_by_rank,
    unseeded_splits,
)
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.for_others import is_of_its_package
from torchrepro_lint.program.repetition import only_evaluates
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.moved_streams import Moved, moved_by
from torchrepro_lint.program.seeds.partial_seeding import is_said_of_the_program
from torchrepro_lint.program.seeds.seeding import calls_a_helper_that_seeds, is_seeded_where_it_is_run
from torchrepro_lint.program.workers.global_draws import serves_an_evaluation
from torchrepro_lint.program.workers.managers import sets_order_of
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.lacking import named_without
from torchrepro_lint.rules.one_cause import first_for_all

_OF_OTHERS = "it is in a package for programs of others"
_SAID = "TRL502 says that the program does not seed torch"


class SplitOrSamplerWithoutGenerator(Rule):
    code = "TRL202"
    name = "split-or-sampler-without-generator"
    summary = "random split or sampler that draws from torch's global RNG: no generator is passed"
    severity = Severity.WARNING
    is_about_control = True
    is_of_the_caller = True

    def check(self, program: Program) -> Iterator[Finding]:
        yield from first_for_all(self._each(program))

    def _each(self, program: Program) -> Iterator[tuple[Hashable, Finding]]:
        """The findings, each with its cause: the function, if no generator is made by a fix, or an option moves it."""
        for one in unseeded_splits(program):
            call = one.call
            since = SAMPLER_GENERATOR_SINCE if one.kind == "sampler" else GENERATOR_SINCE
            if program.target.known and not program.target.admits_from(since):
                continue
            if one.kind == "sampler" and sets_order_of(program, call.facts, call.scope):
                continue
            by_rank = seeds_by_rank(program, call)
            leaks = by_rank is not None and one.kind != "sampler"
            differ = by_rank is not None and one.kind == "sampler"
            trace = _ranks_apart(program, *by_rank) if by_rank is not None and leaks else []
            is_told = self.is_told(program, call.site)
            fix, declined = None, None
            if is_told:
                fix, declined = generator_fix(
                    program,
                    call,
                    one.parameter,
                    since=since,
                    is_split=one.kind != "sampler",
                    seeds_by_rank=leaks,
                    ranks_differ=differ,
                )
            may_be_seeded = _may_be_seeded(program, one)
            moved = _moved(program, one) if may_be_seeded else None
            message = _message(one, moved, leaks=leaks)
            trace += moved.trace if moved is not None else ()
            is_unfixed = is_told and fix is None
            at = program, call.facts, call.scope, call.call
            seldom = one.kind == "sampler" and (
                (is_unfixed and why_rewritten(*at, since))
                or (serves_an_evaluation(*at) and "it is of an evaluation")
                or (only_evaluates(program, call.site) and "the program only evaluates")
                or (gives_minibatches(program, call) and "it gives the minibatches of one update")
            )
            seldom = (
                seldom
                or (is_unfixed and is_of_its_package(program, call.facts.path) and _OF_OTHERS)
                or (not leaks and moved is None and may_be_seeded and "torch is seeded, so it repeats")
                or (moved is not None and moved.seldom)
                or (one.kind == "permutation" and is_drawn_again(program, call) and "it is drawn again and again")
                or (not leaks and is_said_of_the_program(program, call.frame, call.call, "torch") and _SAID)
            )
            found = self.finding(program, call.site, message, trace, fix=fix, declined=declined, seldom_matters=seldom)
            is_shared = fix is None or moved is not None
            yield (call.facts.path, id(call.scope), one.kind, leaks) if is_shared else None, found


def _may_be_seeded(program: Program, one: UnseededSplit) -> bool:
    """Whether torch may be seeded before the numbers of a call are drawn, also by a program that makes what calls it by
    a configuration, or by a helper out of sight.
    """
    return (
        not is_surely_unseeded(program, one)
        or is_seeded_where_it_is_run(program, one.call.frame)
        or calls_a_helper_that_seeds(program, one.call.facts.path)
    )


def _moved(program: Program, one: UnseededSplit) -> Moved | None:
    """What an option decides of the order of a sampler, which is drawn in each pass over the loaders that get it."""
    if one.kind != "sampler":
        return None
    return next((moved for loader in loaders_given(program, one.call) if (moved := moved_by(program, loader))), None)


def _ranks_apart(program: Program, seed: Site, rank: Site) -> list[Link]:
    """The proof that ranks seed otherwise: what seeds, and where the rank comes in, if that is on another line."""
    links = [Link(seed, "each rank gets a seed of its own here")]
    at, there = program.location(seed), program.location(rank)
    if (there.path, there.start.row) != (at.path, at.start.row):
        links.append(Link(rank, "the rank is part of the seed"))
    return links


def _message(one: UnseededSplit, moved: Moved | None, *, leaks: bool) -> str:
    call = named_without(last_part(one.call.name), one.call.call, one.parameter)
    if moved is not None:
        return f"{call}: torch's global RNG draws the order, and what it has drawn before depends on {moved.by}"
    if one.kind == "sampler":
        return f"{call}: the order is drawn from torch's global RNG, so any other random draw changes it"
    if leaks:
        return (
            f"{call} where ranks have different seeds: each rank has a different split, and trains on validation data"
        )
    return f"{call}: the split is drawn from torch's global RNG, so any earlier random draw changes it"
