"""Which of the linter's findings explains the line where two runs differed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from torchrepro_lint.verify.script.cause import Cause, Why
from torchrepro_lint.verify.script.entries import Entry, Place
from torchrepro_lint.verify.script.findings import Link, link, rules_for
from torchrepro_lint.verify.script.output.wording import reason
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


ORDER = """\
    import torch

    names = ["a", "b", "c"]
    order = list(set(names))
    torch.manual_seed(0)
    train, test = torch.utils.data.random_split(order, [2, 1])
    print(torch.full((2,), float(ord(order[0]))))
    """


@pytest.mark.parametrize(("why", "code"), [("outside", None), ("hash", "TRL208")])
def test_where_the_cause_is_not_known_no_rule_is_pointed_to(write, why: Why, code: str | None) -> None:
    path = write({"pyproject.toml": "", "train.py": ORDER}) / "train.py"
    entry = Entry("op", "aten.full", place=Place(str(path), 7))
    result = Result(Outcome.DIFFERED, ("train.py",), (), cause=Cause(why, (entry, entry)))
    found = link(result)
    assert (found and found.finding.code) == code
    assert found is None or (not found.proven and found.finding.location.start.row == 4)
    assert rules_for(result) == (() if code is None else (code,))


def draw_in(process: str, rng: str, why: Why = "unseeded", name: str = "numpy.random.rand", **fields: Any) -> Cause:
    detail = {"rng": rng, **fields.pop("detail", {})}
    entry = Entry("draw", name, process, detail=detail, via=fields.pop("via", None))
    return Cause(why, (entry, entry), rng, **fields)


@pytest.mark.parametrize(
    ("cause", "varied", "rules"),
    [
        (draw_in("main", "numpy", nothing_seeds=True), None, ("TRL501",)),
        (draw_in("main", "numpy"), None, ("TRL502", "TRL504")),
        (draw_in("worker 0 of loader 0", "numpy.random.Generator", "state"), "workers", ("TRL107",)),
        (draw_in("worker 0 of loader 0", "torch", "state", "aten.rand"), "workers", ("TRL201", "TRL101", "TRL110")),
    ],
)
def test_the_rule_is_that_of_the_cause(cause: Cause, varied: str | None, rules: tuple[str, ...]) -> None:
    assert rules_for(Result(Outcome.DIFFERED, ("train.py",), (), cause=cause, perturbation=varied)) == rules


def test_dropout_while_gradients_are_off_is_said() -> None:
    via = Place("/site-packages/torch/nn/functional.py", 1, "dropout")
    evaluates = draw_in("main", "torch", name="aten.bernoulli_", detail={"grad": False}, via=via)
    assert "is `model.eval()` missing?" in reason(evaluates)
    trains = draw_in("main", "torch", name="aten.bernoulli_", via=via)
    draws = draw_in("main", "torch", name="aten.bernoulli_", detail={"grad": False})
    assert not any("eval()" in reason(one) for one in (trains, draws))


@pytest.mark.parametrize(
    ("states", "settings", "rules"), [(("torch",), (), ("TRL210",)), ((), (), ()), ((), ("the epoch of StepLR",), ())]
)
def test_what_a_resumed_training_lost(
    states: tuple[str, ...], settings: tuple[str, ...], rules: tuple[str, ...]
) -> None:
    lost = Result(Outcome.DIFFERED, ("a",), (), perturbation="resume", lost_states=states, lost_settings=settings)
    assert tuple(code for code in rules_for(lost) if code != "TRL211") == rules


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
