"""What shows itself as a tensor, and what is known of it: "cpu" where it is proven to be there, "float" or "int", and
"grad" or "plain" where it is known whether gradients flow.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from program.asking import program_of

from torchrepro_lint.facts import tree
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.running.callers import contexts

HEAD = """\
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import nn, Tensor

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.weight = nn.Parameter(torch.ones(2))
        self.kept = torch.zeros(3)
        self.register_buffer("mean", torch.ones(2))

    def forward(self, x, mode="train", mask=None):
        probe(FORWARD)


class Table:
    def cumsum(self):
        return [1]


def passed(value, annotated: Tensor, array: np.ndarray, name: str = "x"):
    probe(PASSED)


passed(torch.rand(2), None, None)
net = Net()
"""


def described(root: Path, body: str, forward: str = "x", helper: str = "value") -> list[str]:
    """What is known of each argument of `probe(...)`, in the order of the text."""
    head = HEAD.replace("FORWARD", forward).replace("PASSED", helper)
    program = program_of(root, head + body)
    facts = program.facts(root / "main.py")
    assert facts is not None
    found = []
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            if isinstance(call.func, tree.Name) and call.func.id == "probe":
                known = tensor(program.ev, call.args[0].value, contexts(program.ev, facts, scope)[0])
                words = [] if known is None else ["tensor"]
                if known is not None:
                    words += ["cpu"] if known.on_cpu else []
                    words += [] if known.floating is None else ["float" if known.floating else "int"]
                    words += [] if known.grad is None else ["grad" if known.grad else "plain"]
                found.append((call.site, " ".join(words) or "-"))
    return [text for _, text in sorted(found)]


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        ("torch.rand(2)", "tensor cpu float plain"),
        ("torch.rand(2, device=device)", "tensor float plain"),
        ("torch.rand(2, device='cpu')", "tensor cpu float plain"),
        ("torch.rand(2, requires_grad=True)", "tensor cpu float grad"),
        ("torch.zeros(2, dtype=torch.long)", "tensor cpu int plain"),
        ("torch.tensor([1, 2])", "tensor cpu int plain"),
        ("torch.tensor([1.0, 2])", "tensor cpu float plain"),
        ("torch.tensor([[1, -2.5]])", "tensor cpu float plain"),
        ("torch.tensor(labels)", "tensor cpu plain"),
        ("torch.arange(3)", "tensor cpu int plain"),
        ("torch.rand(2).cuda()", "tensor float plain"),
        ("torch.rand(2).to(device)", "tensor float plain"),
        ("torch.rand(2, device=device).cpu()", "tensor cpu float plain"),
        ("torch.rand(2).to(torch.long)", "tensor cpu int plain"),
        ("torch.arange(3).float()", "tensor cpu float plain"),
        ("torch.rand(2) > 0.5", "tensor cpu int plain"),
        ("torch.arange(3) / 2", "tensor cpu float plain"),
        ("torch.arange(3) * 2.0", "tensor cpu float plain"),
        ("torch.arange(3)[1:]", "tensor cpu int plain"),
        ("torch.rand(2).sort()[0]", "tensor cpu plain"),
        ("torch.rand(2).argmax()", "tensor cpu int plain"),
        ("-torch.rand(2)", "tensor cpu float plain"),
        ("torch.rand(2) if device else None", "tensor cpu float plain"),
        ("torch.from_numpy(np.ones(2))", "tensor cpu plain"),
        ("nn.Parameter(torch.ones(2))", "tensor float grad"),
        ("net(torch.ones(2))", "tensor float grad"),
        ("nn.Linear(2, 2)(torch.ones(2))", "tensor float grad"),
        ("F.relu(net(torch.ones(2)))", "tensor float grad"),
        ("net(torch.ones(2)).detach()", "tensor float plain"),
        ("net(torch.ones(2)).argmax(1)", "tensor int plain"),
        ("images.cuda()", "tensor"),
        ("images.to(device)", "tensor"),
        ("images.to('cpu')", "tensor cpu"),
        # What is no tensor, as far as can be told.
        ("np.ones(2)", "-"),
        ("pd.DataFrame()", "-"),
        ("Table()", "-"),
        ("net.to(device)", "-"),
        ("[torch.rand(2)]", "-"),
        ("torch.rand(2) is None", "-"),
        ("torch.rand(2).tolist()", "-"),
        ("torch.rand(2).shape", "-"),
        ("images", "-"),
        ("torch.device('cpu')", "-"),
        ("torch.load('x')", "-"),
    ],
)
def test_expressions(tmp_path: Path, expression: str, known: str) -> None:
    assert described(tmp_path, f"probe({expression})\n")[-1] == known


@pytest.mark.parametrize(
    ("statements", "known"),
    [
        ("x = torch.rand(2)\nprobe(x)", "tensor cpu float plain"),
        ("x = np.ones(2)\nx = torch.from_numpy(x)\nprobe(x)", "tensor cpu plain"),
        ("x = torch.ones(2)\nx = x.numpy()\nprobe(x)", "-"),
        ("a, b = torch.rand(2), 3\nprobe(a)", "tensor cpu float plain"),
        ("a, b = torch.rand(2), 3\nprobe(b)", "-"),
        ("values, indices = torch.rand(4).topk(2)\nprobe(indices)", "tensor cpu int plain"),
        ("values, indices = torch.sort(torch.rand(4).cuda())\nprobe(values)", "tensor plain"),
        ("x = torch.zeros(2)\nfor _ in range(3):\n    x += net(x)\nprobe(x)", "tensor cpu float"),
        ("for row in torch.rand(3, 2):\n    probe(row)", "tensor cpu float plain"),
        ("total = [probe(row) for row in torch.arange(3)]", "tensor cpu int plain"),
        ("for row in [1, 2]:\n    probe(row)", "-"),
        ("x = torch.ones(2) if device else np.ones(2)\nprobe(x)", "tensor cpu float plain"),
        ("def inner():\n    probe(x)\nx = torch.rand(2)\ninner()", "tensor cpu float plain"),
    ],
)
def test_statements(tmp_path: Path, statements: str, known: str) -> None:
    assert described(tmp_path, statements + "\n")[-1] == known


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        ("x", "tensor"),
        ("mask", "tensor plain"),
        ("mode", "-"),
        ("self", "-"),
        ("self.layer(x)", "tensor float grad"),
        ("self.layer", "-"),
        ("self.weight", "tensor float grad"),
        ("self.kept", "tensor cpu float plain"),
        ("self.mean", "tensor float plain"),
        ("x.size(0)", "-"),
        ("x.transpose(0, 1)", "tensor"),
    ],
)
def test_in_the_forward_of_a_network(tmp_path: Path, expression: str, known: str) -> None:
    assert described(tmp_path, "", forward=expression)[0] == known


@pytest.mark.parametrize(
    ("expression", "known"),
    [("value", "tensor cpu float plain"), ("annotated", "tensor"), ("array", "-"), ("name", "-")],
)
def test_parameters(tmp_path: Path, expression: str, known: str) -> None:
    assert described(tmp_path, "", helper=expression)[-1] == known


@pytest.mark.parametrize(
    ("annotation", "known"),
    [
        *((written, "tensor") for written in ("torch.Tensor", "'Tensor'", "Optional[Tensor]", "Tensor | None")),
        ("torch.LongTensor", "tensor int plain"),
        ("torch.LongTensor | None", "tensor int plain"),
        ("torch.FloatTensor", "tensor"),
    ],
)
def test_annotations(tmp_path: Path, annotation: str, known: str) -> None:
    body = indent("probe(x)\n", "    ")
    assert described(tmp_path, f"from typing import Optional\ndef f(x: {annotation}):\n{body}")[-1] == known
