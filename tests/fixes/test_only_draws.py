"""No generator where it would change nothing: one function seeds torch, makes the loader, and draws from nothing else."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.settings import SettingsOverride

PROGRAM = """\
import torch
from torch.multiprocessing import Process
from torch.utils.data import DataLoader


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, x):
        return self.layer(x){forward}


def train(net, images, rank):
{body}

if __name__ == "__main__":
    torch.manual_seed(3)
    processes = [Process(target=train, args=(Net(), torch.ones(8, 1), rank)) for rank in range(2)]
    for process in processes:
        process.start()
"""
LOOP = "for image in {}:\n    net(image).sum().backward()\n"
SEED, LOADER = "torch.manual_seed(rank)\n", "loader = DataLoader(images, shuffle=True)\n"
BODY = SEED + LOADER + LOOP.format("loader")
#: What a function does, and whether a generator for its loader would change something.
BODIES = {
    "one loop": (BODY, False),
    "epochs": (SEED + LOADER + "for epoch in range(3):\n    for at, image in enumerate(loader):\n        net(image)\n", False),
    "a learning rate between": (BODY.replace("loader =", "torch.optim.SGD(net.parameters(), lr=0.1)\nloader ="), False),
    "counted": (BODY + "print(len(loader))\n", False),
    "a seed in an arm": (BODY.replace("torch.", "if rank:\n    torch."), True),
    "a seed below": (LOADER + SEED + LOOP.format("loader"), True),
    "a network between": (BODY.replace("loader =", "net = Net()\nloader ="), True),
    "a draw between": (BODY.replace("loader =", "print(torch.rand(1))\nloader ="), True),
    "a draw in the loop": (BODY + "    print(torch.rand(1))\n", True),
    "another loader": (BODY + LOOP.format("DataLoader(images)"), True),
    "given away": (SEED + LOADER + "print(list(map(net, loader)))\n", True),
    "no seed": (LOADER + LOOP.format("loader"), True),
}  # fmt: skip


def _fix_of(body: str, write, forward: str = ""):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    root = write({"pyproject.toml": "", "train.py": PROGRAM.format(body=lines, forward=forward)})
    (found, *_) = [one for one in check([root], SettingsOverride(profile="strict")).findings if one.code == "TRL201"]
    return found.fix, found.fix_declined


@pytest.mark.parametrize(("body", "changes"), BODIES.values(), ids=BODIES)
def test_a_generator_beside_a_seed_in_the_function(body: str, changes: bool, write) -> None:
    fix, declined = _fix_of(body, write)
    assert (declined is not None and "would change nothing" in declined) is not changes
    assert changes or fix is None


def test_a_network_that_draws(write) -> None:
    _, declined = _fix_of(BODY, write, forward=" * torch.rand(1)")
    assert declined is None or "would change nothing" not in declined
