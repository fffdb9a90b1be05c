"""No two loaders that are fixed deliver equally long data in the same order, however a program makes them: what `--fix`
makes of each program is run with two seeds.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import Write

from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

pytest.importorskip("torch", reason="the programs need torch")

HEAD = """\
import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset

DATA = TensorDataset(torch.arange(32))


def order(loader):
    return [x for (batch,) in loader for x in batch.tolist()]

"""

PROGRAMS = {
    "two loaders in a function": """
def main(seed):
    torch.manual_seed(seed)
    first = DataLoader(DATA, shuffle=True)
    second = DataLoader(DATA, shuffle=True)
    return [order(first), order(second)]
""",
    "two functions": """
def labelled():
    return DataLoader(DATA, shuffle=True)


def unlabelled():
    return DataLoader(DATA, shuffle=True)


def main(seed):
    torch.manual_seed(seed)
    return [order(labelled()), order(unlabelled())]
""",
    "a function that is called twice": """
def make(data):
    return DataLoader(data, shuffle=True)


def main(seed):
    torch.manual_seed(seed)
    source, target = make(DATA), make(DATA)
    return [order(source), order(target)]
""",
    "a class of which two objects are made": """
class Domain:
    def __init__(self, data):
        self.loader = DataLoader(data, shuffle=True)


def main(seed):
    torch.manual_seed(seed)
    source, target = Domain(DATA), Domain(DATA)
    return [order(source.loader), order(target.loader)]
""",
    "a dictionary of loaders": """
def main(seed):
    torch.manual_seed(seed)
    loaders = {name: DataLoader(DATA, shuffle=True) for name in ("source", "target")}
    return [order(loader) for loader in loaders.values()]
""",
    "a loop that keeps its loaders": """
def main(seed):
    torch.manual_seed(seed)
    loaders = []
    for name in ("source", "target"):
        loaders.append(DataLoader(DATA, shuffle=True))
    return [order(loader) for loader in loaders]
""",
    "a loop that names its loaders before it keeps them": """
class Balanced:
    def __init__(self, parts):
        self.loaders = []
        self.iterators = []
        for part in parts:
            loader = DataLoader(part, shuffle=True)
            self.loaders.append(loader)
            self.iterators.append(iter(loader))


def main(seed):
    torch.manual_seed(seed)
    balanced = Balanced([DATA, DATA])
    return [order(loader) for loader in balanced.loaders]
""",
    "members of an ensemble": """
def member(k):
    model = torch.nn.Linear(1, 1)
    loader = DataLoader(DATA, shuffle=True)
    return order(loader)


def main(seed):
    torch.manual_seed(seed)
    return [member(k) for k in range(3)]
""",
}

TAIL = """

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    print(main(parser.parse_args().seed))
"""


def orders(text: str) -> Callable[[int], list[list[int]]]:
    names: dict[str, object] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), names)
    return names["main"]  # type: ignore[return-value]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_no_two_loaders_have_one_order(program: str, write: Write) -> None:
    root = write({"torchrepro-lint.toml": "", "train.py": HEAD + program + TAIL})
    assert [finding.code for finding in fix([root], {"unsafe_fixes": True}).report.findings] == []
    fixed = orders((root / "train.py").read_text())
    for seed in (0, 10):
        found = fixed(seed)
        assert fixed(seed) == found
        assert len({tuple(one) for one in found}) == len(found)
    assert not {tuple(one) for one in fixed(0)} & {tuple(one) for one in fixed(10)}


PARTS_OF_EACH_EPOCH = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
train, val = TensorDataset(torch.arange(32.0)), TensorDataset(torch.arange(8.0))
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for split, dataset in zip(("train", "val"), (train, val)):
        loader = DataLoader(dataset=dataset, batch_size=4, shuffle=True)
        for (batch,) in loader:
            loss = net(batch.unsqueeze(1)).mean()
            if split == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
"""


def test_loaders_of_two_parts_in_each_epoch_share_no_generator(write: Write) -> None:
    root = write({"train.py": PARTS_OF_EACH_EPOCH})
    assert not fix([root]).changes


#: Loaders of two files, and a program that goes through them: how, and whether one may have the order of the other.
PHOTOS = """\
import torch
from torch.utils.data import DataLoader, TensorDataset


def photos():
    return DataLoader(TensorDataset(torch.arange(64.0)), batch_size=8, shuffle=True)
"""
PAINTINGS = PHOTOS.replace("photos", "paintings")
BESIDE = """\
import argparse

import torch
from paintings import paintings
from photos import photos
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--deep", action="store_true")
args = parser.parse_args()
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(1, 4), nn.Linear(4, 1)) if args.deep else nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
first, second = photos(), paintings()
for epoch in range(3):
{loop}
        optimizer.zero_grad()
        model(a[:, None]).sum().backward()
        optimizer.step()
"""
LOOPS = {
    "    for (a,), (b,) in zip(first, second):": False,
    "    for step, ((a,), (b,)) in enumerate(zip(first, second)):": False,
    "    pairs = zip(first, second)\n    for (a,), (b,) in pairs:": False,
    "    for (a,), (b,) in zip(first, itertools.cycle(second)):": False,
    "    for (a,) in first:": True,
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("seeded", [False, True])
def test_loaders_of_two_files_that_a_loop_goes_through_together(loop: str, seeded: bool, write) -> None:
    paintings = PAINTINGS.replace("shuffle=True", "shuffle=True, generator=torch.Generator().manual_seed(8)")
    root = write(
        {
            "pyproject.toml": "",
            "train.py": BESIDE.format(loop=loop).replace("import argparse\n", "import argparse\nimport itertools\n"),
            "photos.py": PHOTOS,
            "paintings.py": paintings if seeded else PAINTINGS,
        }
    )
    found = [one for one in check([root], {"profile": "strict"}).findings if one.code == "TRL201"]
    assert len(found) == (1 if seeded else 2)
    assert [one.is_fixed_safely for one in found] == [seeded or LOOPS[loop]] * len(found)
