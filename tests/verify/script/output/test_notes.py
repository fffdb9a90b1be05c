"""The remarks below an answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.compare import Comparison
from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.findings import rules_for
from torchrepro_lint.verify.script.output.notes import notes
from torchrepro_lint.verify.script.result import Outcome, Result


def remarks(*alone: str) -> list[str]:
    comparison = Comparison(None, Counter(loss=1), 0, alone=alone)
    return list(notes(Result(Outcome.DIFFERED, ("train.py",), (), comparison=comparison)))


def test_a_thread_is_named_where_its_process_is_in_both_runs() -> None:
    beginning = "processes that only one of the runs had: "
    worker, thread = "worker 2 of loader 0", "worker 2 of loader 0, thread QueueFeederThread"
    assert remarks(worker, thread) == [beginning + worker]
    assert remarks(thread) == [beginning + thread]


def test_of_many_processes_the_first_are_named() -> None:
    (remark,) = remarks(*(f"worker 2 of loader {number}" for number in range(8)))
    assert remark.endswith("worker 2 of loader 3, worker 2 of loader 4, ...")


def test_what_differs_with_the_number_of_threads() -> None:
    entry = Entry("op", "aten.sum")
    cause = Cause("operation", (entry, entry))
    result = Result(Outcome.DIFFERED, ("train.py",), (), cause=cause, perturbation="threads")
    (remark,) = notes(result)
    assert "torch.set_num_threads" in remark
    assert rules_for(result) == ()
    assert not list(notes(replace(result, perturbation="hashseed")))
