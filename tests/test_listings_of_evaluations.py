"""Listings in classes of data sets that only the loaders of an evaluation are made with."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """
import os
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset

torch.manual_seed(0)


class Pieces(Dataset):
    def __init__(self, folder):
        self.names = [os.path.join(folder, name) for name in os.listdir(folder)]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return torch.full((2,), float(os.path.getsize(self.names[index])))


model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def validate(loader):
    with torch.no_grad():
        return sum(float(model(batch).sum()) for batch in loader)


{loaders}
for epoch in range(3):
    for batch in train_loader:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
    print(validate(val_loader))
"""
_TENSORS = "train_loader = DataLoader(torch.ones(8, 2), generator=torch.Generator().manual_seed(0))\n"


@pytest.mark.parametrize(
    ("loaders", "expected"),
    [
        ("train_loader = torch.ones(8, 2).split(2)\nval_loader = DataLoader(Pieces('a'))", 1),  # no loader trains
        (f"{_TENSORS}val_loader = DataLoader(Pieces('a'))", 0),
        (f"{_TENSORS}held = Pieces('a')\nval_loader = DataLoader(held)\ntest_loader = DataLoader(Pieces('b'))", 0),
        ("train_loader = DataLoader(Pieces('b'))\nval_loader = DataLoader(Pieces('a'))", 1),
        ("held = Pieces('b')\ntrain_loader = DataLoader(held)\nval_loader = DataLoader(held)", 1),
        ("train_loader = DataLoader(ConcatDataset([Pieces('b')]))\nval_loader = DataLoader(Pieces('a'))", 1),
    ],
)
def test_a_class_that_only_evaluations_use(loaders: str, expected: int, write) -> None:
    root = write({"pyproject.toml": "", "train.py": _PROGRAM.format(loaders=loaders)})
    found = [one.code for one in check([root]).findings if one.code == "TRL207"]
    assert len(found) == expected
    assert [one.code for one in check([root], {"select": ("TRL207",)}).findings] == ["TRL207"]


@pytest.mark.parametrize(
    ("name", "kept", "expected"),
    [
        ("FontsTest", "test_loader", 0),
        ("FUNITTestData", "other_loader", 0),
        ("Fonts", "val_loader", 0),
        ("Fonts", "other_loader", 1),
    ],
)
def test_a_set_in_a_data_set_for_an_evaluation(name: str, kept: str, expected: int, write) -> None:
    program = f"""
        import random
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset

        torch.manual_seed(0)
        random.seed(0)

        class {name}(Dataset):
            def __init__(self, words):
                self.words = words

            def __len__(self):
                return len(self.words)

            def __getitem__(self, index):
                others = set("abcdef").difference({{"a"}})
                return torch.tensor([float(ord(one)) for one in random.sample(list(others), 2)])

        model = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        {kept} = DataLoader({name}("abcdef"))
        train_loader = DataLoader(torch.ones(8, 2))
        for batch in train_loader:
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
        for batch in {kept}:
            print(model(batch))
    """
    root = write({"pyproject.toml": "", "train.py": program})
    assert len([one for one in check([root]).findings if one.code == "TRL208"]) == expected
    assert [one.code for one in check([root], {"select": ("TRL208",)}).findings] == ["TRL208"]
