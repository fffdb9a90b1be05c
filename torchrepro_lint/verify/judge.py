"""Claim and runs in, verdict out. Works on records alone, without torch, on any machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby, pairwise

from torchrepro_lint.verify.claims import (
    Alerts,
    Claim,
    DrawsFollow,
    EpochsRepeat,
    NotShown,
    Observation,
    Prints,
    Raises,
    RunsAgree,
    SamplesCome,
    Stream,
    SwitchIs,
    SyntaxFault,
    WorkerRepeatsItself,
    WorkersRepeat,
)
from torchrepro_lint.verify.record import Batch, Record
from torchrepro_lint.verify.runner import Run

ALERT = "does not have a deterministic implementation"

NO_WORKERS = "nothing to compare: no loader started workers"


class Outcome(str, Enum):
    """What a verdict comes to."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_SHOWN = "not shown"
    COULD_NOT_RUN = "could not run"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim held against what was observed."""

    outcome: Outcome
    observed: str


class NothingRecorded(Exception):
    """The runs hold nothing that the claim is about, so they can neither bear it out nor contradict it."""


def perturbation(observation: Observation) -> str | None:
    """The perturbed run that this claim needs beside the plain ones, if any."""
    if isinstance(observation, DrawsFollow):
        return observation.seeder
    return "determinism" if isinstance(observation, Alerts) else None


def compares_runs(observation: Observation) -> bool:
    """Whether the claim is about several runs beside each other; what is seen within each run needs only one."""
    return isinstance(observation, (RunsAgree, DrawsFollow))


def judge(claim: Claim, runs: Sequence[Run], perturbed: Run | None = None) -> Verdict:
    """Compare a claim with the plain runs of a program, and with its perturbed run where the claim needs one."""
    wanted = claim.observation
    if isinstance(wanted, NotShown):
        return Verdict(Outcome.NOT_SHOWN, "-")
    everything = [*runs, *([perturbed] if perturbed is not None else [])]
    if trouble := next((run.trouble for run in everything if run.trouble), None):
        return Verdict(Outcome.COULD_NOT_RUN, trouble)
    for run in everything:
        started = run.record.start_methods
        if claim.start_method is not None and started != [claim.start_method]:
            return Verdict(
                Outcome.FAILED, f"workers were started by {' and '.join(started)}" if started else NO_WORKERS
            )
    if not isinstance(wanted, (Raises, SyntaxFault)):
        for run in everything:
            if run.record.failure is not None:
                return Verdict(Outcome.FAILED, f"raised {run.record.failure.summary}")
            if run.record.exit_status:
                return Verdict(Outcome.FAILED, f"exit status {run.record.exit_status}")
    try:
        held, observed = _observe(wanted, runs, perturbed)
    except NothingRecorded as nothing:
        return Verdict(Outcome.FAILED, f"nothing to compare: {nothing}")
    return Verdict(Outcome.PASSED if held else Outcome.FAILED, observed)


def _observe(wanted: Observation, runs: Sequence[Run], perturbed: Run | None) -> tuple[bool, str]:
    match wanted:
        case RunsAgree(stream, agree):
            part = _first_difference(stream, runs)
            if part is None:
                return agree, f"{_WORDS[stream]} in {len(runs)} runs"
            return not agree, part
        case WorkersRepeat(repeat):
            return _in_every_run(runs, _workers_repeat, repeat, "workers repeat each other", "workers differ")
        case EpochsRepeat(repeat):
            return _in_every_run(runs, _epochs_repeat, repeat, "epochs repeat", "epochs differ")
        case WorkerRepeatsItself(repeat):
            words = ("batches repeat within a worker", "batches differ within a worker")
            return _in_every_run(runs, _worker_repeats_itself, repeat, *words)
        case SamplesCome(times):
            counts = sorted({count for run in runs for count in _multiplicities(run.record)})
            return counts == [times], f"samples come {', '.join(map(str, counts))} times"
        case Raises(exception, text):
            return _ended_by([run.record for run in runs], exception, text, compiling=False)
        case SyntaxFault(text):
            return _ended_by([run.record for run in runs], "SyntaxError", text, compiling=True)
        case SwitchIs(switch, value):
            values = {run.record.switches.get(switch) for run in runs}
            if None in values:
                raise NothingRecorded(f"{switch} could not be read")
            return values == {value}, f"{switch} is {' and '.join(str(value) for value in sorted(values, key=str))}"
        case Prints(text):
            lines = [run.output.decode("utf-8", "replace").splitlines() for run in runs]
            held = all(any(text in line for line in printed) for printed in lines)
            return held, "printed" if held else "not printed by every run"
        case DrawsFollow(seeder, follow):
            return _follows(seeder, follow, runs, perturbed)
        case Alerts(text):
            return _alerts(text, perturbed)
        case _:
            raise AssertionError(wanted)


def _ended_by(records: Iterable[Record], exception: str, text: str, *, compiling: bool) -> tuple[bool, str]:
    held, observed = True, "no exception"
    for record in records:
        failure = record.failure
        if failure is not None:
            observed = f"{'does not compile' if compiling else 'raised'} {failure.summary}"
        held = held and (
            failure is not None
            and exception in failure.types
            and text in failure.text
            and failure.compiling is compiling
        )
    return held, observed


def _follows(seeder: str, follow: bool, runs: Sequence[Run], perturbed: Run | None) -> tuple[bool, str]:
    assert perturbed is not None
    if not perturbed.record.shifted_seeds:
        raise NothingRecorded(f"{seeder} is not called with a number in the main process")
    if part := _first_difference("batches", runs):
        return False, f"runs with the same seed differ already: {part}"
    if part := _first_difference("batches", [runs[0], perturbed]):
        return follow, f"another seed changes them: {part}"
    return not follow, f"another seed for {seeder} changes nothing"


def _alerts(text: str | None, perturbed: Run | None) -> tuple[bool, str]:
    assert perturbed is not None
    alerts = [warning for warning in perturbed.record.warnings if ALERT in warning]
    observed = "; ".join(dict.fromkeys(alert.split(ALERT)[0].strip() for alert in alerts))
    if text is None:
        return not alerts, f"alerts: {observed}" if alerts else "no alerts"
    return any(text in alert for alert in alerts), f"alerts: {observed}" if alerts else "no alerts"


_WORDS: dict[Stream, str] = {"batches": "batches agreed", "order": "order agreed", "output": "output agreed"}


def _first_difference(stream: Stream, runs: Sequence[Run]) -> str | None:
    """Where two runs first differ, in words; None where all agree."""
    if len(runs) < 2:
        raise NothingRecorded("one run cannot be compared")
    if stream == "output":
        if not all(run.output for run in runs):
            raise NothingRecorded("nothing was printed")
        return "output differed" if len({run.output for run in runs}) > 1 else None
    for other in runs[1:]:
        part = (_batch_difference if stream == "batches" else _order_difference)(runs[0].record, other.record)
        if part is not None:
            return part
    return None


def _batch_difference(first: Record, other: Record) -> str | None:
    for one, two in zip(_hashed(first), _hashed(other), strict=False):
        place = f"loader {one.loader}, epoch {one.epoch}, batch {one.position}"
        if (one.loader, one.epoch, one.position) != (two.loader, two.epoch, two.position):
            return f"{place} met loader {two.loader}, epoch {two.epoch}, batch {two.position}"
        if one.digest != two.digest:
            return f"{place} differed" + (f" ({one.value} and {two.value})" if one.value and two.value else "")
    if len(first.batches) != len(other.batches):
        return f"{len(first.batches)} batches and {len(other.batches)}"
    return None


def _order_difference(first: Record, other: Record) -> str | None:
    if not first.order or not other.order:
        raise NothingRecorded("no indices were drawn from a sampler")
    for one, two in zip(first.order, other.order, strict=False):
        if one != two:
            return f"order differed in epoch {one.epoch}: {one.indices} and {two.indices}"
    return None if len(first.order) == len(other.order) else "numbers of index draws differed"


def _hashed(record: Record) -> list[Batch]:
    if not record.batches:
        raise NothingRecorded("no batch came from a DataLoader")
    if any(batch.digest is None for batch in record.batches):
        raise NothingRecorded("a batch holds what cannot be compared by content")
    return record.batches


def _epochs(record: Record) -> list[list[Batch]]:
    """The batches, one list for each epoch of each loader, in order."""

    def key(batch: Batch) -> tuple[int, int]:
        return (batch.loader, batch.epoch)

    return [list(group) for _, group in groupby(sorted(_hashed(record), key=key), key)]


def _by_worker(epoch: Iterable[Batch]) -> dict[int | None, list[str | None]]:
    workers: dict[int | None, list[str | None]] = {}
    for batch in epoch:
        workers.setdefault(batch.worker, []).append(batch.digest)
    return workers


def _workers_repeat(record: Record) -> bool:
    """Whether, in some epoch, two workers deliver the same, as far as both deliver."""
    compared = False
    for epoch in _epochs(record):
        streams = [digests for worker, digests in _by_worker(epoch).items() if worker is not None]
        for place, one in enumerate(streams):
            for two in streams[place + 1 :]:
                compared = True
                if all(a == b for a, b in zip(one, two, strict=False)):
                    return True
    if not compared:
        raise NothingRecorded("no epoch had batches from two workers")
    return False


def _epochs_repeat(record: Record) -> bool:
    """Whether some epoch of a loader delivers what its epoch before delivered."""
    epochs = _epochs(record)
    compared = False
    for before, after in pairwise(epochs):
        if before[0].loader == after[0].loader:
            compared = True
            if [batch.digest for batch in before] == [batch.digest for batch in after]:
                return True
    if not compared:
        raise NothingRecorded("no loader was iterated twice")
    return False


def _worker_repeats_itself(record: Record) -> bool:
    """Whether some worker delivers one and the same batch all through an epoch."""
    streams = [digests for epoch in _epochs(record) for digests in _by_worker(epoch).values() if len(digests) > 1]
    if not streams:
        raise NothingRecorded("no worker delivered two batches")
    return any(len(set(digests)) == 1 for digests in streams)


def _multiplicities(record: Record) -> set[int]:
    return {count for epoch in _epochs(record) for count in Counter(batch.digest for batch in epoch).values()}


def _in_every_run(
    runs: Sequence[Run], question: Callable[[Record], bool], wanted: bool, yes: str, no: str
) -> tuple[bool, str]:
    answers = {question(run.record) for run in runs}
    if len(answers) > 1:
        return False, f"{yes} in some runs only"
    return answers == {wanted}, yes if True in answers else no
