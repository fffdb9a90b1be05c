"""Objects that Python cannot make: their class does not take the arguments, and the program ends with a TypeError."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import is_reported

BEGIN = """\
import numpy as np
from abc import ABC
from torch.utils.data import DataLoader, Dataset

class Draws:
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return np.random.rand(3)

"""
END = "for batch in DataLoader(data, num_workers=2):\n    print(batch)\n"
NAMED = "class Data(Draws, Dataset):\n    def __init__(self, root, size=3, *, train=True): self.root = root\n"
MADE = {
    "what it takes": NAMED + "data = Data('data', train=False)\n",
    "further keywords": NAMED.replace("train=True", "train=True, **rest") + "data = Data('data', scale=2)\n",
    "keywords that are not in sight": NAMED + "import options\ndata = Data(**options.of('data'))\n",
    "nothing": "class Data(Draws, Dataset):\n    pass\ndata = Data()\n",
    "an unknown base": "from parts import Base\nclass Data(Draws, Base):\n    pass\ndata = Data('data')\n",
    "a base that reads a file": (
        "from torchvision.datasets import VisionDataset\nclass Data(Draws, VisionDataset):\n    pass\ndata = Data('data')\n"
    ),
    "`__new__`": "class Data(Draws):\n    def __new__(cls, *args): return super().__new__(cls)\n"
    "    def __init__(self, *args): pass\ndata = Data('data', 2)\n",
    "a metaclass": "import parts\nclass Data(Draws, metaclass=parts.Meta):\n    pass\ndata = Data('data')\n",
    "a decorator": "from dataclasses import dataclass\n@dataclass\nclass Data(Draws):\n    root: str\ndata = Data('data')\n",
    "a constructor that is set later": "class Data(Draws):\n    pass\ndef begin(self, root): self.root = root\n"
    "Data.__init__ = begin\ndata = Data('data')\n",
    "another form after a TypeError": NAMED + "try:\n    data = Data('data', scale=2)\n"
    "except TypeError:\n    data = Data('data')\n",
    "a registered base": "from parts import register\n@register\nclass Base(Draws): pass\nclass Data(Base):\n    pass\n"
    "data = Data('data')\n",
}  # fmt: skip
NOT_MADE = {
    "a keyword that it has not": NAMED + "data = Data('data', scale=2)\n",
    "a keyword of a dict": NAMED + "options = {'scale': 2}\ndata = Data('data', **options)\n",
    "too many": NAMED + "data = Data('data', 3, True)\n",
    "too few": NAMED + "data = Data()\n",
    "a misspelled constructor": "class Data(Draws, Dataset):\n    def w__init__(self, root): pass\ndata = Data('data')\n",
    "no constructor": "class Data(Draws, ABC):\n    pass\ndata = Data(root='data')\n",
    "the constructor of a base": NAMED.replace("class Data", "class Base") + "class Data(Base):\n    pass\ndata = Data(2, 3, 4)\n",
    "a library's base": "from torchvision.datasets import VisionDataset\nclass Data(Draws, VisionDataset):\n"
    "    def __init__(self, root): super().__init__(root)\ndata = Data('data', crops=2)\n",
    "a call in a function": NAMED + "def make(**options):\n    return Data('data', **options)\ndata = make(scale=2)\n",
}  # fmt: skip


@pytest.mark.parametrize("text", MADE.values(), ids=MADE)
def test_what_may_be_made_is_looked_at(tmp_path: Path, text: str) -> None:
    assert is_reported(tmp_path, BEGIN + text + END, "TRL101")


@pytest.mark.parametrize("text", NOT_MADE.values(), ids=NOT_MADE)
def test_nothing_is_said_of_what_cannot_be_made(tmp_path: Path, text: str) -> None:
    assert not is_reported(tmp_path, BEGIN + text + END, "TRL101")


#: An item is made by one of two objects, of which the first draws.
CHOSEN = """\
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Noise{base}:
    def {method}(self, x, size=3):
        return np.random.rand(size)

class Zeros{base}:
    def {method}(self, x, scale=2):
        return np.zeros(scale)

MADE = {{"noise": Noise, "zeros": Zeros}}[sys.argv[1]]()

class Data(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return MADE(index{given})

for batch in DataLoader(Data(), num_workers=2):
    print(batch)
"""


@pytest.mark.parametrize(("base", "method"), [("", "__call__"), ("(nn.Module)", "forward")])
@pytest.mark.parametrize(
    ("given", "is_meant"), [("", True), (", size=2", True), (", scale=2", False), (", 2, 3", True)]
)
def test_an_object_that_takes_the_arguments_is_the_one_that_is_called(
    tmp_path: Path, base: str, method: str, given: str, is_meant: bool
) -> None:
    text = CHOSEN.format(base=base, method=method, given=given)
    assert is_reported(tmp_path, text, "TRL101") is is_meant
