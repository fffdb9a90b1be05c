"""Programs that seed some of Python's, NumPy's and torch's generators, and in whose files another one is drawn from.

    # utils.py                        # train.py
    def set_seed(seed):               set_seed(0)
        random.seed(seed)             model = nn.Linear(4, 2)  # drawn from torch, which nothing seeds
        np.random.seed(seed)

Beside such a program a fix that seeds torch in another one mends a half, be it reported or not: what draws is told by
the words of the files here, as nobody is told of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.programs.entry_path import MAIN_RNGS, EntryRun, entry_runs

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["SeededInPart", "seeded_in_part"]

#: What a file says that draws from a generator in the main process.
_DRAWS: Final = {
    "python": re.compile(
        rb"(?<![\w.])random\.(?:random|rand(?:int|range)|uniform|shuffle|sample|choices?|gauss|normalvariate|betavariate)\("
    ),
    "numpy": re.compile(
        rb"\b(?:np|numpy)\.random\.(?!seed|RandomState|default_rng|Generator|[gs]et_state|SeedSequence)\w+\("
        rb"|\btrain_test_split\(|\.sample\(\s*frac\b"
    ),
    "torch": re.compile(
        rb"\bnn\.(?:Linear|Conv\w+|Embedding|LSTM|GRU|RNN|Dropout\w*|init)\b|\btorch\.(?:rand\w*|normal|multinomial)\("
        rb"|\bshuffle\s*=\s*True\b|\bmodels\.(?:__dict__\b|\w+\()|\bRandomSampler\("
    ),
}


@dataclass(frozen=True, slots=True)
class SeededInPart:
    """A program that begins at `site`: its files, and the main generators that are drawn from in these and that it does
    not seed, though it seeds another.
    """

    site: Site
    files: frozenset[Path]
    rngs: frozenset[str]


def seeded_in_part(program: Program) -> Iterator[SeededInPart]:
    """The programs of a project that seed a part, in the order of files; not those that may be seeded by a framework or
    by a call which cannot be followed.
    """
    for run in entry_runs(program):
        files = run.files | _named_alike(program, run.files)
        seedings = _seedings(program, run, files)
        seeded = frozenset[str]().union(*(one.seeds for one in seedings))
        if seeded.isdisjoint(MAIN_RNGS):
            continue
        lacking = {
            rng
            for rng in MAIN_RNGS
            if rng not in seeded and any(program.project.holds(path, _DRAWS[rng]) for path in files)
        }
        if not lacking or run.may_be_seeded_elsewhere:
            continue
        lacking -= run.seeded_on_the_way
        if lacking:
            here = [one.site for one in seedings if one.site.path == run.entry.path]
            yield SeededInPart(min(here, default=run.entry.site, key=lambda one: one.number), files, frozenset(lacking))


def _seedings(program: Program, run: EntryRun, files: frozenset[Path]) -> list[Evidence]:
    """What the program seeds, modules included that it imports from a folder which only its start tells."""
    more = files - run.files
    found = [one for one in program.evidence_of("seed") if one.site.path in more and one.roots & files] if more else []
    return [*run.seedings, *found]


def _named_alike(program: Program, files: frozenset[Path]) -> frozenset[Path]:
    """The modules that some files import by a name which nothing in sight has, where a file of the project is called
    so: `from Utils import DataUtils` of a program that is started with `PYTHONPATH=../utils`. Of several the nearest.
    """
    by_stem = program.once("files by stem", lambda: _files_by_stem(program))
    found: set[Path] = set()
    for path in files:
        for match in program.project.import_statements(path):
            if match["plain"] is not None:
                names = [part.split(" as ")[0].strip() for part in match["plain"].split(",")]
            else:
                names = [] if match["dots"] else [match["base"]]
            for name in names:
                if name in by_stem and name not in sys.stdlib_module_names:
                    if program.project.resolve(path, name) is None:
                        found.add(max(by_stem[name], key=partial(_common, path)))
    return frozenset(found)


def _files_by_stem(program: Program) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in program.project.files:
        found.setdefault(path.stem, []).append(path)
    return found


def _common(one: Path, other: Path) -> int:
    """How many folders are around both of two files."""
    return len(set(one.parents) & set(other.parents))
