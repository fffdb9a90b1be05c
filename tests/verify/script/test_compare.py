"""Where two records differ: by result, by order, by length; in the main process or in a rank; never in what explains."""

from __future__ import annotations

from dataclasses import replace

from verify_runs import record

from torchrepro_lint.verify.script.compare import compare
from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.window import window


def training(*losses: str, batch: str = "b", worker: int | None = None, process: str = "main") -> list[Entry]:
    """Some steps: a batch, a loss, the parameters."""
    entries = [Entry("seed", "torch.manual_seed", process, 0, output="s")]
    for step, loss in enumerate(losses):
        first = 3 * step
        entries += [
            Entry(
                "batch",
                f"batch {step} of loader 0",
                process,
                step,
                0,
                worker,
                inputs="i",
                output=batch,
                detail={"mark": first, "loader": 0, "position": step},
            ),
            Entry("loss", "loss", process, step, 0, output=loss, detail={"mark": first + 1}),
            Entry("parameter", "SGD 0", process, step, 0, output=loss, detail={"mark": first + 2}),
        ]
    return entries


def test_equal_records() -> None:
    comparison = compare(record(training("1", "2")), record(training("1", "2")))
    assert comparison.divergence is None
    assert comparison.compared == {"batch": 2, "loss": 2, "parameter": 2}
    assert comparison.total == 6 and comparison.unread == 0


def test_the_first_result_that_differs() -> None:
    divergence = compare(record(training("1", "2", "3")), record(training("1", "x", "y"))).divergence
    assert divergence is not None and divergence.how == "result"
    assert (divergence.entry.kind, divergence.entry.step) == ("loss", 1)


def test_what_explains_is_not_compared() -> None:
    second = [Entry("seed", "torch.manual_seed", output="another"), *training("1")[1:], Entry("rng", detail={"a": "b"})]
    assert compare(record(training("1")), record(second)).divergence is None


def test_another_worker_is_no_difference() -> None:
    assert compare(record(training("1", worker=0)), record(training("1", worker=1))).divergence is None


def test_one_goes_on() -> None:
    divergence = compare(record(training("1")), record(training("1", "2"))).divergence
    assert divergence is not None and divergence.how == "length"
    assert divergence.first is None and divergence.entry.step == 1


def test_another_order() -> None:
    first, second = training("1"), training("1")
    second[1], second[2] = second[2], second[1]
    divergence = compare(record(first), record(second)).divergence
    assert divergence is not None and divergence.how == "order"


def test_what_cannot_be_read_counts_for_nothing() -> None:
    nothing = [Entry("batch", "batch 0 of loader 0")]
    comparison = compare(record(nothing), record(nothing))
    assert comparison.divergence is None and comparison.total == 0 and comparison.unread == 1


def test_a_rank_that_parts_earlier_than_main() -> None:
    first = [*training("1", "2"), *training("1", "2", process="process 1")]
    second = [*training("1", "x"), *training("x", "x", process="process 1")]
    divergence = compare(record(first), record(second)).divergence
    assert divergence is not None and divergence.process == "process 1"


def test_workers_are_not_compared_for_themselves() -> None:
    worker = [Entry("op", "aten.add", "worker 0 of loader 0", output="1")]
    comparison = compare(record([*training("1"), *worker]), record(training("1")))
    assert comparison.divergence is None
    assert comparison.alone == ("worker 0 of loader 0",)


def test_only_the_kinds_that_are_asked_for() -> None:
    assert compare(record(training("1")), record(training("x")), {"batch"}).divergence is None


def test_the_window_holds_the_step_and_the_one_before() -> None:
    runs = record(training("1", "2", "3", "4")), record(training("1", "2", "3", "x"))
    divergence = compare(*runs).divergence
    assert divergence is not None
    plan = window(runs, divergence)
    # Marks 6 to 8 are step 2, 9 is the batch of step 3 and 10 its loss.
    assert (plan.stage, plan.start, plan.stop, plan.leave, plan.fetches) == (2, 6, 11, True, ())


def test_the_window_begins_with_the_program_where_the_first_steps_part() -> None:
    runs = record(training("1", "2")), record(training("1", "x"))
    divergence = compare(*runs).divergence
    assert divergence is not None
    assert window(runs, divergence).start == 0


def test_the_window_in_a_worker_is_the_fetch_of_the_batch() -> None:
    first = training("1", "2", "3", worker=0, process="process 1")
    second = training("1", "2", "3", worker=0, process="process 1", batch="b")
    second[7] = Entry(**{**{name: getattr(second[7], name) for name in second[7].__dataclass_fields__}, "output": "x"})
    runs = record(first), record(second)
    divergence = compare(*runs).divergence
    assert divergence is not None and divergence.entry.kind == "batch"
    (fetch,) = window(runs, divergence).fetches
    # The other ranks may not have come so far.
    assert not window(runs, divergence).leave
    assert (fetch.worker, fetch.epoch, fetch.start, fetch.stop) == ("process 1, worker 0 of loader 0", 0, 1, 3)


def test_the_window_in_two_workers_if_each_run_had_another() -> None:
    first, second = training("1", "2", "3", worker=0), training("1", "2", "3", worker=0)
    second[7] = replace(second[7], output="x", worker=2)
    runs = record(first), record(second)
    divergence = compare(*runs).divergence
    assert divergence is not None
    assert [(one.worker, one.start, one.stop) for one in window(runs, divergence).fetches] == [
        ("worker 0 of loader 0", 1, 3),
        ("worker 2 of loader 0", 0, 1),
    ]
