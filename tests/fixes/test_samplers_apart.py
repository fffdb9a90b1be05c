"""Samplers of a program that starts several ranks get a generator in their call: no two of them begin alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

DATA = """\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, RandomSampler, TensorDataset


def loader_of(rows):
    sampler = RandomSampler(rows)
    return DataLoader(rows, batch_size=2, sampler=sampler)
"""

MAIN = """\
import torch
import torch.distributed as dist
from data import loader_of
from torch.utils.data import TensorDataset


def main(rank):
    dist.init_process_group("gloo")
    torch.manual_seed(3)
    rows = TensorDataset(torch.arange(16))
    LOADERS


if __name__ == "__main__":
    main(0)
"""

CALLS = {
    "once": ("for batch in loader_of(rows):\n        print(batch)", True),
    "in two places": ("for pair in zip(loader_of(rows), loader_of(rows)):\n        print(pair)", False),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_that_makes_a_sampler(tmp_path: Path, name: str) -> None:
    calls, is_fixed = CALLS[name]
    (tmp_path / "data.py").write_text(DATA)
    (tmp_path / "main.py").write_text(MAIN.replace("LOADERS", calls))
    found = check([tmp_path], {"select": ("TRL202",)}).findings
    assert [one.fix is not None for one in found] == [is_fixed]


def test_two_samplers_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(
        MAIN.replace("from data import loader_of\n", "")
        .replace("import TensorDataset", "import DataLoader, RandomSampler, TensorDataset")
        .replace(
            "LOADERS",
            "first = DataLoader(rows, sampler=RandomSampler(rows))\n"
            "    second = DataLoader(rows, sampler=RandomSampler(rows))\n"
            "    for pair in zip(first, second):\n        print(pair)",
        )
    )
    fix([tmp_path], {"unsafe_fixes": True, "select": ("TRL202",)})
    text = path.read_text()
    assert text.count("manual_seed(torch.initial_seed())") == 1
    assert text.count("manual_seed(torch.initial_seed() + 1)") == 1


REPLACED = """\
import sys

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.manual_seed(3)
data = TensorDataset(torch.arange(12.0))
{loaders}
net = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for (x,) in loader:
        optimizer.zero_grad()
        net(x[:, None]).mean().backward()
        optimizer.step()
"""
SHUFFLES = "loader = DataLoader(data, batch_size=4, shuffle=True)"
BALANCES = "loader = DataLoader(data, batch_size=4, sampler=balance(data))"
BALANCE = "def balance(data):\n    return [int(torch.multinomial(torch.ones(12), 1)) for _ in range(12)]\n\n"
TEST = "if len(sys.argv) > 1:\n    "
PLACES = {
    "alone": (SHUFFLES, True),
    "in whose place another one comes": (f"{BALANCE}{SHUFFLES}\n{TEST}{BALANCES}", False),
    "beside another one": (f"{BALANCE}{SHUFFLES}\n{TEST}other_{BALANCES}", True),
    "in whose place that of ranks comes": (
        f"{SHUFFLES}\n{TEST}loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, 2, 0))", True
    ),
}  # fmt: skip


@pytest.mark.parametrize(("loaders", "is_fixed"), PLACES.values(), ids=PLACES)
def test_a_loader_in_whose_place_one_with_a_sampler_comes(loaders: str, is_fixed: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": REPLACED.format(loaders=loaders)})
    fix([root], {"profile": "strict"})
    assert ("generator=g" in (root / "train.py").read_text()) is is_fixed
