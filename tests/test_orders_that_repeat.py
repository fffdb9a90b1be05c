"""TRL201 where torch is seeded: two runs have one order, so it is told where an option is seen to move it."""

from __future__ import annotations

import pytest

from torchrepro_lint.commands.explain import explain
from torchrepro_lint.engine import RunOptions, check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.project_check import CacheChoice

_HEAD = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(64.0))
"""
_ONE = """\
for (batch,) in DataLoader(data, batch_size=4, shuffle=True):
    print(batch)
"""
#: A loader for each size: no safe fix gives them generators with numbers of their own.
_SIZES = """\
def make(size):
    return DataLoader(data, batch_size=size, shuffle=True)


loaders = {size: make(size) for size in (2, 4)}
for size in loaders:
    for (batch,) in loaders[size]:
        print(batch)
"""
_SEED, _SWITCH = "torch.manual_seed(3)\n", "torch.use_deterministic_algorithms(True)\n"
_OPTIONS = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--every", type=int, default=2)
parser.add_argument("--network", default="one")
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--local-rank", type=int, default=0)
args = parser.parse_args()
"""
#: Commands that give each option two values: what it moves differs between runs of the project.
_COMMANDS = {
    "run.sh": "python train.py --every 1 --workers 0 --network one --local-rank 0\n"
    "python train.py --every 5 --workers 4 --network two --local-rank 1\n"
}
_TRAINED = """\
loader = DataLoader(data, batch_size=4, shuffle=True)
held_out = DataLoader(data, batch_size=4)
for epoch in range(3):
    for (batch,) in loader:
        print(batch)
    {test}
        for (batch,) in held_out:
            print(batch)
"""
_BUILT = """\
class One(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(1, 1)
        {part}


class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(1, 2)


if {test}:
    model = One()
else:
    model = {other}()
loader = DataLoader(data, batch_size=4, shuffle=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{seed}
for (batch,) in loader:
    optimizer.zero_grad()
    model.head(batch[:, None]).mean().backward()
    optimizer.step()
"""
_RUNS = """\
for fold in range(3):
    {seed}
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(data, batch_size=4, shuffle=True)
    for epoch in range(5):
        for (batch,) in loader:
            optimizer.zero_grad()
            loss = model(batch[:, None]).mean()
            loss.backward()
            optimizer.step()
        if loss < 0.1:
            {leaves}
"""
_NOISY = """\
class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return {item}


for batch in DataLoader(Noisy(), batch_size=4, shuffle=True, num_workers={number}):
    print(batch)
"""


def _every(test: str) -> dict[str, str]:
    return {"train.py": _HEAD + _OPTIONS + _SEED + _TRAINED.format(test=test)}


def _sampled(test: str) -> dict[str, str]:
    trained = _TRAINED.format(test=f"if {test}:").partition("        for (batch,) in held_out")[0]
    return {"train.py": f"{_HEAD}{_OPTIONS}{_SEED}{trained}        print(torch.randn(64))\n"}


def _given_data() -> dict[str, str]:
    trained = _TRAINED.format(test="if args.network is not None:")
    return {"train.py": _HEAD + _OPTIONS + _SEED + trained.replace("r(data, batch_size=4)", "r(Files(args.network))")}


def _drawn(draw: str) -> dict[str, str]:
    """A draw that an option asks for, before a loader is made."""
    scaled = """\
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(1))
"""
    return {"train.py": f"{_HEAD}{_OPTIONS}{scaled}\n\n{_SEED}if args.every:\n    {draw}\n{_ONE}print(noise, model)\n"}


def _two_programs(held_out: str) -> dict[str, str]:
    """Two programs with one function that trains, of which the second has a loader of an evaluation."""
    shared = """\
def held_out():
    return DataLoader(data, batch_size=4)


def run(loader, others, every):
    for epoch in range(3):
        for (batch,) in loader:
            print(batch)
        if others is not None and epoch % every == 0:
            for (batch,) in others:
                print(batch)
"""
    head = f"from shared import data, held_out, run\n{_HEAD.replace('data =', 'own =')}{_OPTIONS}{_SEED}"
    call = "run(DataLoader(data, batch_size=4, shuffle={}), {}, args.every)\n"
    return {
        "shared.py": f"{_HEAD}\n\n{shared}",
        "train.py": head + call.format(True, held_out),
        "tune.py": head + call.format(False, "held_out()"),
    }


def _counted(test: str) -> dict[str, str]:
    trained = _TRAINED.format(test=f"if {test}:").replace("range(3)", "range(args.every)")
    return {"train.py": _HEAD + _OPTIONS + _SEED + trained}


def _network(test: str, other: str = "Two", part: str = "pass", seed: str = "") -> dict[str, str]:
    text = _BUILT.format(test=test, other=other, part=part, seed=seed)
    return {"train.py": _HEAD + _OPTIONS + _SEED + text}


def _runs(leaves: str, seed: str = "pass") -> dict[str, str]:
    return {"train.py": _HEAD + _SEED + _RUNS.format(leaves=leaves, seed=seed)}


def _rounds() -> dict[str, str]:
    """As `_runs`, with the loop over the epochs within one over rounds."""
    head, epochs = _RUNS.format(leaves="break", seed="pass").split("    for epoch")
    inner = "".join(f"    {line}" for line in f"    for epoch{epochs}".splitlines(keepends=True))
    return {"train.py": f"{_HEAD}{_SEED}{head}    for around in range(4):\n{inner}"}


def _workers(item: str, number: str) -> dict[str, str]:
    return {"train.py": _HEAD + _OPTIONS + _SEED + _NOISY.format(item=item, number=number)}


_TOLD, _UNTOLD = (["train.py"], []), ([], ["train.py"])
_PROGRAMS = {
    "a seed, and a safe fix": ({"train.py": _HEAD + _SEED + _ONE}, *_UNTOLD),
    "a seed, and no safe fix": ({"train.py": _HEAD + _SEED + _SIZES}, *_UNTOLD),
    "no seed, and no safe fix": ({"train.py": _HEAD + _SWITCH + _SIZES}, *_TOLD),
    "an evaluation that an option counts": (_every("if epoch % args.every == 0:"), *_TOLD),
    "an evaluation that a number counts": (_every("if epoch % 2 == 0:"), *_UNTOLD),
    "an evaluation after the last epoch of an option": (_counted("epoch == args.every - 1"), *_UNTOLD),
    "an evaluation of some epochs of an option": (_counted("epoch % 2 == 0"), *_UNTOLD),
    "an evaluation in the epoch that an option says": (_counted("epoch == args.workers"), *_TOLD),
    "an evaluation in one process": (_every("if args.local_rank == 0:"), *_UNTOLD),
    "an evaluation from an epoch on": (_every("if epoch > args.every:"), *_TOLD),
    "an evaluation that an option asks for": (_every("if args.every:"), *_UNTOLD),
    "evaluations that an option counts": (_every("for _ in range(args.every):"), *_UNTOLD),
    "an evaluation where an option gives its data": (_given_data(), *_UNTOLD),
    "a split that an option asks for": (_drawn("data, _ = torch.utils.data.random_split(data, [60, 4])"), *_UNTOLD),
    "numbers that an option asks for": (_drawn("noise = torch.randn(64)"), *_UNTOLD),
    "numbers that are drawn every few epochs": (_sampled("epoch % args.every == 0"), *_TOLD),
    "first weights that an option asks for": (_drawn("model = Scaled()"), *_UNTOLD),
    "passes of another program over its loader": (_two_programs("None"), *_UNTOLD),
    "passes of a program over its two loaders": (_two_programs("held_out()"), *_TOLD),
    "a network that an option chooses": (_network('args.network == "one"'), *_UNTOLD),
    "a network that a constant chooses": (_network("len(data) == 64"), *_UNTOLD),
    "one network in both arms": (_network('args.network == "one"', other="One"), *_UNTOLD),
    "a part of a network": (
        _network("len(data) == 64", part="self.body = torch.nn.Linear(1, 1) if args.every else None"), *_UNTOLD,
    ),
    "a seed below the network": (_network('args.network == "one"', seed="torch.manual_seed(4)"), *_UNTOLD),
    "trainings that end early": (_runs("break"), *_UNTOLD),
    "trainings of which a break leaves an inner loop": (_rounds(), *_UNTOLD),
    "trainings that do not": (_runs("print(loss)"), *_UNTOLD),
    "trainings with a seed each": (_runs("break", seed="torch.manual_seed(fold)"), *_UNTOLD),
    "items that draw, and no workers by default": (_workers("torch.rand(1)", "args.workers"), *_UNTOLD),
    "items that draw, and two workers": (_workers("torch.rand(1)", "2"), *_UNTOLD),
    "items that do not draw": (_workers("torch.tensor(index)", "args.workers"), *_UNTOLD),
}  # fmt: skip


@pytest.mark.parametrize(("files", "told", "untold"), _PROGRAMS.values(), ids=_PROGRAMS)
def test_what_is_told(files: dict[str, str], told: list[str], untold: list[str], write, tmp_path) -> None:
    root = write({"torchrepro-lint.toml": "", **files, **_COMMANDS})
    run = RunOptions(cache=CacheChoice(tmp_path.parent / f"{tmp_path.name}-cache"))
    for _ in range(2):  # made, and taken from the cache
        report = check([root], run=run)
        assert [one.location.path.name for one in report.findings if one.code == "TRL201"] == told
        assert [one.location.path.name for one in report.untold if one.code == "TRL201"] == untold
    for options in ({"profile": "strict"}, {"extend_select": ("TRL201",)}):
        found = [one.location.path.name for one in check([root], options).findings if one.code == "TRL201"]
        assert found == sorted([*told, *untold])


def test_explain_says_why_it_is_not_told_where_no_command_moves_it(write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"torchrepro-lint.toml": "", **_every("if epoch % args.every == 0:")})
    row = next(row for row, line in enumerate((root / "train.py").read_text().splitlines(), 1) if "shuffle" in line)
    explain([f"{root / 'train.py'}:{row}"])
    assert (
        "torch is seeded, and nothing is seen to move the order between runs of the project" in capsys.readouterr().out
    )


def test_an_order_that_repeats_is_no_half_of_a_mend(write) -> None:
    """The fix of a loader is safe beside one whose order nothing moves."""
    files = {**_every("if epoch % args.every == 0:"), "tune.py": _HEAD + _SEED + _SIZES, **_COMMANDS}
    result = fix([write({"torchrepro-lint.toml": "", **files})])
    assert [one.location.path.name for one in result.fixed] == ["train.py"]
    assert [one.code for one in result.report.findings] == []


def test_the_finding_says_what_moves_the_order(write) -> None:
    report = check([write({"torchrepro-lint.toml": "", **_every("if epoch % args.every == 0:"), **_COMMANDS})])
    (found,) = (one for one in report.findings if one.code == "TRL201")
    assert found.message.endswith("depends on `args.every`")
    assert [step.note for step in found.trace] == [
        "`args.every` decides in which turns this runs", "each pass over a loader draws a seed",
    ]  # fmt: skip


def test_explain_says_why_it_is_not_told(write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"torchrepro-lint.toml": "", "train.py": _HEAD + _SEED + _ONE})
    explain([f"{root / 'train.py'}:6"])
    assert (
        "torch is seeded, and nothing is seen to move the order between runs of the project" in capsys.readouterr().out
    )


_BY_OPTION = (
    _OPTIONS
    + """\
loader = DataLoader(Noisy(), num_workers=2)
for epoch in range(3):
    for batch in loader:
        print(batch)
    if epoch % args.every == 0:
        for batch in DataLoader([1, 2]):
            print(batch)
"""
)
#: A loader for each size: no safe fix gives them generators with numbers of their own.
_EACH_SIZE = """\
def make(size):
    return DataLoader(Noisy(), batch_size=size, num_workers=2)


loaders = {size: make(size) for size in (2, 4)}
for size in loaders:
    for batch in loaders[size]:
        print(batch)
"""


@pytest.mark.parametrize(
    ("loaders", "told"), [(_BY_OPTION, ["TRL201"]), (_EACH_SIZE, [])], ids=["by an option", "each size"]
)
def test_what_one_file_breaks_in_another(write, loaders: str, told: list[str]) -> None:
    """It is told as it is told there."""
    data = """\
import torch
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.rand(1)
"""
    train = """\
import torch
from torch.utils.data import DataLoader

from noisy import Noisy

torch.manual_seed(3)
"""
    root = write({"torchrepro-lint.toml": "", "noisy.py": data, "train.py": train + loaders, **_COMMANDS})
    assert [one.code for one in check([root / "noisy.py"]).elsewhere] == told
    strictly = check([root / "noisy.py"], {"profile": "strict"}).elsewhere
    assert [one.code for one in strictly] == ["TRL201"]
