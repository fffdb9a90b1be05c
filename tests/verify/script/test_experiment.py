"""What is said of runs that were made: by hand, without a process. Runs that end at different places are never equal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from verify_runs import record

from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.experiment import Experiment
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.output.notes import notes
from torchrepro_lint.verify.script.result import Outcome, Result

FOREVER = "did not end within 5 s"


class Runs:
    """Stands for a launcher: gives what was made before, the last of it again and again."""

    folder = Path("/nowhere")

    def __init__(self, *runs: Run) -> None:
        self._runs = list(runs)

    def run(self, *arguments: Any) -> Run:
        return self._runs.pop(0) if len(self._runs) > 1 else self._runs[0]


def made(*losses: str, trouble: str | None = None, failed: bool = False) -> Run:
    entries = [Entry("loss", "loss", step=step, output=loss, detail={"mark": step}) for step, loss in enumerate(losses)]
    return Run(record(entries), Path("record"), 1.0, trouble, failed)


def said(folder: Path, *runs: Run) -> Result:
    return Experiment(("train.py",), str(folder), Runs(*runs)).plain(2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (made("1", "2"), made("1", "2"), Outcome.AGREED),
        (made("1", "2"), made("1", "x"), Outcome.DIFFERED),
        # Both came to a good end, one of them later.
        (made("1"), made("1", "2"), Outcome.DIFFERED),
        (made("1", "2"), made("1"), Outcome.DIFFERED),
        (made("1", "2"), made("1", trouble="failed: OSError", failed=True), Outcome.DIFFERED),
        (made("1", "2"), made("1", "2", trouble="failed: OSError", failed=True), Outcome.DIFFERED),
        # The tool ended one of them: what it had not done yet says nothing.
        (made("1", "2"), made("1", trouble=FOREVER), Outcome.COULD_NOT_RUN),
        (made("1", "2"), made("x", trouble=FOREVER), Outcome.DIFFERED),
        (made("1", trouble=FOREVER), made("1", trouble=FOREVER), Outcome.COULD_NOT_RUN),
    ],
)
def test_two_runs(tmp_path: Path, first: Run, second: Run, outcome: Outcome) -> None:
    assert said(tmp_path, first, second).outcome is outcome


def test_what_the_first_run_left_is_said(tmp_path: Path) -> None:
    def left(run: Run, *overwrote: str) -> Run:
        return replace(run, wrote={"checkpoint.pt": "1", "log.txt": "2"}, overwrote=overwrote)

    how = "; --scratch runs the script in a scratch folder"
    differed = said(tmp_path, left(made("1")), made("2"))
    words = "the first run left checkpoint.pt, log.txt in its folder, and the next run found it there: the runs may not have started from the same state"
    assert words + how in list(notes(differed))
    agreed = said(tmp_path, left(made("1"), "log.txt"), made("1"))
    words = "the first run left checkpoint.pt, log.txt in its folder (log.txt had been there before and is overwritten)"
    assert list(notes(agreed)) == [words + how]
    assert list(notes(said(tmp_path, made("1"), made("1")))) == []
