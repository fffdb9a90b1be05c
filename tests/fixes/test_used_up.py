"""Loaders of two functions that use them up need no seeds of their own: both fixes are safe, and say the same."""

from __future__ import annotations

import pytest
from conftest import Write

from torchrepro_lint.fix_loop import fix

ENGINE = """\
def train(loader):
    for batch in loader:
        print(batch)
"""

PROGRAM = """\
import torch
{imports}
from torch.utils.data import DataLoader, TensorDataset


def ranking(seed):
    rows = TensorDataset(torch.arange(32))
    train_loader = DataLoader(rows, batch_size=4, shuffle=True)
    {train}(train_loader)


def tuning(seed):
    rows = TensorDataset(torch.arange(32))
    train_loader = DataLoader(rows, batch_size=4, shuffle=True)
    {train}(train_loader)


if __name__ == "__main__":
    torch.manual_seed(3)
    ranking(3)
    tuning(3)
"""


@pytest.mark.parametrize(
    ("imports", "train"),
    [
        ("from engine import train", "train"),
        ("import engine", "engine.train"),
        ("import engine as runner", "runner.train"),
        ("import parts.engine", "parts.engine.train"),
    ],
)
def test_by_a_function_of_a_module(write: Write, imports: str, train: str) -> None:
    root = write(
        {
            "pyproject.toml": "",
            "engine.py": ENGINE,
            "parts/__init__.py": "",
            "parts/engine.py": ENGINE,
            "main.py": PROGRAM.format(imports=imports, train=train),
        }
    )
    fix([root], {"select": ("TRL201",)})
    assert (root / "main.py").read_text().count(".manual_seed(torch.initial_seed())") == 2


def test_not_by_an_object_of_a_module(write: Write) -> None:
    program = PROGRAM.format(imports="from engine import runner", train="runner.train")
    engine = "class Runner:\n    def train(self, loader):\n        self.loader = loader\n\n\nrunner = Runner()\n"
    root = write({"pyproject.toml": "", "engine.py": engine, "main.py": program})
    fix([root], {"select": ("TRL201",)})
    assert (root / "main.py").read_text().count(".manual_seed(torch.initial_seed())") < 2
