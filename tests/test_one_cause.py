"""Findings of one file that have one cause: the first names the places of the others."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import check

_CALLS = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)

    def forward(self, x):
        x = F.interpolate(self.head(x), scale_factor=2, mode="bilinear")
        x = F.interpolate(self.head(x), scale_factor=2, mode="bilinear")
        x = F.interpolate(self.head(x), scale_factor=2, mode="bilinear")
        return torch.cumsum(x, 0)


net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters())
net(torch.rand(1, 1, 2, 2).cuda()).sum().backward()
optimizer.step()
"""
_ARMS = """
import sys
import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
if "small" in sys.argv:
    loader = DataLoader(range(8), shuffle=True)
elif "large" in sys.argv:
    loader = DataLoader(range(8000), shuffle=True)
else:
    loader = DataLoader(range(80), shuffle=True)
other = DataLoader(range(16), shuffle=True)
for batches in (loader, other):
    print(*batches)
"""


def _rows(findings: tuple[Finding, ...], code: str) -> list[int]:
    return [one.location.start.row for one in findings if one.code == code]


@pytest.mark.parametrize(
    ("text", "code", "rows", "strict"),
    [
        (_CALLS, "TRL402", [16, 19], [16, 17, 18, 19]),
        (_ARMS, "TRL201", [8, 13], [8, 10, 12, 13]),
    ],
)
def test_the_first_of_one_cause_is_reported(write, text: str, code: str, rows: list[int], strict: list[int]) -> None:
    root = write({"torchrepro-lint.toml": "", "train.py": text})
    found = check([root]).found
    assert _rows(found, code) == rows
    assert _rows(check([root], {"profile": "strict"}).findings, code) == strict
    first = next(one for one in found if one.code == code)
    assert [step.note for step in first.trace].count("the same here") == len(strict) - len(rows) or code == "TRL402"


def test_a_remark_at_one_of_the_places_silences_that_place_alone(write) -> None:
    lines = _CALLS.splitlines()
    lines[15] += "  # noqa: TRL402"
    root = write({"torchrepro-lint.toml": "", "train.py": "\n".join(lines)})
    assert _rows(check([root], {"profile": "strict"}).findings, "TRL402") == [17, 18, 19]


def test_the_loaders_of_all_arms_get_the_generator(write) -> None:
    root = write({"torchrepro-lint.toml": "", "train.py": _ARMS})
    (first, other) = [one for one in check([root]).found if one.code == "TRL201"]
    assert first.fix is not None and other.fix is not None
    assert (len(first.fix.edits), len(other.fix.edits)) == (4, 2)
