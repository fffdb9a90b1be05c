"""The rounds of a repair: run, take the fix for what makes the runs differ, run again, keep the fix or refuse it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from torchrepro_lint.report.texts import Texts
from torchrepro_lint.verify.repair.contract import Contract
from torchrepro_lint.verify.repair.fixer import Candidate, Fixer
from torchrepro_lint.verify.repair.other_seed import OtherSeed
from torchrepro_lint.verify.repair.result import Ending, Look, Refused, Repair, Round
from torchrepro_lint.verify.script.bench import Bench
from torchrepro_lint.verify.script.cause import UNEXPLAINED
from torchrepro_lint.verify.script.experiment import Experiment
from torchrepro_lint.verify.script.findings import PATIENCE
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.record import Record
from torchrepro_lint.verify.script.result import Outcome, Result
from torchrepro_lint.verify.script.time_limit import TooLong

MAX_ROUNDS = 20
MAX_TRIED = 6  # fixes for one difference: each of them costs several runs
_DRAWN = frozenset({"unseeded", "late", "seed", "state", "worker", "draws"})
# A line of these that has changed has been fixed: what else depends on the same thing may be fixed next.
_BY_LINE = frozenset({"hash", "varied"})
_TOO_LONG = f"the linter did not come to an end within {PATIENCE:g} s"


class Session:
    """One repair of one script."""

    def __init__(self, bench: Bench, fixer: Fixer, other_seed: OtherSeed | None) -> None:
        self._bench = bench
        self._fixer = fixer
        self._other_seed = other_seed
        self._experiments = 0
        self._given_up: dict[str, Round] = {}
        self._checks: dict[str, None] = {}
        self._unchecked: dict[str, None] = {}
        # What the accepted texts do with another seed; it is asked when it is first needed.
        self._with_other_seed: Run | None = None

    def repair(self) -> Repair:
        """Go on until the runs agree, or nothing is left that can be fixed."""
        rounds: list[Round] = []
        experiment = self._experiment({})
        look = self._look(experiment)
        while look.plain.outcome is not Outcome.COULD_NOT_RUN and (question := look.question) is not None:
            if len(rounds) == MAX_ROUNDS:
                break
            made, experiment, look = self._round(question, experiment, look)
            rounds.append(made)
            if made.fix is None:
                if question.perturbation is None:
                    break
                self._given_up[question.perturbation] = made
                look = Look(look.plain, tuple(one for one in look.varied if one is not question))
                look = self._varied(experiment, look)
        return Repair(
            ending=_ending(look, rounds),
            rounds=tuple(rounds),
            last=look,
            changes=self._fixer.changes,
            checks=tuple(self._checks) if any(one.fix for one in rounds) else (),
            unchecked=tuple(self._unchecked),
        )

    def _round(self, question: Result, experiment: Experiment, look: Look) -> tuple[Round, Experiment, Look]:
        """What is done about one difference, and where that leads."""
        refused: list[Refused] = []
        texts = dict(self._fixer.texts)
        before = _records(look.plain)
        try:
            for candidate in self._fixer.candidates(question):
                if isinstance(candidate, Refused):
                    refused.append(candidate)
                    continue
                if sum(one.fix is not None for one in refused) == MAX_TRIED:
                    break
                here = self._experiment(candidate.texts)
                new = self._look(here)
                why = self._why_refused(question, candidate, new, before, (experiment, here))
                if why is None:
                    self._fixer.accept(candidate)
                    return Round(question, texts, candidate.fix, candidate.link, tuple(refused)), here, new
                refused.append(Refused(candidate.link, candidate.fix, why))
        except TooLong:
            refused.append(Refused(None, None, _TOO_LONG))
        return Round(question, texts, refused=tuple(refused)), experiment, look

    def _why_refused(
        self,
        question: Result,
        candidate: Candidate,
        new: Look,
        before: Sequence[Record],
        experiments: tuple[Experiment, Experiment],
    ) -> str | None:
        """Why a fix is not made, from what the script does with it; None where it is."""
        if new.plain.outcome is Outcome.COULD_NOT_RUN:
            return f"with it, the script does not run: {new.plain.reason}"
        if (failed := _failed(new.plain)) is not None and _failed(question) is None:
            return f"with it, the script {failed}"
        if question.perturbation is not None and new.plain.outcome is Outcome.DIFFERED:
            return "with it, plain runs no longer agree"
        if new.question is not None and _is_the_same(question, new.question, self._fixer.texts, candidate.texts):
            return "with it, the runs differ in the same place, from the same cause"
        after = _records(new.plain)
        if len(before) < 2 or len(after) < 2:
            return "the runs with it could not be recorded"
        contract = Contract(before)
        for check in contract.checks:
            self._checks[check] = None
        if (broken := contract.broken_by(after[0])) is not None:
            return broken
        return self._why_deaf(question, contract, after[0], experiments)

    def _why_deaf(
        self, question: Result, contract: Contract, after: Record, experiments: tuple[Experiment, Experiment]
    ) -> str | None:
        """Why a fix would take the script's seed from it; None where it does not, or that cannot be told."""
        seed = self._other_seed
        if seed is None:
            self._unchecked["whether another seed still gives other numbers: no option for one is known"] = None
            return None
        if self._with_other_seed is None:
            self._with_other_seed = experiments[0].once(seed.command, "other-seed-before.jsonl")
        before = self._with_other_seed
        if before.record is None or before.trouble is not None:
            trouble = before.trouble or "left no recording"
            self._unchecked[f"whether another seed gives other numbers: with {seed.words}, the script {trouble}"] = None
            return None
        now = experiments[1].once(seed.command, "other-seed.jsonl")
        if now.record is None or now.trouble is not None:
            return f"with it and {seed.words}, the script {now.trouble or 'left no recording'}"
        drawn = question.cause is not None and question.cause.why in _DRAWN | UNEXPLAINED
        deaf = contract.deaf_to_the_seed(before.record, after, now.record, drawn=drawn)
        if deaf is None:
            self._with_other_seed = now
            self._checks[f"another seed ({seed.words}) gives other numbers where it did"] = None
        return deaf

    def _experiment(self, texts: Mapping[Path, str]) -> Experiment:
        number, self._experiments = self._experiments, self._experiments + 1
        scratch = self._bench.scratch
        assert scratch is not None
        return self._bench.experiment(scratch.holding(self._fixer.files(texts)), f"runs-{number}")

    def _look(self, experiment: Experiment) -> Look:
        """What the script does: plain runs, and where they agree, what is to be varied, up to a first difference."""
        return self._varied(experiment, Look(experiment.plain(self._bench.options.runs)))

    def _varied(self, experiment: Experiment, look: Look) -> Look:
        varied = list(look.varied)
        known = {one.perturbation for one in varied}
        if look.plain.outcome is Outcome.AGREED:
            for name in self._bench.options.perturb:
                if any(one.outcome is Outcome.DIFFERED for one in varied):
                    break
                if name not in known and name not in self._given_up:
                    varied.append(experiment.perturbed(name, look.plain.runs[0]))
        return Look(look.plain, tuple(varied))


def _ending(look: Look, rounds: Sequence[Round]) -> Ending:
    if look.plain.outcome is Outcome.COULD_NOT_RUN:
        return Ending.COULD_NOT_RUN
    if look.question is not None or any(one.fix is None for one in rounds):
        return Ending.LEFT
    return Ending.REPAIRED if rounds else Ending.NOTHING


def _records(result: Result) -> list[Record]:
    return [run.record for run in result.runs if run.record is not None]


def _failed(result: Result) -> str | None:
    """How a run of them went wrong."""
    return next((run.trouble for run in result.runs if run.trouble is not None), None)


def _is_the_same(one: Result, other: Result, before: Mapping[Path, str], after: Mapping[Path, str]) -> bool:
    """Whether two differences are one and the same: seen at the same thing, and from the same line for the same cause.

    The first was seen with the texts `before`, the other with those `after` a fix, in which lines may have moved.
    """
    if _seen(one) != _seen(other):
        return False
    if one.cause is None or other.cause is None or one.cause.place is None or other.cause.place is None:
        return True
    places, old, new = (one.cause.place, other.cause.place), Texts(before), Texts(after)
    paths = [Path(place.file) for place in places]
    lines = [texts.line(path, at.line).strip() for texts, path, at in zip((old, new), paths, places, strict=True)]
    if paths[0] != paths[1] or lines[0] == lines[1] or one.cause.why in _BY_LINE:
        return paths[0] == paths[1] and lines[0] == lines[1]
    # A line that the fix has changed is the line of before.
    return lines[1] not in (line.strip() for line in old.lines(paths[1]))


def _seen(result: Result) -> tuple[object, ...]:
    """Where runs differ and why, without the line."""
    divergence = result.comparison.divergence if result.comparison is not None else None
    where = None if divergence is None else (divergence.process, divergence.entry.identity, divergence.how)
    cause = result.cause
    return (result.perturbation, where) + (() if cause is None else (cause.why, cause.rng, cause.at[0].name))
