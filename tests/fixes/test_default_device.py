"""A generator of the CPU is passed only where torch takes one: not where tensors may be created on a GPU by default."""

from __future__ import annotations

import pytest
from conftest import Write

from torchrepro_lint.engine import check

PROGRAM = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset{splits}

    {first}
    torch.manual_seed(0)
    data = TensorDataset(torch.arange(32.0)[:, None])
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    {made}
    for _ in range(2):
        for (batch,) in loader:
            optimizer.zero_grad()
            model(batch + torch.rand(1)).mean().backward()
            optimizer.step()
"""
LOADER = "loader = DataLoader(data, batch_size=8, shuffle=True)"
SPLIT = "loader, _ = random_split(data, [24, 8])"

ON_A_GPU = [
    "torch.set_default_tensor_type('torch.cuda.FloatTensor')",
    "torch.set_default_tensor_type(torch.cuda.FloatTensor)",
    "torch.set_default_device('cuda')",
    "torch.set_default_device(torch.device('cuda', 1))",
    "torch.set_default_device('cuda' if torch.cuda.is_available() else 'cpu')",
]
ON_THE_CPU = [
    "",
    "torch.set_default_tensor_type('torch.DoubleTensor')",
    "torch.set_default_tensor_type(torch.FloatTensor)",
    "torch.set_default_device('cpu')",
    "torch.set_default_device(torch.device('cpu'))",
]


def declined(write: Write, first: str, made: str, code: str) -> list[str | None]:
    """Why each finding of the rule has no fix."""
    splits = ", random_split" if "random_split" in made else ""
    folder = write({"train.py": PROGRAM.format(first=first, made=made, splits=splits)})
    found = check([folder / "train.py"], {"select": (code,)}).findings
    assert [one.code for one in found] == [code]
    return [one.fix_declined for one in found]


@pytest.mark.parametrize(("made", "code"), [(LOADER, "TRL201"), (SPLIT, "TRL202")])
@pytest.mark.parametrize("first", ON_A_GPU)
def test_declined_where_tensors_may_be_on_a_gpu(write: Write, first: str, made: str, code: str) -> None:
    (reason,) = declined(write, first, made, code)
    assert reason == "the program may create tensors on the GPU by default, where torch refuses a generator of the CPU"


@pytest.mark.parametrize(("made", "code"), [(LOADER, "TRL201"), (SPLIT, "TRL202")])
@pytest.mark.parametrize("first", ON_THE_CPU)
def test_passed_where_they_are_on_the_cpu(write: Write, first: str, made: str, code: str) -> None:
    assert declined(write, first, made, code) == [None]
