"""The items of checklists for papers that code can answer, with an answer and where it comes from.

They are items of the Machine Learning Reproducibility Checklist (version 2.0, 2020) and the NeurIPS Paper Checklist.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from torchrepro_lint.console import counted
from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import is_run_seed
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.regular_files import read_if_there
from torchrepro_lint.source.target import described

__all__ = ["checklist"]

_SPLITS = frozenset({"TRL202", "TRL209", "TRL207", "TRL208"})
_READMES = ("README.md", "README.rst", "README.txt", "README")
_REPRODUCIBILITY = "ML Reproducibility"
_NEURIPS = "NeurIPS"

#: An item: the checklist, what it asks, the answer, and what that rests on.
Item = tuple[str, str, str, str]


def checklist(
    program: Program, files: Collection[Path], evidence: Sequence[Evidence], findings: Iterable[Finding]
) -> list[Item]:
    """The items with their answers: `yes`, `no`, `partly` or `not in the code`."""
    starts = list(dict.fromkeys(one.path for one in entry_points(program) if one.path in files))
    found = list(findings)
    return [
        _dependencies(program),
        _training_code(starts),
        _commands(program.root, starts),
        _splits(found),
        _seeds([one for one in evidence if one.effect == "seed" and is_run_seed(program, one)], found),
        (_NEURIPS, "Error bars: how many runs, and what varies between them", "not in the code", "say it in the paper"),
        (_REPRODUCIBILITY, "Computing infrastructure, and run time", "not in the code", "say it in the paper"),
    ]


def _dependencies(program: Program) -> Item:
    target = program.target
    exact = target.known and not target.inferred and all(one.startswith("==") for one in target.alternatives)
    answer = "yes" if exact else "partly" if target.known and not target.inferred else "no"
    hint = "" if exact else "; pin one version"
    return _REPRODUCIBILITY, "Specification of dependencies: the version of torch", answer, f"{described(target)}{hint}"


def _training_code(starts: list[Path]) -> Item:
    what = f"{counted(len(starts), 'program')} found" if starts else "no program starts in these files"
    return _REPRODUCIBILITY, "Training and evaluation code", "yes" if starts else "no", what


def _commands(root: Path, starts: list[Path]) -> Item:
    question = "README with the commands that produce the results"
    for name in _READMES:
        text = read_if_there(root / name).decode("utf-8", "replace")
        if text:
            named = [path.name for path in starts if re.search(rf"\b{re.escape(path.name)}\b", text)]
            answer = "yes" if starts and len(named) == len(starts) else "partly" if named else "no"
            return _REPRODUCIBILITY, question, answer, f"{name} names {len(named)} of {counted(len(starts), 'program')}"
    return _REPRODUCIBILITY, question, "no", "no README at the top of the project"


def _splits(findings: list[Finding]) -> Item:
    question = "Details of data splits: the same split in every run"
    own = [one for one in findings if one.code in _SPLITS]
    if own:
        codes = ", ".join(dict.fromkeys(one.code for one in own))
        return _NEURIPS, question, "no", f"{counted(len(own), 'finding')}: {codes}"
    return _NEURIPS, question, "yes", "no split or order was seen that changes between runs"


def _seeds(seeded: Sequence[Evidence], findings: list[Finding]) -> Item:
    """`seeded` are the calls that seed a whole run."""
    question = "Random seeds are set"
    open_seeds = [one for one in findings if one.code.startswith("TRL5")]
    if not seeded:
        return _NEURIPS, question, "no", "nothing is seeded for a whole run"
    if open_seeds:
        return _NEURIPS, question, "partly", f"{counted(len(open_seeds), 'finding')} about seeds"
    return _NEURIPS, question, "yes", ", ".join(dict.fromkeys(one.name for one in seeded))
