"""A seed beside another is safe only where it does not make the ranks of a distributed program draw alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

PROGRAM = """\
import random
import torch
import torch.distributed as dist

def main(seed, rank):
    START
    torch.manual_seed(SEED)
    print(random.random(), torch.rand(1))

if __name__ == "__main__":
    main(7, 0)
"""


@pytest.mark.parametrize(
    ("start", "seed", "is_safe"),
    [
        ("dist.init_process_group('gloo')", "seed", False),
        ("dist.init_process_group('gloo')", "seed + rank", True),
        ("pass", "seed", True),
    ],
)
def test_a_seed_for_all_ranks_is_for_a_person(start: str, seed: str, is_safe: bool, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = PROGRAM.replace("START", start).replace("SEED", seed)
    (found,) = check([path], {"select": ("TRL502",)}, overlay={path: text}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe
