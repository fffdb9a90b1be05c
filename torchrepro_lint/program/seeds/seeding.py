"""Whether and where the program that makes a loader seeds torch: that decides what its workers draw."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.programs.import_seeds import import_seeds
from torchrepro_lint.program.programs.worker_seedings import is_for_workers_alone
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.foreign_seeding import calls_foreign_seeding
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = [
    "calls_a_helper_that_seeds",
    "has_generator",
    "has_seeded_generator",
    "is_seeded_where_it_is_run",
    "may_be_seeded",
    "may_be_seeded_unseen",
    "numpy_seeding",
    "seeding_of",
]


def seeding_of(program: Program, loader: Loader) -> list[Evidence]:
    """The calls that seed torch in the programs that make the loader, and not in its workers alone."""
    found = program.evidence_in_programs_of(loader.frame)
    seeds = (one for one in found if one.effect == "seed" and "torch" in one.seeds)
    return [one for one in seeds if not is_for_workers_alone(program, one)]


def numpy_seeding(program: Program, loader: Loader) -> Evidence | None:
    """The first call that seeds NumPy for the run, in the programs that make the loader."""
    found = program.evidence_in_programs_of(loader.frame)
    seeds = (one for one in found if one.effect == "seed" and "numpy" in one.seeds)
    return next((one for one in seeds if is_for_the_run(program, one)), None)


def may_be_seeded(program: Program, loader: Loader) -> bool:
    """Whether the programs that make the loader seed torch, as a file that they import does, or may do so unseen: by a
    framework that seeds by its own configuration, or a helper of a library that seeds by its name.
    """
    path = loader.facts.path
    return (
        bool(seeding_of(program, loader))
        or program.ev.remembered(("import-seeds", path), lambda: any(import_seeds(program, path, "torch")), False)
        or may_be_seeded_unseen(program, path)
        or is_seeded_where_it_is_run(program, loader.frame)
    )


def is_seeded_where_it_is_run(program: Program, frame: Frame) -> bool:
    """Whether no program in sight runs a frame's code (a configuration names what does, or another project), and
    programs of the project seed torch: these may, and theirs is what others are told to do.
    """
    above = program.programs_of(frame)
    if any(one.path in above for one in entry_points(program)):
        return False
    return any("torch" in one.seeds and is_for_the_run(program, one) for one in program.evidence_of("seed"))


def may_be_seeded_unseen(program: Program, path: Path) -> bool:
    """Whether the programs that run a file may be seeded by what cannot be seen: a framework that seeds by its own
    configuration, or a helper of a library that is not known by its name. What only the tests of a module import says
    nothing of the programs that use it.
    """
    files = _files_of_programs(program, path)
    return program.ev.remembered(("seeded-unseen", files), lambda: _is_seeded_unseen_in(program, files), False)


def calls_a_helper_that_seeds(program: Program, path: Path) -> bool:
    """Whether the programs that run a file call a helper of a module that is not known, which seeds by its name."""
    return calls_foreign_seeding(program, _files_of_programs(program, path))


def _files_of_programs(program: Program, path: Path) -> frozenset[Path]:
    above = program.imports.above(path) - (program.tests - {path})
    return program.imports.with_imports(above)


def _is_seeded_unseen_in(program: Program, files: frozenset[Path]) -> bool:
    ordered = program.imports.ordered(files)
    return any(program.project.holds(one, _imports_a_framework()) for one in ordered) or calls_foreign_seeding(
        program, files
    )


@cache
def _imports_a_framework() -> re.Pattern[bytes]:
    """An import of a framework that seeds by its own configuration; a comment may say where code was taken from."""
    words = program_words("seeds_itself", "seeds_by_a_call").pattern
    return re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t][^#\n]*(?:" + words + rb")")


def has_generator(loader: Loader) -> bool:
    """Whether a generator is passed, or something that may be one."""
    given, _ = loader.given("generator")
    return any(not (isinstance(value, Constant) and value.value is None) for value in given)


def has_seeded_generator(loader: Loader) -> bool:
    """Whether what is passed is a generator, which then decides the base seed of the workers.

    A `torch.Generator()` that is never seeded repeats as well, with torch's constant default seed: that is TRL203's.
    """
    given, may_be_missing = loader.given("generator")
    return bool(given) and not may_be_missing and all(
        isinstance(value, ExternalObject) and value.name == "torch.Generator" for value in given
    )  # fmt: skip
