"""Copies of one function or script are fixed alike, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Applicability, Edit, Finding, Fix, Location, Position, Severity
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.fixes.twins import COPY_IS_LEFT, FIXED_OTHERWISE, TWIN_IS_LEFT, unlike_twins

SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(64.0))

if __name__ == "__main__":
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(1024)
    net = nn.Linear(1, 1)
    loader = DataLoader(data, batch_size=2, shuffle=True)
    for (batch,) in loader:
        net(batch.unsqueeze(1)).sum().backward()
"""
#: The same script with loaders that no fix gives a generator: once torch is seeded, their order repeats.
KEEPS = (
    SCRIPT
    + """\
    loaders = {size: DataLoader(data, batch_size=size, shuffle=True) for size in (2, 4)}
    for size in loaders:
        for (batch,) in loaders[size]:
            net(batch.unsqueeze(1)).sum().backward()
"""
)
OTHER = """\
import torch
from torch import nn

net = nn.Linear(1, 1)
print(net(torch.ones(1)))
if torch.cuda.is_available():
    torch.cuda.manual_seed_all(1024)
"""
FUNCTION = """\
import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(folder, size):
    data = TensorDataset(torch.arange(64.0))
    print(folder)
    loader = DataLoader(data, batch_size=size, shuffle=True)
    return loader
"""


def _programs(first: str, second: str) -> dict[str, str]:
    return {"one.py": first, "two.py": second}


ALIKE = {
    "two copies": (_programs(SCRIPT, SCRIPT), 2),
    "one of them is left": ({"one.py": SCRIPT, "old/two.py": SCRIPT}, 0),
    "one keeps loaders whose order repeats": (_programs(SCRIPT, KEEPS), 2),
    "other lines around it": (_programs(SCRIPT, OTHER), 1),
}


@pytest.mark.parametrize(("files", "fixed"), ALIKE.values(), ids=ALIKE)
def test_copies_are_fixed_alike(files: dict[str, str], fixed: int, write) -> None:
    root = write(files)
    result = fix([root])
    assert len(result.changes) == fixed, result.changes
    assert not {one.reason for one in result.rejected} & {TWIN_IS_LEFT, FIXED_OTHERWISE}


def _seeds(first: str, second: str) -> list[Finding]:
    """A fix in each of two copies, with these seeds."""
    found = []
    for path, seed in ((Path("one.py"), first), (Path("two.py"), second)):
        location = Location(path, Position(7, 5), Position(7, 12))
        edit = Edit(path, 9, 9, f"    g = torch.Generator()\n    g.manual_seed({seed})\n")
        fix = Fix(Applicability.SAFE, "Pass a seeded generator", (edit,))
        found.append(
            Finding("TRL201", "dataloader-without-generator", "no `generator`", Severity.WARNING, location, fix=fix)
        )
    return found


@pytest.mark.parametrize(("seed", "reasons"), [("seed", []), ("torch.initial_seed()", [FIXED_OTHERWISE] * 2)])
def test_copies_that_would_get_other_seeds(seed: str, reasons: list[str]) -> None:
    unlike = unlike_twins(_seeds("seed", seed), (), lambda path: FUNCTION)
    assert [reason for _, reason in unlike] == reasons


def test_a_copy_that_keeps_the_finding() -> None:
    one, other = _seeds("seed", "seed")
    unlike = unlike_twins([one], [other], lambda path: FUNCTION)
    assert [reason for _, reason in unlike] == [TWIN_IS_LEFT]


def test_a_notebook_that_cannot_be_read_keeps_no_other_file_from_its_fix(write) -> None:
    listed = "import random, os\nrandom.seed(1)\nprint(random.choice(os.listdir('.')))\n"
    broken = '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "torch.manual_seed(1)\\n'
    root = write({"pyproject.toml": "", "a.py": listed, "b.ipynb": broken})
    report = fix([root]).report
    assert [one.code for one in report.findings] == ["TRL900"]
    assert "sorted(os.listdir('.'))" in (root / "a.py").read_text()


LISTED = """\
import os
import random

random.seed(0)


class {name}Images:
    def __init__(self, folder):
        self.folder = folder
        self.paths = []
        self.names = os.listdir(folder)
        for name in self.names:
            self.paths.append(os.path.join(folder, name))
        {last}


"""
DRAWS, COUNTS = "self.shown = random.choice(self.paths)", "self.number = len(self.paths)"
HDF = "[os.path.join(folder, 'frames', name) for name in os.listdir(os.path.join(folder, 'frames'))]"
OTHERWISE = """\
class Number:
    def __init__(self, folder):
        self.names = os.listdir(folder)
        print(len(self.names))
"""
IN_ONE_FILE = {
    "a copy needs no fix": (LISTED.format(name="Some", last=DRAWS) + LISTED.format(name="All", last=COUNTS), 0),
    "both need one": (LISTED.format(name="Some", last=DRAWS) + LISTED.format(name="Other", last=DRAWS), 2),
    "the same words elsewhere": (
        LISTED.format(name="Some", last=DRAWS) + OTHERWISE,
        1,
    ),
    "the other part of the data": (
        LISTED.format(name="Train", last=DRAWS).replace("names", "train_names")
        + LISTED.format(name="Test", last=COUNTS).replace("names", "test_names").replace("folder", "test_folder"),
        0,
    ),
    "both parts": (
        LISTED.format(name="Train", last=DRAWS).replace("names", "train_names")
        + LISTED.format(name="Test", last=DRAWS).replace("names", "test_names"),
        2,
    ),
    "a long listing in the same words elsewhere": (
        LISTED.format(name="Some", last=DRAWS).replace("os.listdir(folder)", HDF)
        + OTHERWISE.replace("os.listdir(folder)", HDF),
        0,
    ),
    "a long listing in other words": (
        LISTED.format(name="Some", last=DRAWS).replace("os.listdir(folder)", HDF)
        + OTHERWISE.replace("os.listdir(folder)", HDF.replace("frames", "masks")),
        1,
    ),
    "in a comment": (
        LISTED.format(name="Some", last=DRAWS) + LISTED.format(name="All", last=COUNTS).replace("\n", "\n# "),
        1,
    ),
}


@pytest.mark.parametrize(("text", "fixed"), IN_ONE_FILE.values(), ids=IN_ONE_FILE)
def test_a_copy_in_the_file_that_needs_no_fix(text: str, fixed: int, write) -> None:
    root = write({"data.py": text})
    result = fix([root])
    assert (root / "data.py").read_text().count("sorted(") == fixed
    assert {one.reason for one in result.rejected} == (set() if fixed else {COPY_IS_LEFT})


RUNS = """\
import random

import numpy as np
import torch
from torch import nn


def run_{name}(rate=0.1):
    np.random.seed({seed})
    random.seed({seed})
    nodes = load("{name}")
    noise = torch.rand({seed}, 16)
    encoder = nn.Linear(16, 4)
    return encoder(noise[nodes]), np.random.normal(rate)


"""
SMALL, LARGE = RUNS.format(name="small", seed=1), RUNS.partition("\n\n\n")[2].format(name="large", seed=2)
CALLED = "print(run_small())\n"
RUNS_IN_ONE_FILE = {
    "a copy that nothing calls": (LARGE + CALLED, 0),
    "a copy that seeds torch": (LARGE.replace("nodes =", "torch.manual_seed(2)\n    nodes =") + CALLED, 1),
    "the same call in another function": ("def other():\n    np.random.seed(2)\n    print(rows())\n\n\n" + CALLED, 1),
}


@pytest.mark.parametrize(("below", "fixed"), RUNS_IN_ONE_FILE.values(), ids=RUNS_IN_ONE_FILE)
def test_a_copy_of_a_function_that_seeds_in_part(below: str, fixed: int, write) -> None:
    load = "def load(name):\n    return torch.arange(1)\n\n\n"
    root = write({"pyproject.toml": "", "model.py": SMALL + load + below})
    before = (root / "model.py").read_text().count("torch.manual_seed(")
    result = fix([root])
    assert (root / "model.py").read_text().count("torch.manual_seed(") == before + fixed
    assert {one.reason for one in result.rejected} == (set() if fixed else {COPY_IS_LEFT})


HELPER = """\
import os
import random

import numpy as np
import torch


def seed_everything(seed):
    {lines}


class Net(torch.nn.Module):
    def __init__(self, width, depth, dropout):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(width, width) for _ in range(depth)])


{run}
"""
RUN = "seed_everything(3)\nprint(random.random(), torch.rand(1))\nconv = torch.nn.Conv2d(1, 1, 3)\nconv(torch.ones(1, 1, 4, 4)).sum().backward()"
SETS = ("np.random.seed(seed)", "torch.manual_seed(seed)", "torch.cuda.manual_seed(seed)")
SWITCHES = ("torch.backends.cudnn.deterministic = True", "torch.backends.cudnn.benchmark = True")
#: The lines of the helper in another file, what stands below it, and what is fixed beside it.
NEAR = {
    "one that seeds a little more": (("os.environ['PYTHONHASHSEED'] = str(seed)", *SETS, *SWITCHES), 0),
    "one that seeds the GPUs otherwise": ((*SETS[:2], "torch.cuda.manual_seed_all(seed)", *SWITCHES), 0),
    "one in which a comment stands": ((*SETS, "# reproducible, but slow", *SWITCHES), 0),
    "one that needs no fix": (("random.seed(seed)", *SETS, SWITCHES[0]), 2),
    "one that does something else": (
        ("print('a model with', seed, 'layers')", "net = Net(seed, seed, 0.5).cuda()", "print(net.layers[0].weight)", SWITCHES[1],
         "for layer in net.layers:", "    torch.nn.init.ones_(layer.weight)", "return net"), 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "fixed"), NEAR.values(), ids=NEAR)
def test_a_helper_that_seeds_beside_one_nearly_alike_that_nothing_calls(
    lines: tuple[str, ...], fixed: int, write
) -> None:
    files = {
        "train.py": HELPER.format(lines="\n    ".join((*SETS, *SWITCHES)), run=RUN),
        "other.py": HELPER.format(lines="\n    ".join(lines), run="").replace("class Net", "class Model")
        + "def crop(image, size):\n    top, left = image.shape[0] // size, image.shape[1] // size\n    return image[top:, left:]\n",
    }
    report = fix([write({"pyproject.toml": "", **files})], write=False)
    assert sorted(one.code for one in report.fixed) == ["TRL301", "TRL502"][:fixed]
    assert all(one.location.path.name == "train.py" for one in report.fixed)


def test_a_copy_in_another_project_of_the_repository(write) -> None:
    helper = HELPER.format(lines="\n    ".join((*SETS, *SWITCHES)), run=RUN)
    files = {".git/HEAD": "", "a/setup.py": "", "b/setup.py": "", "a/train.py": helper}
    root = write(files)
    assert len(fix([root], write=False).fixed) == 2
    write({"b/seeds.py": HELPER.format(lines="\n    ".join((*SETS, *SWITCHES)), run="")})
    assert fix([root], write=False).fixed == ()


BELOW = """\


def accuracy(output, target, largest):
    _, predicted = output.topk(max(largest), 1, True, True)
    return [predicted.t().eq(target.view(1, -1))[:k].sum() for k in largest]
"""


def test_what_stands_below_a_helper_has_no_part_in_it(write) -> None:
    """The lines around the switch have 35 % of their words in common, those of the helpers all."""
    lines = "\n    ".join(("torch.manual_seed(seed)", *SWITCHES))
    program = HELPER.format(
        lines=lines, run="seed_everything(3)\ntorch.nn.Conv2d(1, 1, 3)(torch.ones(1, 1, 4, 4)).sum().backward()"
    )
    root = write({"pyproject.toml": "", "train.py": program, "other.py": "import torch\n" + BELOW})
    assert [one.code for one in fix([root], write=False).fixed] == ["TRL301"]
    helper = HELPER.format(lines=lines, run="").partition("\n\n\nclass Net")[0].replace("seed_everything", "set_seed")
    write({"other.py": helper + BELOW})
    assert fix([root], write=False).fixed == ()


#: The same helper in another folder, and how many scripts get the seed that is missing.
SEEDED = {
    "another number": (("np.random.seed(1)", "torch.manual_seed(1)"), 0),
    "another name of the seed": (("np.random.seed(value)", "torch.manual_seed(value)"), 0),
    "the missing seed with another number": (("random.seed(1)", "np.random.seed(1)", "torch.manual_seed(1)"), 1),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "fixed"), SEEDED.values(), ids=SEEDED)
def test_a_helper_with_another_seed_in_another_folder(lines: tuple[str, ...], fixed: int, write) -> None:
    own = ("np.random.seed(42)", "torch.manual_seed(42)")
    main = "from utils import seed_everything\n\nimport random\n\nseed_everything(3)\nprint(random.random())\n"
    files = {
        "cil/train.py": main,
        "cil/utils.py": HELPER.format(lines="\n    ".join(own), run=""),
        "siw/utils.py": HELPER.format(lines="\n    ".join(lines), run="").replace("class Net", "class Model"),
    }
    report = fix([write({"pyproject.toml": "", **files})], write=False)
    assert [one.location.path.parent.name for one in report.fixed] == ["cil"] * fixed
