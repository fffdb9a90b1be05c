"""Folders of a project that have the name of a library, and no `__init__.py`."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """\
import lightning as L
import numpy as np
from lightning import Trainer
from lightning.model import WIDTH
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.rand(WIDTH)


{seed}
loader = DataLoader(Noisy(), num_workers=2)
Trainer(deterministic=True).fit(L.LightningModule(), loader)
"""


@pytest.mark.parametrize(
    ("seed", "found"),
    [("L.seed_everything(0, workers=True)", []), ("", ["TRL101"])],
)
def test_what_the_folder_lacks_is_the_librarys(write, seed: str, found: list[str]) -> None:
    files = {"torchrepro-lint.toml": "", "lightning/model.py": "WIDTH = 4\n", "train.py": _PROGRAM.format(seed=seed)}
    root = write({**files, "requirements.txt": "torch==1.8.1\n"})
    report = check([root], {"select": ("TRL101", "TRL507")})
    assert [one.code for one in report.findings] == found


def test_a_package_of_the_project_is_its_own(write) -> None:
    package = "def seed_everything(seed, workers):\n    pass\n\n\nLightningModule = Trainer = print\n"
    files = {"lightning/__init__.py": package, "lightning/model.py": "WIDTH = 4\n"}
    text = _PROGRAM.format(seed="L.seed_everything(0, workers=True)").replace(
        ".fit(L.LightningModule(), loader)", "; print(next(iter(loader)))"
    )
    root = write({"torchrepro-lint.toml": "", **files, "train.py": text, "requirements.txt": "torch==1.8.1\n"})
    assert [one.code for one in check([root], {"select": ("TRL101",)}).findings] == ["TRL101"]


_AGENT = """\
import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.noise = torch.rand(2)
"""
_MAIN = """\
import numpy as np
import torch
from pick.torch import Agent


def main(seed):
    {seed}
    np.random.seed(seed)
    agent = Agent()
    optimizer = torch.optim.SGD(agent.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        agent.layer(agent.noise + np.random.rand()).sum().backward()
        optimizer.step()


main(3)
"""


@pytest.mark.parametrize("home", ["pick/__main__.py", "pick/tools/train.py"])
@pytest.mark.parametrize(("seed", "found"), [("torch.manual_seed(seed)", []), ("", ["TRL502"])])
def test_a_folder_of_a_package_stands_in_for_torch_nowhere(write, home: str, seed: str, found: list[str]) -> None:
    modules = {f"{folder}/__init__.py": "" for folder in ("pick", "pick/torch", "pick/tools")}
    files = {**modules, "pick/torch/__init__.py": _AGENT, home: _MAIN.format(seed=seed)}
    report = check([write({"torchrepro-lint.toml": "", **files})], {"select": ("TRL502",)})
    assert [one.code for one in report.findings] == found
