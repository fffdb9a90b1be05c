"""`torchrepro-lint verify --ops`: what is seen of an operation, in words, and held against the table."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from torchrepro_lint import cli
from torchrepro_lint.knowledge.op_cases import OpCase, op_cases
from torchrepro_lint.verify.operations import run
from torchrepro_lint.verify.operations.cli import measurements
from torchrepro_lint.verify.operations.run import Machine, Seen, judged, run_cases, what_keeps


def case(op: str, when: str = "") -> OpCase:
    return next(one for one in op_cases() if (one.op, one.when) == (op, when))


PUT = case("torch.Tensor.put_", "accumulate is-false-or-missing")
SCATTER = case("torch.Tensor.scatter_add_")
EMPTY = case("torch.empty")
SDPA = case("torch.nn.functional.scaled_dot_product_attention", "backend = 'cudnn'")


@pytest.mark.parametrize(
    ("one", "device", "answer", "result", "against"),
    [
        (PUT, "cuda", {"off": [3, 1], "raises": "put_"}, run.RAISES, ""),
        (PUT, "cuda", {"off": [1, 1], "on": [1, 1]}, "bitwise stable in 9 runs", "a row says that it raises"),
        (SCATTER, "cuda", {"off": [4, 1], "on": [1, 1]}, run.MADE_DETERMINISTIC, ""),
        (SCATTER, "cuda", {"off": [1, 1], "on": [1, 1]}, "bitwise stable in 9 runs", ""),
        (SCATTER, "cuda", {"off": [4, 1], "on": [2, 1]}, run.DIFFERS, "a row says that the switch makes it deterministic"),
        (SCATTER, "cuda", {"off": [4, 1], "raises": "scatter"}, run.RAISES, "no row says that it raises"),
        (SCATTER, "cuda", {"off": [4, 1], "refuses": "No kernel"}, run.REFUSES, "a row says that the switch makes it deterministic"),
        (SDPA, "cuda", {"off": [4, 1], "refuses": "No available kernel."}, run.REFUSES, ""),
        (SCATTER, "cpu", {"off": [1, 1], "on": [1, 1]}, "bitwise stable in 9 runs", ""),
        (EMPTY, "cpu", {"off": [9, 1], "on": [1, 1]}, run.MADE_DETERMINISTIC, ""),
        (EMPTY, "cpu", {"trouble": "ended by signal 11"}, "", "could not be run"),
    ],
)  # fmt: skip
def test_what_was_counted_in_words(
    one: OpCase, device: Any, answer: Mapping[str, Any], result: str, against: str
) -> None:
    seen = judged(one, device, 9, "2.13.0", answer)
    assert (seen.result, seen.against) == (result, against)


def test_the_counts_are_said() -> None:
    seen = judged(SCATTER, "cuda", 9, "2.13.0", {"off": [4, 2], "on": [1, 1]})
    assert seen.detail == (
        "without it: 4 different results forward in 9 runs and 2 different results backward in 9 runs; "
        "with it: bitwise stable in 9 runs"
    )


def test_a_row_for_another_release_of_torchvision_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    old, eager = case("torchvision.ops.roi_align"), case("torchvision.ops.roi_align", "context = 'eager'")
    assert what_keeps(old, "cuda", "2.13.0") in ("", "needs torchvision")
    monkeypatch.setattr("importlib.metadata.version", lambda package: {"torchvision": "0.26.0"}[package])
    assert what_keeps(old, "cuda", "2.13.0") == "only for torchvision<0.16"
    assert what_keeps(eager, "cuda", "2.13.0") in ("", "needs torchvision")
    steady = {"off": [1, 20], "on": [1, 1]}
    assert judged(eager, "cuda", 20, "2.13.0", steady).against == ""
    monkeypatch.setattr("importlib.metadata.version", lambda package: {"torchvision": "0.15.2"}[package])
    assert what_keeps(eager, "cuda", "2.13.0") == "only for torchvision>=0.16"


def test_what_keeps_a_case_from_being_run() -> None:
    assert what_keeps(PUT, "cpu", "2.13.0") == ""
    assert what_keeps(case("torch.Tensor.scatter_add_", "input ndim= 1"), "cpu", "2.13.0") == "no row for torch 2.13.0"
    assert what_keeps(case("torch.nn.LSTM", "backend = 'cudnn'"), "cpu", "2.13.0") == "needs CUDA"
    assert what_keeps(case("torch.nn.LSTM", "backend = 'cudnn'"), "cuda", "2.13.0") == ""
    assert what_keeps(case("torch.nn.Embedding"), "cpu", "2.13.0") == "about MPS"


@pytest.mark.verify
def test_operations_on_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    arguments = ["verify", "--ops", "--device", "cpu", "--runs", "2", "--output-format", "json"]
    assert cli.main([*arguments, "put_", "torch.empty_permuted", "Embedding"]) == 0
    rows = {(row["op"], row["when"]): row for row in json.loads(capsys.readouterr().out)}
    put = rows["torch.Tensor.put_", "accumulate is-false-or-missing"]
    assert put["result"] == run.RAISES and put["detail"].startswith("put_;")
    assert put["device"].startswith("CPU") and put["runs"] == 2
    assert rows["torch.nn.EmbeddingBag", "mode = 'max'"]["result"] == "bitwise stable in 2 runs"
    assert rows["torch.empty_permuted", ""]["result"] in (run.MADE_DETERMINISTIC, "bitwise stable in 2 runs")
    assert rows["torch.nn.Embedding", ""]["result"] is None
    assert rows["torch.nn.Embedding", ""]["detail"] == "not run: about MPS"


def test_no_such_operation(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "--ops", "conv9d"]) == 2
    assert "no operation in the table has conv9d in its name" in capsys.readouterr().err


class _Died:
    """A child that answers for its first case and is killed in its second; the next goes on behind it."""

    started: list[Sequence[int]] = []  # noqa: RUF012

    def __init__(self, device: str, runs: int, numbers: Sequence[int], unset: bool) -> None:
        self.started.append(numbers)
        self.answers: Iterator[dict[str, Any] | str] = iter(
            [
                {"device": "a device", "torch": "2.13.0", "cuda": ""},
                {"off": [1, 1], "raises": "put_"},
                *([f"ended by signal {int(signal.SIGSEGV)}"] if len(numbers) == 3 else []),
            ]
        )

    def __enter__(self) -> _Died:
        return self

    def __exit__(self, *_: object) -> None: ...

    def line(self, timeout: float) -> dict[str, Any] | str:
        return next(self.answers)


def test_a_case_that_ends_the_process_is_said_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(run, "_Child", _Died)
    machine, seen = run_cases([PUT, EMPTY, PUT], "cpu", runs=2, timeout=1)
    assert machine.device == "a device"
    assert [one.result for one in seen] == [run.RAISES, "", run.RAISES]
    assert seen[1].detail == f"not run: ended by signal {int(signal.SIGSEGV)}"
    assert [len(numbers) for numbers in _Died.started] == [3, 1]


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
def test_a_case_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    _, seen = run_cases([PUT], "cpu", runs=2, timeout=0.001)
    assert seen[0].detail == "not run: did not end within 0.001 s"


def test_the_rows_of_the_data_file() -> None:
    machine = Machine("NVIDIA Test", "2.13.0", "13.0")
    (row,) = measurements(machine, [Seen(PUT, run.RAISES, "put_"), Seen(EMPTY, "", "not run: why")], "cuda", 5)
    columns = str(row).split("\t")
    assert columns[:7] == [PUT.op, PUT.when, "cuda", "NVIDIA Test", "2.13.0", "13.0", "5"]
    assert columns[8:] == [run.RAISES, "put_"]
