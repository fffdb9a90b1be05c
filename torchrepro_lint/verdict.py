"""What the code controls, what it does not, and what nobody can tell from the code: the first table of a report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from torchrepro_lint.console import counted
from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.program.evaluation.values import UNKNOWN
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.source.discovery import in_order

__all__ = ["Subject", "Verdict", "subjects", "without_seed"]

Verdict = Literal["controlled", "not controlled", "cannot be told"]

_DETERMINISTIC = frozenset({"algorithms", "cudnn"})


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that can make runs differ: whether the code controls it, and why that is the verdict."""

    name: str
    verdict: Verdict
    why: str


def subjects(
    program: Program, files: Collection[Path], evidence: Sequence[Evidence], findings: Iterable[Finding]
) -> list[Subject]:
    """The verdict on each subject. `evidence` are the seeds and switches of the programs in `files`."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.code[:4], []).append(finding)
    switches = {one.effect for one in evidence if one.effect != "seed" and one.level is not None}
    return [
        _seeds(program, files, found),
        _workers(program, files, found.get("TRL1", [])),
        _order(found.get("TRL2", [])),
        _switches(switches, found.get("TRL3", [])),
        _operations(program, switches, found.get("TRL4", [])),
        Subject("Whether two runs agree", "cannot be told", "run `torchrepro-lint verify` on the training script"),
        Subject("Other machines and releases of torch", "cannot be told", "PyTorch promises no equal results there"),
    ]


def _of(found: list[Finding]) -> str:
    codes = ", ".join(dict.fromkeys(one.code for one in found))
    return f"{counted(len(found), 'finding')}: {codes}"


def without_seed(findings: Iterable[Finding]) -> list[Path]:
    """The programs that seed nothing for their runs although something was found that a seed decides: those that the
    last line of a check counts.
    """
    return in_order({path for finding in findings for path in finding.left_to_strict or ()})


def _seeds(program: Program, files: Collection[Path], by_family: Mapping[str, list[Finding]]) -> Subject:
    name = "Seeds of the program"
    unseeded = [path for path in without_seed(chain(*by_family.values())) if path in files]
    starts = in_order({*(one.path for one in entry_points(program) if one.path in files), *unseeded})
    why = []
    if unseeded:
        what = "seeds" if len(unseeded) == 1 else "seed"
        why.append(f"{len(unseeded)} of {counted(len(starts), 'program')} {what} nothing")
    found = by_family.get("TRL5", [])
    if found:
        why.append(_of(found))
    if why:
        return Subject(name, "not controlled", "; ".join(why))
    if not starts:
        return Subject(name, "cannot be told", "no program starts in these files")
    return Subject(name, "controlled", "each program seeds what it was seen to draw from")


def _workers(program: Program, files: Collection[Path], found: list[Finding]) -> Subject:
    name = "Random numbers in DataLoader workers"
    if found:
        return Subject(name, "not controlled", _of(found))
    loaders = [one for group in program.loader_sites for one in group if one.site.path in files]
    if not loaders:
        return Subject(name, "controlled", "no DataLoader is made")
    open_calls = {event.site for one in loaders for event in program.worker_run(one).unresolved}
    if open_calls:
        what = counted(len(open_calls), "call")
        return Subject(name, "cannot be told", f"{what} in the code that fetches items could not be followed")
    if any(not (values := one.value("dataset")) or UNKNOWN in values for one in loaders):
        return Subject(name, "cannot be told", "the dataset of a loader could not be followed")
    return Subject(name, "controlled", "workers draw nothing, or from a seed that differs in each worker")


def _order(found: list[Finding]) -> Subject:
    name = "Order of data, splits, generators"
    if found:
        return Subject(name, "not controlled", _of(found))
    return Subject(name, "controlled", "no order or split was seen that other code can change")


def _switches(switches: set[str], found: list[Finding]) -> Subject:
    name = "Switches of cuDNN and cuBLAS"
    if found:
        return Subject(name, "not controlled", _of(found))
    if switches & _DETERMINISTIC:
        return Subject(name, "controlled", "deterministic algorithms are asked for")
    return Subject(name, "not controlled", "no switch asks for deterministic algorithms")


def _operations(program: Program, switches: set[str], found: list[Finding]) -> Subject:
    name = "Operations that are nondeterministic on a GPU"
    if found:
        return Subject(name, "not controlled", _of(found))
    if "algorithms" in switches:
        return Subject(name, "controlled", "`torch.use_deterministic_algorithms(True)`: others raise")
    if program.settings.intent == "deterministic" or switches & _DETERMINISTIC:
        return Subject(name, "controlled", "none was found, as far as the tool's table of operations goes")
    return Subject(name, "cannot be told", "they are only looked for in programs that ask for determinism")
