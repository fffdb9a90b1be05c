"""The two stages of runs: some are recorded cheaply; where they differ, that step is run again, fully recorded."""

from __future__ import annotations

import datetime
import functools
import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from torchrepro_lint import __version__
from torchrepro_lint.verify.script import perturbations
from torchrepro_lint.verify.script.beside import beside, room_for
from torchrepro_lint.verify.script.cause import UNEXPLAINED, Cause, find_cause, with_hash
from torchrepro_lint.verify.script.compare import RESULTS, Comparison, Divergence, compare
from torchrepro_lint.verify.script.entries import COMPARED, MAIN, OUTPUTS, TOOK_EFFECT, Header, Kind
from torchrepro_lint.verify.script.environment import difference
from torchrepro_lint.verify.script.launch import Launcher, Run
from torchrepro_lint.verify.script.perturbations import RESUME
from torchrepro_lint.verify.script.plan import Plan
from torchrepro_lint.verify.script.record import Record
from torchrepro_lint.verify.script.recording_names import recording_name
from torchrepro_lint.verify.script.result import Outcome, Result
from torchrepro_lint.verify.script.resume import in_one_go, joined, lost_settings, lost_states, repeated
from torchrepro_lint.verify.script.scratch import Scratch, ScratchFolder
from torchrepro_lint.verify.script.window import window

T = TypeVar("T")
# Commands: that trains the first half and leaves a checkpoint, and that goes on from it.
Halves: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
_MARKS_BEFORE = 20  # batches, losses and parameters before a printed line that are recorded closely
_RESULTS_OF_STEPS: frozenset[Kind] = frozenset({"batch", "loss", "parameter", "weights"})
_HASH_ATTEMPTS = 2  # pairs of runs that must agree with one PYTHONHASHSEED: once may be chance
FULL_ATTEMPTS = 3  # what depends on timing need not happen again at once


class Experiment:
    """Runs one script as often as it takes: recorded cheaply at first, and again, fully, where two runs differ.

    With `contend` a GPU is kept busy beside all runs but the first. With `one_hash_seed` no run has a PYTHONHASHSEED of
    its own, so that one thing alone can be varied. With `steps` each run ends after so many optimizer steps. With
    `scratch` each has a folder of its own to write in. At most `jobs` are made at a time, the first one alone. With
    `resumes` it is to be compared with a training in two halves. The script is started in `ranks` processes, as
    torchrun does, or in one as usual where that is 0.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: str,
        launcher: Launcher,
        *,
        contend: bool = False,
        one_hash_seed: bool = False,
        steps: int | None = None,
        scratch: Scratch | None = None,
        jobs: int = 1,
        resumes: bool = False,
        ranks: int = 0,
    ) -> None:
        self._command = tuple(command)
        self._folder = folder
        self._launcher = launcher
        self._contend = contend
        self._one_hash_seed = one_hash_seed
        self._steps = steps
        self._scratch = scratch
        self._jobs = jobs
        self._resumes = resumes
        self._ranks = ranks
        self._room = 1

    def plain(self, runs: int) -> Result:
        """Run the script `runs` times as it is, and compare the runs."""
        made = [self._run(1)]
        self._room = room_for(made[0], self._jobs, own_files=self._scratch is not None)
        if self._room > 1:
            made += self._beside([functools.partial(self._run, number) for number in range(2, runs + 1)], _went_wrong)
        # A script that does not run need not be run again to say so; whether it fails each time is worth a second.
        while len(made) < runs and (made[-1].trouble is None or (made[-1].failed and len(made) == 1)):
            made.append(self._run(len(made) + 1))
        result = replace(self._compare(made, [None] * len(made), RESULTS), in_scratch=self._scratch is not None)
        return self._outputs(result, [None] * len(made))

    def once(self, command: Sequence[str], name: str) -> Run:
        """One run of the script with other arguments. Its record is written to the file `name`."""
        return self._run(1, name=name, command=tuple(command))

    def varied(self, names: Sequence[str], reference: Run, halves: Halves | None = None) -> list[Result]:
        """What comes of varying each of these things, one at a time."""
        tasks = [
            functools.partial(self.resumed, halves, reference)
            if name == RESUME and halves is not None
            else functools.partial(self.perturbed, name, reference)
            for name in names
        ]
        return self._beside(tasks, lambda result: result.outcome is Outcome.COULD_NOT_RUN)

    def _beside(self, tasks: Sequence[Callable[[], T]], failed: Callable[[T], bool]) -> list[T]:
        """What the tasks give. One that fails beside others may do so because of them, and is repeated alone."""
        done = beside(tasks, self._room, self._launcher)
        return [task() if self._room > 1 and failed(one) else one for task, one in zip(tasks, done, strict=True)]

    def perturbed(self, name: str, reference: Run) -> Result:
        """Run the script once more with one thing varied, and compare it with a run as it is."""
        kinds: Collection[Kind] = perturbations.PERTURBATIONS[name].compared or RESULTS
        varied = self._run(2, name)
        result = replace(self._compare([reference, varied], [None, name], kinds), perturbation=name)
        if kinds is RESULTS and name != "clock":
            result = self._outputs(result, [None, name])
        result = _by_what_was_varied(result, name)
        took_effect = varied.record is not None and any(
            entry.name == TOOK_EFFECT for entry in varied.record.of_kind("note")
        )
        if result.outcome is Outcome.AGREED and not took_effect:
            return replace(result, outcome=Outcome.NOTHING_TO_VARY)
        return result

    def resumed(self, halves: Halves, reference: Run) -> Result:
        """Run the script in two halves, and compare what they do with what it does in one go."""
        made = [reference]
        # The second half finds what the first has left.
        shared = self._scratch.new() if self._scratch is not None else None
        for number, command in enumerate(halves, start=2):
            made.append(self._run(number, RESUME, command=command, shared=shared))
            if made[-1].trouble is not None:
                break
        if shared is not None:
            shared.remove()
        result = Result(Outcome.COULD_NOT_RUN, self._command, tuple(made), _trouble(made), perturbation=RESUME)
        records = [run.record for run in made if run.record is not None]
        if result.reason is not None or len(records) < 3:
            return result
        whole, first, second = records
        pair = (in_one_go(whole), joined(first, second))
        comparison = compare(*pair)
        result = replace(result, pair=pair, comparison=comparison, repeated=repeated(first, second))
        if comparison.divergence is not None:
            return replace(
                result,
                outcome=Outcome.DIFFERED,
                lost_states=lost_states(whole, first, second),
                lost_settings=lost_settings(whole, first, second),
            )
        if comparison.total == 0 or not list(second.of_kind("loss", "parameter")):
            return replace(result, reason="the second half trained nothing, so there is nothing to compare")
        return replace(result, outcome=Outcome.AGREED)

    def _run(
        self,
        number: int,
        varied: str | None = None,
        plan: Plan | None = None,
        name: str | None = None,
        command: tuple[str, ...] | None = None,
        extra: Mapping[str, str] | None = None,
        shared: ScratchFolder | None = None,
    ) -> Run:
        header = Header(
            command=command or self._command,
            folder=self._folder,
            stage=1 if plan is None else plan.stage,
            run=number,
            perturbation=varied,
            started=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            tool=__version__,
            steps=self._steps,
            ranks=self._ranks,
        )
        plan = replace(
            plan or Plan(""),
            contend=self._contend and number > 1,
            steps=self._steps,
            settings=self._resumes,
            ranks=self._ranks,
        )
        if extra is None:
            extra = perturbations.environment(varied, 0 if varied is None else 1) if self._one_hash_seed else {}
        scratch = self._scratch.new() if shared is None and self._scratch is not None else shared
        try:
            return self._launcher.run(header, name or recording_name(number, varied), plan, extra, scratch)
        finally:
            if scratch is not None and scratch is not shared:
                scratch.remove()

    def _fully(
        self, numbers: tuple[int, int], varied: tuple[str | None, str | None], plan: Plan, attempt: int
    ) -> tuple[Run, Run]:
        """Two runs again, with what the plan says recorded."""
        names = [
            recording_name(number, one, attempt, beside=varied[1]) for number, one in zip(numbers, varied, strict=True)
        ]
        first = self._run(numbers[0], varied[0], plan, names[0])
        return first, self._run(numbers[1], varied[1], plan, names[1])

    def _compare(self, runs: Sequence[Run], varied: Sequence[str | None], kinds: Collection[Kind]) -> Result:
        could_not = Result(Outcome.COULD_NOT_RUN, self._command, tuple(runs))
        records = [run.record for run in runs if run.record is not None]
        troubles = [run.trouble for run in runs]
        if len(records) < len(runs) or len(runs) < 2 or all(troubles):
            return replace(could_not, reason=_trouble(runs))
        for number, (run, record) in enumerate(zip(runs[1:], records[1:], strict=True), start=1):
            comparison = compare(records[0], record, kinds)
            stopped = any(one.trouble is not None and not one.failed for one in (runs[0], run))
            if comparison.divergence is not None and not (comparison.is_cut_off and stopped):
                differed = Result(
                    Outcome.DIFFERED, self._command, tuple(runs), _trouble(runs), (records[0], record), comparison
                )
                return self._explain(differed, (varied[0], varied[number]), number + 1, kinds)
        comparison = compare(records[0], records[-1], kinds)
        pair = (records[0], records[-1])
        if any(troubles):
            # Some ended well and some did not, and what they did until then was the same.
            failed = any(run.failed for run in runs)
            outcome = Outcome.DIFFERED if failed else Outcome.COULD_NOT_RUN
            return Result(outcome, self._command, tuple(runs), _trouble(runs), pair, comparison)
        if comparison.total == 0:
            return self._compare_fully(runs, varied, kinds)
        return Result(Outcome.AGREED, self._command, tuple(runs), None, pair, comparison)

    def _explain(
        self, differed: Result, varied: tuple[str | None, str | None], number: int, kinds: Collection[Kind]
    ) -> Result:
        """Run the two that differed again, with all that led to it recorded, and find the cause."""
        assert differed.comparison is not None and differed.pair is not None
        divergence = differed.comparison.divergence
        records = differed.pair
        for attempt in range(1, FULL_ATTEMPTS + 1):
            assert divergence is not None
            plan = window(records, divergence)
            full_runs = self._fully((1, number), varied, plan, attempt)
            first, second = (run.record for run in full_runs)
            differed = replace(differed, attempts=attempt)
            troubled = any(run.trouble is not None and not run.failed for run in full_runs)
            if first is None or second is None or troubled:
                return replace(differed, reason=f"fully recorded, {_trouble(full_runs)}")
            comparison = compare(first, second, _full_kinds(kinds))
            found = comparison.divergence
            if found is not None and _within(found, plan):
                cause = find_cause(first, second, found)
                if varied == (None, None):
                    cause = self._or_hash(cause, (first, second), (1, number), plan, kinds)
                return replace(differed, full_runs=full_runs, cause=cause)
            if found is not None:
                # It happened again, and elsewhere: look there.
                divergence, records = found, (first, second)
        return differed

    def _outputs(self, result: Result, varied: Sequence[str | None]) -> Result:
        """Where the runs agree in what they compute: whether they do in what they print and write, too."""
        records = [run.record for run in result.runs if run.record is not None]
        if result.outcome is not Outcome.AGREED or result.comparison is None or len(records) < 2:
            return result
        for number, record in enumerate(records[1:], start=2):
            if compare(records[0], record, OUTPUTS).divergence is not None:
                return self._other_outputs(result, (1, number), (varied[0], varied[number - 1]))
        return _with_counts(result, compare(records[0], records[-1], OUTPUTS))

    def _other_outputs(self, result: Result, numbers: tuple[int, int], varied: tuple[str | None, str | None]) -> Result:
        """The result of runs that print or write otherwise: what remains of it where the clock is the same in both."""
        plan = Plan("", ticking=True)
        full = self._fully(numbers, varied, plan, 0)
        records = [run.record for run in full]
        if records[0] is None or records[1] is None or any(run.trouble for run in full):
            return result
        outputs = compare(records[0], records[1], OUTPUTS)
        at = outputs.divergence
        if at is None:
            return _with_counts(result, outputs)
        pair = (records[0], records[1])
        cause = self._cause_of_output(at, numbers, varied)
        comparison = Comparison(at, Counter(), 0, difference(pair[0].environment, pair[1].environment))
        return replace(result, outcome=Outcome.DIFFERED, pair=pair, comparison=comparison, cause=cause)

    def _cause_of_output(
        self, at: Divergence, numbers: tuple[int, int], varied: tuple[str | None, str | None]
    ) -> Cause | None:
        if at.first is None or at.second is None:
            return None
        after = at.entry.detail.get("after")
        plan = Plan("", stage=2, ticking=True)
        if isinstance(after, int):
            plan = replace(plan, start=max(0, after - _MARKS_BEFORE), stop=after + 1, leave=at.process == MAIN)
        if at.entry.kind == "file":
            # What was written says nothing of when: only that it is a hash is worth trying.
            plan = Plan("", ticking=True)
        full = self._fully(numbers, varied, plan, 1)
        first, second = (run.record for run in full)
        if first is None or second is None:
            return None
        found = compare(first, second, OUTPUTS).divergence
        cause = find_cause(first, second, found) if found is not None else None
        return self._or_hash(cause, (first, second), numbers, plan, OUTPUTS) if varied == (None, None) else cause

    def _or_hash(
        self,
        cause: Cause | None,
        records: tuple[Record, Record],
        numbers: tuple[int, int],
        plan: Plan,
        kinds: Collection[Kind],
    ) -> Cause | None:
        """The cause, or PYTHONHASHSEED where nothing else explains the difference and one for both runs ends it."""
        free = not self._one_hash_seed and os.environ.get(perturbations.HASH_SEED, "random") == "random"
        if cause is None or cause.why not in UNEXPLAINED or not free:
            return cause
        for attempt in range(1, _HASH_ATTEMPTS + 1):
            names = [recording_name(number, "one-hashseed", attempt) for number in numbers]
            extra = perturbations.environment(None, 0)
            made = [
                self._run(number, None, plan, name, extra=extra) for number, name in zip(numbers, names, strict=True)
            ]
            first, second = (run.record for run in made)
            if first is None or second is None or not _agree(first, second, kinds):
                return cause
        return with_hash(cause, *records)

    def _compare_fully(self, runs: Sequence[Run], varied: Sequence[str | None], kinds: Collection[Kind]) -> Result:
        """No batch, loss or step was seen: every operation of the whole program is compared instead, or its draws."""
        plan = Plan("", stage=2)
        full_runs = self._fully((1, len(runs)), (varied[0], varied[-1]), plan, 1)
        result = Result(Outcome.COULD_NOT_RUN, self._command, tuple(runs), attempts=1)
        first, second = (run.record for run in full_runs)
        if first is None or second is None or any(run.trouble for run in full_runs):
            return replace(result, reason=_trouble(full_runs))
        comparison = compare(first, second, _full_kinds(kinds))
        if kinds is RESULTS and comparison.divergence is None and comparison.total == 0:
            # A program that computes nothing with torch: what it draws is all that there is to be compared.
            comparison = compare(first, second, COMPARED)
        result = replace(result, pair=(first, second), full_runs=full_runs, comparison=comparison)
        if comparison.divergence is not None:
            cause = find_cause(first, second, comparison.divergence)
            if varied[-1] is None:
                cause = self._or_hash(cause, (first, second), (1, len(runs)), plan, COMPARED)
            return replace(result, outcome=Outcome.DIFFERED, cause=cause)
        if comparison.total == 0:
            comparison = compare(first, second, OUTPUTS)
            if comparison.compared or comparison.divergence is not None:  # it only prints: that is compared for itself
                agreed = replace(comparison, divergence=None, compared=Counter())
                return replace(result, outcome=Outcome.AGREED, comparison=agreed)
            what = "no batch, loss, optimizer step, operation of torch, random number or printed line"
            return replace(result, reason=f"nothing was recorded: {what}")
        return replace(result, outcome=Outcome.AGREED)


def _with_counts(result: Result, outputs: Comparison) -> Result:
    """The result of runs that agree, with how much of what they print and write was compared."""
    assert result.comparison is not None
    compared = result.comparison.compared + outputs.compared
    return replace(result, comparison=replace(result.comparison, compared=compared))


def _by_what_was_varied(result: Result, name: str) -> Result:
    """The result with the perturbation as its cause, unless the cause says more: which line seeds with it."""
    cause = result.cause
    itself = cause is not None and perturbations.is_the_cause(name, explained=cause.why not in UNEXPLAINED)
    if cause is None or not itself or cause.why in ("seed", "operation", "hash"):
        return result
    full = [run.record for run in result.full_runs if run.record is not None]
    if name == "hashseed" and len(full) == 2:
        return replace(result, cause=with_hash(cause, full[0], full[1]))
    return replace(result, cause=replace(cause, why="varied", varied=name, met=result.met))


def _went_wrong(run: Run) -> bool:
    return run.trouble is not None


def _within(divergence: Divergence, plan: Plan) -> bool:
    """Whether the runs differed where everything was recorded."""
    mark = divergence.entry.detail.get("mark")
    return not isinstance(mark, int) or plan.start <= mark < (plan.stop or mark + 1)


def _full_kinds(kinds: Collection[Kind]) -> Collection[Kind]:
    """What is compared in the second stage: what is compared at all, and what leads to it."""
    return RESULTS if frozenset(kinds) == RESULTS else frozenset(kinds) | {"gradient", "op"}


def _agree(first: Record, second: Record, kinds: Collection[Kind]) -> bool:
    """Whether two runs agree in the results that they were found to differ in; where they have none of these, in every
    operation. What an operation reads may be memory that nothing has written yet.
    """
    results = kinds if kinds is OUTPUTS else _RESULTS_OF_STEPS & frozenset(kinds)
    comparison = compare(first, second, results)
    if comparison.divergence is None and comparison.total == 0:
        comparison = compare(first, second, _full_kinds(kinds))
    return comparison.divergence is None


def _trouble(runs: Sequence[Run]) -> str | None:
    """What went wrong, by run; said once where it is the same in all."""
    troubles = [(number, run.trouble) for number, run in enumerate(runs, start=1) if run.trouble is not None]
    if not troubles:
        return None
    if len({trouble for _, trouble in troubles}) == 1 and len(troubles) == len(runs) > 1:
        return f"each run {troubles[0][1]}"
    return "; ".join(f"run {number} {trouble}" for number, trouble in troubles)
