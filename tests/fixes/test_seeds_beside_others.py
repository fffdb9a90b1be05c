"""A number beside the seeding call that has it is the program's own seed where nobody gives it another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

PROGRAM = """\
import argparse
import random
import numpy as np
import torch

def main(args):
    random.seed(SEED)
    OTHER
    print(random.random(), np.random.rand(), torch.rand(1))

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=42)
    main(parser.parse_args())
"""


@pytest.mark.parametrize(
    ("seed", "other", "is_safe"),
    [
        ("42", "pass", True),
        ("42", "torch.manual_seed(42)", True),
        ("42", "torch.manual_seed(43)", True),
        ("args.seed", "torch.manual_seed(43)", False),
        # The seed beside that of torch comes first.
        ("42", "torch.manual_seed(args.seed)", True),
        ("args.seed", "torch.manual_seed(args.seed)", True),
    ],
)
def test_a_number_beside_its_own_call(seed: str, other: str, is_safe: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = PROGRAM.replace("SEED", seed).replace("OTHER", f"torch.cuda.is_available()\n    {other}")
    (found,) = check([path], {"select": ("TRL502",)}, overlay={path: text}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe
