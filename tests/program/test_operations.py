"""Which calls are operations of torch, which rows of the table are proven for them, and where they run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from program.asking import program_of

from torchrepro_lint.knowledge.ops import newest_release, op_rows
from torchrepro_lint.program.ops.op_collisions import never_collides
from torchrepro_lint.program.ops.op_runs import (
    flag_is_off,
    is_about_cuda,
    may_run_backward,
    may_run_on_cuda,
    speaks_of_a_device,
)
from torchrepro_lint.program.ops.operations import Operation, called_by
from torchrepro_lint.program.ops.proven_rows import rows_proven
from torchrepro_lint.program.program import Program
from torchrepro_lint.settings import Settings

HEAD = """\
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.rand(2, 2, device=device, requires_grad=True)
index = torch.tensor([0, 0], device=device)
"""
ELSEWHERE = frozenset({"cublas", "attention", "memory", "mps", "compiled", "cudnn", "indexing"})


def operations(program: Program, file: str = "main.py") -> list[Operation]:
    return list(program.operations(program.root / file, called_by(lambda row: True)))


def effects(program: Program, operation: Operation) -> Iterator[str]:
    rows = [
        row
        for row in op_rows(operation.name)
        if row.holds_at(newest_release()) and is_about_cuda(row) and not row.flags & ELSEWHERE
    ]
    for row in rows_proven(program.ev, operation, rows, flag="raise", any_backend=False):
        yield f"{row.effect} {row.phase}"


@pytest.mark.parametrize(
    ("code", "name", "effect"),
    [
        ("F.grid_sample(x, x)", "torch.nn.functional.grid_sample", "throws backward"),
        # What a class of the project inherits, where the base gets its arguments.
        (
            "class Up(nn.Upsample):\n    def __init__(self):\n        super().__init__(scale_factor=2, mode='bicubic')",
            "torch.nn.Upsample",
            "throws backward",
        ),
        ("torch.nn.functional.grid_sample(x, x)", "torch.nn.functional.grid_sample", "throws backward"),
        (
            "from torch.nn.functional import grid_sample as sample\nsample(x, x)",
            "torch.nn.functional.grid_sample",
            "throws backward",
        ),
        ("F.interpolate(x, scale_factor=2, mode='bicubic')", "torch.nn.functional.interpolate", "throws backward"),
        ("F.interpolate(x, None, 2, 'bicubic')", "torch.nn.functional.interpolate", "throws backward"),
        (
            "F.interpolate(x, scale_factor=2, mode='bilinear')",
            "torch.nn.functional.interpolate",
            "made_deterministic backward",
        ),
        ("nn.Upsample(scale_factor=2, mode='bicubic')", "torch.nn.Upsample", "throws backward"),
        ("nn.AdaptiveAvgPool2d((3, 3))", "torch.nn.AdaptiveAvgPool2d", "throws backward"),
        ("nn.AdaptiveAvgPool2d((unknown, 3))", "torch.nn.AdaptiveAvgPool2d", "throws backward"),
        ("x.scatter_add_(0, index, x)", "torch.Tensor.scatter_add_", "made_deterministic forward"),
        ("torch.scatter_add(x, 0, index, x)", "torch.scatter_add", "made_deterministic forward"),
        ("x.scatter_(0, index, x)", "torch.Tensor.scatter_", "made_deterministic forward"),
        ("x.scatter_reduce(0, index, x, 'prod')", "torch.Tensor.scatter_reduce", "throws forward"),
        ("x.median(dim=1)", "torch.Tensor.median", "throws forward"),
        ("x.median(1)", "torch.Tensor.median", "throws forward"),
        ("torch.bincount(index, weights=x)", "torch.bincount", "throws forward"),
        ("x.cumsum(0)", "torch.Tensor.cumsum", "made_deterministic forward"),
        ("F.pad(x, (1, 1), mode='reflect')", "torch.nn.functional.pad", "throws backward"),
        ("x.gather(1, index)", "torch.Tensor.gather", "made_deterministic backward"),
        (
            "def f(mode):\n    F.interpolate(x, mode=mode)\nf('bicubic')",
            "torch.nn.functional.interpolate",
            "throws backward",
        ),
    ],
)
def test_what_is_proven(tmp_path: Path, code: str, name: str, effect: str) -> None:
    program = program_of(tmp_path, f"{HEAD}{code}\n")
    found = operations(program)
    assert [one.name for one in found] == [name]
    assert effect in list(effects(program, found[0]))


@pytest.mark.parametrize(
    "code",
    [
        # The arguments rule it out, or do not say.
        "F.interpolate(x, scale_factor=2)",
        "F.interpolate(x, scale_factor=2, mode='nearest')",
        "F.interpolate(x, scale_factor=2, mode=unknown)",
        "F.interpolate(x, **options)",
        "nn.AdaptiveAvgPool2d(1)",
        "nn.AdaptiveAvgPool2d((1, 1))",
        "nn.AdaptiveAvgPool2d((unknown, 1))",
        "nn.Conv2d(1, 1, 3)",
        "nn.Conv2d(1, 1, 3, padding_mode='zeros')",
        "x.scatter_(0, index, 1.0)",
        "x.median()",
        "torch.bincount(index)",
        "torch.bincount(index, weights=None)",
        "index.cumsum(0)",
        "(x > 0).cumsum(0)",
        "F.pad(x, (1, 1))",
        "nn.CrossEntropyLoss()",
        "F.cross_entropy(x, index)",
        "nn.CTCLoss()",
        "torch.bmm(x, x)",
        "nn.Linear(2, 2)",
        # No gradient flows back to it.
        "x.detach().gather(1, index)",
        "torch.rand(3, device=device).gather(0, index)",
        # No tensor.
        "np.cumsum([1.0])",
        "np.median([1.0], 0)",
        "np.ones(2).cumsum(0)",
        "table.cumsum(0)",
        "{}.gather(0, index)",
        "class A:\n    def median(self, dim):\n        return 1\nA().median(dim=0)",
        "def grid_sample(a, b):\n    return a\ngrid_sample(x, x)",
    ],
)
def test_what_is_not_proven(tmp_path: Path, code: str) -> None:
    program = program_of(tmp_path, f"{HEAD}{code}\n")
    assert [list(effects(program, one)) for one in operations(program) if list(effects(program, one))] == []


def only(program: Program) -> Operation:
    found = operations(program)
    assert len(found) == 1, [one.name for one in found]
    return found[0]


@pytest.mark.parametrize(
    ("code", "may"),
    [
        ("import torch\ntorch.rand(3).cuda().cumsum(0)", True),
        ("import torch\ntorch.rand(3).cumsum(0)", False),
        ("import torch\ntorch.rand(3).cumsum(0)\ntorch.ones(1).cuda()", False),
        ("import torch\ntorch.set_default_device('cuda')\ntorch.rand(3).cumsum(0)", True),
        ("import torch\ndef f(x: torch.Tensor):\n    return x.cumsum(0)", False),
        ("import torch\ndef f(x: torch.Tensor):\n    return x.cumsum(0)\nf(batch.to(args.device))", True),
        ("import os, torch\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\nbatch.cuda().cumsum(0)", False),
    ],
)
def test_the_device(tmp_path: Path, code: str, may: bool) -> None:
    program = program_of(tmp_path, f"{code}\n")
    assert may_run_on_cuda(program, only(program)) is may


def test_a_program_that_hides_its_gpus(tmp_path: Path) -> None:
    hidden = program_of(tmp_path, "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nx.cuda()\n")
    assert not speaks_of_a_device(hidden, tmp_path / "main.py")
    shown = program_of(tmp_path, "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nx.cuda()\n")
    assert speaks_of_a_device(shown, tmp_path / "main.py")


NETWORK = """\
import torch
import torch.nn.functional as F
from torch import nn


class {name}(nn.Module):
    {decorator}def {method}(self, x, index):
        {statement}


net = {name}()
{training}
"""


@pytest.mark.parametrize(
    ("changes", "may"),
    [
        ({}, True),
        ({"training": "net(1, 2)"}, False),
        ({"training": "trainer.fit(net)"}, True),
        ({"method": "load_pretrained"}, False),
        ({"name": "Predictor"}, False),
        ({"decorator": "@torch.no_grad()\n    "}, False),
        ({"decorator": "@torch.inference_mode\n    "}, False),
        ({"statement": "with torch.no_grad():\n            return F.grid_sample(x, index)"}, False),
        ({"statement": "with torch.autocast('cuda'):\n            return F.grid_sample(x, index)"}, True),
    ],
)
def test_the_backward_pass(tmp_path: Path, changes: dict[str, str], may: bool) -> None:
    parts = {
        "name": "Net",
        "method": "forward",
        "decorator": "",
        "statement": "return F.grid_sample(x, index)",
        "training": "net(1, 2).sum().backward()",
    }
    program = program_of(tmp_path, NETWORK.format(**{**parts, **changes}))
    operation = only(program)
    assert may_run_backward(program, operation, op_rows(operation.name)[0]) is may


LIBRARY = {
    "nets/__init__.py": "",
    "nets/head.py": f"{HEAD}class Head(nn.Module):\n    def forward(self, y):\n        return F.interpolate(y, mode='bicubic')\n",
}


@pytest.mark.parametrize(
    ("intent", "more", "may"),
    [
        ("deterministic", {}, True),
        ("deterministic", {"nets/video.py": "import nets.head\nimport warnings\nwarnings.warn('old')\n"}, True),
        (
            "deterministic",
            {"run.py": "import torch\nfrom nets.head import Head\nprint(Head()(torch.ones(1)))\n"},
            False,
        ),
        (None, {}, False),
    ],
    ids=["a library", "with a module that does something", "all that runs it predicts", "nobody says what it is for"],
)
def test_networks_that_no_program_in_sight_trains(
    tmp_path: Path, intent: Literal["deterministic"] | None, more: dict[str, str], may: bool
) -> None:
    program = program_of(tmp_path, LIBRARY | more, Settings(intent=intent))
    (operation,) = operations(program, "nets/head.py")
    assert may_run_backward(program, operation, op_rows(operation.name)[0]) is may


OFF, ON = "torch.use_deterministic_algorithms(False)\n", "torch.use_deterministic_algorithms(True)\n"
UP = "nn.Upsample(scale_factor=2, mode='bicubic')"
NET = f"""\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = {UP}

    def forward(self, images):
        return self.up(images)

"""


@pytest.mark.parametrize(
    ("code", "is_off"),
    [
        (f"{ON}x.cumsum(0)", False),
        (f"{ON}{OFF}x.cumsum(0)\n{ON}", True),
        (f"{ON}{OFF}{ON}x.cumsum(0)", False),
        (f"{ON}x.cumsum(0)\n{OFF}", False),
        (f"{ON}if flag:\n    {OFF}x.cumsum(0)", False),
        (f"{ON}if flag:\n    {OFF}    x.cumsum(0)", True),
        (f"{ON}def f():\n    x.cumsum(0)\n{OFF}f()\n{ON}", True),
        (f"{ON}def f():\n    x.cumsum(0)\n{OFF}f()\n{ON}f()", False),
        # A module runs where it is called, not where it is built.
        (f"{ON}up = {UP}\n{OFF}up(x)\n{ON}", True),
        (f"{ON}{OFF}up = {UP}\n{ON}up(x)", False),
        (f"{ON}up = nn.Sequential(nn.ReLU(), {UP}).to(device)\nup.train()\n{OFF}up(x)\n{ON}", True),
        (f"{ON}up = {UP}\n{OFF}up(x)\n{ON}up(x)", False),
        (f"{ON}up = {UP}\n{OFF}fit(up)\n{ON}", False),
        (f"{ON}{NET}net = Net().to(device)\n{OFF}net(x)\n{ON}", True),
        (f"{ON}{NET}{OFF}net = Net()\n{ON}net(x)", False),
        (f"{ON}{NET}{OFF}net = Net()\n{ON}fit(net)", False),
    ],
)
def test_the_flag(tmp_path: Path, code: str, is_off: bool) -> None:
    program = program_of(tmp_path, f"{HEAD}{code}\n")
    assert flag_is_off(program, only(program)) is is_off


@pytest.mark.parametrize(
    ("code", "never"),
    [
        ("nn.MaxPool3d(2)", True),
        ("nn.MaxPool3d(2, 2)", True),
        ("nn.MaxPool3d(3, stride=2)", False),
        ("nn.MaxPool3d((2, 2, 1), stride=(2, 2, 2))", True),
        ("F.avg_pool3d(x, 3, 1)", True),  # a kernel without atomics
        ("F.avg_pool3d(x, 3, 2)", False),
        ("F.avg_pool3d(x, 3)", True),
        ("nn.MaxUnpool2d(2)", True),
        ("x.gather(1, index.unsqueeze(1))", True),
        ("x.gather(1, index.unsqueeze(0))", False),
        ("x.gather(1, index.view(-1, 1))", True),
        ("x.gather(1, index)", False),
        ("picked = index.unsqueeze(1)\nx.gather(1, picked)", True),
        ("x.index_select(0, torch.randperm(2))", True),
        # In another shape, or with one place in each row.
        ("x.index_select(0, torch.arange(4, device=device).view(2, 2)[:, 0])", True),
        ("x.index_select(0, torch.arange(4, device=device).expand(2, -1).reshape(-1))", False),
        ("x.index_select(0, x.argsort(0).flatten())", False),
        ("x.index_select(0, index.nonzero().squeeze(-1))", True),
        ("x.index_select(0, x.nonzero()[:, 0])", False),
        ("x.index_select(0, index.unique(return_inverse=True)[0])", True),
        ("x.index_select(0, index.unique(return_inverse=True)[1])", False),
        ("x.gather(1, x.argmax(1, keepdim=True))", True),
        ("x.gather(1, x.argmax(0, keepdim=True))", False),
        ("x.gather(-1, x.max(dim=-1, keepdim=True)[1].long())", True),
        ("x.gather(-1, x.max(dim=-1, keepdim=keep)[1])", False),
        ("best, places = x.topk(1)\nx.gather(-1, places)", True),
        ("if index.dim() == 1:\n    index = index.unsqueeze(-1)\nx.gather(-1, index)", True),
        ("if index.dim() == 1:\n    index = index.unsqueeze(0)\nx.gather(-1, index)", False),
        (
            "if index.dim() == 1:\n    index = index.unsqueeze(-1)\nindex = torch.clamp(index, min=0)\n"
            "x.gather(-1, index)",
            True,
        ),
        ("index = index.clamp(min=0)\nx.gather(-1, index)", False),
        ("if index.dim() == 1:\n    index = x.unsqueeze(-1)\nx.gather(-1, index)", False),
        ("best, places = x.max(0, keepdim=True)\nx.gather(1, places)", False),
        ("x.gather(0, out['ids_restore'].unsqueeze(-1))", True),
        ("x.gather(0, ids_restore.unsqueeze(-1).repeat(1, 1, 4))", True),
        ("x.gather(0, ids_mask.unsqueeze(-1).repeat(1, 1, 4))", False),
        ("nn.Conv2d(2, 2, 1, padding_mode='reflect')", True),
        ("nn.Conv2d(2, 2, (1, 3), padding_mode='reflect')", False),
        ("x.index_select(0, torch.tensor([0, 2]).to(device))", True),
        ("x.index_select(0, torch.tensor([0, 0]).to(device))", False),
        ("x.index_add_(0, index, x)", False),
        ("x.scatter_(1, index, torch.ones(2))", True),
        ("x.scatter_(1, index, x)", True),
        ("torch.take_along_dim(x, x.argsort(1), dim=1)", True),
        ("torch.take_along_dim(x, index[None], dim=1)", False),
        ("x.gather(-1, index)[..., 0]", True),
        ("x.gather(1, index)[:, 0]", True),
        ("x.gather(1, index)[0, :]", False),
        ("x.gather(1, 4 * index[:, None] + torch.arange(4, device=device))", True),
        ("x.gather(1, index + torch.arange(2, device=device))", False),
        ("x.gather(1, torch.randperm(2) + torch.arange(2))", False),
        ("x.gather(1, index)[..., 0]", False),
        ("x.gather(-1, index)[0, ...]", False),
        ("places = index[..., None]\nx.gather(-1, places)", True),
        ("x.gather(-1, index[:, :])", False),
        ("x.gather(0, index[None].expand(1, -1))", True),
        ("x.gather(1, index[None].expand(1, -1))", False),
        ("x.scatter_(1, index, x, reduce='add')", False),
    ],
)
def test_where_nothing_can_meet(tmp_path: Path, code: str, never: bool) -> None:
    program = program_of(tmp_path, f"{HEAD}{code}\n")
    operation = operations(program)[-1]
    row = next(row for row in op_rows(operation.name) if row.flags & {"windows", "indices", "pooled", "padding"})
    assert never_collides(program.ev, operation, row) is never
