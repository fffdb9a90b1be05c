"""What seeds as a module is imported: it holds for all that the same program runs, also in the files that import it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.running.ways import Way, runs_as_script

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["import_seeds"]


def import_seeds(program: Program, path: Path, rng: str) -> Iterator[Evidence]:
    """The calls that seed a generator as a file is imported which a program of `path` imports: not `path` itself or
    one that imports it, where what comes before what can be told.

    What only the tests of the project import together with `path` says nothing of the programs.
    """
    above = program.imports.above(path)
    programs = above if program.is_test(path) else above - program.tests
    seedings = program.once(
        ("seedings of", rng), lambda: tuple(one for one in program.evidence_of("seed") if rng in one.seeds)
    )
    for one in seedings:
        if not above.issuperset(one.roots):
            beside = _imported_for(program, one) - above
            if any(not programs.isdisjoint(program.imports.above(other)) for other in beside):
                yield one


def _imported_for(program: Program, one: Evidence) -> frozenset[Path]:
    """The files of which each import runs a call that seeds."""

    def find() -> frozenset[Path]:
        return frozenset(way[-1].facts.path for way in ways_of(program, one) if _begins_by_import(way))

    # Many programs ask this of the same call. Beyond the limits of a question nothing is proven.
    return program.ev.remembered(("imported for a seed", one.site), find, frozenset())


def _begins_by_import(way: Way) -> bool:
    return way[-1].scope.parent is None and not runs_as_script(way)
