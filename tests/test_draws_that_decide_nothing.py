"""Draws on which no result of a program hangs, and draws beside them on which one does (TRL502, TRL504); and orders that
a seed would decide of which another finding speaks (TRL207).
"""

from __future__ import annotations

import json

import pytest

from torchrepro_lint.engine import check

_PLOT = """\
import numpy as np


def first_images(images, n):
    start = np.random.randint(0, len(images) - n)
    return images[start : start + n]
"""
_SHOWS = """\
import torch
from {module} import first_images

torch.manual_seed(0)
first_images(list(range(9)), 2)
torch.nn.Linear(1, 1)(torch.rand(1, 1)).sum().backward()
"""
_LINE = """\
import random
import torch

{seed}
{draw}
torch.nn.Linear(1, 1)(torch.rand(1, 1)).sum().backward()
"""
_LATE = """\
import numpy as np
import torch

{draw}
np.random.seed(0)
torch.manual_seed(0)
print(np.random.rand(), torch.rand(1))
"""
_TRAINS = _LINE.format(seed="torch.manual_seed(0)", draw="x = [random.random()]\nprint(x, x)")
_NAMED = """\
number = str(random.randint(0, 100))
name = "result_" + number + ".pkl"
with open(name, "{mode}") as file:
    print(file)
"""
_KEPT = (
    "random.seed(42)\nfew = {draw}\nmodel = torch.nn.Linear(1, 1)\nmodel(torch.rand(1, 1)).sum().backward()\nprint(few)"
)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"train.py": _LINE.format(seed="torch.manual_seed(0)", draw="bool(random.choice([0, 1]))")}, []),
        (
            {"train.py": _LINE.format(seed="torch.manual_seed(0)", draw="x = bool(random.random())\nprint(x)")},
            ["TRL502"],
        ),
        ({"train.py": _LINE.format(seed="torch.manual_seed(0)", draw="print(random.random())")}, ["TRL502"]),
        ({"train.py": _LATE.format(draw="np.random.rand(2)")}, []),
        ({"train.py": _LATE.format(draw="print(np.random.rand(2))")}, ["TRL504"]),
        ({"train.py": _LATE.format(draw="x = [1, 2]\nnp.random.shuffle(x)\nprint(x)")}, ["TRL504"]),
        ({"plotting.py": _PLOT, "train.py": _SHOWS.format(module="plotting")}, []),
        ({"images.py": _PLOT, "train.py": _SHOWS.format(module="images")}, ["TRL502"]),
        ({"train.py": f"import random\nimport torch\n\n{_KEPT.format(draw='random.sample(range(9), 3)')}\n"}, []),
        ({"train.py": f"import random\nimport torch\n\n{_KEPT.format(draw='random.random()')}\n"}, ["TRL502"]),
        ({"train.py": _LINE.format(seed="torch.manual_seed(0)", draw=_NAMED.format(mode="wb"))}, []),
        ({"train.py": _LINE.format(seed="torch.manual_seed(0)", draw=_NAMED.format(mode="rb"))}, ["TRL502"]),
        ({"train_debug.py": _TRAINS}, []),
        ({"train.py": _TRAINS}, ["TRL502"]),
        ({"debug_shapes.py": _LATE.format(draw="x = np.random.rand(2)\nprint(x)")}, []),
        ({"debugger.py": _LATE.format(draw="x = np.random.rand(2)\nprint(x)")}, ["TRL504"]),
    ],
)
def test_what_a_draw_decides(write, files: dict[str, str], found: list[str]) -> None:
    assert [one.code for one in check([write({"torchrepro-lint.toml": "", **files})]).findings] == found


_LOADS = """\
import {module}
import torch
from torch.utils.data import DataLoader, TensorDataset

{seed}
model = torch.nn.Linear(1, 1)
loader = DataLoader(TensorDataset(torch.arange(16.0)), shuffle=True)
{reads}
"""
_READS = "for (batch,) in loader:\n    model(batch).sum().backward()"
_LISTS = """\
import os
import random
import torch

{seed}
file = random.choice(os.listdir("images"))
model = torch.nn.Linear(1, 1)
model(torch.load(file)).sum().backward()
"""


def _codes(write, text: str, **settings: str) -> list[str]:
    report = check([write({"torchrepro-lint.toml": "", "train.py": text})], settings)  # type: ignore[arg-type]
    return sorted(one.code for one in report.findings)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_LISTS.format(seed="torch.manual_seed(0)"), ["TRL502"]),
        (_LISTS.format(seed="random.seed(0); torch.manual_seed(0)"), ["TRL207"]),
    ],
)
def test_one_cause_has_one_finding(write, text: str, found: list[str]) -> None:
    assert _codes(write, text) == found
    strict = _codes(write, text, profile="strict")
    assert "TRL207" in strict


@pytest.mark.parametrize(("reads", "found"), [("print(model)", []), (_READS, ["TRL201"])])
def test_a_loader_that_no_cell_reads(write, reads: str, found: list[str]) -> None:
    text = _LOADS.format(module="random", seed="torch.manual_seed(0)", reads=reads)
    cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": []}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    report = check([write({"torchrepro-lint.toml": "", "train.ipynb": notebook})])
    assert [one.code for one in (*report.findings, *report.untold)] == found
