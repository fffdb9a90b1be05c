"""How TRL401 judges an operation, by whether the program surely sets the flag."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Severity
from torchrepro_lint.engine import check

_PROGRAM = """\
import argparse
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--deterministic", action="store_true")
args = parser.parse_args()
torch.use_deterministic_algorithms({given})
image = torch.rand(1, 1, 4, 4, requires_grad=True, device="cuda")
F.interpolate(image, scale_factor=2, mode="bicubic").sum().backward()
"""


@pytest.mark.parametrize(
    ("given", "severity", "words"),
    [
        ("True", Severity.ERROR, "as `use_deterministic_algorithms(True)` is set"),
        ("args.deterministic", Severity.WARNING, "where an option sets `use_deterministic_algorithms(True)`"),
    ],
)
def test_an_option_that_sets_the_flag_makes_a_warning(write, given: str, severity: Severity, words: str) -> None:
    root: Path = write({"torchrepro-lint.toml": "", "train.py": _PROGRAM.format(given=given)})
    (finding,) = [one for one in check([root]).findings if one.code == "TRL401"]
    assert finding.severity is severity
    assert finding.message.endswith(words)
