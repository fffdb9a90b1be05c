"""`glob` with a pattern that names one file lists nothing that could come in another order (TRL207)."""

from __future__ import annotations

import pytest
from conftest import Write

from torchrepro_lint.engine import check

PROGRAM = """
    import glob
    import os
    from pathlib import Path

    import torch
    from torch.utils.data import DataLoader, Dataset


    class Frames(Dataset):
        def __init__(self, home, names):
            self.frames = []
            parts = os.listdir(home)
            for name in names:
                self.frames += {listing}

        def __len__(self):
            return len(self.frames)

        def __getitem__(self, index):
            return torch.load(self.frames[index])


    torch.manual_seed(0)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Frames("data", ["a", "b"]), shuffle=True):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""
ONE = [
    "glob.glob(home + name + '/frame.pt')",
    "glob.glob(os.path.join(home, name, 'frame.pt'))",
    "glob.glob('data/frame.pt')",
    "list(Path(home).glob('frame.pt'))",
    "[file for part in sorted(os.listdir(home)) for file in glob.glob(home + '/masks/' + part + '.pt')]",
    "[file for part in sorted(os.listdir(home)) for file in glob.glob(os.path.join(home, 'masks', part + '.pt'))]",
    "[file for part in sorted(parts) for file in Path(home).glob(part + '.pt')]",
]
MANY = [
    "glob.glob(home + name + '/*.pt')",
    "glob.glob(home + '/*/frame.pt')",
    "glob.glob(os.path.join(home, '*', 'frame.pt'))",
    "glob.glob(os.path.join(home, name))",
    "glob.glob(f'{home}/*/' + '/frame.pt')",
    "list(Path(home).rglob('frame.pt'))",
    "glob.glob(home + '/masks/' + name + '.pt')",
    "[file for part in ('*', 'a') for file in glob.glob(home + '/masks/' + part + '.pt')]",
    "[file for part in sorted(os.listdir(home)) for file in glob.glob(home + '/masks/' + part[:2] + '.pt')]",
    "[file for part in sorted(os.listdir(home)) for file in glob.glob(home + '/masks/' + part + '*.pt')]",
]


@pytest.mark.parametrize(("listing", "is_told"), [*((one, False) for one in ONE), *((one, True) for one in MANY)])
def test_what_is_told(write: Write, listing: str, is_told: bool) -> None:
    folder = write({"train.py": PROGRAM.format(listing=listing)})
    found = check([folder / "train.py"]).findings
    assert [one.code for one in found] == ["TRL207"] * is_told
