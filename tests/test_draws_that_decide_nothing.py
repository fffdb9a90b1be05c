"""Draws on which no result of a program hangs, and draws beside them on which one does (TRL502, TRL504)."""

from __future__ import annotations

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
        ({"train_debug.py": _TRAINS}, []),
        ({"train.py": _TRAINS}, ["TRL502"]),
        ({"debug_shapes.py": _LATE.format(draw="x = np.random.rand(2)\nprint(x)")}, []),
        ({"debugger.py": _LATE.format(draw="x = np.random.rand(2)\nprint(x)")}, ["TRL504"]),
    ],
)
def test_what_a_draw_decides(write, files: dict[str, str], found: list[str]) -> None:
    assert [one.code for one in check([write({"torchrepro-lint.toml": "", **files})]).findings] == found
