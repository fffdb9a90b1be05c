"""What a terminal shows while a script runs."""

from __future__ import annotations

import io
import json
from pathlib import Path

from torchrepro_lint.verify.script.entries import Header
from torchrepro_lint.verify.script.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_names_the_run_and_is_removed(tmp_path: Path) -> None:
    record = tmp_path / "run-1.jsonl"
    record.write_text("{}\n" + json.dumps({"kind": "loss", "step": 3, "shown": "0.5"}) + "\n")
    terminal = Terminal()
    with Progress.on(terminal) as progress:
        progress.show(Header(("train.py",), "/project", run=2), record, 1.4)
        progress.show(Header(("train.py",), "/project", stage=2, perturbation="clock"), record, 5.0)
        progress.show_linter()
    lines = [line for line in terminal.getvalue().split("\r\x1b[K") if line]
    assert lines == [
        "run 2: 1 s, step 3, loss 0.5",
        "run 1 with clock varied, fully recorded: 5 s, step 3, loss 0.5",
        "looking for the linter's finding at that line",
    ]
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_without_a_terminal_a_line_is_written_now_and_then(tmp_path: Path) -> None:
    record = tmp_path / "run-1.jsonl"
    record.write_text("{}\n" + json.dumps({"kind": "loss", "step": 3, "shown": "0.5"}) + "\n")
    stream = io.StringIO()
    with Progress.on(stream) as progress:
        for number in (1, 2):
            for seconds in range(100):
                progress.show(Header(("train.py",), "/project", run=number, steps=20), record, float(seconds))
        progress.show_linter()
    assert stream.getvalue().splitlines() == [
        f"torchrepro-lint verify: run {number}: {seconds} s, step 3 of 20, loss 0.5"
        for number in (1, 2)
        for seconds in (15, 75)
    ]
