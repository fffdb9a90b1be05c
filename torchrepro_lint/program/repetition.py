"""Which programs show that they want to repeat, and whom a finding about control therefore concerns.

A program is an entry point with all that it imports. It shows that it wants to repeat if it seeds something for its
run, if it asks for determinism, or if a helper of a library that is called like one may seed it; the setting `intent`
says so for all programs of the project. A seed for one split, one draw, one worker or one test says nothing of the run.

A place may belong to several programs: it is enough that one of the programs that run it wants to repeat, since the
others share the code with it. If no program in sight runs a place (a data set that a configuration names), any program
of the project may; but none does if nothing that runs mentions the function or class, beside others of its module that
are used. In the other arm of the `if` in which a program seeds, it chooses not to repeat. Nobody asks for a change in
what is copied from elsewhere, unless a program of the project's own runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.files_of_tests import is_named_like_an_evaluation
from torchrepro_lint.program.intent.command_lines import command_line_calls, may_seed
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import ways_of, ways_to
from torchrepro_lint.program.programs.distributions import names_a_distribution
from torchrepro_lint.program.programs.for_others import (
    files_of_its_package,
    is_for_others,
    is_from_elsewhere,
    is_of_its_package,
    is_second_copy,
)
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.foreign_seeding import calls_foreign_seeding
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.named_uses import (
    is_beside_used_modules,
    is_imported_in_vain,
    is_left_over,
    is_named_by,
)
from torchrepro_lint.program.running.never_read import uses_of_a_module_name
from torchrepro_lint.program.running.project_tests import is_of_a_test, looks_at_data_alone
from torchrepro_lint.program.running.unused_methods import is_in_unused_method
from torchrepro_lint.program.running.ways import Way, chosen_by, never_together, runs_as_script
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run, is_of_a_framework
from torchrepro_lint.program.seeds.seed_faults import is_fresh_by_choice

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "is_left_to_the_callers",
    "is_left_unused",
    "is_never_run",
    "is_of_a_self_test",
    "is_read_unused",
    "is_run_elsewhere_alone",
    "is_run_seed",
    "Left",
    "left_to_strict",
    "only_evaluates",
    "wants_to_repeat",
]

#: The modules that want to repeat when they run, each with what shows it; None for a command line that may seed.
_Wishes: TypeAlias = dict[Path, list["Evidence | None"]]


def wants_to_repeat(program: Program, path: Path) -> bool:
    """Whether the program that starts in a file wants to repeat."""
    if program.settings.intent is not None or path in _repeating(program):
        return True
    return _may_seed_unseen(program, frozenset((path,)))


class Left(NamedTuple):
    """Why the `strict` profile alone reports something: the files in which programs start that do not want to repeat;
    or, without any, `because` says it, as the end of a sentence.
    """

    programs: tuple[Path, ...] = ()
    because: str = ""


def left_to_strict(program: Program, site: Site) -> Left | None:
    """Why what a rule finds at a place about control is only reported in the `strict` profile: the files in which the
    programs start that run it, none of which wants to repeat; no file where only tests run it, nothing does, or only
    runs in which the program does not seed, and where all that runs it is copied from elsewhere. None where it is
    reported by default.

    No file as well where a run comes only after an exception, or where no seed is given, and where all programs that
    run the place only try something out.
    """
    return program.once(("left to strict", site), lambda: _left_to_strict(program, site))


def is_of_a_self_test(program: Program, site: Site) -> bool:
    """Whether all that runs a place is a test, the `__main__` block of a module that others import, or that of a file
    that defines a data set and only looks at some samples.
    """
    found = ways_to(program, site)
    return bool(found) and all(is_of_a_test(program, way) or looks_at_data_alone(program, way) for way in found)


def is_never_run(program: Program, site: Site) -> bool:
    """Whether a place is in functions or classes that no code of the project runs, and that are not for others."""
    found = ways_to(program, site)
    return bool(found) and all(_is_unused(program, way) for way in found)


def is_left_unused(program: Program, site: Site) -> bool:
    """Whether a place is in functions or classes that nothing runs, of a file that another one imports which does more
    than to define, that is run as a program itself, that is the second copy of one that is imported, or that lies in a
    folder of modules of which a program loads others, in a project without a name under which others install it. Of any
    other file that only defines, what is to call it may be yet to be written.
    """
    is_settled = (
        not is_imported_in_vain(program, site.path)
        or site.path in _programs(program)
        or is_second_copy(program, site.path)
        or (is_beside_used_modules(program, site.path) and not names_a_distribution(program))
    )
    return is_settled and is_never_run(program, site)


def is_read_unused(program: Program, facts: ModuleFacts, made: tree.Expr) -> bool:
    """Whether what an expression makes at the top level of a file is read, and only in functions that nothing runs."""
    uses = uses_of_a_module_name(program, facts, made)
    return bool(uses) and all(
        scope.parent is not None and _is_unused_definition(program, facts, scope) for _, scope in uses or ()
    )


def only_evaluates(program: Program, site: Site) -> bool:
    """Whether all programs that run a place, one at least, evaluate a trained network or look at data: by the names of
    their files (`eval.py`, `compute_accuracy.py`, `extract_features.py`), or since the script has `torch.no_grad()` or
    `plt.show()` and nothing that trains.
    """
    found = [way for way in ways_to(program, site) if not is_of_a_test(program, way)]
    running = _modules_above(program, found)
    programs = [path for path in _programs(program) if path in running]
    programs += [way[-1].facts.path for way in found if _is_a_script(program, way)]
    return bool(programs) and all(
        is_named_like_an_evaluation(path) or _evaluates_or_shows(program, path) for path in programs
    )


def _evaluates_or_shows(program: Program, path: Path) -> bool:
    """Whether a script evaluates or shows something, and its text has nothing that trains or optimizes, nor keeps what
    comes of the steps of an environment.
    """
    holds = program.project.holds
    learns = program_words("trains", "may_train", "optimizes")
    if not holds(path, program_words("evaluates_or_shows")) or holds(path, learns):
        return False
    return not (holds(path, program_words("plays")) and holds(path, program_words("keeps_experience")))


def is_run_elsewhere_alone(program: Program, site: Site) -> bool:
    """Whether a place came into the project from elsewhere, and nothing runs it but what came so: nobody asks for a
    change there.
    """
    if not is_from_elsewhere(program, site.path, by_licence=False):
        return False
    program.ev.begin_question()
    found = [way for way in ways_to(program, site) if not is_of_a_test(program, way)]
    return _are_from_elsewhere(program, site, _modules_above(program, found), by_licence=False)


def _are_from_elsewhere(program: Program, site: Site, running: frozenset[Path], *, by_licence: bool = True) -> bool:
    return all(is_from_elsewhere(program, path, by_licence=by_licence) for path in (site.path, *running))


def is_left_to_the_callers(program: Program, site: Site) -> bool:
    """Whether a place is code for the programs of others, of which none in sight mentions the function or class: those
    that do choose the seeds.
    """
    if program.settings.intent is not None or not is_for_others(program, site.path):
        return False
    return program.once(("left to callers", site), lambda: not _is_used_in_sight(program, site))


def _is_used_in_sight(program: Program, site: Site) -> bool:
    place = place_of(program.ev, site)
    if place is None:
        return True
    running = _modules_above(program, list(ways_to(program, site)))
    return any(
        path in running and is_named_by(program, place.facts, place.scope, (path,)) for path in _programs(program)
    )


def _left_to_strict(program: Program, site: Site) -> Left | None:
    program.ev.begin_question()
    found = [way for way in ways_to(program, site) if not is_of_a_test(program, way) and not _is_unused(program, way)]
    if program.is_test(site.path) or not found:
        return Left(because="only tests run it, or nothing does")
    if program.settings.intent is not None:
        return None
    if chosen_by(tuple(found), function_words("is_a_given_seed"), wanted=False) or all(map(_is_a_last_resort, found)):
        return Left(because="it runs only where no seed is given, or after an exception")
    running = _modules_above(program, found)
    if _are_from_elsewhere(program, site, running):
        return Left(because="it came from elsewhere, and only what came from there runs it")
    if _are_trials(program, running):
        return Left(because="only programs that try something out run it")
    repeating = _repeating(program)
    if _may_seed_unseen(program, running):
        return None
    if not running.isdisjoint(repeating):
        wishes = [one for path in sorted(running & repeating.keys()) for one in repeating[path]]
        if _all_are_elsewhere(program, wishes, tuple(found)):
            return Left(because="the program does not seed the runs that come here")
        return None
    programs = tuple(path for path in _programs(program) if path in running)
    if not programs and repeating and not all(_is_a_script(program, way) for way in found):
        return None
    return Left(programs or tuple(sorted({way[-1].facts.path for way in found})))


#: What handlers catch that ask which versions there are, or what is set so far: their code is one of two ways.
_ASKS: Final = frozenset({"TypeError", "AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "KeyError"})


def _is_a_last_resort(way: Way) -> bool:
    """Whether a way comes through what is done after an exception, but for one by which a version is told."""
    return any(_is_of_a_failure(one.scope.branches.get(branch), arm) for one in way for branch, arm in one.path)


def _is_of_a_failure(statement: tree.Stmt | None, arm: str) -> bool:
    if not isinstance(statement, tree.Try) or not arm.startswith("except"):
        return False
    caught = statement.handlers[int(arm.removeprefix("except"))].type
    named = caught.items if isinstance(caught, tree.Display) else (caught,)
    return not any(called_name(one) in _ASKS for one in named if one is not None)


def _are_trials(program: Program, running: frozenset[Path]) -> bool:
    """Whether the programs in some files, one at least, only try something out, by their names: `sanity_check.py`."""
    programs = [path for path in _programs(program) if path in running]
    is_a_trial = function_words("is_a_trial").search
    return bool(programs) and all(is_a_trial(path.stem.lower()) for path in programs)


def _is_a_script(program: Program, way: Way) -> bool:
    """Whether a way begins in the body of a module that no other imports: it is run itself, whatever it does."""
    first = way[-1]
    return first.scope is first.facts.scope and program.imports.above(first.facts.path) <= {first.facts.path}


def _modules_above(program: Program, found: list[Way]) -> frozenset[Path]:
    """The modules whose run reaches a place: those at the end of its ways, and what imports these, tests apart."""
    running: set[Path] = set()
    for way in found:
        end = way[-1].facts.path
        running |= {end} if runs_as_script(way) else program.imports.above(end)
    return frozenset(running - program.tests)


def _programs(program: Program) -> list[Path]:
    """The files in which the programs of the project start, in order."""
    return list(dict.fromkeys(one.path for one in entry_points(program)))


def _is_unused(program: Program, way: Way) -> bool:
    """Whether a way begins in a function, class or method that no code of the project runs, and that is not for
    others.
    """
    first = way[-1]
    return first.scope.parent is not None and _is_unused_definition(program, first.facts, first.scope)


def _is_unused_definition(program: Program, facts: ModuleFacts, scope: Scope) -> bool:
    if is_for_others(program, facts.path):
        return False
    return is_left_over(program, facts, scope) or is_in_unused_method(program, facts, scope)


def _all_are_elsewhere(program: Program, wishes: list[Evidence | None], places: tuple[Way, ...]) -> bool:
    """Whether no run that comes to a place seeds or switches: all that does is in another arm of an `if`."""
    return all(one is not None and never_together(ways_of(program, one), places) for one in wishes)


def _repeating(program: Program) -> _Wishes:
    """The modules that want to repeat when they run: those that seed or switch, and all that import these."""
    return program.once("wants to repeat", lambda: _find_wishes(program))


def _find_wishes(program: Program) -> _Wishes:
    found: _Wishes = {}
    for path, one in _each_wish(program):
        if path not in program.tests:
            found.setdefault(path, []).append(one)
    switched = {path for path, wishes in found.items() if all(map(_is_a_switch, wishes))}
    fresh = _with_fresh_seeds(program) if switched else frozenset()
    return {path: wishes for path, wishes in found.items() if path not in switched or path not in fresh}


def _is_a_switch(wish: Evidence | None) -> bool:
    return wish is not None and wish.effect != "seed"


def _with_fresh_seeds(program: Program) -> Set[Path]:
    """The modules that seed with another number in every run, which they tell, and what imports these: if nothing else
    seeds them, no switch makes two of their runs alike.
    """
    found: set[Path] = set()
    for one in program.evidence_of("seed"):
        program.ev.begin_question()
        if is_fresh_by_choice(program, one):
            found.update(*(program.imports.above(root) for root in one.roots))
    return found


def _each_wish(program: Program) -> Iterator[tuple[Path, Evidence | None]]:
    for one in program.evidence:
        program.ev.begin_question()
        if one.roots and _is_wish(program, one):
            found = ways_of(program, one)
            followed = [way for way in found if not _is_cut_short(way)]
            for way in followed:
                if is_of_a_test(program, way):
                    continue
                end = way[-1].facts.path
                for path in (end,) if runs_as_script(way) else program.imports.above(end):
                    if way[-1].scope.parent is None or not _only_imports_it(program, one, path):
                        yield path, one
            if len(followed) < len(found) or not any(is_of_a_test(program, way) for way in found):
                yield from ((path, one) for path in one.roots if not _only_imports_it(program, one, path))
    for call in command_line_calls(program):
        if may_seed(program, call, by_default=False):
            for path in program.imports.above(call.facts.path):
                yield path, None


def _only_imports_it(program: Program, one: Evidence, path: Path) -> bool:
    """Whether a function of a package for others seeds or switches, and a module outside it that imports the package
    names neither, nor does what it imports beside.
    """
    if one.frame.scope.parent is None or not is_of_its_package(program, one.site.path):
        return False
    package = program.root.joinpath(*one.site.path.relative_to(program.root).parts[:1])
    if path.is_relative_to(package):
        return False
    return not program.once(("asks itself", path), lambda: _asks_itself(program, path))


def _asks_itself(program: Program, path: Path) -> bool:
    """Whether a module, or what it imports beside the packages that the project distributes, names a seed or a switch;
    or it is of such a package.
    """
    own = program.imports.with_imports(frozenset((path,))) - files_of_its_package(program)
    return path not in own or any(program.project.holds(file, program_words("asks_to_repeat")) for file in own)


def _is_cut_short(way: Way) -> bool:
    """Whether a way stays in the function in which it begins, for want of a place that calls it: there is none, or are
    more than are followed.
    """
    return len(way) == 1 and way[0].scope.parent is not None


def _may_seed_unseen(program: Program, running: frozenset[Path]) -> bool:
    """Whether modules, or what they import, call a helper of an unknown library that seeds by its name."""
    files = program.imports.with_imports(running) - program.tests
    return calls_foreign_seeding(program, files)


def _is_wish(program: Program, one: Evidence) -> bool:
    """Whether a switch asks for determinism, or a seed is the run's and somebody may have asked for it."""
    if one.effect == "seed":
        return _may_be_asked_for(program, one) and is_run_seed(program, one)
    return one.level is not None


def _may_be_asked_for(program: Program, one: Evidence) -> bool:
    """Whether a seed is not just what a trainer of a library has of itself: it is written, or may be given where the
    program is started, or in what is passed on as `**options`.
    """
    if not is_of_a_framework(one):
        return True
    if isinstance(one.node, tree.Call) and any(arg.star == "**" for arg in one.node.args):
        return True
    return program.project.holds(one.site.path, program_words("parses_options_of_trainers"))


def is_run_seed(program: Program, one: Evidence) -> bool:
    """Whether a call seeds a whole run, as a question of its own."""
    program.ev.begin_question()
    return is_for_the_run(program, one)
