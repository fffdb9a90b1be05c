"""A program that depends on everything that must not matter, and one that depends on nothing of it.

Both are run once, with all perturbations; what came of each is looked at one by one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from verify_runs import command, forked_command, script

from torchrepro_lint.verify.script.perturbations import ITSELF_THE_CAUSE, PERTURBATIONS, RESUME

pytestmark = pytest.mark.verify

COMMON = """
import datetime
import os

import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
folder = os.path.join(os.path.dirname(__file__), "files")
weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor(float(index))


def train(value):
    optimizer.zero_grad()
    value.square().sum().backward()
    optimizer.step()
"""
DEPENDS = (
    COMMON
    + """

class Noise(Numbers):
    def __getitem__(self, index):
        return torch.rand(2)  # workers


g = torch.Generator().manual_seed(0)
noise = DataLoader(Noise(), batch_size=2, num_workers=1, generator=g)  # workers
numbers = DataLoader(Numbers(), batch_size=4, shuffle=True)
for epoch in range(2):
    for batch in numbers:  # eval
        train(weight + batch.sum())
    for batch in noise:
        pass
    train(weight + os.listdir(folder).index("a"))  # listing
    train(weight + hash("a text") % 1000)  # hashseed
    train(weight + datetime.date.today().year)  # clock
    train(weight + torch.get_num_threads())  # threads
    found = torch.empty(4, dtype=torch.uint8)  # memory
    train(weight + found.sum())
"""
)
DEPENDS_ON_NOTHING = (
    COMMON
    + """

g = torch.Generator().manual_seed(0)
numbers = DataLoader(Numbers(), batch_size=4, shuffle=True, num_workers=1, generator=g)
torch.set_num_threads(1)
for epoch in range(2):
    print(datetime.datetime.now(), len(set("a text")))
    for batch in numbers:
        train(weight + batch.sum())
    for name in sorted(os.listdir(folder)):
        train(weight + len(name) + sorted({"one", "two"}).index("two"))
"""
)
MEETS_NOTHING = """
import torch

weight = torch.zeros(1, requires_grad=True)
weight.square().sum().backward()
"""
RESUMABLE = """
import argparse
import os

import torch
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
parser.add_argument("--load", action="store_true")
parser.add_argument("--states", action="store_true")
options = parser.parse_args()
checkpoint = os.path.join(os.path.dirname(__file__), "checkpoint.pt")

torch.manual_seed(0)
weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
begin = 0
if options.load:
    saved = torch.load(checkpoint)
    with torch.no_grad():
        weight.copy_(saved["weight"])
    optimizer.load_state_dict(saved["optimizer"])
    begin = saved["epoch"]
    if options.states:
        torch.set_rng_state(saved["rng"])
loader = DataLoader(torch.arange(6.0), batch_size=3, shuffle=True)
for epoch in range(begin, options.epochs):
    for batch in loader:
        optimizer.zero_grad()
        (weight * torch.nn.functional.dropout(batch)).sum().backward()
        optimizer.step()
    for batch in DataLoader(torch.arange(2.0)):
        pass
state = {"weight": weight, "optimizer": optimizer.state_dict(), "epoch": options.epochs, "rng": torch.get_rng_state()}
torch.save(state, checkpoint)
"""

Answers = dict[str | None, dict[str, Any]]


def verify(folder: Path, program: str, *options: str, arguments: tuple[str, ...] = ()) -> tuple[int, Answers]:
    """The exit status, and the answers by the name of what was varied; None for the runs as they are."""
    (folder / "files").mkdir()
    for name in "ab":
        (folder / "files" / name).touch()
    (folder / "train.py").write_text(program)
    words = [*options, "--output-format", "json", "train.py", *(("--", *arguments) if arguments else ())]
    ran = forked_command(*words, folder=folder)
    assert ran.stdout, ran.stderr
    return ran.returncode, {answer["perturbation"]: answer for answer in json.loads(ran.stdout)}


@pytest.fixture(scope="module")
def depending(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Answers]:
    folder = tmp_path_factory.mktemp("depends")
    return verify(folder, DEPENDS, "--perturb", "all", "--report", str(folder / "page.html"))


@pytest.fixture(scope="module")
def independent(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Answers]:
    return verify(tmp_path_factory.mktemp("independent"), DEPENDS_ON_NOTHING, "--perturb", "all")


ONE_BY_ONE = [name for name in PERTURBATIONS if name != RESUME]


def test_runs_agree_before_anything_is_varied(depending: tuple[int, Answers]) -> None:
    assert depending[0] == 3
    assert list(depending[1]) == [None, *ONE_BY_ONE]
    assert depending[1][None]["outcome"] == "agreed"


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_what_a_program_depends_on_parts_it(depending: tuple[int, Answers], name: str) -> None:
    answer = depending[1][name]
    assert answer["outcome"] == "differed"
    places = [(answer["cause"] or answer["divergence"])["first"]["place"], *answer["met"]]
    lines = [DEPENDS.splitlines()[place["row"] - 1] for place in places if place]
    assert any(line.endswith(f"# {name}") for line in lines), (lines, answer["cause"])
    if answer["cause"] and PERTURBATIONS[name].rules:
        assert set(answer["cause"]["rules"]) <= set(PERTURBATIONS[name].rules)
    if name in ITSELF_THE_CAUSE:
        assert answer["cause"]["why"] == ("hash" if name == "hashseed" else "varied")


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_what_a_program_does_not_depend_on_changes_nothing(independent: tuple[int, Answers], name: str) -> None:
    assert independent[0] == 0
    assert independent[1][name]["outcome"] == "agreed", independent[1][name]["verdict"]


def test_a_program_that_does_not_meet_what_is_varied(tmp_path: Path) -> None:
    status, answers = verify(tmp_path, MEETS_NOTHING, "--perturb", "listing,eval")
    assert status == 0
    assert {name: answer["outcome"] for name, answer in answers.items()} == {
        None: "agreed",
        "listing": "nothing to vary",
        "eval": "nothing to vary",
    }


@pytest.mark.parametrize(("states", "outcome"), [("", "differed"), ("--states", "agreed")])
def test_a_training_that_is_resumed(tmp_path: Path, states: str, outcome: str) -> None:
    halves = ("--resume-first=--epochs 1", f"--resume-with=--epochs 2 --load {states}")
    status, answers = verify(tmp_path, RESUMABLE, "--perturb", "resume", *halves, arguments=("--epochs", "2"))
    answer = answers[RESUME]
    assert (status, answer["outcome"]) == (3 if outcome == "differed" else 0, outcome), answer["verdict"]
    assert any("another state of torch's global RNG" in note for note in answer["notes"]) == (outcome == "differed")


def test_the_command_says_first_what_the_result_depends_on(tmp_path: Path) -> None:
    """Runs beside each other, each in its scratch folder, of a program that needs no torch."""
    script(tmp_path, "import random, time\nrandom.seed(hash('text'))\nprint(random.random(), time.time())\n")
    ran = command("--scratch", "--jobs", "4", "--perturb", "hashseed,clock,listing", "train.py", folder=tmp_path)
    assert ran.returncode == 3, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == "2 plain runs of train.py agree; the result depends on: hashseed"
    assert [line.split("  ")[0].rstrip() for line in lines[2:7]] == [
        "varied",
        "nothing",
        "hashseed",
        "clock",
        "listing",
    ]
    assert "the result depends on it" in lines[4] and "train.py:3" in lines[4]
    assert lines[8].startswith("the result depends on hashseed: train.py with hashseed varied did not give")


def test_nothing_is_varied_where_plain_runs_differ(tmp_path: Path) -> None:
    script(tmp_path, "import random\nprint(random.random())\n")
    ran = command("--perturb", "all", "train.py", folder=tmp_path)
    assert ran.returncode == 1
    assert "note: nothing was varied: the runs must agree as they are" in ran.stdout
    assert ran.stdout.startswith("difference observed: 2 runs of train.py did not agree; ")
