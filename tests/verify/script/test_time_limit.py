"""The linter, asked about a place, must not keep an answer that is known already."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from verify_runs import record

from torchrepro_lint.verify.script import cli, findings
from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.compare import Comparison, Divergence
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.result import Outcome, Result
from torchrepro_lint.verify.script.time_limit import TooLong, time_limit


def forever(*arguments: Any, **options: Any) -> Any:
    while True:
        try:
            threading.Event().wait(60)
        except Exception:  # what code that carries on whatever happens does
            continue


needs_signals = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")


@needs_signals
def test_what_takes_too_long_is_ended() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TooLong), time_limit(0.01):
        forever()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_another_thread_has_no_limit() -> None:
    done: list[bool] = []

    def work() -> None:
        with time_limit(0.01):
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


@needs_signals
def test_the_answer_goes_without_the_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    entries = [Entry("draw", "random.random", output=text, place=Place(str(script), 1)) for text in "ab"]
    pair = (record([entries[0]]), record([entries[1]]))
    comparison = Comparison(Divergence("main", *entries, "result"), Counter(), 0)
    cause = Cause("unseeded", (entries[0], entries[1]), "random")
    result = Result(Outcome.DIFFERED, ("train.py",), (), None, pair, comparison, cause=cause)
    monkeypatch.setattr(findings, "check", forever)
    monkeypatch.setattr(findings, "PATIENCE", 0.01)
    assert cli._link(result) is None
    assert "the answer goes without its finding" in capsys.readouterr().err
