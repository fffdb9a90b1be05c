"""The seed of a generator is another for another `--seed`, and the same for processes that have to agree: run with the
ranks of two nodes, on which the local ranks are the same.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from torchrepro_lint.fix_loop import fix
from torchrepro_lint.settings import SettingsOverride

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the programs need torch"),
]

HEAD = """\
import argparse
import os

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import random_split

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
if dist.is_available() and "MASTER_ADDR" in os.environ:
    dist.init_process_group("gloo")
"""
SEEDINGS = {
    "the seed alone": "torch.manual_seed(args.seed)",
    "with the rank": "torch.manual_seed(args.seed + rank)",
    "with the local rank": "torch.manual_seed(args.seed + local_rank)",
    "with the local rank, under a name": "seed = args.seed + local_rank\ntorch.manual_seed(seed)",
}
DRAWS = {
    "TRL202": "model = torch.nn.Linear(3, 3)\ntrain, val = random_split(range(20), [15, 5])\nprint(list(train.indices))",
    "TRL203": "g = torch.Generator()\nprint(torch.randperm(20, generator=g).tolist())",
}
#: Runs a program in one process, once for each seed and rank, and prints what each printed.
RUNS = """
import contextlib, io, json, os, sys
text, found = open(sys.argv[1]).read(), []
for seed, rank, local_rank in json.loads(sys.argv[2]):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(local_rank))
    sys.argv[1:] = [f"--seed={seed}"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "train.py", "exec"), {"__name__": "__main__"})
    found.append(printed.getvalue())
print(json.dumps(found))
"""
#: Two nodes with two processes each.
RANKS = [(0, 0), (1, 1), (2, 0), (3, 1)]


@pytest.mark.parametrize("seeding", SEEDINGS)
@pytest.mark.parametrize("rule", DRAWS)
def test_ranks_agree_and_the_seed_decides(rule: str, seeding: str, write) -> None:
    program = f"{HEAD}{SEEDINGS[seeding]}\n{DRAWS[rule]}\n"
    printed = fixed_and_run(write, rule, program, [(seed, *rank) for seed in (1, 2) for rank in RANKS])
    first, second = printed[: len(RANKS)], printed[len(RANKS) :]
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]


@pytest.mark.parametrize(
    ("rule", "program"),
    [
        pytest.param("TRL502", "torch.manual_seed(args.seed)\nprint(np.random.rand(4))", id="NumPy"),
        pytest.param(
            "TRL502",
            """
            import random
            def set_seed(seed):
                torch.manual_seed(seed)
            set_seed(args.seed)
            print(random.random(), np.random.rand(4))
            """,
            id="a helper",
        ),
        pytest.param(
            "TRL502", "np.random.seed(args.seed + 3)\nprint(torch.rand(4), np.random.rand(2))", id="a sum, and torch"
        ),
    ],
)
def test_the_seed_decides_all_numbers(rule: str, program: str, write) -> None:
    first, again, other = fixed_and_run(
        write, rule, HEAD + dedent(program) + "\n", [(seed, 0, 0) for seed in (1, 1, 2)], unsafe=True
    )
    assert first == again != other


def fixed_and_run(
    write, rule: str, program: str, runs: Sequence[tuple[int, int, int]], *, unsafe: bool = False
) -> list[str]:
    """What a program prints in some runs, after the fix of a rule: with a seed, a rank and a local rank each."""
    root: Path = write({"train.py": program})
    settings: SettingsOverride = {"select": (rule,), "profile": "strict", "unsafe_fixes": unsafe}
    assert [one.code for one in fix([root], settings).fixed] == [rule]
    run = subprocess.run(
        [sys.executable, "-c", RUNS, str(root / "train.py"), json.dumps(runs)],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return [str(one) for one in json.loads(run.stdout)]


AT_THE_TOP = """\
import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(3)


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.rand(1) + index


if __name__ == "__main__":
    loader = DataLoader(Noise(), batch_size=2, shuffle=True, num_workers=2)
    trainer = Trainer(max_epochs=3)
    trainer.fit(LightningModule(), loader)
"""


def test_no_import_for_a_rank_that_nobody_can_ask_for_yet(write) -> None:
    root = write({"train.py": AT_THE_TOP})
    result = fix([root], {"extend_select": ("TRL201",)})
    assert result.changes
    assert "distributed" not in (root / "train.py").read_text()
