"""What a run ran on: told without importing anything, and compared name by name."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from torchrepro_lint.verify.script.environment import Difference, difference


def told(program: str) -> dict[str, str]:
    lines = f"import json, os, sys\nfrom torchrepro_lint.verify.script import environment\n{program}"
    ran = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    values = json.loads(ran.stdout)
    assert isinstance(values, dict)
    return values


def test_what_differs_in_the_order_of_the_first() -> None:
    first = {"torch": "2.1", "threads": "2", "gpu 0": "A"}
    second = {"threads": "4", "torch": "2.1", "TZ": "UTC"}
    assert difference(first, second) == [
        Difference("threads", "2", "4"),
        Difference("gpu 0", "A", "not set"),
        Difference("TZ", "not set", "UTC"),
    ]
    assert difference(first, dict(reversed(first.items()))) == []


def test_before_the_start_nothing_is_imported() -> None:
    values = told("print(json.dumps(environment.before_start() | {'seen': str('torch' in sys.modules)}))")
    assert values["seen"] == "False"
    assert values["python"].startswith("CPython 3.")
    assert values["processor"]


def test_variables_as_they_stand() -> None:
    values = told("os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':16:8'\nprint(json.dumps(environment.at_present()))")
    assert values["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
    assert "torch" not in values


@pytest.mark.verify
def test_what_torch_says() -> None:
    values = told(
        "import torch\n"
        "torch.set_num_threads(3)\n"
        "torch.use_deterministic_algorithms(True, warn_only=True)\n"
        "torch.backends.cudnn.benchmark = True\n"
        "print(json.dumps(environment.at_present()))"
    )
    assert values["torch"].startswith("2.") and values["cuda"]
    assert values["threads"] == "3"
    assert values["deterministic algorithms"] == values["deterministic algorithms only warn"] == "True"
    assert values["cudnn.benchmark"] == "True"
    assert values["cpu capability"]


def test_a_switch_that_was_assigned_over_hides_no_other() -> None:
    values = told(
        "import torch\ntorch.are_deterministic_algorithms_enabled = True\nprint(json.dumps(environment.at_present()))"
    )
    assert "deterministic algorithms" not in values
    assert values["cudnn.enabled"] == "True"
