"""Which of the linter's findings explains the line where two runs differed."""

from __future__ import annotations

from pathlib import Path

from torchrepro_lint.verify.script.cause import Cause
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.findings import Link, link, rules_for
from torchrepro_lint.verify.script.result import Outcome, Result

MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(x)
"""
TRAIN = """\
import torch

from model import Net

model = Net()
torch.manual_seed(0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.rand(2, 4)).sum().backward()
optimizer.step()
"""


def late_draw(path: Path, row: int) -> Link | None:
    """The finding about runs that differed in a draw at this line, before the RNG was seeded."""
    entry = Entry("draw", "aten.uniform_", place=Place(str(path), row), detail={"rng": "torch"})
    return link(Result(Outcome.DIFFERED, ("train.py",), (), cause=Cause("late", (entry, entry), "torch")))


def test_a_finding_in_another_file_whose_chain_passes_the_line(write) -> None:
    root = write({"pyproject.toml": "", "model.py": MODEL, "train.py": TRAIN})
    found = late_draw(root / "model.py", 7)
    assert found is not None and found.proven
    assert (found.finding.code, found.finding.location.path) == ("TRL504", root / "train.py")


def test_a_finding_in_another_file_that_only_is_of_that_kind(write) -> None:
    root = write({"pyproject.toml": "", "model.py": MODEL, "train.py": TRAIN})
    assert late_draw(root / "model.py", 1) is None
    found = late_draw(root / "train.py", 7)
    assert found is not None and not found.proven


def test_a_cause_that_was_not_recorded_may_be_any_of_the_faults_in_the_file(write) -> None:
    text = """\
        import torch

        names = ["a", "b", "c"]
        order = list(set(names))
        torch.manual_seed(0)
        train, test = torch.utils.data.random_split(order, [2, 1])
        print(torch.full((2,), float(ord(order[0]))))
        """
    path = write({"pyproject.toml": "", "train.py": text}) / "train.py"
    entry = Entry("op", "aten.full", place=Place(str(path), 7))
    found = link(Result(Outcome.DIFFERED, ("train.py",), (), cause=Cause("outside", (entry, entry))))
    assert found is not None and not found.proven
    assert (found.finding.code, found.finding.location.start.row) == ("TRL208", 4)


def test_of_the_rules_about_what_was_varied_the_one_about_the_draw_comes_first(write) -> None:
    text = """\
        import torch
        from torch.utils.data import DataLoader, WeightedRandomSampler

        torch.manual_seed(0)
        sampler = WeightedRandomSampler([1.0] * 8, 8)
        for epoch in range(2):
            for batch in DataLoader(range(8), sampler=sampler):
                print(batch)
        """
    path = write({"pyproject.toml": "", "train.py": text}) / "train.py"
    entry = Entry("draw", "aten.multinomial", place=Place(str(path), 7), detail={"rng": "torch"})
    cause = Cause("draws", (entry, entry), "torch")
    result = Result(Outcome.DIFFERED, ("train.py",), (), cause=cause, perturbation="eval")
    assert rules_for(result) == ("TRL202", "TRL201")
    found = link(result)
    assert found is not None and (found.finding.code, found.finding.location.start.row) == ("TRL202", 5)
