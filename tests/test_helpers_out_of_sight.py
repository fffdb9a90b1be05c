"""A helper that cannot be seen, and says by its name that it seeds, may seed torch before a split or a sampler."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """
import importlib
import sys

import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, random_split
{imports}

torch.backends.cudnn.deterministic = True


def main():
    {seed}
    data, held_out = random_split(TensorDataset(torch.arange(8.0)), [6, 2])
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters())
    for (x,) in DataLoader(data, sampler=RandomSampler(data), batch_size=2):
        optimizer.zero_grad()
        model(x[:, None]).sum().backward()
        optimizer.step()
    print(len(held_out))


main()
"""
_SEEDS = {
    "a helper of a module that an argument names": (
        "set_seed = importlib.import_module(sys.argv[1]).set_seed", "set_seed(3)", False,
    ),
    "called where the module is imported": ("", "importlib.import_module(sys.argv[1]).set_seed(3)", False),
    "a helper of a library that is not known": ("from toolbox.rng import seed_all", "seed_all(3)", False),
    "a helper whose name says nothing": ("from toolbox.rng import prepare", "prepare(3)", True),
    "what gives a seed": ("from toolbox.rng import get_seed", "print(get_seed(3))", True),
}  # fmt: skip


@pytest.mark.parametrize(("imports", "seed", "is_reported"), _SEEDS.values(), ids=_SEEDS)
def test_a_split_below_a_helper(write, imports: str, seed: str, is_reported: bool) -> None:
    root = write({"pyproject.toml": "", "train.py": _PROGRAM.format(imports=imports, seed=seed)})
    found = check([root], {"select": ("TRL202",), "profile": "default"}).findings
    told = [one.code for one in check([root]).findings if one.code == "TRL202"]
    assert len(found) == 2
    assert bool(told) is is_reported
