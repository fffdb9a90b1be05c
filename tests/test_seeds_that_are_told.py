"""A seed of the clock that the run tells can be set again, and a search wants fresh numbers: nobody changes these."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_HEAD = """\
import argparse
import json
import random
import time

import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

args = argparse.ArgumentParser().parse_args()
writer = SummaryWriter()
"""
_TAIL = """
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.rand(2, 3)).sum().backward()
optimizer.step()
"""
_CLOCK = "seed = int(time.time())\ntorch.manual_seed(seed)\n"
_HOLDER = "torch.manual_seed(config['seed'])\n"
_TOLD = {
    "printed": f"{_CLOCK}print(seed)\n",
    "logged as a number": f"{_CLOCK}writer.add_scalar('seed', seed)\n",
    "saved with the weights": f"{_CLOCK}torch.save({{'seed': seed}}, 'run.pt')\n",
    "saved with arrays": f"{_CLOCK}np.savez('run.npz', seed=seed)\n",
    "in the name of a folder": f"{_CLOCK}log_path = f'logs/{{args.name}}-{{seed}}'\nwriter.log_dir = log_path\n",
    "settings that are saved": f"config = {{'seed': int(time.time())}}\n{_HOLDER}json.dump(config, open('c.json', 'w'))\n",
    "made by dict()": f"config = dict(seed=int(time.time()))\n{_HOLDER}print(config)\n",
    "a search": "torch.manual_seed(0)\nif args.evolve:\n    np.random.seed(int(time.time()))\n    print(np.random.rand())\n",
}
_UNTOLD = {
    "nowhere": _CLOCK,
    "another number in the name of a folder": f"{_CLOCK}log_path = f'logs/{{args.name}}'\n",
    "another number": f"{_CLOCK}print(time.time())\n",
    "other settings": f"{_CLOCK}config = {{'size': 3}}\njson.dump(config, open('c.json', 'w'))\n",
    "another option": "torch.manual_seed(0)\nif args.wild:\n    np.random.seed(int(time.time()))\n    print(np.random.rand())\n",
}


def _codes(write, text: str) -> list[str]:
    root = write({"torchrepro-lint.toml": "", "train.py": f"{_HEAD}{text}{_TAIL}"})
    return [one.code for one in check([root]).findings if one.code == "TRL503"]


@pytest.mark.parametrize("how", _TOLD)
def test_a_seed_that_is_told_is_not_reported_by_default(how: str, write) -> None:
    assert _codes(write, _TOLD[how]) == []


@pytest.mark.parametrize("how", _UNTOLD)
def test_a_seed_that_is_lost_is(how: str, write) -> None:
    assert _codes(write, _UNTOLD[how]) == ["TRL503"]
