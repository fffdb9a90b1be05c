"""Fixes that would mend one half of something and leave the other as it is: they are unsafe, or none is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from fakes import FakeProgram, WordRule, toolkit

from torchrepro_lint.diagnostics import Applicability, Finding
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.fixes.twins import COPY_ELSEWHERE
from torchrepro_lint.halves import BESIDE_ONE_THAT_IS_LEFT

HEAD = """\
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

torch.manual_seed(3)
data = TensorDataset(torch.arange(64.0))
"""
TRAINS = """
for epoch in range(2):
    for (batch,) in loader:
        torch.nn.Linear(1, 1)(batch.unsqueeze(1)).sum().backward()
"""


def _safe(found: list[Finding], rule: str) -> list[str]:
    """The files of the findings of a rule with a safe fix."""
    return [
        one.location.path.name
        for one in found
        if one.code == rule and one.fix is not None and one.fix.applicability is Applicability.SAFE
    ]


def _found(root, profile: str = "default") -> list[Finding]:
    return list(check([root], {"profile": profile}).found)


#: How the function of the other file makes its loader, and whether the sampler's fix is safe beside it.
ORDERS = {
    "keeps the global order": ("DataLoader(data, shuffle=shuffle, **rest)  # generator=g", False),
    "gets a generator as well": ("DataLoader(data, shuffle=shuffle, sampler=sampler)", True),
    "never shuffles": ("DataLoader(data, sampler=sampler)", True),
}


@pytest.mark.parametrize(("made", "is_safe"), ORDERS.values(), ids=ORDERS)
def test_a_sampler_in_one_arm_and_the_order_in_the_other(made: str, is_safe: bool, write) -> None:
    text = f"""{HEAD}
import sys

from loaders import make

sampler = RandomSampler(data) if len(sys.argv) > 1 else None
loader = make(data, shuffle=True if sampler is None else False, sampler=sampler)
{TRAINS}"""
    parameters = "data, shuffle=True, **rest" if "rest" in made else "data, shuffle=True, sampler=None"
    loaders = f"from torch.utils.data import DataLoader\n\n\ndef make({parameters}):\n    return {made}\n"
    root = write({"pyproject.toml": "", "train.py": text, "loaders.py": loaders})
    found = _found(root, "strict")
    assert [one.location.path.name for one in found if one.code == "TRL202"] == ["train.py"]
    assert _safe(found, "TRL202") == ["train.py"] * is_safe


#: How samples are made above a loader of a program that never seeds torch, and whether the loader's fix is safe.
SAMPLES = {
    "drawn": ("torch.rand(number, 1)", "make(64)", False),
    "read": ("torch.load(number)", "make('samples.pt')", True),
    "drawn in their class": ("torch.rand(number, 1)", "Samples(64).rows", False),
}


@pytest.mark.parametrize(("rows", "made", "is_safe"), SAMPLES.values(), ids=SAMPLES)
def test_the_order_of_samples_that_are_drawn_before_the_seed(rows: str, made: str, is_safe: bool, write) -> None:
    text = f"""\
import argparse
import random

import torch
from torch.utils.data import DataLoader


def make(number):
    return {rows}


class Samples:
    def __init__(self, number):
        self.rows = make(number)


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
samples = {made}
loader = DataLoader(samples, batch_size=4, shuffle=True)
random.seed(args.seed)
model = torch.nn.Linear(1, 1)
for batch in loader:
    model(batch).sum().backward()
"""
    root = write({"pyproject.toml": "", "train.py": text})
    found = _found(root)
    assert [one.code for one in found].count("TRL201") == 1
    assert _safe(found, "TRL201") == ["train.py"] * is_safe


LISTS = """\
import os
import random

import torch

random.seed(0)
torch.manual_seed(0)


def split(folder):
    {}
    random.shuffle(names)
    return names[:4], names[4:]


print(split("images"), torch.rand(1))
"""
#: What a function lists, and how many of these listings a safe fix sorts.
LISTINGS = {
    "one": ("names = os.listdir(folder)", 1),
    "files that are given numbers for names": (
        "for at, name in enumerate(os.listdir(folder)):\n"
        "        os.rename(os.path.join(folder, name), os.path.join(folder, str(at)))\n"
        "    names = os.listdir(folder)",
        0,
    ),
    "in a loop over another, whose order decides as well": (
        "names = []\n    for part in os.listdir(folder):\n        names = os.listdir(os.path.join(folder, part))\n"
        "        random.shuffle(names)",
        1,
    ),
    "beside one that makes a list": (
        "others = os.listdir(folder + '/others')\n    print(others)\n    names = os.listdir(folder)",
        0,
    ),
    "beside one that is counted": ("print(len(os.listdir(folder)))\n    names = os.listdir(folder)", 1),
    "beside one that is sorted": (
        "others = sorted(os.listdir(folder + '/others'))\n    print(others)\n    names = os.listdir(folder)",
        1,
    ),
    "beside one that is sorted below": (
        "others = [name for name in os.listdir(folder) if name]\n    others.sort()\n    names = os.listdir(folder)",
        1,
    ),
    "beside files that are removed": (
        "for name in os.listdir(folder):\n        os.remove(name)\n    names = os.listdir(folder)",
        1,
    ),
}


@pytest.mark.parametrize(("listed", "number"), LISTINGS.values(), ids=LISTINGS)
def test_a_listing_beside_one_that_stays_unsorted(listed: str, number: int, write) -> None:
    root = write({"pyproject.toml": "", "split.py": LISTS.format(listed)})
    found = _found(root)
    assert any(one.code == "TRL207" for one in found)
    assert len(_safe(found, "TRL207")) == number


HELPERS = """\
import os
import random

import torch

random.seed(0)
torch.manual_seed(0)


def list_folders(root):
    folders = list(filter(lambda one: os.path.isdir(os.path.join(root, one)), os.listdir(root)))
    return folders


def list_files(root):
    files = {files}
    return {given}


names = list_folders("images")
random.shuffle(names)
print([list_files(name) for name in names], torch.rand(1))
"""
OTHERS = {
    "in the order of the listing": ("list(filter(str.isalnum, os.listdir(root)))", "files", 0),
    "sorted": ("sorted(os.listdir(root))", "files", 1),
    "counted": ("os.listdir(root)", "len(files)", 1),
}


@pytest.mark.parametrize(("files", "given", "number"), OTHERS.values(), ids=OTHERS)
def test_a_helper_that_lists_beside_another(files: str, given: str, number: int, write) -> None:
    root = write({"pyproject.toml": "", "split.py": HELPERS.format(files=files, given=given)})
    found = _found(root)
    assert any(one.code == "TRL207" for one in found)
    assert len(_safe(found, "TRL207")) == number


SWITCHED = """\
import os

import numpy as np
import torch
import torch.backends.cudnn as cudnn

{seed}


def main(folder, device):
    os.makedirs(folder, exist_ok=True)
    print("device", device, "folder", folder)
    cudnn.benchmark = True{comment}
    model = torch.nn.Conv2d(3, 3, 3).to(device)
    images = torch.rand(2, 3, 8, 8, device=device)
    model(images).sum().backward()


main("results", "cuda")
"""
SEEDS = "torch.manual_seed(1)\ncudnn.deterministic = True"
COPIES = {
    "a copy whose fix is unsafe": ("train_b.py", SEEDS, "  # faster", 0, None),
    "a copy without a finding": ("train_b.py", "print()", "", 0, COPY_ELSEWHERE),
    "a copy that is fixed alike": ("train_b.py", SEEDS, "", 2, None),
    "a copy that was put aside": ("train_old.py", "print()", "", 1, None),
    "a copy of a test": ("tests/test_train.py", "print()", "", 1, None),
}


@pytest.mark.parametrize(("name", "seed", "comment", "fixed", "reason"), COPIES.values(), ids=COPIES)
def test_a_copy_in_another_file(name: str, seed: str, comment: str, fixed: int, reason: str | None, write) -> None:
    first = SWITCHED.format(seed=SEEDS, comment="")
    root = write({"pyproject.toml": "", "train_a.py": first, name: SWITCHED.format(seed=seed, comment=comment)})
    result = fix([root], {"select": ("TRL301",)})
    assert len(result.changes) == fixed
    assert {one.reason for one in result.rejected} == ({reason} if reason else set())


@pytest.mark.parametrize(("name", "seed", "comment", "fixed", "reason"), COPIES.values(), ids=COPIES)
def test_a_file_is_fixed_in_one_way_whichever_are_given(
    name: str, seed: str, comment: str, fixed: int, reason: str | None, write
) -> None:
    first = SWITCHED.format(seed=SEEDS, comment="")
    root = write({"pyproject.toml": "", "train_a.py": first, name: SWITCHED.format(seed=seed, comment=comment)})
    alone = fix([root / "train_a.py"], {"select": ("TRL301",)})
    assert [change.source.path.name for change in alone.changes] == ["train_a.py"] * (fixed > 0)
    assert {one.reason for one in alone.rejected} == ({reason} if reason else set())


WORKERS = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(1)


class Images(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.tensor(float(index)) + {drawn}


def run(model, folder, device):
    print("images of", folder, "on", device)
    loader = DataLoader(Images(), batch_size=4, num_workers=2)
    for batch in loader:
        model(batch.unsqueeze(1).to(device)).sum().backward()


run(torch.nn.Linear(1, 1), "images", "cpu")
"""


@pytest.mark.parametrize("drawn", ["np.random.rand()", "1.0"])
@pytest.mark.parametrize("given", [("a.py",), ("a.py", "b.py")])
def test_workers_of_a_copy_in_another_file(drawn: str, given: tuple[str, ...], write) -> None:
    one, other = WORKERS.format(drawn="np.random.rand()"), WORKERS.format(drawn=drawn)
    root = write({"pyproject.toml": "[project]\ndependencies = ['numpy<2', 'torch==1.8']", "a.py": one, "b.py": other})
    result = fix([root / name for name in given], {"select": ("TRL101",)})
    changed = given if drawn != "1.0" else ()
    assert tuple(change.source.path.name for change in result.changes) == changed


BESIDE = f"""{HEAD}

def first():
    return DataLoader(data, batch_size=8, shuffle=True)


def several(number):
    {{several}}


loader = first()
print(*several(2))
{TRAINS}"""
LEFT = "return [DataLoader(data, batch_size=size, shuffle=True) for size in range(2, number)]"


@pytest.mark.parametrize("unsafe", [False, True])
def test_a_loader_beside_one_of_its_file_that_is_left(unsafe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": BESIDE.format(several=LEFT)})
    override = {"unsafe_fixes": True} if unsafe else {}
    result = fix([root], {"select": ("TRL201",), **override})
    text = (root / "train.py").read_text("utf-8")
    assert ("batch_size=8, shuffle=True, generator=" in text) == unsafe
    assert not result.rejected


def test_it_is_said_before_anything_is_fixed(write) -> None:
    root = write({"pyproject.toml": "", "train.py": BESIDE.format(several=LEFT)})
    found = check([root], {"select": ("TRL201",)}).findings
    assert [one.fix and one.fix.applicability for one in found] == [Applicability.UNSAFE] * 2
    root = write({"pyproject.toml": "", "train.py": BESIDE.format(several="return []")})
    found = check([root], {"select": ("TRL201",)}).findings
    assert [one.fix and one.fix.applicability for one in found] == [Applicability.SAFE]


def test_one_beside_another_whose_fix_does_not_hold(write) -> None:
    """That it would be left is known only when its fix is tried."""

    class Stubborn(WordRule):
        def check(self, program: FakeProgram) -> Iterator[Finding]:
            for finding in super().check(program):
                if finding.fix is not None and finding.location.start.row == 3:
                    edit = replace(finding.fix.edits[0], content="bad")
                    finding = replace(finding, fix=replace(finding.fix, edits=(edit,)))
                yield finding

    root = write({"a.py": "import torch\nbad\nbad\n"})
    result = fix([root], toolkit=toolkit(Stubborn("TRL101", "bad-word", "bad", "good")))
    assert (root / "a.py").read_text() == "import torch\nbad\nbad\n"
    assert BESIDE_ONE_THAT_IS_LEFT in {one.reason for one in result.rejected}


SPLIT = """\
import torch
from torch.utils.data import random_split

torch.manual_seed(1)
model = torch.nn.Linear(1, 1)
first, second = random_split(torch.arange(8.0).unsqueeze(1), [4, 4])
print(model(torch.stack(list(first))){ending})
"""


@pytest.mark.parametrize(("name", "is_safe"), [("train.py", True), ("evaluate.py", False)])
def test_what_only_evaluates_is_left_to_a_person_but_for_switches(name: str, is_safe: bool, write) -> None:
    ending = ".sum().backward()" if is_safe else ""
    text = SPLIT.format(ending=ending)
    switches = SWITCHED.format(seed=SEEDS, comment="").replace(".sum().backward()", ending)
    root = write({"pyproject.toml": "", name: text, f"{name[:-3]}_images.py": switches})
    found = _found(root, "strict")
    assert _safe(found, "TRL202") == [name] * is_safe
    assert len(_safe(found, "TRL301")) == 1


BLOCK = """import numpy as np
import torch

torch.manual_seed(1)


def loss(rows):
    return (rows * np.random.rand()).sum()
"""
IMPORTS = """import torch
from losses import loss

model = torch.nn.Linear(1, 1)
loss(model(torch.ones(2, 1))).backward()
"""
IN_ONE = BLOCK + "\n\nloss(torch.nn.Linear(1, 1)(torch.ones(2, 1))).backward()\n"


@pytest.mark.parametrize(
    ("files", "number"),
    [({"losses.py": BLOCK, "train.py": IMPORTS}, 0), ({"train.py": IN_ONE}, 1)],
    ids=["in a file that is imported", "in the program"],
)
def test_seeds_that_a_module_sets(files: dict[str, str], number: int, write) -> None:
    root = write({"pyproject.toml": "", **files})
    found = _found(root)
    assert any(one.code == "TRL502" for one in found)
    assert len(_safe(found, "TRL502")) == number


#: Where a program seeds torch with its option, and whether the fix of the loader above is safe.
SEEDINGS = {
    "above": ("torch.manual_seed(args.seed)", "", True),
    "below": ("", "torch.manual_seed(args.seed)", True),
    "below, where one is given": ("", "if args.seed is not None:\n    torch.manual_seed(args.seed)", False),
    "below, but for one that is false": ("", "if args.seed:\n    torch.manual_seed(args.seed)", False),
    "but for one number": ("if args.seed:\n    torch.manual_seed(args.seed)", "", None),
    "below, but for one number": (
        "",
        "if args.seed == 0:\n    print()\nelse:\n    torch.manual_seed(args.seed)",
        False,
    ),
    "another generator alone": ("random.seed(args.seed)", "", True),
}


@pytest.mark.parametrize(("above", "below", "is_safe"), SEEDINGS.values(), ids=SEEDINGS)
def test_a_loader_that_is_made_before_torch_is_seeded(above: str, below: str, is_safe: bool | None, write) -> None:
    text = f"""\
import argparse
import random

import torch
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
{above}
loader = DataLoader(torch.load("samples.pt"), batch_size=4, shuffle=True)
{below}
model = torch.nn.Linear(1, 1)
for batch in loader:
    model(batch).sum().backward()
"""
    root = write({"pyproject.toml": "", "train.py": text})
    found = _found(root)
    assert [one.code for one in found].count("TRL201") == 1
    if is_safe is not None:
        assert _safe(found, "TRL201") == ["train.py"] * is_safe


CLASS = """import os
import random

import torch


class Images:
    def __init__(self, folder):
        super(Images, self).__init__()
        self.names = os.listdir(folder)
        random.shuffle(self.names)

    @staticmethod
    def size():
        return 4
"""
USES = """import random

import torch
from images import Images

random.seed(0)
torch.manual_seed(0)
model = torch.nn.Linear({used}, 1)
model(torch.rand(2, 4)).sum().backward()
"""


@pytest.mark.parametrize(("used", "is_safe"), [("len(Images('train').names)", True), ("Images.size()", False)])
def test_a_class_of_which_no_object_is_made(used: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "images.py": CLASS, "train.py": USES.format(used=used)})
    found = list(check([root], {"select": ("TRL207",)}).findings)
    assert [one.code for one in found] == ["TRL207"]
    assert _safe(found, "TRL207") == ["images.py"] * is_safe


BOTH = f"""{HEAD}
model = torch.nn.Linear(1, 1)


def train():
    loader = DataLoader(data, batch_size=4, shuffle=True)
    other = {{other}}
    for (batch,) in loader:
        model(batch.unsqueeze(1)).sum().backward()
    for (batch,) in other:
        model(batch.unsqueeze(1)).sum().backward()


train()
"""
OTHERS_BESIDE = {
    "of its own": ("DataLoader(data, batch_size=8, shuffle=True)", 2),
    "in another call": ("iter(DataLoader(data, batch_size=8, shuffle=True))", 0),
}


@pytest.mark.parametrize(("other", "number"), OTHERS_BESIDE.values(), ids=OTHERS_BESIDE)
def test_a_number_that_tells_the_second_loader_apart(other: str, number: int, write) -> None:
    root = write({"pyproject.toml": "", "train.py": BOTH.format(other=other)})
    found = _found(root)
    assert [one.code for one in found].count("TRL201") == 2
    assert len(_safe(found, "TRL201")) == number


AGAIN = f"""{HEAD}

def set_seed(seed, deterministic=False):
    torch.manual_seed(seed)


def train(seed):
    {{above}}
    loader = DataLoader(data, batch_size=8, shuffle=True)
    {{below}}
    for (batch,) in loader:
        torch.nn.Linear(1, 1)(batch.unsqueeze(1)).sum().backward()


train(5)
"""
# What stands below a loader, and the seed of its generator.
SEEDED_BELOW = {
    "with another seed": ("torch.manual_seed(seed + 1)", "seed + 1"),
    "with the same one": ("torch.manual_seed(1234)", "torch.initial_seed()"),
    "not at all": ("print(seed)", "torch.initial_seed()"),
    "with another seed, through a helper": ("set_seed(seed + 1)", "seed + 1"),
    "with another seed, by its name": ("set_seed(deterministic=True, seed=seed + 1)", "seed + 1"),
    "with the same one, through a helper": ("set_seed(1234)", "torch.initial_seed()"),
}


@pytest.mark.parametrize("above", ["torch.manual_seed(1234)", "set_seed(1234)"])
@pytest.mark.parametrize(("below", "seed"), SEEDED_BELOW.values(), ids=SEEDED_BELOW)
def test_a_loader_between_two_seeds(below: str, seed: str, above: str, write) -> None:
    root = write({"pyproject.toml": "", "train.py": AGAIN.format(above=above, below=below)})
    found = list(check([root], {"select": ("TRL201",)}).findings)
    assert [one.code for one in found] == ["TRL201"]
    assert _safe(found, "TRL201") == ["train.py"]
    assert any(f"manual_seed({seed})" in edit.content for edit in found[0].fix.edits)


#: What seeds torch below a loader with another seed, which the fix cannot take, in a script and in a function.
SEEDED_OTHERWISE = {
    "a number in a script": ("torch.manual_seed(7)", ""),
    "a helper in a script": ("set_seed(7)", ""),
    "a helper that is handed nothing": ("set_seed()", ""),
    "a helper of another name": ("prepare(7)", ""),
    "a helper in a script, handed what it seeds with above": ("set_seed(3)", "safe"),
}


@pytest.mark.parametrize(("below", "safety"), SEEDED_OTHERWISE.values(), ids=SEEDED_OTHERWISE)
def test_a_loader_above_another_seed(below: str, safety: str, write) -> None:
    text = f"""{HEAD}

def set_seed(seed=9):
    torch.manual_seed(seed)


def prepare(seed):
    torch.manual_seed(seed)


loader = DataLoader(data, batch_size=8, shuffle=True)
{below}
{TRAINS}"""
    root = write({"pyproject.toml": "", "train.py": text})
    found = list(check([root], {"select": ("TRL201",)}).findings)
    assert [one.code for one in found] == ["TRL201"]
    assert _safe(found, "TRL201") == ["train.py"] * (safety == "safe")


ARMS = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(1)


class Images(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.tensor(float(index)) + np.random.rand()


def make(data, size, **options):
    if size is None:
        return DataLoader({other}, shuffle=True, **options)
    return DataLoader(data, batch_size=size, num_workers=2)


for batch in make(Images(), 4):
    torch.nn.Linear(1, 1)(batch.float().unsqueeze(1)).sum().backward()
"""


@pytest.mark.parametrize(("other", "is_safe"), [("data", False), ("[1.0]", True)])
def test_workers_of_a_loader_of_the_same_data(other: str, is_safe: bool, write) -> None:
    files = {"pyproject.toml": "[project]\ndependencies = ['torch==1.8']", "train.py": ARMS.format(other=other)}
    found = list(check([write(files)], {"select": ("TRL101",)}).findings)
    assert [one.code for one in found] == ["TRL101"]
    assert _safe(found, "TRL101") == ["train.py"] * is_safe


@pytest.mark.parametrize(("folder", "is_safe"), [("runs_500", False), ("small", True)])
def test_what_a_run_was_made_with(folder: str, is_safe: bool, write) -> None:
    text = SWITCHED.format(seed=SEEDS, comment="")
    found = _found(write({"pyproject.toml": "", "train.py": text, f"{folder}/train.py": text}))
    assert [one.code for one in found].count("TRL301") == 2
    assert len(_safe(found, "TRL301")) == 1 + is_safe


RESUMED = f"""{HEAD}
loader = DataLoader(data, batch_size=8, shuffle=True)
checkpoint = torch.load("last.pt")
{{restored}}
for (batch,) in loader:
    torch.nn.Linear(1, 1)(batch.unsqueeze(1)).sum().backward()
torch.save({{{{"rng": torch.get_rng_state()}}}}, "last.pt")
"""
RESTORED = {
    "torch": ('torch.set_rng_state(checkpoint["rng"])', False),
    "CUDA alone": ('torch.cuda.set_rng_state(checkpoint["rng"])', True),
    "nothing": ("print(checkpoint)", True),
}


@pytest.mark.parametrize(("restored", "is_safe"), RESTORED.values(), ids=RESTORED)
def test_a_loader_of_a_program_that_restores_the_state(restored: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": RESUMED.format(restored=restored)})
    found = list(check([root], {"select": ("TRL201",)}).findings)
    assert [one.code for one in found] == ["TRL201"]
    assert _safe(found, "TRL201") == ["train.py"] * is_safe


#: Settings that ask for an order that repeats as it is, too.
ASKED = "[tool.torchrepro-lint]\nextend-select = ['TRL201']"
ONE_ORDER = f"""{HEAD}
loader = DataLoader(data, batch_size=4, shuffle=True)
{TRAINS}"""
#: The same, and an option says how often an evaluation draws from the generator of the order; its runs, by commands.
MOVED_ORDER = f"""\
import os

{ONE_ORDER}
    if epoch % int(os.environ["EVERY"]) == 0:
        for (batch,) in DataLoader(data):
            print(batch)
"""
MOVED_RUNS = {"run.sh": "EVERY=1 python train.py\nEVERY=5 python train.py\n"}
OF_CROPS = """\
import torch
from torch.utils.data import DataLoader, RandomSampler, Subset, TensorDataset

{seed}
crops = TensorDataset(torch.arange(64.0))
model = torch.nn.Linear(1, 1)


def run({parameters}):
    batches = {made}
    for (crop,) in batches:
        {step}


{call}
"""
SEEDS_TORCH = "torch.manual_seed(5)"
STEP = "model(crop.unsqueeze(1)).sum().backward()"
STEPS = f"optimizer.zero_grad(); {STEP}; optimizer.step()"
#: Another file of the project (what it makes, its parameters, what it seeds with, what is done with each batch), and
#: how many of the two loaders a safe fix mends.
ELSEWHERE = {
    "a script in other words that seeds nothing": ("finetune.py", "DataLoader(crops, 8, True)", "", "", STEP, 0),
    "one that seeds": ("finetune.py", "DataLoader(crops, 8, True)", "", SEEDS_TORCH, STEP, 2),
    "one that may shuffle": ("finetune.py", "DataLoader(crops, 8, shuffle=shuffle)", "shuffle", "", STEP, 0),
    "one with a generator": (
        "finetune.py", "DataLoader(crops, 8, True, generator=torch.Generator().manual_seed(7))", "", "", STEP, 1,
    ),
    "one that keeps the order": ("finetune.py", "DataLoader(crops, 8)", "", "", STEP, 1),
    "one with a sampler": ("finetune.py", "DataLoader(crops, 8, sampler=range(64))", "", "", STEP, 1),
    "one with a random sampler": (
        "finetune.py", "DataLoader(crops, 8, sampler=RandomSampler(crops))", "", "", STEP, 0,
    ),
    "one that is given the keywords": ("finetune.py", "DataLoader(crops, **options)", "**options", "", STEP, 1),
    "one of an evaluation": ("evaluate.py", "DataLoader(crops, 8, True)", "", "", "model(crop.unsqueeze(1))", 1),
    "one of a test": ("tests/test_run.py", "DataLoader(crops, 8, True)", "", "", STEP, 1),
    "one of others": ("third_party/run.py", "DataLoader(crops, 8, True)", "", "", STEP, 1),
    "one of the documentation": ("docs/run.py", "DataLoader(crops, 8, True)", "", "", STEP, 1),
    "one in any folder": ("void/run.py", "DataLoader(crops, 8, True)", "", "", STEP, 0),
    "one that was put aside": ("old/run.py", "DataLoader(TensorDataset(crops[:8]), 8, True)", "", "", STEP, 1),
    "one in the same words that was put aside": (
        "old/run.py", "DataLoader(crops, batch_size=4, shuffle=True)", "", "", STEP, 0,
    ),
    "one that is to stay": ("finetune.py", "DataLoader(crops, 8, True)  # noqa: TRL201", "", SEEDS_TORCH, STEP, 1),
    "one of Python 2": ("finetune.py", "DataLoader(crops, 8, shuffle=True)", "", "", f"print crop; {STEP}", 0),
    "one of Python 2 that keeps the order": (
        "finetune.py", "DataLoader(crops, 8, shuffle = False)", "", "", f"print crop; {STEP}", 1,
    ),
}  # fmt: skip


def _with_crops(row: tuple[str, str, str, str, str, int]) -> dict[str, str]:
    name, made, parameters, seed, step, _ = row
    call = "" if parameters else "run()"
    other = OF_CROPS.format(made=made, parameters=parameters, seed=seed, step=step, call=call)
    if name == "evaluate.py":  # whose settings do not ask for its own order
        return {"pyproject.toml": "", "train.py": MOVED_ORDER, name: other, **MOVED_RUNS}
    return {"pyproject.toml": ASKED, "train.py": ONE_ORDER, name: other}


@pytest.mark.parametrize("row", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize("given", ["all", "one"])
def test_a_loader_of_another_file_that_keeps_the_global_order(row, given: str, write) -> None:
    root = write(_with_crops(row))
    found = list(check([root if given == "all" else root / "train.py"]).found)
    mine = [one for one in found if one.code == "TRL201" and one.location.path.name == "train.py"]
    assert len(mine) == 1
    assert mine[0].fix is not None
    is_safe = mine[0].fix.applicability is Applicability.SAFE
    assert is_safe == (row[-1] > 0)
    if given == "all":
        assert len(_safe(found, "TRL201")) == row[-1]
    if not is_safe:
        assert (mine[0].fix.unsafe_because or "").startswith("another ")
        assert f"({row[0]}:" in (mine[0].fix.unsafe_because or "")


@pytest.mark.parametrize("row", ELSEWHERE.values(), ids=ELSEWHERE)
def test_nothing_is_changed_beside_such_a_loader(row, write) -> None:
    root = write(_with_crops(row))
    result = fix([root], write=False)
    assert ("train.py" in [one.source.path.name for one in result.changes]) == (row[-1] > 0)


VALID = f"""{HEAD}
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
train_loader = DataLoader(data, batch_size=4, shuffle=True)
{{names}} = DataLoader(data, batch_size=8, shuffle=True)


def run(batches, trains):
    for (batch,) in batches:
        loss = model(batch.unsqueeze(1)).sum()
        {{step}}


for (batch,) in train_loader:
    optimizer.zero_grad()
    model(batch.unsqueeze(1)).sum().backward()
    optimizer.step()
{{uses}}
"""
LOOP = "for (batch,) in {}:\n    loss = model(batch.unsqueeze(1)).sum()\n    {}"
#: What a loader is called, what a function does with its batches and where it is used, and whether it is trained with.
TRAINED = {
    "in a loop": ("valid_loader", "pass", LOOP.format("valid_loader", "loss.backward(); optimizer.step()"), True),
    "in a loop that counts": ("valid_loader", "pass", LOOP.format("enumerate(valid_loader)", "print(loss)"), False),
    "gradients alone": ("valid_loader", "pass", LOOP.format("valid_loader", "loss.backward()"), False),
    "in a function": ("valid_loader", "loss.backward(); optimizer.step()", "run(valid_loader, True)", True),
    "in a function that may step": (
        "valid_loader",
        "if trains:\n            optimizer.step()",
        "run(valid_loader, False)",
        False,
    ),
}


@pytest.mark.parametrize(("names", "step", "uses", "is_trained"), TRAINED.values(), ids=TRAINED)
def test_a_loader_of_an_evaluation_that_is_trained_with(
    names: str, step: str, uses: str, is_trained: bool, write
) -> None:
    root = write({"pyproject.toml": "", "train.py": VALID.format(names=names, step=step, uses=uses)})
    found = _found(root)
    assert [one.code for one in found].count("TRL201") == 1 + is_trained


DRAWING = """\
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(3)


class Noisy(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.rand(1) + index


def several(number):
    return [DataLoader(Noisy(), batch_size=size, num_workers=2) for size in range(2, number)]


loader = DataLoader(Noisy(), batch_size=8, shuffle=True)
for batch in [*loader, *several({number})[0]]:
    torch.nn.Linear(1, 1)(batch).sum().backward()
"""


def test_a_loader_beside_one_that_is_left_beside_another(write) -> None:
    """The workers of one loader keep the safe fix of the next from being made, and that one those of other files."""
    files = {"pyproject.toml": "", "train.py": ONE_ORDER, "noisy.py": DRAWING.format(number=4)}
    found = list(check([write(files)], {"select": ("TRL201",)}).findings)
    assert len(found) == 3
    assert not _safe(found, "TRL201")


NOISE = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(9)


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((1,), np.random.normal() + index)


noise = DataLoader(Noise(), num_workers=4{comment}
for rows in noise:
    torch.nn.Linear(1, 1)(rows.float()).sum().backward()
"""
#: What stands behind a loader whose workers draw, and how many loaders of the project a safe fix mends.
LEFT_OUT = {"nothing": (")", 2), "what its author left out": (")  # , worker_init_fn=seed_worker)", 0)}


@pytest.mark.parametrize(("comment", "number"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_workers_beside_those_of_another_file_that_are_left(comment: str, number: int, write) -> None:
    metadata = "[project]\ndependencies = ['numpy<2', 'torch==1.8']"
    one, other = WORKERS.format(drawn="np.random.rand()"), NOISE.format(comment=comment)
    root = write({"pyproject.toml": metadata, "a.py": one, "noise.py": other})
    found = list(check([root], {"select": ("TRL101",)}).findings)
    assert len(found) == 2
    assert len(_safe(found, "TRL101")) == number
    if not number:
        assert found[0].fix.unsafe_because == "no safe fix mends another one of the project (noise.py:16)"


#: What the `__main__` block of a module does from which a program imports.
OF_MODULES = {"it trains": "model(crop.unsqueeze(1)).sum().backward()", "it looks": "print(crop)"}


@pytest.mark.parametrize("settings", ["", ASKED])
@pytest.mark.parametrize("step", OF_MODULES.values(), ids=OF_MODULES)
def test_a_loader_of_a_module_that_is_a_program_as_well(step: str, settings: str, write) -> None:
    """Its order repeats, so that the default profile leaves it; who selects the rule gets no fewer fixes."""
    call = 'if __name__ == "__main__":\n    run()'
    made = "DataLoader(crops, 8, True)"
    module = OF_CROPS.format(made=made, parameters="", seed="", step=step, call=call)
    root = write(
        {
            "pyproject.toml": settings,
            "train.py": f"from crops import model\n{MOVED_ORDER}",
            "crops.py": module,
            **MOVED_RUNS,
        }
    )
    assert "train.py" in _safe(_found(root), "TRL201")
