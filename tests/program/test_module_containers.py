"""What `nn.ModuleList`, `nn.ModuleDict` and `nn.Sequential` hold: each program draws in a layer that one of them has."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check

HEAD = """\
import numpy as np
import torch
from torch import nn


class Jitter(nn.Module):
    def forward(self, x):
        return x + np.random.rand()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
"""
TAIL = """

torch.manual_seed(0)
print(Net()(torch.rand(2)))
"""
LOOP = "        for layer in self.layers:\n            x = layer(x)\n        return x\n"

CASES = {
    "a list": ("self.layers = nn.ModuleList([Jitter()])", LOOP),
    "a comprehension": ("self.layers = nn.ModuleList([Jitter() for _ in range(2)])", LOOP),
    "appended": ("self.layers = nn.ModuleList()\n        self.layers.append(Jitter())", LOOP),
    "extended": ("self.layers = nn.ModuleList()\n        self.layers.extend([Jitter()])", LOOP),
    "an index": ("self.layers = nn.ModuleList([Jitter()])", "        return self.layers[0](x)\n"),
    "a sequential": ("self.layers = nn.Sequential(Jitter())", LOOP),
    "a part of a list": (
        "self.layers = nn.ModuleList([Jitter(), Jitter()])",
        "        for layer in self.layers[:-1]:\n            x = layer(x)\n        return x\n",
    ),
    "added by a name": ('self.layers = nn.Sequential()\n        self.layers.add_module("a", Jitter())', LOOP),
    "named layers": (
        'from collections import OrderedDict\n\n        self.layers = nn.Sequential(OrderedDict([("a", Jitter())]))',
        "        return self.layers(x)\n",
    ),
    "a part of the network": ('self.add_module("layer", Jitter())', "        return self.layer(x)\n"),
    "named by a text": (
        'for i in range(2):\n            setattr(self, f"layer{i}", Jitter())',
        '        for i in range(2):\n            x = getattr(self, f"layer{i}")(x)\n        return x\n',
    ),
    "added by a text": (
        'for i in range(2):\n            self.add_module("layer%d" % i, Jitter())',
        '        for i in range(2):\n            x = getattr(self, "layer%d" % i)(x)\n        return x\n',
    ),
    "pairs": ('self.layers = nn.ModuleDict([["a", Jitter()]])', '        return self.layers["a"](x)\n'),
    "a name of a dict": ('self.layers = nn.ModuleDict({"a": Jitter()})', "        return self.layers.a(x)\n"),
    "a dict": ('self.layers = nn.ModuleDict({"a": Jitter()})', '        return self.layers["a"](x)\n'),
    "a key": (
        'self.layers = nn.ModuleDict()\n        self.layers["a"] = Jitter()',
        "        for layer in self.layers.values():\n            x = layer(x)\n        return x\n",
    ),
}


def program(case: str) -> str:
    made, used = CASES[case]
    return f"{HEAD}        {made}\n\n    def forward(self, x):\n{used}{TAIL}"


@pytest.mark.parametrize("case", CASES)
def test_a_layer_that_draws_is_found(tmp_path: Path, case: str) -> None:
    path = tmp_path / "a.py"
    found = check([path], {"select": ("TRL502",)}, overlay={path: program(case)}).findings
    assert [one.code for one in found] == ["TRL502"]


@pytest.mark.parametrize("case", CASES)
def test_a_layer_that_draws_nothing_is_not(tmp_path: Path, case: str) -> None:
    path = tmp_path / "a.py"
    text = program(case).replace("np.random.rand()", "1")
    assert not check([path], {"select": ("TRL502",)}, overlay={path: text}).findings
