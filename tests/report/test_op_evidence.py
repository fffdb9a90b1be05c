"""The page of a rule on operations ends with what was measured."""

from __future__ import annotations

from torchrepro_lint.knowledge.op_measurements import OpMeasurement
from torchrepro_lint.report.op_evidence import op_evidence


def measurement(op: str, when: str, kind: str, result: str) -> OpMeasurement:
    name, cuda = ("NVIDIA Test", "13.0") if kind == "cuda" else ("CPU x86_64", "")
    return OpMeasurement(op, when, kind, name, "2.13.0", cuda, "20", "2026-11-21", result, "")


PUT = ("torch.Tensor.put_", "accumulate is-false-or-missing")


def test_a_rule_on_operations_says_what_was_measured_and_what_was_not() -> None:
    text = op_evidence("TRL401", [measurement(*PUT, "cpu", "raises under use_deterministic_algorithms(True)")])
    assert text.splitlines() == [
        "Measured",
        "    On CPU x86_64 with torch 2.13.0, 20 runs of each call, 2026-11-21:",
        "        raises under use_deterministic_algorithms(True): torch.Tensor.put_ (accumulate=False, the default)",
        "    Nothing has been measured on CUDA yet: `torchrepro-lint verify --ops --device cuda` measures it where there is a GPU.",
    ]


def test_with_a_measurement_on_cuda_the_gpu_is_named() -> None:
    text = op_evidence("TRL401", [measurement(*PUT, "cuda", "raises under use_deterministic_algorithms(True)")])
    assert "On NVIDIA Test with torch 2.13.0, CUDA 13.0" in text
    assert "yet" not in text


def test_a_measurement_stands_on_the_page_of_its_rule() -> None:
    measured = [measurement("torch.empty", "", "cpu", "made deterministic by the switch")]
    assert "torch.empty" in op_evidence("TRL403", measured)
    assert "torch.empty" not in op_evidence("TRL402", measured)
    assert op_evidence("TRL101", measured) == ""


def test_a_row_of_another_release_does_not_count() -> None:
    measured = [measurement("torch.Tensor.index_add_", "", "cpu", "bitwise stable in 20 runs")]
    assert "index_add_" in op_evidence("TRL402", measured)
    assert "index_add_" not in op_evidence("TRL401", measured)  # it raised before torch 1.9
