"""The cases of the table of operations on one device: which can be run, and what is seen of them in a child process."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torchrepro_lint.knowledge.op_cases import OpCase
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.verify.devices import Device
from torchrepro_lint.verify.process_group import end_group, start_group

__all__ = ["Machine", "Seen", "run_cases", "what_keeps"]

#: The words for what was seen of a call; `{runs}` is how often it was run.
#: Another error than an alert, such as "No available kernel".
REFUSES = "cannot be run under use_deterministic_algorithms(True)"
RAISES = "raises under use_deterministic_algorithms(True)"
MADE_DETERMINISTIC = "made deterministic by the switch"
DIFFERS = "differs between runs"
STABLE = "bitwise stable in {runs} runs"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the cases ran: the name of the device, the release of torch, the CUDA that it was built for ("": none)."""

    device: str = ""
    torch: str = ""
    cuda: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of one case. `result` is empty where it was not run, and `detail` then says why. `against` says
    how that contradicts the table; empty where it does not.
    """

    case: OpCase
    result: str
    detail: str
    against: str = ""


def what_keeps(case: OpCase, device: Device, version: str) -> str:
    """What keeps a case from being run with a release of torch; empty where nothing does."""
    if case.why:
        return case.why
    if not case.rows(version):
        return f"no row for torch {version}"
    if not _rows_here(case, version):
        return f"only for {case.rows(version)[0].requires}"
    if case.needs == "cuda":
        return "" if device == "cuda" else "needs CUDA"
    if case.package and importlib.util.find_spec(case.package.partition(".")[0]) is None:
        return f"needs {case.package.partition('.')[0]}"
    return ""


def _rows_here(case: OpCase, version: str) -> list[OpRow]:
    """The rows of a case for a release of torch, without those for another release of a package than the one here."""
    return [row for row in case.rows(version) if row.requires is None or _has(row.requires)]


def _has(requirement: str) -> bool:
    """Whether the installed release of a package is one that a requirement such as `torchvision<0.16` names; true
    where the package is not installed.
    """
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    try:
        return wanted.specifier.contains(importlib.metadata.version(wanted.name), prereleases=True)
    except importlib.metadata.PackageNotFoundError:
        return True


def run_cases(
    cases: Sequence[OpCase],
    device: Device,
    *,
    runs: int,
    timeout: float,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Machine, list[Seen]]:
    """Run what can be run, and say of each case, in order, what was seen. `timeout` is in seconds, for one case."""
    version = importlib.metadata.version("torch").partition("+")[0]
    kept = [what_keeps(case, device, version) for case in cases]
    pending = [index for index, why in enumerate(kept) if not why]
    found: dict[int, dict[str, Any]] = {}
    machine = Machine()
    for unset in (False, True):  # the variable is read once in a process
        batch = [index for index in pending if ("workspace-unset" in cases[index].when) == unset]
        for index, answer in _answers(cases, batch, device, runs, timeout, unset):
            if index is None:
                machine = Machine(**answer)
                continue
            found[index] = answer
            progress(len(found), len(pending))
    seen = [
        Seen(case, "", f"not run: {kept[index]}") if kept[index] else judged(case, device, runs, version, found[index])
        for index, case in enumerate(cases)
    ]
    return machine, seen


def judged(case: OpCase, device: Device, runs: int, version: str, answer: Mapping[str, Any]) -> Seen:
    """What the counts of a child process say: the result in words, and whether the table says something else."""
    if "trouble" in answer:
        return Seen(case, "", f"not run: {answer['trouble']}", "could not be run")
    differs, strict = _words(answer["off"], runs), answer.get("on")
    stable = STABLE.format(runs=runs)
    effects = {row.effect for row in _rows_here(case, version) if row.device in ("any", device)}
    if "refuses" in answer:
        against = "a row says that the switch makes it deterministic" if "made_deterministic" in effects else ""
        return Seen(case, REFUSES, f"{answer['refuses']}; without the switch: {differs or stable}", against)
    if strict is None:
        detail = f"{answer['raises']}; without the switch: {differs or stable}"
        return Seen(case, RAISES, detail, "" if "throws" in effects else "no row says that it raises")
    against = "a row says that it raises" if "throws" in effects else ""
    if still := _words(strict, runs):
        if effects & {"made_deterministic", "fills_memory"}:
            against = "a row says that the switch makes it deterministic"
        return Seen(case, DIFFERS, f"with the switch too: {still}", against)
    if differs:
        return Seen(case, MADE_DETERMINISTIC, f"without it: {differs}; with it: {stable}", against)
    return Seen(case, stable, "", against)


def _words(counts: Sequence[int], runs: int) -> str:
    """How many different results there were, forward and backward; empty where all were the same."""
    phases = zip(("forward", "backward"), counts, strict=True)
    return " and ".join(f"{count} different results {phase} in {runs} runs" for phase, count in phases if count > 1)


# --- the child process --------------------------------------------------------------------------------------------


def _answers(
    cases: Sequence[OpCase], batch: Sequence[int], device: Device, runs: int, timeout: float, unset: bool
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """What the child says of each case of a batch; of no case: what it says of the machine. A case that ends the
    process, or takes too long, is said to, and another process goes on after it.
    """
    from torchrepro_lint.knowledge.op_cases import op_cases

    numbers = {id(case): number for number, case in enumerate(op_cases())}
    left = list(batch)
    while left:
        with _Child(device, runs, [numbers[id(cases[index])] for index in left], unset) as child:
            about = child.line(timeout)
            if isinstance(about, str):
                yield from ((index, {"trouble": about}) for index in left)
                return
            yield None, about
            while left:
                answer = child.line(timeout)
                yield left.pop(0), {"trouble": answer} if isinstance(answer, str) else answer
                if isinstance(answer, str):
                    break


class _Child:
    """One child process, whose lines of JSON are read as they come."""

    def __init__(self, device: Device, runs: int, numbers: Sequence[int], unset: bool) -> None:
        arguments = [device, str(runs), *map(str, numbers)]
        self.process = start_group(
            [sys.executable, "-m", "torchrepro_lint.verify.operations.child", *arguments],
            env=_environment(device, unset),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.errors: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        end_group(self.process)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def line(self, timeout: float) -> dict[str, Any] | str:
        """The next answer; in words why there is none."""
        try:
            line = self.lines.get(timeout=timeout)
        except queue.Empty:
            return f"did not end within {timeout:g} s"
        if line:
            return dict(json.loads(line))
        status = self.process.wait()
        if status < 0:
            return f"ended by signal {-status}"
        return (self.errors[-1].strip() if self.errors else "") or f"stopped with exit status {status}"


def _environment(device: Device, unset: bool) -> dict[str, str]:
    values = {name: value for name, value in os.environ.items() if name != "CUBLAS_WORKSPACE_CONFIG"}
    if not unset:
        values["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    if device == "cpu":
        values["CUDA_VISIBLE_DEVICES"] = "-1"
    return values
