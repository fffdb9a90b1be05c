"""Runs that one program makes one after the other: where they differ by what is drawn alone, none of them gets a
generator that begins like that of the others by a safe fix.
"""

from __future__ import annotations

import pytest
from conftest import Write

from torchrepro_lint.engine import check

PROGRAM = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset


    def make_loader(data):
        return DataLoader(data, batch_size=8, shuffle=True)


    def main(lr):
        loader = make_loader(TensorDataset(torch.arange(32.0)[:, None]))
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for _ in range(2):
            for (batch,) in loader:
                optimizer.zero_grad()
                model(batch + torch.randn_like(batch)).mean().backward()
                optimizer.step()


    torch.manual_seed(0)
    {runs}
"""

ALIKE = [
    "for _ in range(3): main(0.1)",
    "for run in range(3): print(run); main(0.1)",
    "for run in range(3): print(f'run {run}'); main(0.1)",
]
APART = [
    "main(0.1)",
    "for fold in range(3): main(0.1 * fold)",
    "for lr in (0.1, 0.2): main(lr)",
    "for seed in range(3): torch.manual_seed(seed); main(0.1)",
    "for _ in range(3): torch.manual_seed(0); main(0.1)",
]


@pytest.mark.parametrize(("runs", "is_safe"), [*((one, False) for one in ALIKE), *((one, True) for one in APART)])
def test_safe_unless_the_runs_are_alike(write: Write, runs: str, is_safe: bool) -> None:
    folder = write({"train.py": PROGRAM.format(runs=runs)})
    (found,) = check([folder / "train.py"], {"select": ("TRL201",)}).findings
    assert found.fix is not None
    assert found.is_fixed_safely is is_safe
