"""The places and the loaders that a program comes by, told from the places outwards: no walk is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.entry_path import EntryRun
from torchrepro_lint.program.running.ways import runs_as_script, ways
from torchrepro_lint.program.workers.loaders import Loader

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["comes_by", "loaders_of"]


def comes_by(program: Program, run: EntryRun, facts: ModuleFacts, scope: Scope, site: int) -> bool:
    """Whether a program comes by a place, and not only the trial of a module that it imports."""
    if run.entry.path not in program.imports.above(facts.path):
        return False
    # Many programs come by one place, which is where it is for each of them.
    found = program.once(("ways to", facts.path, site), lambda: ways(program.ev, facts, scope, site))
    ends = [
        way
        for way in found
        if way[-1].facts.path == run.entry.path or (way[-1].facts.path in run.files and not runs_as_script(way))
    ]
    return any(way[-1].scope.parent is None or way[-1].facts.path == run.entry.path for way in ends)


def loaders_of(program: Program, run: EntryRun, *, with_workers: bool) -> Iterator[Loader]:
    """The loaders that a program makes: those that have workers, or those that have none."""
    for loader in program.loaders:
        if loader.has_workers is with_workers:
            if comes_by(program, run, loader.facts, loader.scope, loader.call.site):
                yield loader
