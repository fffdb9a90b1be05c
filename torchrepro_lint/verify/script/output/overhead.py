"""What watching took of a run, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torchrepro_lint.verify.script.result import Result


@dataclass(frozen=True, slots=True)
class Overhead:
    """What watching took of the run in which it took the largest part: in all, in the step that it took most of, and
    beside the program's own memory, in bytes by device. Times are in seconds, of the processor's side only.
    """

    watching: float
    run: float
    step: int
    in_step: float
    memory: Mapping[str, int]


def overhead(result: Result) -> Overhead | None:
    """The peak overhead of watching in the runs of the first stage; None where no run has told it."""
    told = []
    for run in result.runs:
        end = run.record.end if run.record is not None else None
        if end is not None and end.detail.get("seconds"):
            step, in_step = end.detail.get("costliest step", (0, 0.0))
            seconds = (end.detail["watching"], end.detail["seconds"])
            told.append(Overhead(*seconds, step, in_step, end.detail.get("memory", {})))
    return max(told, key=_share, default=None)


def _share(overhead: Overhead) -> float:
    return overhead.watching / overhead.run


def watching(results: Iterable[Result]) -> str | None:
    """What watching took, at most, in words."""
    told = [most for result in results if result.comparison is not None and (most := overhead(result)) is not None]
    if not told:
        return None
    most = max(told, key=_share)
    share = _share(most)
    part = f"at most {share:.0%}" if share >= 0.01 else "less than 1%"
    words = [f"{part} of a run's {most.run:.1f} s"]
    if most.in_step:
        words.append(f"at most {most.in_step * 1000:.1f} ms in a step (step {most.step})")
    for device, size in most.memory.items():
        amount = f"at most {size / 2**20:.0f} MiB" if size >= 2**20 else "less than 1 MiB"
        words.append(f"{amount} of {'' if device == 'cpu' else device + ' '}memory at a time")
    return f"watching took {', '.join(words)}"
