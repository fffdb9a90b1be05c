"""TRL305 dead-determinism-switch.

What it does
    Finds code that looks like a seed or a switch and does nothing:
    - a misspelt attribute (`cudnn.determinstic`, `cudnn.enable`), or one in the wrong place
      (`torch.backends.cuda.deterministic`);
    - an assignment to a function (`torch.manual_seed = 100`), or a function that is named but not called
      (`torch.manual_seed`);
    - `==` instead of `=`;
    - `cudnn.deterministic = True` or `use_deterministic_algorithms(True)` in a process that then starts others by
      `torch.multiprocessing.spawn`, where nothing sets it in these;
    - `torch.set_deterministic` in a `try`, under `hasattr` or in `contextlib.suppress`;
    - a generator that is made with a seed and not kept (`np.random.default_rng(seed)` as a statement), or whose name
      nothing reads (`rng = np.random.default_rng(seed)`, and `np.random.rand()` below);
    - `cudnn` without an import;
    - an option `--seed` of the command line that nothing reads.

Why is this bad?
    Python allows an assignment to any attribute of a module, but torch never reads this one. The program runs, says
    that it is deterministic, and is not. If `cudnn` is not imported, it stops with a NameError. Who passes `--seed 7`
    believes that the run can be repeated. Processes that are spawned begin with torch's defaults: only what their own
    function sets, or the main module where it is imported, holds there. `random.Random(0)` and
    `np.random.RandomState(0)` do not seed the functions of `random` and `np.random`: they make another generator.

Example
    ```python
    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.determinstic = True
    ```

Use instead
    ```python
    import torch

    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    ```

Since
    All versions of torch. The attributes are those of torch 2.13.

How it is proven
    The name is not among the attributes of torch.backends (a test compares these with the installed torch), and differs
    from one of them by a few letters. `verify` shows that the switch is off when the bad program ends.

Fix safety
    Safe: writes the attribute or the call that is meant. The line had no effect before, and does what it says
    afterwards. Unsafe for `enabled`, which would turn cuDNN off and make each run several times slower, and for a
    `benchmark` that would be turned on, with which runs differ that agreed before. There is no fix if the argument of a
    call is not known, nor for a misspelt `benchmark = True` in a program that asks for determinism: it would turn on
    what makes runs differ. A generator that nothing keeps becomes a call of `random.seed` or `np.random.seed`. That is
    unsafe where nothing else is seeded beside it, since it would begin the global generator anew each time its function
    is called. So is each call of a function that seeds, where the program seeds the same generator elsewhere: one of
    the two seeds would be lost.

Not reported
    - Names that are bound to anything other than torch's modules.
    - Mocks (a callable on the right-hand side) and tests.
    - Attributes whose names are not close to a real one.
    - A misspelt switch with a value that torch has anyway (`deterministic = False`, `enabled = True`), and a misspelt
      `benchmark`, which only makes runs faster: reported in the `strict` profile only. One that is to be off counts
      where the program turns the mode on by its right name.
    - `torch.set_deterministic` in a file that names `use_deterministic_algorithms` as well, for a torch below 1.10, or
      where nothing guards it: it raises an error there.
    - A switch of a process whose children lack the seed as well: TRL502 reports where they are started.
    - A switch of a process in a copy of PyTorch's ImageNet example beside other programs, if it imports no file of the
      project and none imports it: reported in the `strict` profile only.
    - A generator that nothing keeps or reads in a function that seeds the global generator as well: nothing is missing.
      Where all programs that run it seed the global one, it is reported in the `strict` profile only.
      One with a name that nothing reads counts where its function draws from the global generator of the same kind.
    - Options of programs that pass all their arguments to a library, or as keywords: it may read the seed. Options in a
      file that only declares them and that nothing imports.
    - Options for a seed in programs that draw nothing, that evaluate a network or that prepare data, by the names of
      their files, or that a function declares which no program runs: reported in the `strict` profile only.

References
    https://docs.pytorch.org/docs/stable/backends.html
    https://docs.pytorch.org/docs/stable/notes/randomness.html
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.dead_switch_fix import dead_switch_fix
from torchrepro_lint.knowledge.dead_switches import dropped_generators, unmissed_values
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import Constant, Site
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import is_never_run, is_run_seed, only_evaluates
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.running.ways import Way, runs_as_script
from torchrepro_lint.program.seeds.unread_seeds import draws_something, unread_seeds
from torchrepro_lint.program.seeds.unseeded import unseeded_processes
from torchrepro_lint.program.switches.dead_switches import DeadSwitch, dead_switches
from torchrepro_lint.program.switches.lost_switches import LostSwitch, lost_switches
from torchrepro_lint.rules.base import Rule

_LOST = "set it where the function that they run begins"


class DeadDeterminismSwitch(Rule):
    code = "TRL305"
    name = "dead-determinism-switch"
    summary = "code that looks like a seed or a determinism switch and does nothing"
    seldom = "nothing is trained or drawn in that program"

    def _lost(self, program: Program) -> Iterator[LostSwitch]:
        """Those of processes of which TRL502 does not report that the seed is lost as well: both move together."""
        lost = list(lost_switches(program))
        starts = {one.site for one in unseeded_processes(program)} if lost else set()
        yield from (one for one in lost if one.start not in starts)

    def check(self, program: Program) -> Iterator[Finding]:
        for dead in dead_switches(program):
            if dead.fault != "misspelt" and program.is_test(dead.frame.facts.path):
                continue
            fix, declined = dead_switch_fix(program, dead)
            site = program.site(dead.statement, dead.frame)
            message = _message(dead)
            seldom: str | bool = _is_seeded_otherwise(program, dead) and "the program seeds the global generator itself"
            seldom = seldom or (_is_not_missed(program, dead) and "it would change no more than the speed of the run")
            trace = [Link(site, "does nothing")]
            yield self.finding(program, site, message, trace, fix=fix, declined=declined, seldom_matters=seldom)
        for lost in self._lost(program):
            site = program.site(lost.switch.node, lost.switch.frame)
            name = lost.switch.name
            message = f"`{name}` holds in this process, and the processes that it spawns begin without it"
            trace = [Link(site, f"sets {name}"), Link(lost.start, "starts processes, which begin afresh")]
            is_seldom = _is_an_example_beside_others(program, site.path)
            yield self.finding(program, site, message, trace, declined=_LOST, seldom_matters=is_seldom)
        for option, site in unread_seeds(program):
            message = f"`{option}` is parsed and never read, so it seeds nothing"
            trace = [Link(site, "no file of the program reads it")]
            declined = "seed with it where the run begins"
            matters = draws_something(program, site.path) and not (
                _only_prepares(program, site) or is_never_run(program, site)
            )
            yield self.finding(program, site, message, trace, declined=declined, seldom_matters=not matters)


def _is_not_missed(program: Program, dead: DeadSwitch) -> bool:
    """Whether a misspelt switch is given no value but what torch has anyway, or what only makes a run faster: cuDNN's
    benchmark mode is missed where it is to be off, and the programs of the statement turn it on by its right name.
    """
    unmissed = unmissed_values().get(dead.meant, frozenset()) if dead.fault == "misspelt" else frozenset()
    if not unmissed or dead.value is None:
        return False
    values = program.ev.values(dead.value, dead.frame)
    given = {one.value for one in values if isinstance(one, Constant) and isinstance(one.value, bool)}
    if len(given) < len(values) or not values:
        given = {False, True}
    is_on = any(last_part(dead.meant) == one.effect for one in program.evidence_in_programs_of(dead.frame))
    return given <= unmissed and not (is_on and False in given)


def _is_seeded_otherwise(program: Program, dead: DeadSwitch) -> bool:
    """Whether each program that runs a place, where a seed goes into a generator that nothing draws from, always seeds
    the global one for its run: what is drawn there repeats.
    """
    known = dropped_generators().get(dead.name) if dead.fault in ("dropped", "unread") else None
    if known is None:
        return False
    seeded: set[Path] = set()
    for one in program.evidence_of("seed"):
        if known.rng in one.seeds and is_run_seed(program, one):
            ends = [way[-1].facts.path for way in ways_of(program, one) if _always_runs(way)]
            seeded.update(*map(program.imports.above, ends))
    above = program.imports.above(dead.frame.facts.path)
    starts = {one.path for one in entry_points(program)} & above
    return bool(starts) and starts <= seeded


def _always_runs(way: Way) -> bool:
    """Whether a place runs in each run of the module that ends a way: it is under no `if` but that of the guard."""
    *inner, last = way
    return last.scope.parent is None and len(last.path) <= runs_as_script(way) and not any(one.path for one in inner)


def _is_an_example_beside_others(program: Program, path: Path) -> bool:
    """Whether a file is a copy of a training script of the library's own examples that has nothing to do with the
    project: it imports none of its files, no file imports it, and the project has other programs.
    """
    if not program.project.holds(path, program_words("is_an_example")):
        return False
    if program.imports.importers(path) or program.imports.imported_by_file(path):
        return False
    return any(one.path != path for one in entry_points(program))


def _only_prepares(program: Program, site: Site) -> bool:
    """Whether a file evaluates a network or prepares data, by its name: `extract_features.py`, `preprocess.py`."""
    return only_evaluates(program, site) or function_words("about_data").fullmatch(site.path.stem) is not None


def _message(dead: DeadSwitch) -> str:
    match dead.fault:
        case "misspelt":
            return f"torch does not read `{dead.name}`, so this has no effect: write `{dead.meant}`"
        case "unbound":
            return f"`cudnn` is not defined in this file, so this is a NameError: write `{dead.meant}`"
        case "assigned-over":
            return f"this overwrites the function `{dead.name}` with a value instead of calling it"
        case "not-called":
            return f"this names the function `{dead.name}` without calling it"
        case "gone":
            return f"newer releases of torch have no `{dead.name}`, so this switches nothing on: call `{dead.meant}`"
        case "unread":
            return f"nothing reads `{dead.held}`, so its seed reaches no draw: draw from it, or call `{dead.meant}`"
        case "dropped":
            return (
                f"`{dead.name}` makes a generator that nothing keeps, so its seed reaches no draw: write `{dead.meant}`"
            )
    return f"this compares `{dead.name}` instead of setting it"
