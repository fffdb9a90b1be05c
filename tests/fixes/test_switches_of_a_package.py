"""The benchmark mode that a package switches on for all who import it is left to a person."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

BUILT = "[build-system]\nrequires = ['setuptools']\n[project]\nname = 'nets'\nversion = '1'\n[tool.setuptools]\npackages = ['nets']\n"
SWITCH = "torch.backends.cudnn.benchmark = True\n"
SEEDS = """\
import torch


def set_up(seed):
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True
    {switch}
"""
TRAINS = """\
import torch
from nets.seeds import set_up

set_up(3)
net = torch.nn.Conv2d(1, 1, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    optimizer.zero_grad()
    net(torch.rand(2, 1, 8, 8).cuda()).sum().backward()
    optimizer.step()
"""
PLACES = {
    "as a package that is built is imported": (BUILT, f"import torch\n\nif torch.cuda.is_available():\n    {SWITCH}", "pass", False),
    "as one of a project is imported": ("", f"import torch\n\nif torch.cuda.is_available():\n    {SWITCH}", "pass", True),
    "in a function of a package that is built": (BUILT, "", SWITCH, True),
}  # fmt: skip


@pytest.mark.parametrize(("project", "package", "switch", "is_safe"), PLACES.values(), ids=PLACES)
def test_the_benchmark_mode_of_a_package(project: str, package: str, switch: str, is_safe: bool, write) -> None:
    files = {"nets/__init__.py": package, "nets/seeds.py": SEEDS.format(switch=switch), "train.py": TRAINS}
    root = write({"pyproject.toml": project, **files})
    (found,) = check([root], {"select": ("TRL301",)}).findings
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe
