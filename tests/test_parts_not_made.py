"""First weights of the parts of a module: none is drawn before the first part is assigned."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

PROGRAM = """\
import scipy.stats
import torch
from torch import nn


{base}


class Net({of}):
    def __init__(self, args):
        {first}
        {body}

    def reset_parameters(self):
        def truncated(weight):
            values = scipy.stats.truncnorm.rvs(-2, 2, size=weight.shape)
            with torch.no_grad():
                weight.copy_(torch.FloatTensor(values))

        for part in {parts}:
            if isinstance(part, nn.Conv2d):
                truncated(part.weight)

    def forward(self, images):
        return self.layer(images)


torch.manual_seed(0)
net = Net(args=4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    net(torch.ones(1, 3, 8, 8)).sum().backward()
    optimizer.step()
"""
INIT = "super().__init__()"
LAYER = "self.layer = nn.Conv2d(3, 8, 3)"
RESET = "self.reset_parameters()"
PLAIN = "class Base(nn.Module):\n    def __init__(self, args):\n        super().__init__()\n        self.args = args"
HOLDS = PLAIN + "\n        self.stem = nn.Conv2d(3, 3, 1)"
MODULES = "self.modules()"


def found(write, body: tuple[str, ...], parts: str, base: str = "") -> list[str]:
    text = PROGRAM.format(
        base=base,
        of="Base" if base else "nn.Module",
        first="super().__init__(args)" if base else INIT,
        body="\n        ".join(body),
        parts=parts,
    )
    root = write({"torchrepro-lint.toml": "", "requirements.txt": "torch>=2.0\n", "train.py": text})
    return [one.code for one in check([root]).findings if one.code == "TRL502"]


@pytest.mark.parametrize(
    ("body", "parts", "base"),
    [
        ((RESET, LAYER), MODULES, ""),
        (("self.args = args", "self.size = 8", "print('made')", RESET, LAYER), MODULES, ""),
        (("layer = nn.Conv2d(3, 8, 3)", RESET, "self.layer = layer"), "self.children()", ""),
        ((RESET, LAYER), MODULES, PLAIN),
    ],
)
def test_nothing_is_drawn_for_parts_that_are_not_there(write, body: tuple[str, ...], parts: str, base: str) -> None:
    assert found(write, body, parts, base) == []


@pytest.mark.parametrize(
    ("body", "parts", "base"),
    [
        ((LAYER, RESET), MODULES, ""),
        (("self.layer = args.layer", RESET), MODULES, ""),
        (("self.add_module('layer', nn.Conv2d(3, 8, 3))", RESET), MODULES, ""),
        (("setattr(self, 'layer', nn.Conv2d(3, 8, 3))", RESET), MODULES, ""),
        (("self.make()", RESET), MODULES, ""),
        ((RESET, LAYER, RESET), MODULES, ""),
        ((RESET, LAYER), MODULES, HOLDS),
        (
            ("other = nn.Sequential(nn.Conv2d(3, 3, 1))", "self.other = [other]", RESET, LAYER),
            "self.other[0].modules()",
            "",
        ),
    ],
)
def test_what_is_drawn_for_parts_that_may_be_there(write, body: tuple[str, ...], parts: str, base: str) -> None:
    assert found(write, body, parts, base) == ["TRL502"]
