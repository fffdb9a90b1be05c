"""The places and the loaders that a program reaches, told from the places outwards: no walk is taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.programs.entry_path import EntryRun
from torchrepro_lint.program.running.ways import Way, runs_as_script, ways

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["comes_by", "loaders_of", "may_come_by", "ways_to"]


def comes_by(program: Program, run: EntryRun, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    """Whether a program reaches a place, and not only the trial of a module that it imports."""
    ends = [way[-1] for way in _ways_from(program, run, facts, scope, site)]
    return any(end.scope.parent is None or end.facts.path == run.entry.path for end in ends)


def may_come_by(program: Program, run: EntryRun, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    """Whether a program reaches a place, or may: what fetches an item or makes a step is called by others."""
    return bool(_ways_from(program, run, facts, scope, site))


def _ways_from(program: Program, run: EntryRun, facts: ModuleFacts, scope: Scope, site: int) -> list[Way]:
    if run.entry.path not in program.imports.above(facts.path):
        return []
    return [
        way
        for way in ways_to(program, facts, scope, site)
        if way[-1].facts.path == run.entry.path or (way[-1].facts.path in run.files and not runs_as_script(way))
    ]


def ways_to(program: Program, facts: ModuleFacts, scope: Scope, site: int) -> tuple[Way, ...]:
    """The ways to a place, found once: many programs reach one place, which is where it is for each of them."""
    return program.once(("ways to", facts.path, site), lambda: ways(program.ev, facts, scope, site))


def loaders_of(program: Program, run: EntryRun, *, with_workers: bool) -> Iterator[Loader]:
    """The loaders that a program makes: those that have workers, or those that have none."""
    by_file = program.once("loaders by file", lambda: _by_file(program.loaders))
    files = program.imports.below(run.entry.path) & by_file.keys()
    # In the order in which the program has them.
    for _, loader, has_workers in sorted((one for file in files for one in by_file[file]), key=lambda one: one[0]):
        if has_workers is with_workers and comes_by(program, run, loader.facts, loader.scope, loader.call.site):
            yield loader


def _by_file(loaders: Sequence[Loader]) -> dict[Path, list[tuple[int, Loader, bool]]]:
    """Loaders by their files, with their place among all of them and whether they have workers."""
    found: dict[Path, list[tuple[int, Loader, bool]]] = {}
    for number, loader in enumerate(loaders):
        found.setdefault(loader.facts.path, []).append((number, loader, loader.has_workers))
    return found
