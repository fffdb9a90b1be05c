"""A generator is an attribute of an object only where each object of the class can keep one."""

from __future__ import annotations

import pytest

from torchrepro_lint.fix_loop import fix

PROGRAM = """\
import copy
import json
import pickle

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DATA = TensorDataset(torch.arange(12.0))


class Trainer:
    {head}
    def __init__(self, path="state"):
        self.path = path
        self.net = nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def fit(self):
        loader = DataLoader(DATA, batch_size=4, shuffle=True)
        for epoch in range(2):
            for (x,) in loader:
                self.optimizer.zero_grad()
                self.net(x[:, None]).mean().backward()
                self.optimizer.step()

    def save(self):
        {save}


class Quiet(Trainer):
    {quiet}


def main():
    torch.manual_seed(3)
    made = Quiet()
    made.fit()
    made.fit()
    made.save()
    {last}


main()
"""
PLAIN = {"head": "", "save": "print(self.path)", "quiet": "pass", "last": ""}
NO_SUPER = "def __init__(self):\n        self.net = nn.Linear(1, 1)\n        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)\n        self.path = None"
SHAPES = {
    "an object of attributes": ({}, True),
    "a subclass that calls the constructor": ({"quiet": "def __init__(self):\n        super().__init__('quiet')"}, True),
    "a subclass that does not": ({"quiet": NO_SUPER}, False),
    "slots": ({"head": '__slots__ = ("net", "path", "optimizer")\n'}, False),
    "attributes that are refused": (
        {"head": "def __setattr__(self, name, value):\n        assert name in ('net', 'path', 'optimizer')\n        super().__setattr__(name, value)\n"},
        False,
    ),
    "attributes that are written as a text": ({"save": "json.dump(vars(self), open(self.path, 'w'), default=str)"}, False),
    "attributes that are given": ({"save": "self.__dict__.update(path=None)"}, True),
    "objects that are pickled": ({"save": "pickle.dump(self, open(self.path, 'wb'))"}, False),
    "objects that are copied": ({"last": "copy.deepcopy(made)"}, False),
    "what is pickled of an object": ({"save": "pickle.dump(self.path, open(self.path, 'wb'))"}, True),
}  # fmt: skip


@pytest.mark.parametrize("torch", ["", "torch>=2.4\n"], ids=["any torch", "torch that copies generators"])
@pytest.mark.parametrize(("parts", "is_kept"), SHAPES.values(), ids=SHAPES)
def test_objects_that_can_keep_a_generator(parts: dict[str, str], is_kept: bool, torch: str, write) -> None:
    root = write({"pyproject.toml": "", "requirements.txt": torch, "train.py": PROGRAM.format(**{**PLAIN, **parts})})
    fix([root], {"profile": "strict"})
    is_copied = any("pickle.dump(self," in part or "deepcopy(" in part for part in parts.values())
    text = (root / "train.py").read_text()
    assert ("self.loader_generator" in text) is (is_kept or (is_copied and torch != ""))
