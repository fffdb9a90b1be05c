"""TRL201 dataloader-without-generator.

What it does
    Finds DataLoaders that take their order, or the seeds of their workers, from torch's global random number generator
    because no `generator` is passed: `shuffle` is true or not proven to be false, or there are workers whose code draws
    random numbers.

Why is this bad?
    Everything else that draws shares the global generator: one more `torch.rand`, a different initialization, an
    additional evaluation pass, and all later epochs come in another order. If nothing seeds torch, the order differs in
    every run. With a generator of its own, the loader's order depends on that generator's seed alone.

Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.arange(16)), batch_size=4, shuffle=True)
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.arange(16)), batch_size=4, shuffle=True, generator=g)
    ```

Since
    torch 1.6 (`DataLoader(generator=)`).

How it is proven
    `verify` shows that the order of the bad program differs between runs, and that of the fixed one does not. Measured
    on 2.13: a stray `torch.rand` between two epochs changes the order of the second one without a generator, and does
    not change it with one.

Fix safety
    Safe: creates a generator for this loader alone, once, and passes it. It is made beside the loader, or in the
    constructor of the object whose method creates the loader again. If a function makes loaders of one name in several
    arms of an `if`, or returns one there and another below, it is made once above that. Where any other function runs
    again in one training, there is a fix only if torch is seeded in that function or at the top of its file. There is
    none where it makes loaders that are used beside each other, or of several parts of the data in each epoch, which
    would share the generator. The order changes once, when the fix is applied. The generator gets the program's own
    seed:
    - `torch.initial_seed()`, the number with which torch was last seeded, where torch is seeded on every path before:
      whoever changes the program's seed changes this one. Elsewhere it is the expression with which the program seeds,
      or there is no fix.
    - `torch.initial_seed() + 1` for the second loader of a file that gets a generator, `+ 2` for the third: generators
      with one seed shuffle equally long data in the same way. Functions that use up the loaders that they make, as the
      trainers of which a run takes one, each begin with the seed itself.
    - `torch.randint(2**32, ()).item()`, which torch draws, where one call makes several loaders that draw, for the same
      reason. Unsafe: nobody would merge that unread.
    - With the rank of the process added, where several ranks have workers that draw: these would draw the same numbers.
      Not in the arm of an `if` whose other arm makes a `DistributedSampler`, nor where Lightning's Trainer has
      `devices=1`: there is one process.

    Unsafe where the seed can only be written as a number: one that nobody chose, in a program that seeds nothing, or a
    copy of the one in `np.random.seed(0)`, in a program that does not seed torch before. So is `args.seed or 0` where
    the user need not give a seed and the program has no default of its own for it, and any seed where the program
    seeds torch in some runs alone (`if args.deterministic:`), and an option of the command line that nothing else
    reads.

    Unsafe as well is what is right and has to be read all the same:
    - Another loader or sampler of the project goes on to draw its order from torch's global generator, since no safe
      fix gives it one: whoever merges the fix would take the project for done. `shuffle=shuffle` counts, and so do
      other scripts and functions that nothing calls yet, a loader of an evaluation that surely shuffles, and one that
      accelerate is handed, as several of its releases leave the sampler without a generator. Programs that only
      evaluate, tests and copied code do not, nor what was put aside, unless it is in the same words.
    - The workers of the loader, or of another one of its file, draw what no safe fix seeds (TRL101, TRL102, TRL109).
    - The author has commented such an argument out: `shuffle=True)  # , generator=g)`.
    - The generators of two loaders under one name would differ in a number.
    - Another function of the file makes a loader in the same words, which no safe fix gives a generator.
    - A number above 1 would tell the seed apart from others; or 1 would, from that of a loader in another function, in
      another cell or more than 25 lines away.
    - The loader is in an arm of an `if` whose other arm makes a loader that is left without a generator, since no call
      in sight comes to it.
    - Further down, a loader with a sampler may take the place of this one (`if balanced: loader = DataLoader(...)`).
    - The loader has no order to draw, and beside it is one with a sampler, which would be left without a generator.
    - The function makes more than two loaders, samplers and splits that need a generator.
    - The generator would stand more than 25 lines above its loader.
    - A rank would be added to the seed that the program does not name there, or a second loader of one rank would share
      its seed with the first loader of the next.

    A loader made by a `functools.partial` gets the generator where that is called. Where the call may make something
    else for another caller, the partial gets it, if it makes one loader, and is not passed to `map`.

    If the call also passes the `**kwargs` of its function, there is a fix only if no caller in the project passes a
    generator. In a public function of a package that the project builds, there is none: a caller elsewhere that passes
    one would get a TypeError. Nor is there one for a loader that a data set keeps: each worker has a copy of the data
    set, and would have one of the generator. Nor is there one where the objects whose constructor would make the
    generator cannot keep it (`__slots__`, a subclass that never calls that constructor, `json.dump(vars(self))`).

Not reported
    - `shuffle=True` for a data set that never reads the index of the item, with nothing random in the workers.
    - `shuffle=False` with nothing random in the workers; a value for `shuffle` from a configuration that is by its name
      the value for the evaluation (`cfg.val.shuffle`).
    - Loaders for an evaluation or for a look at the data, whether they shuffle or their workers draw: their name or
      that of the function says so (`val_loader`, `train_loader_for_test`, `def plot_samples`), only the first batch is
      looked at, or it is only gone through where the function evaluates, computes no gradients or detaches the batches,
      and takes no step (`compute_accuracy(model, train_loader)`, features under `torch.no_grad()`). A list, a dict or
      an attribute may hold it (`for x, _ in self.test_parts[client]`). So are those of a script that evaluates or shows
      something (`model.eval()`, `plt.show()`), and trains nothing. They are reported in the `strict` profile only. A
      `valid_loader` in whose loop an optimizer takes steps is none of them.
    - Code for other programs (a package that the project builds, copied code), if no program in sight makes the loader:
      reported in the `strict` profile only.
    - Loaders that always get a `sampler` or `batch_sampler`, which the loader's generator does not affect (that is
      TRL202), unless worker code draws and nothing seeds torch.
    - Workers that seed themselves from the system (TRL503), or seed each item from its index; and, where no fix can be
      written, those whose `worker_init_fn` does not follow torch's seed (TRL103, TRL104, TRL105).
    - Loaders before each pass over which torch is seeded, in the turn of a loop around it or by the function that gets
      the loader: the order repeats, and a generator would go on from one pass to the next. They are reported in the
      `strict` profile only, without a fix; so is a loader in a function that seeds torch above it and goes through it,
      where nothing else draws from torch: a generator would change nothing.
    - A loader of which only the length or the data set is asked (`len(DataLoader(...))`, `loader.dataset`), or whose
      name nothing reads, in a function or `__main__` block, or in a script that trains, and that nothing imports.
    - Loaders of a notebook that no cell reads: reported in the `strict` profile only.
    - A loader that is told to shuffle where it gets a sampler, and then not: `sampler = balanced() if train else None`
      with `shuffle=train and sampler is None`.
    - Draws in a dataset that only a test uses, and draws that only code reads which does not run for this loader: the
      seed of an augmentation, where only training augments.
    - Frameworks that seed the sampler themselves (Hugging Face's Trainer, accelerate; Lightning's with a distributed
      strategy, `strategy="ddp"`, unless it is told to keep the sampler, where the workers draw nothing). If Lightning's
      strategy comes from outside, they are reported in the `strict` profile only, unless the default is none of these.
    - Code for torch before 1.6, which accepts no generator: where the target is older, and the same call without one in
      `except TypeError`. If the target may be older, there is no fix.
    - Programs that do not show that they want to repeat, and tests: reported in the `strict` profile only.
    - Loaders in programs that seed torch, or may do so unseen, of which nothing shows that an option moves the order:
      two runs have the same one as it is. They are reported in the `strict` profile only. So are those of which TRL502
      says that the program does not seed torch.
    - What is seen to move an order, between the seed and a pass over the loader or in the turn before of the same loop:
      a draw on the CPU, or a pass over another loader, where an option (of the command line, a configuration or the
      environment) says in which turns of a loop that is done, as in `epoch % args.eval_every == 0`. An option counts if
      the project gives it two values: in its scripts and READMEs, one of which may run the program without it, in its
      YAML files, or in the lists with which its programs start others. Otherwise all runs of the project have one
      order, and the loader is reported in the `strict` profile only. So are items that draw, where an option that is 0
      unless given counts the workers, as they differ themselves with another number; and a loop over trainings under
      one seed, of which a `break` may end one early: whoever runs it again has the same trainings before.
    - What does not count there: an option that says whether something is done at all, `if args.finetune:`, or how often
      in a row, `range(args.clients)`: runs with another one differ in more than their batches. Nor do the number of
      epochs, the epoch with which a resumed run begins, dropout, which is on the device of the network, a loop that
      makes the loader anew, and a `break` that leaves only a loop within the loop over the rounds of a training.
    - In programs that want to repeat and do not seed torch, loaders for which no fix can be written, as where they are
      made again in one training (in each epoch), a data set keeps them, or the project is a package or supports a torch
      without generators: reported in the `strict` profile only, unless it is only unknown what calls them.
    - Further loaders of a function which get the same generator, in arms of an `if`, or whose order is moved by an
      option: the trace of the first names them, and the `strict` profile reports each.
    - Loaders of which TRL101, TRL102 or TRL109 speak. That is one finding, and what its fix leaves is reported
      afterwards.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.loader_fix import loader_fix, why_rewritten
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.loaders import GENERATOR_SINCE
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.for_others import is_of_its_package
from torchrepro_lint.program.repetition import only_evaluates
from torchrepro_lint.program.running.fallbacks import stands_in_for
from torchrepro_lint.program.running.never_read import is_read_nowhere
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.moved_streams import Moved, moved_by
from torchrepro_lint.program.seeds.only_draws import is_the_only_draw
from torchrepro_lint.program.seeds.partial_seeding import is_said_of_the_program
from torchrepro_lint.program.seeds.seeded_passes import is_seeded_before_each_pass
from torchrepro_lint.program.seeds.seeding import has_generator, may_be_seeded
from torchrepro_lint.program.workers.global_draws import (
    brings_a_sampler,
    first_draw,
    is_of_an_evaluation,
    shuffles_itself,
    surely_shuffles,
)
from torchrepro_lint.program.workers.init_faults import is_seeded_by_init
from torchrepro_lint.program.workers.managers import managing, may_manage_order
from torchrepro_lint.rules.lacking import lacking
from torchrepro_lint.rules.loader_rule import LoaderRule
from torchrepro_lint.source.cells import is_notebook

_MAKES: Final = "Generator()\n"


_NOT_READ = "nothing reads the loader"
_OF_OTHERS = "it is in a package for programs of others"


class DataLoaderWithoutGenerator(LoaderRule):
    code = "TRL201"
    name = "dataloader-without-generator"
    summary = "DataLoader takes its order or its workers' seeds from torch's global RNG: no generator is passed"
    severity = Severity.WARNING
    is_about_control = True
    is_strict_in_tests = True
    is_of_the_caller = True

    def cause_of(self, program: Program, loader: Loader, finding: Finding) -> Hashable:
        """The function, where one generator serves several loaders: those that a fix gives the same one, as in several
        arms of an `if`; and where an option moves the order of several.
        """
        made = next((edit for edit in finding.fix.edits if _MAKES in edit.content), None) if finding.fix else None
        if finding.left_to_strict is not None:
            return None  # it is read by itself, if at all
        if not finding.repeats and may_be_seeded(program, loader):
            made = None  # an option moves it
        elif made is None:
            return None
        return loader.facts.path, id(loader.scope), made

    def of_site(self, program: Program, loaders: Sequence[Loader]) -> Finding | None:
        if program.target.known and not program.target.admits_from(GENERATOR_SINCE):
            return None
        for loader in loaders:
            if not loader.known.takes_generator or has_generator(loader) or not loader.may_lack("generator"):
                continue
            shuffles = shuffles_itself(program, loader)
            draw = first_draw(program, loader) if not shuffles else None
            if not shuffles and draw is None:
                continue
            if not shuffles and brings_a_sampler(loader) and may_be_seeded(program, loader):
                continue
            # Frameworks that give the sampler a seed; where none does, one may by a strategy that comes from outside.
            managed = [manager for manager, _ in managing(program, loader) if manager.order]
            if any(manager.workers for manager in managed):
                continue
            is_open = not managed and may_manage_order(program, loader)
            if (managed or is_open) and draw is None:
                draw = first_draw(program, loader)
            if managed and draw is None:
                continue
            if stands_in_for(parents_of(program.ev, loader.facts), loader.call, "generator"):
                continue
            trace = [*draw.event.chain, Link(draw.event.site, f"draws: {draw.event.name}")] if draw is not None else []
            proves = any(program.is_asked(link.site.path) for link in trace)
            is_seeded = draw is not None and is_seeded_by_init(program, loader, draw)
            seldom = _seldom_matters(program, loader, is_unknown=is_open and draw is None)
            is_said = not seldom and is_said_of_the_program(program, loader.frame, loader.call, "torch")
            may_repeat = not seldom and (is_said or may_be_seeded(program, loader))
            moved = moved_by(program, loader) if may_repeat and not is_said else None
            repeats = may_repeat and (moved is None or moved.seldom is not None)
            fix, declined = None, None
            if is_seeded or self.is_told(program, loader.site):
                fix, declined = loader_fix(program, loader, init=False, generator=True, anywhere=proves)
            if is_seeded and fix is None:  # TRL103, TRL104 and TRL105 are about the init function
                continue
            if declined is not None and not (seldom or repeats):
                seldom = _seldom_since_declined(program, loader)
            surely = any(surely_shuffles(program, one) for one in loaders)
            message = _message(loader, draw, moved, surely=surely, is_seeded=is_seeded)
            trace += moved.trace if moved is not None else ()
            return self.finding(
                program, loader.site, message, trace, fix=fix, declined=declined, seldom_matters=seldom,
                repeats=repeats,
            )  # fmt: skip
        return None


def _seldom_matters(program: Program, loader: Loader, *, is_unknown: bool) -> str | bool:
    """Why nobody rewrites a training for the order of this loader, False where somebody may. `is_unknown`: whether
    there is any order to draw.
    """
    at = program, loader.facts, loader.scope, loader.call
    return (
        (is_of_an_evaluation(program, loader) and "it is of an evaluation")
        or (only_evaluates(program, loader.site) and "the program only evaluates")
        or (is_seeded_before_each_pass(*at) and "torch is seeded before each pass")
        or (is_the_only_draw(*at) and "nothing else draws between the seed and the passes")
        or (is_notebook(loader.facts.path) and is_read_nowhere(program, loader.facts, loader.call) and _NOT_READ)
        or (is_unknown and "whether it shuffles is chosen out of sight")
    )


def _seldom_since_declined(program: Program, loader: Loader) -> str | bool:
    """Why nobody rewrites a training for the order of this loader, of which the fix is declined."""
    at = program, loader.facts, loader.scope, loader.call
    return (is_of_its_package(program, loader.facts.path) and _OF_OTHERS) or why_rewritten(*at, GENERATOR_SINCE)


def _message(loader: Loader, draw: Effect | None, moved: Moved | None, *, surely: bool, is_seeded: bool) -> str:
    """`is_seeded`: the init function of the workers seeds them with something else than torch's seed so far."""
    lack = lacking(loader.call, Parameter("generator"))
    if moved is not None:
        order = "draws the order" if draw is None else "seeds the workers"
        return f"{lack}: torch's global RNG {order}, and what it has drawn before depends on {moved.by}"
    if draw is not None and is_seeded:
        return f"{lack}: once `worker_init_fn` follows torch's seed, torch's global RNG decides `{draw.event.name}`"
    if draw is not None:
        return f"{lack}: torch's global RNG seeds the workers, which draw random numbers (`{draw.event.name}`)"
    order = "the order is drawn" if surely else "if `shuffle` is true, the order is drawn"
    return f"{lack}: {order} from torch's global RNG, so any other random draw changes it"
