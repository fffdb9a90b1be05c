"""Whether all ranks seed their workers alike: how a program seeds, and what is found to be shared."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from torchrepro_lint.program.program import Program
from torchrepro_lint.program.seeds.rank_seeds import init_decides, shared_seed
from torchrepro_lint.program.workers.ranks import distributed_start
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch

HEAD = """\
import os
import random
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader


def set_seed(seed):
    torch.manual_seed(seed)


def by_rank(worker_id):
    random.seed(worker_id + 100 * dist.get_rank())


def by_entropy(worker_id):
    random.seed(os.urandom(4))


def plain(worker_id):
    random.seed(torch.initial_seed())


def main(args, rank, data):
    dist.init_process_group("gloo")
"""
SHARED = {
    "a constant": "torch.manual_seed(0)",
    "a setting": "torch.manual_seed(args.seed)",
    "through a helper": "set_seed(args.seed + 1)",
    "an item of a configuration": "set_seed(int(args['seed']))",
    "a name": "seed = 3\nset_seed(seed)",
    "of the generator": "set_seed(rank)\ng = torch.Generator()\ng.manual_seed(args.seed)",
}
NOT_SHARED = {
    "the rank": "torch.manual_seed(args.seed + rank)",
    "the rank behind a name": "seed = args.seed\nseed += dist.get_rank()\nset_seed(seed)",
    "the rank of a setting": "set_seed(args.seed + args.local_rank)",
    "drawn": "seed = random.randint(0, 10)\nset_seed(seed)",
    "drawn where none is set": "if args.seed is None:\n    args.seed = random.randint(0, 10)\nset_seed(args.seed)",
    "the clock": "set_seed(int(time.time()))",
    "nothing": "pass",
    "before the ranks start": "set_seed(0)\nmp.spawn(main, nprocs=2)",
    "of the generator": "set_seed(0)\ng = torch.Generator()\ng.manual_seed(rank)",
}


def program(body: str, folder: Path, loader: str = "") -> Program:
    """A program with one loader behind `body`."""
    given = ", generator=g" if "g = " in body else ""
    last = f"return DataLoader(data, num_workers=2{given}{loader})"
    path = folder / "program.py"
    path.write_text(HEAD + indent(dedent(body) + "\n" + last, "    ") + "\n\n\nmain(None, 0, [])\n", encoding="utf-8")
    return Program(folder, [path], Settings(), TargetTorch())


@pytest.mark.parametrize("body", SHARED.values(), ids=SHARED)
def test_shared(body: str, tmp_path: Path) -> None:
    made = program(body, tmp_path)
    assert distributed_start(made, made.loaders[0]) is not None
    assert shared_seed(made, made.loaders[0]) is not None


@pytest.mark.parametrize("body", NOT_SHARED.values(), ids=NOT_SHARED)
def test_not_shared(body: str, tmp_path: Path) -> None:
    made = program(body, tmp_path)
    assert shared_seed(made, made.loaders[0]) is None


@pytest.mark.parametrize(
    ("init", "expected"), [("by_rank", True), ("by_entropy", True), ("plain", False), ("None", False)]
)
def test_an_init_function_that_decides(init: str, expected: bool, tmp_path: Path) -> None:
    made = program("set_seed(0)", tmp_path, f", worker_init_fn={init}")
    assert init_decides(made, made.loaders[0], frozenset({"python"})) is expected
