"""The page of a rule says what was seen of it on a GPU."""

from __future__ import annotations

from torchrepro_lint.knowledge.gpu_evidence import GpuClaim, GpuTraining
from torchrepro_lint.report.gpu_evidence import gpu_evidence

PLACE = ("NVIDIA Test", "2.11.0", "13.0", "2026-11-26")
CLAIM = GpuClaim("TRL402_nondeterministic_op/bad_one", "output differs between runs", "output differed", *PLACE)
TRAINED = GpuTraining("TRL401 TRL402", "speech", "seeds alone", "5 different results in 5 runs", "", "", *PLACE)
RAISED = GpuTraining("TRL401 TRL402", "speech", "the flag", "no result", "", "ctc_loss_backward_gpu", *PLACE)


def test_claims_are_counted_and_trainings_are_named() -> None:
    assert gpu_evidence("TRL402", [CLAIM], [TRAINED, RAISED]).splitlines() == [
        "Seen on a GPU",
        "    On NVIDIA Test with torch 2.11.0, CUDA 13.0, 2026-11-26:",
        "        1 claim of 1 fixture held",
        "        training `speech` with seeds alone: 5 different results in 5 runs",
        "        training `speech` with the flag: cannot be trained (ctc_loss_backward_gpu)",
    ]


def test_a_rule_has_what_is_its_own() -> None:
    assert "claim" not in gpu_evidence("TRL401", [CLAIM], [TRAINED])
    assert gpu_evidence("TRL101", [CLAIM], [TRAINED]) == ""
