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


WORKERS = """\
import os
import random
import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler

class Noisy(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return index + np.random.rand()

def seed_worker(worker_id):
    np.random.seed(int.from_bytes(os.urandom(4), "little"))

def main(seed, rank):
    START
    SEED
    data = Noisy()
    for batch in DataLoader(data, sampler=DistributedSampler(data, 2, rank), num_workers=2, worker_init_fn=seed_worker):
        print(batch)

if __name__ == "__main__":
    main(7, 0)
"""


@pytest.mark.parametrize(
    ("start", "seed", "is_safe"),
    [
        ("dist.init_process_group('gloo')", "torch.manual_seed(seed)", False),
        ("dist.init_process_group('gloo')", "torch.manual_seed(seed + rank)", True),
        ("dist.init_process_group('gloo')", "if rank is None: raise ValueError(rank)", True),
    ],
)
def test_workers_that_entropy_keeps_apart_are_not_brought_together(
    start: str, seed: str, is_safe: bool, tmp_path: Path
) -> None:
    """Torch's seed for the workers is the same on each rank where the ranks seed torch alike."""
    path = tmp_path / "train.py"
    text = WORKERS.replace("START", start).replace("SEED", seed)
    (found,) = check([path], {"select": ("TRL105",)}, overlay={path: text}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe
