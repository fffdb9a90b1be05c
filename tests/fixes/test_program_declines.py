"""Repairs that need the whole program and are not made: each says why."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchrepro_lint.engine import check

INIT = """
    from functools import partial

    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Noise(Dataset):
        def __getitem__(self, index):
            return np.random.rand()

    def set_seed(seed, base=0):
        seed += base
        torch.manual_seed(seed)
        np.random.seed(seed)

    set_seed(7)
    loader = DataLoader(Noise(), num_workers=2, worker_init_fn=partial(set_seed, base=7))
    """

EITHER = """
    from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

    def train(data, rank, epochs):
        sampler = RandomSampler(data) if rank == -1 else DistributedSampler(data)
        loader = DataLoader(data, sampler=sampler)
        for epoch in range(epochs):
            for batch in loader:
                print(batch)
    """

PHASES = """
    from torch.utils.data import DataLoader, DistributedSampler

    def main(data, val_data, args):
        sampler = DistributedSampler(data, num_replicas=2, rank=0)
        loaders = {"train": DataLoader(data, sampler=sampler), "val": DataLoader(val_data)}
        passes = {"train": 1, "val": args.val_passes}
        for epoch in range(2):
            for phase in ("train", "val"):
                for _ in range(passes[phase]):
                    for batch in loaders[phase]:
                        print(batch)
    """

OPTIONAL = """
    import numpy as np
    import torch

    def set_seed(seed, with_torch=False):
        np.random.seed(seed)
        if with_torch:
            torch.manual_seed(seed)

    set_seed(0)
    model = torch.nn.Linear(8, 2)
    model(torch.ones(8)).sum().backward()
    """


@pytest.mark.parametrize(
    ("code", "program", "reason"),
    [
        ("TRL104", INIT, "`set_seed` is called outside of workers, too, where its seed is to stay"),
        ("TRL502", OPTIONAL, "torch.manual_seed is called beside it under a condition that does not hold"),
        ("TRL206", EITHER, "`sampler` may be another sampler, which counts no epochs"),
        ("TRL206", PHASES, "the loop is inside another, and counts from the start each time"),
    ],
)
def test_a_repair_that_is_not_made_says_why(tmp_path: Path, code: str, program: str, reason: str) -> None:
    (tmp_path / "train.py").write_text(dedent(program))
    (found,) = [one for one in check([tmp_path]).findings if one.code == code]
    assert (found.fix, found.fix_declined) == (None, reason)
