"""Options of the command line that are called like a seed and that nothing reads: `--seed 7` changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    FunctionValue,
    Instance,
    MethodValue,
    Site,
)
from torchrepro_lint.program.programs.entry_path import MAIN_RNGS, entry_runs
from torchrepro_lint.program.programs.run_places import loaders_of
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.seeds.first_draws import first_draw
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["draws_something", "unread_seeds"]

_DECLARES: Final = re.compile(rb"['\"]--(?:[a-z]+[-_])?seed['\"]")
_SEED: Final = re.compile(r"--(?:(?:manual|random|rand|rng|global|torch|base)[-_])?seed")
#: The parsed arguments as keywords of a call, or as a table of names.
_SPREAD: Final = re.compile(
    rb"\*\*\s*(?!kw)\w*(?:vars|arg|opt|cfg|conf|param|flag)|kwargs\s*=\s*(?:vars|dict)\(|__dict__|_get_kwargs"
)
#: What a program imports that draws, or that may.
_DRAWS: Final = re.compile(
    rb"^\s*(?:from|import)\s+(?!argparse\b|os\b|sys\b|pathlib\b|ast\b|json\b|typing\b|__future__\b)\w", re.MULTILINE
)
_FINDS_ANYTHING: Final = any_word(["import_module", "__import__", "exec", "instantiate", "run_path", "run_module"])
_ARGUMENTS: Final = function_words("holds_arguments")
_OWN: Final = (FunctionValue, MethodValue, ClassValue, Instance)


def unread_seeds(program: Program) -> Iterator[tuple[str, Site]]:
    """The options, each with the call that declares it, in the order of files and text. None where another option of
    the file gives the seeds (`--run_seeds`), and in a file that only declares options and that nothing imports.
    """
    for path in program.asked_with(_DECLARES):
        facts = program.facts(path)
        if facts is None or program.is_test(path) or _is_for_no_program(program, path):
            continue
        declared = sorted(_declarations(facts), key=lambda one: one.site)
        for call in declared:
            option = next((flag for flag in _flags(call) if _SEED.fullmatch(flag)), None)
            if option is None or _may_be_read(program, path, _attribute(call)):
                continue
            others = (one for one in declared if one is not call and any("seed" in flag for flag in _flags(one)))
            if not any(_may_be_read(program, path, _attribute(other)) for other in others):
                yield option, Site(path, call.site)


def draws_something(program: Program, path: Path) -> bool:
    """Whether a program that starts in a file draws a random number, or may: it makes a loader, or cannot be followed
    to its end.
    """
    runs = [run for run in entry_runs(program) if run.entry.path == path]
    for run in runs:
        if run.incomplete or any(any(loaders_of(program, run, with_workers=flag)) for flag in (False, True)):
            return True
        if any(first_draw(program, run, rng) is not None for rng in MAIN_RNGS):
            return True
    return not runs


def _is_for_no_program(program: Program, path: Path) -> bool:
    """Whether a file names nothing that draws, and no other file imports it: no program has its options."""
    if program.project.holds(path, _DRAWS):
        return False
    importing = _importing(path.stem)
    return not any(one != path and program.project.holds(one, importing) for one in program.project.known)


def _declarations(facts: ModuleFacts) -> Iterator[tree.Call]:
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            if called_name(call.func) == "add_argument" and not any(arg.star for arg in call.args):
                yield call


def _flags(call: tree.Call) -> list[str]:
    written = (arg.value for arg in call.args if arg.keyword is None)
    return [value.value for value in written if isinstance(value, tree.Const) and isinstance(value.value, str)]


def _attribute(call: tree.Call) -> str | None:
    """The attribute of the parsed arguments; None where it is not written as it is."""
    for arg in call.args:
        if arg.keyword == "dest":
            return None
    return next((flag.lstrip("-").replace("-", "_") for flag in _flags(call) if flag.startswith("--")), None)


def _may_be_read(program: Program, path: Path, attribute: str | None) -> bool:
    if attribute is None:
        return True
    reads = _reading(attribute)
    files = program.imports.together(path)
    if any(program.project.holds(file, _FINDS_ANYTHING) for file in files):
        files = program.project.known
    else:
        importing = _importing(path.stem)
        files = files.union(file for file in program.project.known if program.project.holds(file, importing))
    if any(program.project.holds(file, pattern) for file in sorted(files) for pattern in (reads, _SPREAD)):
        return True
    return any(_leave_the_project(program, file) for file in sorted(files))


@cache
def _importing(module: str) -> re.Pattern[bytes]:
    """An import of a module of that name, from wherever: the folder that it names may be one that is called otherwise
    here, as the folder of a repository is after a download.
    """
    return re.compile(rb"^\s*(?:from\s+[\w.]*\b%s\s+import|import\s.*\b%s\b)" % ((module.encode(),) * 2), re.MULTILINE)


@cache
def _reading(attribute: str) -> re.Pattern[bytes]:
    """`args.seed`, `args["seed"]`, `getattr(args, "seed")`; `random.seed(0)` reads no option."""
    return re.compile(rb"(?:\.|['\"])%s\b(?!\s*\()" % attribute.encode())


def _leave_the_project(program: Program, path: Path) -> bool:
    """Whether a file passes all parsed arguments to what is not the project's, and does more than to show them."""
    return program.once(("arguments leave", path), lambda: _pass_arguments_on(program, path))


def _pass_arguments_on(program: Program, path: Path) -> bool:
    facts = program.facts(path)
    for scope in facts.walk_scopes() if facts is not None else ():
        for call, _ in scope.calls:
            if not any(_are_arguments(arg.value) for arg in call.args):
                continue
            if function_words("shows_arguments").fullmatch(called_name(call.func) or ""):
                continue
            program.ev.begin_question()
            assert facts is not None
            values = program.ev.values(call.func, frame_without_callers(program.ev, facts, scope))
            if not values or not all(isinstance(value, _OWN) for value in values):
                return True
    return False


def _are_arguments(node: tree.Expr) -> bool:
    match node:
        case tree.Name(id=name) | tree.Attribute(attr=name):
            return _ARGUMENTS.fullmatch(name) is not None
    return False
