"""Memory that is read before anything is written to it: which programs prove it, and which do not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from program.asking import program_of

from torchrepro_lint.program.ops.uninitialized import uninitialized_reads


def reads(files: dict[str, str] | str) -> list[str]:
    """The names of the calls whose memory is read as it was found."""
    return [made.name for made, _ in uninitialized_reads(program_of(Path("/project"), files))]


def in_function(body: str) -> str:
    return "import torch\nimport torch.nn.functional as F\ndef work(n, x, rounds, flag):\n" + indent(
        dedent(body), "    "
    )


@pytest.mark.parametrize(
    "body",
    [
        "return torch.empty(n) * 2",
        "return -torch.empty(n)",
        "return torch.empty(n, 3).cuda().mean()",
        "return F.relu(torch.empty_like(x))",
        "return torch.matmul(x, torch.empty(3, 3))",
        "return x.to('cuda').matmul(torch.empty(3, 3))",
        "a = torch.empty(n)\nif a.shape[0] > 3:\n    print(f'{a}')",
        "a = torch.empty(n)\nif flag:\n    return a.sum()\na.zero_()",
        "a = torch.empty(n)\nfor i in range(rounds):\n    a[i] += 1",
        "a = torch.empty(n)\nfor i in range(rounds):\n    if flag:\n        a += i",
        "a = torch.empty(n)\nfor i in range(rounds):\n    a = (i * a + x) / 2",
        "a = torch.empty(n)\nwhile a.sum() < 3:\n    a.zero_()",
        "a = torch.empty(n)\nreturn [one + 1 for one in a.tolist()]",
        "for i in range(rounds):\n    a = torch.empty(n)\n    if flag:\n        x = a + 1\n    a.zero_()",
        "a = torch.Tensor(n, n)\nreturn a @ x",
        "a = torch.cuda.FloatTensor(4)\nreturn a.exp_()",
        "a = torch.Tensor()\na.resize_(3)\nreturn a + 1",
    ],
)
def test_a_proven_read(body: str) -> None:
    assert len(reads(in_function(body))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "return torch.empty(n)",
        "return torch.empty(0) * 2",
        "return torch.empty((0, n)).sum()",
        "return torch.Tensor(x) * 2",
        "return torch.Tensor() + x",
        "return torch.empty(n, device='meta') * 2",
        "return torch.empty(n, device=torch.device('meta')) * 2",
        "with torch.device('meta'):\n    return torch.empty(n) * 2",
        "return torch.empty(n).fill_(1) * 2",
        "return torch.cat([torch.empty(n), x])",
        "return torch.where(flag, torch.empty(n), x)",
        "return torch.baddbmm(torch.empty(n, 2, 2), x, x, beta=0)",
        "return torch.empty_like(x).copy_(x) + 1",
        "return torch.add(x, x, out=torch.empty_like(x))",
        "a = torch.empty(n)\nwork(a)\nreturn a + 1",
        "a = torch.empty(n)\nx.kernel[(1,)](a)\nreturn a + 1",
        "a = b = torch.empty(n)\nb.zero_()\nreturn a + 1",
        "a = torch.empty(n)\nb = a\nb.zero_()\nreturn a + 1",
        "a = torch.empty(n)\nb = a.view(-1)\nb.zero_()\nreturn a + 1",
        "a = torch.empty(n)\nb = [a]\nb[0].zero_()\nreturn a + 1",
        "a = torch.empty(n)\na[:] = x\nreturn a + 1",
        "a = torch.empty(n)\nfor i in range(n):\n    a[i] = i\nreturn a + 1",
        "a = torch.empty(n)\nif flag:\n    a.zero_()\nreturn a + 1",
        "a = torch.empty(n)\nif flag:\n    a = x\nelse:\n    a = x * 2\nreturn a + 1",
        "a = torch.empty(n)\nfor i in range(n):\n    if i:\n        x += a\n    else:\n        a.copy_(x)",
        "a = torch.empty(n)\nfor i in range(n):\n    if i:\n        x = x + a\n    a = x",
        "a = torch.empty(n)\ndef fill():\n    a.zero_()\nfill()\nreturn a + 1",
        "a = torch.empty(n)\nfill = lambda: a.zero_()\nfill()\nreturn a + 1",
        "a = torch.empty(n)\nreturn a is None, a.dtype, torch.zeros_like(a), isinstance(a, torch.Tensor)",
        "a = torch.empty(n)\na.cuda()",
        "a = x.detach()\na.resize_(3)\nreturn a + 1",
        "import numpy as np\nreturn np.empty(3) * 2",
    ],
)
def test_what_proves_nothing(body: str) -> None:
    assert reads(in_function(body)) == []


MODULE = """\
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.kernel = {value}
{more}
    def forward(self, x):
        return x @ self.kernel
"""


@pytest.mark.parametrize("value", ["nn.Parameter(torch.empty(n, 2))", "torch.empty(n, 2)", "torch.Tensor(n, n)"])
def test_an_attribute_that_nothing_writes(value: str) -> None:
    assert len(reads(MODULE.format(value=value, more=""))) == 1


@pytest.mark.parametrize(
    "more",
    [
        "        nn.init.zeros_(self.kernel)",
        "        self.kernel.data.normal_()",
        "        self.kernel = nn.Parameter(x)",
        "        for p in self.parameters():\n            p.data.zero_()",
        "        self.register(self.kernel)",
        "    def load(self, other):\n        self.load_state_dict(other)",
    ],
)
def test_an_attribute_that_something_may_write(more: str) -> None:
    assert reads(MODULE.format(value="nn.Parameter(torch.empty(n, 2))", more=more)) == []


def test_another_module_may_write_the_attribute() -> None:
    layer = MODULE.format(value="nn.Parameter(torch.empty(n, 2))", more="")
    main = "from layer import Layer\nmodel = Layer(3)\n{}"
    assert reads({"layer.py": layer, "main.py": main.format("print(model)")}) == ["torch.empty"]
    assert reads({"layer.py": layer, "main.py": main.format("model.kernel.data.zero_()")}) == []
    assert reads({"layer.py": layer, "main.py": main.format("model.apply(start)")}) == []


def test_a_base_from_elsewhere_may_write_the_attribute() -> None:
    layer = MODULE.format(value="nn.Parameter(torch.empty(n, 2))", more="").replace(
        "from torch import nn", "from torch import nn\nfrom framework import Base"
    )
    assert reads(layer.replace("(nn.Module)", "(Base)")) == []
