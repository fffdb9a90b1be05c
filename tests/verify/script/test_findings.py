"""Which of the linter's findings explains the line where two runs differed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from torchrepro_lint.verify.script.cause import Cause, Why
from torchrepro_lint.verify.script.compare import Comparison, Divergence
from torchrepro_lint.verify.script.entries import Entry, Header, Place
from torchrepro_lint.verify.script.findings import Link, link, rules_for
from torchrepro_lint.verify.script.launch import Run
from torchrepro_lint.verify.script.output.wording import reason
from torchrepro_lint.verify.script.record import Record
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
        (draw_in("main", "numpy", nothing_seeds=True), None, ("TRL501", "TRL305")),
        (draw_in("main", "torch", nothing_seeds=True), None, ("TRL501", "TRL305")),
        (draw_in("main", "numpy"), None, ("TRL502", "TRL504", "TRL305")),
        (draw_in("worker 0 of loader 0", "numpy.random.Generator", "state"), "workers", ("TRL107",)),
        (draw_in("worker 0 of loader 0", "torch", "state", "aten.rand"), "workers", ("TRL201", "TRL101", "TRL110")),
    ],
)
def test_the_rule_is_that_of_the_cause(cause: Cause, varied: str | None, rules: tuple[str, ...]) -> None:
    assert rules_for(Result(Outcome.DIFFERED, ("train.py",), (), cause=cause, perturbation=varied)) == rules


@pytest.mark.parametrize(
    ("package", "code"), [("optuna/samplers", "TRL510"), ("gymnasium/utils", "TRL511"), ("scipy/stats", "TRL503")]
)
def test_the_rule_is_that_of_the_library_that_made_the_generator(package: str, code: str) -> None:
    made = Entry("seed", "numpy.random.RandomState", via=Place(f"/site-packages/{package}/made.py", 20))
    cause = draw_in("main", "numpy.random.RandomState", "seed", seed=(made, made))
    assert rules_for(Result(Outcome.DIFFERED, ("train.py",), (), cause=cause))[0] == code
    of_system = replace(made, detail={"entropy": True}, place=Place("train.py", 4))
    words = f"which {package.partition('/')[0]} makes at line 4 and seeds from the operating system."
    assert reason(replace(cause, seed=(of_system, of_system))).endswith(words)


def test_a_seed_that_no_generator_keeps_is_named_where_nothing_else_explains_a_draw(write) -> None:
    text = """\
        import random
        import torch

        torch.manual_seed(0)
        random.Random(0)
        weight = torch.full((2,), random.random(), requires_grad=True)
        torch.optim.SGD([weight], lr=0.1).step()
        """
    path = write({"pyproject.toml": "", "train.py": text}) / "train.py"
    entry = Entry("draw", "random.random", place=Place(str(path), 6), detail={"rng": "random"})
    for rng, code in (("random", "TRL305"), ("numpy", None)):
        found = link(Result(Outcome.DIFFERED, ("train.py",), (), cause=Cause("unseeded", (entry, entry), rng)))
        assert (found and (found.finding.code, found.finding.location.start.row)) == (code and (code, 5))


def test_a_checkpoint_that_lacks_something_is_named_where_a_training_is_resumed(write) -> None:
    path = write({"pyproject.toml": "", "train.py": RESUMES}) / "train.py"
    entry = Entry("parameter", "SGD 0", step=3, place=Place(str(path), 19))
    comparison = Comparison(Divergence("main", entry, entry, "result"), Counter(), 0)
    lost = Result(
        Outcome.DIFFERED,
        ("a",),
        (),
        None,
        None,
        comparison,
        perturbation="resume",
        lost_settings=("the epoch of StepLR",),
    )
    found = link(lost)
    assert found is not None and not found.proven and found.finding.code == "TRL211"
    assert rules_for(replace(lost, lost_settings=())) == ()
    # Weights that are only evaluated.
    divergence = Divergence("main", replace(entry, kind="weights"), replace(entry, kind="weights"), "result")
    averaged = replace(lost, lost_settings=(), comparison=replace(comparison, divergence=divergence))
    assert rules_for(averaged) == ("TRL211",)


RESUMES = """\
    import argparse
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    args = parser.parse_args()
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    start = 0
    if args.resume:
        state = torch.load(args.resume)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start = state["epoch"] + 1
    for epoch in range(start, 4):
        model(torch.ones(2)).sum().backward()
        optimizer.step()
        scheduler.step()
        torch.save(
            {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "checkpoint.pt"
        )
    """


def test_no_rule_is_about_the_number_of_workers_itself() -> None:
    entry = Entry("batch", "batch 0 of loader 0", place=Place("train.py", 20))
    cause = Cause("varied", (entry, entry), varied="workers", met=(Place("train.py", 17),))
    assert rules_for(Result(Outcome.DIFFERED, ("train.py",), (), cause=cause, perturbation="workers")) == ()
    assert reason(cause).startswith("the number of workers, by which a data set is split into batches, which is asked")


def test_dropout_while_gradients_are_off_is_said() -> None:
    via = Place("/site-packages/torch/nn/functional.py", 1, "dropout")
    evaluates = draw_in("main", "torch", name="aten.bernoulli_", detail={"grad": False}, via=via)
    assert "is `model.eval()` missing?" in reason(evaluates)
    asks = draw_in("main", "torch", name="aten.bernoulli_", detail={"grad": False, "evaluates": True}, via=via)
    assert "missing" not in reason(asks) and "without `training=self.training`" in reason(asks)
    trains = draw_in("main", "torch", name="aten.bernoulli_", via=via)
    draws = draw_in("main", "torch", name="aten.bernoulli_", detail={"grad": False})
    assert not any("eval()" in reason(one) for one in (trains, draws))
    for varied in ("eval", "listing"):  # whatever was varied, the draw itself is the fault
        varied_run = Result(Outcome.DIFFERED, ("train.py",), (), cause=evaluates, perturbation=varied)
        assert rules_for(varied_run) == ("TRL508",)


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


def test_an_extra_draw_that_moves_the_samples_themselves_is_no_matter_of_a_loaders_generator(write) -> None:
    text = """\
        import torch
        from torch.utils.data import DataLoader, Dataset


        class Crops(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return torch.randint(0, 4, (1,))


        torch.manual_seed(0)
        train_loader = DataLoader(range(8), shuffle=True, generator=torch.Generator().manual_seed(0))
        val_loader = DataLoader(Crops())
        for epoch in range(2):
            for batch in train_loader:
                print(batch)
            with torch.no_grad():
                for batch in val_loader:
                    print(batch)
        """
    path = write({"pyproject.toml": "", "train.py": text}) / "train.py"

    def moved(grad: bool, process: str = "main") -> Result:
        entry = Entry(
            "draw", "aten.randint", process, place=Place(str(path), 10), detail={"rng": "torch", "grad": grad}
        )
        return Result(Outcome.DIFFERED, ("a",), (), cause=Cause("draws", (entry, entry), "torch"), perturbation="eval")

    assert rules_for(moved(grad=False)) == ("TRL509",)
    found = link(moved(grad=False))
    assert found is not None and (found.finding.code, found.finding.location.start.row) == ("TRL509", 15)
    assert rules_for(moved(grad=True)) == ()  # the samples of a training: an extra evaluation moves them, and no rule
    in_worker = moved(grad=True, process="worker 0 of loader 0")
    assert rules_for(in_worker)[0] == "TRL201"  # a loader's generator seeds its workers


def test_that_nothing_is_seeded_is_said_of_the_script_that_ran(write) -> None:
    """Other programs in its folder seed nothing either."""
    text = """
        import torch

        weight = torch.randn(3, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.1)
        (weight * weight).sum().backward()
        optimizer.step()
        """
    root = write({"pyproject.toml": "", "first.py": text, "second.py": text})
    entry = Entry("draw", "aten.randn", place=Place(str(root / "second.py"), 4), detail={"rng": "torch"})
    cause = Cause("unseeded", (entry, entry), "torch", nothing_seeds=True)
    run = Run(Record(Header(("second.py",), str(root)), ()), root / "run.jsonl", 1.0)
    found = link(Result(Outcome.DIFFERED, ("second.py",), (run,), cause=cause))
    assert found is not None and found.proven
    assert (found.finding.code, found.finding.location.path) == ("TRL501", root / "second.py")


def test_the_file_of_a_command(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").touch()
    for words, name in (
        (("train.py", "--lr", "1"), "train.py"),
        (("-m", "package"), "package/__main__.py"),
        (("-m", "package.__main__"), "package/__main__.py"),
        (("-m", "json.tool"), None),
    ):
        assert Header(words, str(tmp_path)).script == (name and tmp_path / name)


def test_the_order_of_a_loader_is_that_of_the_loader(write) -> None:
    """Not the draw's line, which is that of the loop, says which loader it is."""
    root = write({"pyproject.toml": "", "train.py": LOADER})
    via = Place("/site-packages/torch/utils/data/sampler.py", 163)
    entry = Entry("draw", "aten.random_", place=Place(str(root / "train.py"), 9), via=via, detail={"rng": "torch"})
    found = link(Result(Outcome.DIFFERED, ("train.py",), (), cause=Cause("unseeded", (entry, entry), "torch")))
    assert found is not None
    assert (found.finding.code, found.finding.location.start.row) == ("TRL201", 8)


LOADER = """\
    import argparse
    import random
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    random.seed(parser.parse_args().seed)
    loader = torch.utils.data.DataLoader(torch.arange(20), shuffle=True)
    for batch in loader:
        print(batch.sum() + random.random())
    """
