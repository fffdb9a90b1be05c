"""TRL502 partially-seeded.

What it does
    Finds programs that seed some of Python's `random`, NumPy and torch, and whose main process draws from one that they
    do not seed: in the training loop, in the initialization of the model, in a sampler, in the dataset of a loader
    without workers. Also finds programs that seed and then start processes with `torch.multiprocessing.spawn`, which
    inherit nothing of that, and draw without a seed.

Why is this bad?
    Each of the three has its own generator, and seeding one does not affect the others. The program looks seeded, but
    draws different numbers in every run. `torch.cuda.manual_seed` alone, or under a condition that there is a GPU, does
    not seed torch's CPU generator, which initializes models and shuffles loaders.

Example
    ```python
    import numpy as np
    import torch

    torch.manual_seed(0)
    order = np.random.permutation(10)
    print(order, torch.rand(2))
    ```

Use instead
    ```python
    import numpy as np
    import torch

    torch.manual_seed(0)
    np.random.seed(0)
    order = np.random.permutation(10)
    print(order, torch.rand(2))
    ```

Since
    All versions of torch.

How it is proven
    `verify` shows that two runs of the bad program differ, and that those of the fixed one agree.

Fix safety
    Safe: seeds what is missing next to the other seeds, in the usual order and with the same seed: the expression
    in the call, be it a number. Draws from it differed in every run before. Where the expression may be a text, since
    its option names no type, NumPy gets `int(args.seed)`.

    Unsafe:
    - The only seed of a function other than `main`, or of a cell of a notebook, is `random`'s or NumPy's, and it
      shuffles or chooses below. That may be what the seed is for.
    - A comment beside the seed, above the lines that it ends, or above the `if` that begins with it, says that it is
      for a split or an order.
    - The seed is a number, and the program is also seeded with what its user gives. That would not decide these draws.
    - Each turn of a loop sets the same seed, and these draws are what its turns differ in (`for repeat in range(5):
      torch.manual_seed(seed)`).
    - A loop runs the function that seeds, with a seed that what each turn gets holds (`trial.seed`): what its turns
      draw outside of it, such as the settings of a search, may become the same in each.
    - Torch is imported only below, in a later cell of a notebook.
    - Only CUDA is seeded, in an arm of an `if` that asks for it, and no line above that can have the same seed.
    - A cell of a notebook that trains nothing seeds, and only other cells draw from the rest.
    - A script that evaluates or shows something, and trains nothing: what it draws may decide nothing there.
    - A module that others import sets the seeds: they belong where the programs begin.
    - A method sets one seed for its object (`self.seed = random.seed(seed)`), and other files draw from the rest.
    - The seed is a constant in a package that the project builds. Its users have a seed of their own.
    - The program is distributed, and the seed does not name the rank. What each rank drew by itself would be the same
      in all of them.
    - The rule reports another place of the repository, which no safe fix mends.
    - Another program of the repository seeds some of the three and not the one that is missing here, by a helper or a
      module too, and its files draw from that one: also where it is not reported, as it only evaluates.

    There is no fix:
    - if a file of the project puts something else in the place of the function that seeds (`random.seed = 3`), which
      can no longer be called then;
    - if the seed is computed in the call;
    - if the function seeds the missing generator only when its callers ask for it;
    - if the draw comes before the other seeds;
    - if only processes draw that begin anew (`Process` after `set_start_method("spawn")`), which it would not reach;
    - if the seed is for what a function draws each time it is called, and the rest is drawn elsewhere;
    - if a module sets the seed where it is imported, and it is the only one there, or what imports it seeds the rest;
    - if the file has a copy of the lines around the seed that needs no fix, as nothing calls its function.

Not reported
    - Draws in the workers of a loader: torch seeds these (for NumPy in older versions, see TRL101).
    - Draws in processes that the program starts itself (TRL112), and a generator that it makes with a seed beside the
      others and does not keep (TRL305).
    - Draws of one command of a command line, where only another command of it seeds (click, typer, cyclopts).
    - Draws that no result depends on, such as a port, the name of a run, first weights that trained ones replace, or
      which results a loop prints or a function shows (`visualize`, `plot_samples`, any of `plotting.py`).
    - Where t-SNE, UMAP or MDS place samples, if that goes into a figure and nowhere else.
    - Draws for each part of a module (`for part in self.modules()`) before its constructor assigns the first one.
    - Random actions that show what an environment is like, what is replaced before anything reads it, and a draw that a
      line of a script or a cell has alone.
    - Programs of frameworks that seed through their configuration, or that call a seeding helper which cannot be
      followed.
    - Splits (TRL202, TRL209).
    - Seeds in worker init functions, in epoch loops, in tests, and in the method `seed` with which gym seeds an
      environment.
    - A seed of `random` or NumPy that stands alone right before the shuffle by which a data set is split, or before
      some of the data are chosen (`np.random.choice(..., replace=False)`, `random.sample(names, 50)`): it keeps the
      split or the choice. What computes the numbers for it (`n, _ = rows.shape`) may stand between.
    - A seed that a function sets for itself, after all that trains and all that is drawn from what is not seeded.
    - A seed that is given back right below its use, or below each call of the function that sets it
      (`np.random.seed(None)`, `random.seed()`, `torch.seed()`): it is none of the run.
    - A seed that a method sets from its object, if that was given one (`if self.seed is not None:
      torch.manual_seed(self.seed)`), where the object is no run; and one that its function counts on for the next call.
    - A seed under a test whether a file is there (`if not os.path.exists(path)`): it is that of what is kept in the
      file, and runs that find the file seed nothing.
    - Draws that decide nothing of a training: those of a program that only evaluates or shows something, of a function
      or file that evaluates, by its name, and shuffles of a list that is sorted below: reported in the `strict` profile
      only.
    - Tests, the `__main__` block of a module that others import, scripts for debugging by their names
      (`train_debug.py`), and the only seed of a program where it is `random`'s or NumPy's and a module sets it as it is
      imported: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/notes/randomness.html#python
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.partial_fix import seed_beside_fix
from torchrepro_lint.fixes.unsafe_reasons import EACH_TURN, LOCAL_SEED, ONLY_EVALUATES, first_that_holds
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import is_in_a_loop
from torchrepro_lint.program.loaders.worker_runs import Effect
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import only_evaluates
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.chains import branches
from torchrepro_lint.program.running.entry_walk import training_steps
from torchrepro_lint.program.running.epochs import is_step
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.partial_seeding import PartialSeeding, is_set_by_an_import, partial_seedings
from torchrepro_lint.program.seeds.process_draws import is_in_a_new_process
from torchrepro_lint.program.seeds.unseeded import UnseededProcesses, unseeded_processes
from torchrepro_lint.program.switches.own_generators import OwnGenerator, generator_at_hand, own_generators_in
from torchrepro_lint.rules.base import Rule

_OWN_SEED = "each process may want a seed of its own: set it where the function that they run begins"
_NEW_PROCESSES = "the processes that draw begin without it: set it where the function that they run begins"
_LATE = "it draws before that: all seeds belong at the start of the program"
_OF_ITS_FUNCTION = "it is for the draws of its own function: set all seeds at the start of the program"
_OF_A_MODULE = "importing this module sets that seed: set all seeds at the start of the program"
#: Statements after which a function that seeds can no longer be called: `random.seed = 3`.
_OVERWRITES: Final = {
    "python": re.compile(rb"(?<![\w.])random\.seed\s*=(?!=)"),
    "numpy": re.compile(rb"\b(?:np|numpy)\.random\.seed\s*=(?!=)"),
    "torch": re.compile(rb"\btorch\.manual_seed\s*=(?!=)"),
}
#: A message of more characters leaves the generator that is beside to the trace.
_LONGEST = 160
_CHOOSING = frozenset({"shuffle", "permutation", "sample", "choice", "choices"})
_PREFIXES = {"python": "random.", "numpy": "numpy.random."}
_WORDS = {"python": "`random`", "numpy": "NumPy's global RNG", "torch": "torch's RNG"}


class PartiallySeeded(Rule):
    code = "TRL502"
    name = "partially-seeded"
    summary = "the program seeds some of random, NumPy and torch, and draws from one that it does not seed"
    is_about_control = True

    def check(self, program: Program) -> Iterator[Finding]:
        for found in partial_seedings(program):
            missing = [rng for rng, _, _ in found.missing]
            reason = _LATE if found.comes_late else _OF_ITS_FUNCTION if found.is_of_its_function else None
            of_a_module = _is_of_a_module(program, found)
            if reason is None and (of_a_module or _is_beside_seeds_of_importers(program, found)):
                reason = _OF_A_MODULE
            if reason is None:
                reason = _overwritten(program, missing)
            if reason is None and all(is_in_a_new_process(program, chain) for _, _, chain in found.missing):
                reason = _NEW_PROCESSES
            evaluates = only_evaluates(program, found.block.site)
            fix, declined = (None, reason) if reason is not None else seed_beside_fix(program, found.block, missing)
            if fix is not None:
                is_local = (
                    _is_for_draws_below(program, found.block)
                    or _is_for_its_cell(program, found)
                    or _is_shown_in_another_cell(program, found)
                    or _is_of_an_object(program, found)
                    or _is_of_an_imported_file(program, found)
                )
                held = not is_local and _is_held_in_a_loop(program, found.block)
                fix = fix.made_unsafe(
                    first_that_holds((is_local, LOCAL_SEED), (held, EACH_TURN), (evaluates, ONLY_EVALUATES))
                )
            yield self.finding(
                program,
                found.block.site,
                _message(program, found),
                _trace(program, found),
                fix=fix,
                declined=declined,
                seldom_matters=(not found.is_inside_the_run and "it is drawn outside of the training")
                or (evaluates and "the program only evaluates")
                or (of_a_module and "torch" not in found.block.seeds and "it is a module that other programs run")
                or (_tries_out(found.block.site.path) and "the program tries something out"),
            )
        for one in unseeded_processes(program):
            drawn = " and ".join(f"{_WORDS[rng]} (`{draw.event.name}`)" for rng, draw, _ in one.draws)
            message = f"`{one.seed.name}` seeds this process, not those that start here, which draw from {drawn}"
            seldom = one.only_weights and only_evaluates(program, one.site) and "the program only evaluates"
            trace = _trace_of_processes(one)
            yield self.finding(program, one.site, message, trace, declined=_OWN_SEED, seldom_matters=seldom)


def _overwritten(program: Program, missing: Sequence[str]) -> str | None:
    """Why a seed that is set would raise an error: a file of the project puts a number in the place of its function."""
    for pattern in (_OVERWRITES[rng] for rng in missing if rng in _OVERWRITES):
        for path in program.project.matching(pattern):
            return f"{path.name} puts something else in the place of the function that seeds: mend that first"
    return None


def _is_of_a_module(program: Program, found: PartialSeeding) -> bool:
    """Whether the one generator that is seeded is so where a module is imported that is no program: `np.random.seed(0)`
    above the class of a transform.
    """
    if not is_set_by_an_import(program, found.block):
        return False
    beside = [one for one in program.evidence_of("seed") if one.site.path == found.block.site.path]
    return len({rng for one in beside for rng in one.seeds} & _WORDS.keys()) == 1


def _is_beside_seeds_of_importers(program: Program, found: PartialSeeding) -> bool:
    """Whether the seed is set where a module is imported, and a file that imports it seeds what is missing there: the
    module would set that as well, before or after.
    """
    if not is_set_by_an_import(program, found.block):
        return False
    importing = program.imports.above(found.block.site.path) - {found.block.site.path}
    missing = {rng for rng, _, _ in found.missing}
    return any(one.site.path in importing and not missing.isdisjoint(one.seeds) for one in program.evidence_of("seed"))


def _is_of_an_imported_file(program: Program, found: PartialSeeding) -> bool:
    """Whether the seed is set by the code of a module that other files import: they may set their own above it, and it
    is there, where their programs begin, that the rest belongs.
    """
    frame = found.block.frame
    return frame.scope is frame.facts.scope and program.imports.is_imported(frame.facts.path)


def _is_for_draws_below(program: Program, block: Evidence) -> bool:
    """Whether the only generator that a function seeds, Python's or NumPy's, draws an order or a choice below, as that
    of the classes: its author may have meant these draws, and not the run.
    """
    scope = block.frame.scope
    if scope.parent is None or function_words("entry").fullmatch(scope.name):
        return False
    return _chooses_below(program, block, lambda site: True)


def _is_for_its_cell(program: Program, found: PartialSeeding) -> bool:
    """Whether the only generator that a cell of a notebook seeds draws an order or a choice below in it, and the others
    draw in other cells.
    """
    block = found.block
    cell, _ = program.places.row(block.site)
    if cell is None or block.frame.scope.parent is not None:
        return False

    def is_beside(site: Site) -> bool:
        return site.path == block.site.path and program.places.row(site)[0] == cell

    drawn_here = any(is_beside(draw.event.site) for _, draw, _ in found.missing)
    return not drawn_here and _chooses_below(program, block, is_beside)


def _is_shown_in_another_cell(program: Program, found: PartialSeeding) -> bool:
    """Whether a cell of a notebook that trains nothing has the seed, and only others draw from the rest: each shows
    something of its own.
    """
    block = found.block
    cell, _ = program.places.row(block.site)
    if cell is None or any(program.places.row(draw.event.site)[0] == cell for _, draw, _ in found.missing):
        return False
    calls = (call for scope in block.frame.facts.walk_scopes() for call, _ in scope.calls)
    return not any(is_step(call) or called_name(call.func) in training_steps() for call in calls)


def _is_held_in_a_loop(program: Program, block: Evidence) -> bool:
    """Whether a loop runs the seeding call again and again with a seed that what each turn gets holds, `trial.seed`: it
    may be the same in each, and what else they draw would begin anew.
    """
    return isinstance(block.value, (tree.Attribute, tree.Subscript)) and is_in_a_loop(program, block)


def _is_of_an_object(program: Program, found: PartialSeeding) -> bool:
    """Whether a method sets the only seed of its file, and what is missing is drawn in other files alone: an agent that
    seeds its own draws, and the notebook around it.
    """
    block = found.block
    around = block.frame.scope.parent
    if around is None or not isinstance(around.node, tree.ClassDef) or "torch" in block.seeds:
        return False
    beside = [one for one in program.evidence_of("seed") if one.frame.scope is block.frame.scope]
    seeded = {rng for one in beside for rng in one.seeds}
    drawn_here = any(draw.event.site.path == block.site.path for _, draw, _ in found.missing)
    return len(seeded & _WORDS.keys()) == 1 and not drawn_here


def _chooses_below(program: Program, block: Evidence, is_near: Callable[[Site], bool]) -> bool:
    """Whether one generator alone, Python's or NumPy's, is seeded near a seeding call, in its scope, and draws an order
    or a choice below.
    """
    scope = block.frame.scope
    here = [one for one in program.evidence_of("seed") if one.frame.scope is scope and is_near(one.site)]
    seeded = {rng for one in here for rng in one.seeds}
    prefix = _PREFIXES.get(next(iter(seeded), "")) if len(seeded) == 1 else None
    return prefix is not None and any(
        isinstance(value, External) and value.name.startswith(prefix) and last_part(value.name) in _CHOOSING
        for call, _ in scope.calls
        if call.site > block.site.number and is_near(Site(block.site.path, call.site))
        for value in program.ev.values(call.func, block.frame)
    )


def _message(program: Program, found: PartialSeeding) -> str:
    left = " and ".join(_WORDS[rng] for rng, _, _ in found.missing)
    names = ", ".join(f"`{draw.event.name}`" for _, draw, _ in found.missing)
    single = len(found.missing) == 1
    seeded = f"`{found.block.name}` is seeded, but {left} {'is' if single else 'are'} not"
    own = [generator_at_hand(program, draw.event, rng) for rng, draw, _ in found.missing]
    held = " and ".join(dict.fromkeys(f"`{one.held}`" for one in own if one is not None))
    message = f"{seeded}: {names} {'draws' if single else 'draw'} from there, not from the seeded {held}"
    if held and len(message) <= _LONGEST:
        return message
    return f"{seeded}, although the program draws from there ({names})"


def _trace_of_processes(one: UnseededProcesses) -> list[Link]:
    return branches((Link(one.seed.site, f"seeds: {one.seed.name}"),), *_drawn(one.draws))


def _trace(program: Program, found: PartialSeeding) -> list[Link]:
    seeds = Link(found.block.site, f"seeds: {found.block.name}")
    arm = (
        [Link(found.other_arm.site, "torch is seeded in the other branch only")] if found.other_arm is not None else []
    )
    paths = tuple(dict.fromkeys((found.block.site.path, *(draw.event.site.path for _, draw, _ in found.missing))))
    own = [
        (rng, generator_at_hand(program, draw.event, rng) or _first_of(program, paths, rng))
        for rng, draw, _ in found.missing
    ]
    others = [
        Link(made.site, f"makes a generator of its own{_as(made.held)}: {_WORDS[rng]} does not draw from it")
        for rng, made in own
        if made is not None
    ]
    return branches((seeds, *arm, *others), *_drawn(found.missing))


def _first_of(program: Program, paths: Sequence[Path], rng: str) -> OwnGenerator | None:
    return next((one for path in paths for one in own_generators_in(program, path) if one.rng == rng), None)


def _as(held: str | None) -> str:
    return f", `{held}`" if held is not None else ""


def _drawn(draws: Sequence[tuple[str, Effect, tuple[Link, ...]]]) -> Iterator[tuple[Link, ...]]:
    """For each generator the chain to what is drawn from it, and that."""
    for rng, draw, chain in draws:
        yield (*chain, Link(draw.event.site, f"draws from {_WORDS[rng]}: {draw.event.name}"))


def _tries_out(path: Path) -> bool:
    """Whether a script only tries something out, by its name."""
    return function_words("debug_scripts").search(path.stem) is not None
