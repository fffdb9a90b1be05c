"""Processes that are started with a function that cannot take what it is given end before they do anything: nothing is
reported that would happen in them, nor of what they lack.
"""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_SPAWNS = """\
import torch
from torch import multiprocessing as mp, nn


{function}:
    {first}
    model = nn.Conv2d(3, 8, 3)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(3):
        model(torch.ones(2, 3, 8, 8)).sum().backward()
        opt.step()


def main(config=None):
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True
    mp.spawn(work, {arguments})


if __name__ == "__main__":
    main()
"""

_FORKS = """\
from multiprocessing import Process
from threading import Thread

import numpy as np
import torch


{function}:
    noise = np.random.randn(4)
    np.save("noise.npy", noise)


if __name__ == "__main__":
    np.random.seed(0)
    torch.manual_seed(0)
    rest = tuple(map(int, input().split()))
    jobs = [Process(target=work, {arguments}) for _ in range(4)]
    for job in jobs:
        job.start()
"""


def _codes(write, text: str, *select: str) -> list[str]:
    settings = f'target-torch = ">=1.7"\nselect = {list(select)}'
    return [one.code for one in check([write({"torchrepro-lint.toml": settings, "train.py": text})]).findings]


@pytest.mark.parametrize(
    ("function", "arguments", "is_told"),
    [
        ("def work(rank, config)", "args=(config,), nprocs=2", True),
        ("def work(rank, config, data)", "args=(config,), nprocs=2", False),
        ("def work(rank, config, data=None)", "args=(config,), nprocs=2", True),
        ("def work(rank, *others)", "args=(config,), nprocs=2", True),
        ("def work(rank)", "args=(config,), nprocs=2", False),
        ("def work(rank, config)", "nprocs=2", False),
        ("def work(rank)", "nprocs=2", True),
        ("def work(rank, config)", "(config,), 2", True),
        ("def work(rank)", "(config, config), 2", False),
        ("def work(rank, config, *, data)", "(config,), 2", False),
        ("def work(rank, config, data)", "args=config, nprocs=2", True),
        ("@torch.no_grad()\ndef work(rank, config, data)", "args=(config,), nprocs=2", True),
    ],
)
@pytest.mark.parametrize(("first", "code"), [("torch.manual_seed(rank)", "TRL305"), ("print(rank)", "TRL502")])
def test_what_spawned_processes_lack(
    function: str, arguments: str, is_told: bool, first: str, code: str, write
) -> None:
    text = _SPAWNS.format(function=function, arguments=arguments, first=first)
    assert _codes(write, text, "TRL305", "TRL502") == ([code] if is_told else [])


@pytest.mark.parametrize(
    ("function", "arguments", "is_told"),
    [
        ("def work(number)", "args=(3,)", True),
        ("def work(number, other)", "args=(3,)", False),
        ("def work(number, other)", 'args=(3,), kwargs={"other": 4}', True),
        ("def work(number, other)", 'args=(3,), kwargs={"others": 4}', False),
        ("def work(number, other)", "args=(3,), kwargs=dict(input())", True),
        ("def work(number, other)", "args=(3, *rest)", True),
        ("def work(number, other)", "args=rest", True),
        ("def work()", "args=(3,)", False),
    ],
)
def test_what_forked_processes_share(function: str, arguments: str, is_told: bool, write) -> None:
    found = _codes(write, _FORKS.format(function=function, arguments=arguments), "TRL112")
    assert found == (["TRL112"] if is_told else [])
