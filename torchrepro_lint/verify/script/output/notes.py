"""Remarks below the answer: what limits what can be said, and what else is worth knowing."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from torchrepro_lint.verify.script.between_ranks import between_ranks
from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.entries import STOPPED, TOOK_EFFECT
from torchrepro_lint.verify.script.output.wording import place, rng_name
from torchrepro_lint.verify.script.perturbations import THREADS
from torchrepro_lint.verify.script.record import Record
from torchrepro_lint.verify.script.result import Outcome, Result

_NAMES = 5  # at most this many names of files or processes are printed


def notes(result: Result) -> Iterator[str]:
    """The remarks on one set of runs."""
    records = [run.record for run in (*result.runs, *result.full_runs)]
    told = {(entry.name, entry.shown or "") for record in records if record for entry in record.of_kind("note")}
    for name, words in sorted(told):
        if name not in (STOPPED, TOOK_EFFECT):
            yield f"{name}: {words}"
    comparison = result.comparison
    if comparison is not None and comparison.unread:
        yield f"{comparison.unread} of the compared values could not be read, and were ignored"
    if comparison is not None and comparison.alone:
        yield f"processes that only one of the runs had: {_few(_without_threads(comparison.alone))}"
    if result.outcome is Outcome.DIFFERED and not result.full_runs and result.attempts:
        pairs = f"{result.attempts} fully recorded pairs of runs"
        yield f"the difference did not occur again in {pairs}: its cause is unknown"
    if result.from_files and result.outcome is Outcome.DIFFERED and result.cause is None and _is_first_stage(records):
        closer = f"; to see why, compare {shlex.join(map(str, result.closer))}" if result.closer else ""
        yield f"these recordings hold neither operations nor draws, so what differs may come from earlier code{closer}"
    if result.outcome is Outcome.DIFFERED and result.met and not (result.cause is not None and result.cause.met):
        folder = result.runs[-1].record.header.folder if result.runs[-1].record else "."
        yield f"what {result.perturbation} varies is used at {', '.join(place(at, folder) for at in result.met)}"
    if result.perturbation == THREADS and result.cause is not None and result.cause.why == "operation":
        yield (
            "sums are split among the threads, so how they are rounded depends on the number of threads: fix it with "
            "torch.set_num_threads, or with OMP_NUM_THREADS, where results must agree to the last bit"
        )
    if result.lost_settings:
        yield f"{'; '.join(result.lost_settings)}: the checkpoint does not hold this, or it is not loaded"
    if result.repeated is not None:
        again, end = result.repeated
        yield (
            f"the first half ended after step {end}, and the second goes on from the last checkpoint, of step {again}: "
            "what is in between is not compared"
        )
    if result.lost_states:
        names = ", ".join(rng_name(name) for name in result.lost_states)
        yield f"the second half starts with another state of {names}: see torchrepro-lint rule TRL210"
    if result.perturbation is None and records and records[0] is not None and records[0].header.ranks > 1:
        yield from between_ranks(records[0])
    if result.perturbation is None:
        yield from _files(result)
    if any(run.out_of_time for run in (*result.runs, *result.full_runs)):
        limited = any(record is not None and record.header.steps is not None for record in records)
        less = "a smaller number for --steps" if limited else "--steps 20 ends each run after 20 optimizer steps"
        yield f"the time for a run is over: {less}; --timeout S gives it S seconds"
    if any(record is not None and _wants_input(record) for record in records):
        yield "the script reads standard input, which is not available here"
    ends = {record.end.name for record in records if record is not None and record.end is not None}
    if "os._exit" in ends:
        yield "the script exits through os._exit"
    if result.reason is not None and comparison is not None and comparison.divergence is not None:
        yield result.reason


def _files(result: Result) -> Iterator[str]:
    """What the script wrote into its folder: what was there before is lost, and the next run finds what is new."""
    if not result.wrote:
        return
    if result.in_scratch:
        yield f"the script wrote {_few(result.wrote)}, in a scratch folder that is gone now"
        return
    overwrote = result.runs[0].overwrote
    what = f"the first run left {_few(result.wrote)} in its folder"
    if overwrote:
        what += f" ({_few(overwrote)} had been there before and {'is' if len(overwrote) == 1 else 'are'} overwritten)"
    if result.outcome is Outcome.DIFFERED and not _proven(result.cause):
        what += ", and the next run found it there: the runs may not have started from the same state"
    yield f"{what}; --scratch runs the script in a scratch folder"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (", ..." if len(names) > _NAMES else "")


def _without_threads(processes: Sequence[str]) -> list[str]:
    """The processes, and the threads of those that both runs had."""
    return [one for one in processes if one.rpartition(", thread ")[0] not in processes]


def _is_first_stage(records: Iterable[Record | None]) -> bool:
    """Whether one of the records has only what all runs are compared by."""
    return any(record is not None and record.header.stage == 1 for record in records)


def _proven(cause: Cause | None) -> bool:
    """Whether a cause stands by itself, wherever the runs began."""
    return cause is not None and cause.why in ("operation", "unseeded", "late", "seed", "worker")


def _wants_input(record: Record) -> bool:
    return (
        record.failure is not None
        and record.failure.name == "EOFError"
        and "reading a line" in str(record.failure.shown)
    )
