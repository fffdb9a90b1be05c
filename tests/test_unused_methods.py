"""A loader that is made in a method which nothing calls is of the strict profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check

DATA = """\
import torch
from torch.utils.data import DataLoader, TensorDataset


class Data:
    def __init__(self, rows, which):
        torch.manual_seed(0)
        self.rows = TensorDataset(rows)
        self.make_train_batches()
        # self.make_all_batches()

    def make_all_batches(self):
        self.all_batches = DataLoader(self.rows, batch_size=4, shuffle=True)

    def make_train_batches(self):
        generator = torch.Generator().manual_seed(0)
        self.train_batches = DataLoader(self.rows, batch_size=4, shuffle=True, generator=generator)
"""

TRAIN = """\
import torch
from data import Data


def main():
    torch.manual_seed(0)
    data = Data(torch.arange(16.0).reshape(16, 1), "all")
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for (rows,) in data.train_batches:
        optimizer.zero_grad()
        model(rows).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""

FIRST = "        self.rows ="


@pytest.mark.parametrize(
    ("mentioning", "is_reported"),
    [
        ("", False),
        ("        # self.make_all_batches()\n", False),
        ("        self.make_all_batches()\n", True),
        ('        getattr(self, "make_" + which)()\n', True),
        ('        getattr(self, f"make_{which}_batches")()\n', True),
        ('        self.later = ["make_all_batches"]\n', True),
    ],
)
def test_by_what_mentions_the_method(mentioning: str, is_reported: bool, tmp_path: Path) -> None:
    assert _is_reported(tmp_path, DATA.replace(FIRST, mentioning + FIRST, 1)) is is_reported


def test_a_base_out_of_sight_may_call_it(tmp_path: Path) -> None:
    assert _is_reported(tmp_path, "from elsewhere import Base\n" + DATA.replace("class Data:", "class Data(Base):"))


def test_a_decorator_may_register_it(tmp_path: Path) -> None:
    decorated = DATA.replace("    def make_all", "    @registered\n    def make_all")
    assert _is_reported(tmp_path, "from elsewhere import registered\n" + decorated)


def test_the_strict_profile_has_it(tmp_path: Path) -> None:
    assert _is_reported(tmp_path, DATA, profile="strict")


def _is_reported(root: Path, data: str, profile: str = "default") -> bool:
    (root / "data.py").write_text(data, encoding="utf-8")
    (root / "train.py").write_text(TRAIN, encoding="utf-8")
    return any(finding.code == "TRL201" for finding in check([root], {"profile": profile}).found)
