"""Fixes that are right and that a maintainer would still not merge unread: they are unsafe, or none is offered."""

from __future__ import annotations

from textwrap import dedent

import pytest
from notebooks import notebook

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.fixes import to_be_read

HEAD = """\
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(3)
data = TensorDataset(torch.arange(64))
"""
#: Programs, and how many fixes of theirs are unsafe.
UNSAFE = {
    "a seed that is drawn for each loader of a dict": (
        """
        loaders = {name: DataLoader(data, batch_size=size, shuffle=True) for name, size in (("a", 2), ("b", 4))}
        print([list(one) for one in loaders.values()])
        """,
        1,
    ),
    "a function that makes two loaders which shuffle": (
        """
        def make(size):
            return DataLoader(data, batch_size=size, shuffle=True)


        small, large = make(2), make(4)
        print(*zip(small, large))
        """,
        1,
    ),
    "an argument that its author has commented out": (
        """
        loader = DataLoader(data, batch_size=2, shuffle=True)  # , generator=torch.Generator().manual_seed(3))
        print(*loader)
        """,
        1,
    ),
    "two loaders under one name": (
        """
        loader = DataLoader(data, batch_size=2, shuffle=True)
        print(*loader)
        loader = DataLoader(data, batch_size=4, shuffle=True)
        print(*loader)
        """,
        2,
    ),
    "a rank that has to be asked for": (
        """
        from lightning.pytorch import LightningModule, Trainer


        class Noisy(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return index + torch.rand(1)


        class Net(LightningModule):
            def train_dataloader(self):
                return DataLoader(Noisy(), batch_size=2, num_workers=2)


        Trainer(devices=2, strategy="ddp").fit(Net())
        """,
        1,
    ),
}


UNSAFE["a number that tells loaders of two functions apart"] = (
    """
    def train():
        return DataLoader(data, batch_size=2, shuffle=True)


    def pretrain():
        return DataLoader(data, batch_size=4, shuffle=True)


    for pair in zip(train(), pretrain()):
        print(pair)
    """,
    2,  # the other one is one half
)


UNSAFE["a number below a split that has a generator of its own"] = (
    """
    from torch.utils.data import random_split


    def make(shuffle):
        return DataLoader(data, batch_size=2, shuffle=shuffle)


    def split():
        generator = torch.Generator().manual_seed(5)
        first, second = random_split(data, [32, 32], generator=generator)
        return DataLoader(first, batch_size=4, shuffle=True)


    for pair in zip(make(True), split()):
        print(pair)
    """,
    2,  # the other one is one half
)


UNSAFE["one of two trainings in the same words, of which the other runs in each epoch"] = (
    """
    def plain(data):
        loader = DataLoader(data, batch_size=2, shuffle=True)
        print(*loader)


    class Robust:
        def train(self, data):
            loader = DataLoader(data, batch_size=2, shuffle=True)
            print(*loader)


    plain(data)
    for epoch in range(3):
        Robust().train(data)
    """,
    1,
)


UNSAFE["for its workers alone, beside a loader with a sampler"] = (
    """
    class Noisy(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index + torch.rand(1)


    class Turns(torch.utils.data.Sampler):
        def __init__(self, data):
            self.data = data

        def __iter__(self):
            return iter(torch.randperm(len(self.data)).tolist())

        def __len__(self):
            return len(self.data)


    labelled = DataLoader(Noisy(), sampler=Turns(Noisy()), num_workers=2)
    unlabelled = DataLoader(Noisy(), batch_size=1, num_workers=2)
    for pair in zip(labelled, unlabelled):
        print(pair)
    """,
    1,
)


@pytest.mark.parametrize("name", UNSAFE)
def test_what_is_not_merged_unread_is_unsafe(name: str, write) -> None:
    program, number = UNSAFE[name]
    root = write({"pyproject.toml": "", "train.py": HEAD + dedent(program)})
    found = [one.fix for one in check([root], {"select": ("TRL201",)}).findings if one.fix is not None]
    assert [one.applicability for one in found].count(Applicability.UNSAFE) == number


def test_a_sampler_in_the_call_of_a_loader_that_has_a_generator(write) -> None:
    program = """
        from torch.utils.data import RandomSampler

        ours = torch.Generator().manual_seed(4)
        loader = DataLoader(data, batch_size=2, sampler=RandomSampler(data), generator=ours)
        print(*loader)
        """
    root = write({"pyproject.toml": "", "train.py": HEAD + dedent(program)})
    found = [one.fix for one in check([root], {"profile": "strict"}).findings if one.code == "TRL202"]
    assert [one.applicability for one in found if one is not None] == [Applicability.UNSAFE]


#: Files in which nobody asks for a change.
PUT_ASIDE = [
    "old/train.py",
    "trash/net/train.py",
    "net/train_backup.py",
    "net/train copy.py",
    "some-project-master/main.py",
]
SHUFFLED = f"{HEAD}for batch in DataLoader(data, batch_size=2, shuffle=True):\n    print(batch)\n"
IN_OTHER_WORDS = f"{HEAD}rows = data\nfor batch in DataLoader(list(rows), 7, True):\n    print(batch)\n"


#: An order that an option moves.
MOVED = f"""\
import os

{HEAD}loader = DataLoader(data, batch_size=2, shuffle=True)
for epoch in range(2):
    for batch in loader:
        print(batch)
    if epoch % int(os.environ["EVERY"]) == 0:
        for batch in DataLoader(data):
            print(batch)
"""


@pytest.mark.parametrize("file", PUT_ASIDE)
def test_nothing_is_fixed_in_what_was_put_aside(file: str, write) -> None:
    runs = "EVERY=1 python train.py\nEVERY=2 python train.py\n"
    root = write({"pyproject.toml": "", "train.py": MOVED, "run.sh": runs, file: IN_OTHER_WORDS})
    assert [one.location.path for one in fix([root]).fixed] == [root / "train.py"]


CLOCK = f"from time import perf_counter\n{SHUFFLED}print(perf_counter())\n"


@pytest.mark.parametrize(
    ("file", "text", "is_safe"),
    [
        ("docs/tutorials/first_steps.py", SHUFFLED, False),
        ("benchmarks/imagenet/main.py", SHUFFLED, True),
        ("benchmarks/loading.py", CLOCK, False),
        ("bench_loading.py", CLOCK, False),
        ("train.py", CLOCK, True),
    ],
)
def test_what_is_read_or_measures_times_is_left_to_a_person(file: str, text: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", file: text})
    (one,) = check([root], {"select": ("TRL201",)}).findings
    assert one.fix is not None and (one.fix.applicability is Applicability.SAFE) is is_safe


CUBLAS = """
import torch

torch.use_deterministic_algorithms(True)
model = torch.nn.Linear(2, 2).to("cuda" if torch.cuda.is_available() else "cpu")
print(model)
"""


@pytest.mark.parametrize(
    ("file", "is_safe"),
    [
        ("examples/training/plot_first_steps.py", False),
        ("examples/training/first_steps.py", True),
        ("training/plot_first_steps.py", True),
    ],
)
def test_pages_of_a_gallery_are_left_to_a_person(file: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", file: CUBLAS})
    (one,) = check([root], {"select": ("TRL303",)}).findings
    assert one.fix is not None and (one.fix.applicability is Applicability.SAFE) is is_safe


LOOKS_AT_SAMPLES = """
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index


if __name__ == "__main__":
    for batch in DataLoader(Noisy(), batch_size=2, shuffle=True):
        print(batch)
"""
TRAINS = "import torch\n\ntorch.ones(1, requires_grad=True).sum().backward()\n"


@pytest.mark.parametrize(
    ("name", "beside", "is_safe"),
    [("samples.py", TRAINS, False), ("samples.py", "", True), ("train.py", TRAINS, True)],
)
def test_a_file_that_looks_at_some_samples_is_left_to_a_person(name: str, beside: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", name: LOOKS_AT_SAMPLES, "net.py": beside})
    (one,) = check([root], {"select": ("TRL201",)}).findings
    assert one.fix is not None and (one.fix.applicability is Applicability.SAFE) is is_safe


@pytest.mark.parametrize(("count", "is_safe"), [(3, True), (4, False)])
def test_what_experiments_were_run_with_is_left_to_a_person(count: int, is_safe: bool, write) -> None:
    kept = {f"experiments/{number}/main.py": SHUFFLED for number in range(count)}
    root = write({"pyproject.toml": "", "data.py": "", **kept})
    found = [one.fix for one in check([root], {"select": ("TRL201",)}).findings]
    assert len(found) == count
    assert all(one is not None and (one.applicability is Applicability.SAFE) is is_safe for one in found)


SWITCHES = """
import torch


def seed(number):
    torch.manual_seed(number)
    torch.backends.cudnn.deterministic = True


seed(0)
torch.backends.cudnn.deterministic = False
"""


@pytest.mark.parametrize("for_speed", [False, True])
def test_both_switches_for_speed_are_left_to_a_person(for_speed: bool, write) -> None:
    switch = "torch.backends.cudnn.benchmark = True\n" if for_speed else ""
    text = SWITCHES.replace("seed(0)\n", f"seed(0)\n{switch}")
    root = write({"pyproject.toml": "", "train.py": text})
    (one,) = check([root], {"select": ("TRL302",)}).findings
    assert one.fix is not None and (one.fix.applicability is Applicability.UNSAFE) is for_speed


CLIPS = """
import os
import random

import numpy as np
import torch

np.random.seed(0)
chosen = []
for name in sorted(os.listdir("clips")):
    clips = os.listdir(os.path.join("clips", name))
    chosen.append(random.choice(clips))
print(torch.from_numpy(np.random.rand(2)), chosen)
"""


@pytest.mark.parametrize(("seeds", "is_safe"), [("", False), ("random.seed(0)\n", True)])
def test_a_listing_is_sorted_unread_where_the_choice_has_a_seed(seeds: str, is_safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "choose.py": CLIPS.replace("np.random.seed", f"{seeds}np.random.seed")})
    (one,) = check([root], {"select": ("TRL207",)}).findings
    assert one.fix is not None and (one.fix.applicability is Applicability.SAFE) is is_safe


SELF_TEST = f"""{HEAD}
if __name__ == "__main__":
    for batch in DataLoader(data, batch_size=2, shuffle=True):
        print(batch)
"""


def test_a_module_that_tries_itself_out_is_left_alone(write) -> None:
    root = write({"pyproject.toml": "", "main.py": "import images\n", "images.py": SELF_TEST})
    (one,) = check([root], {"select": ("TRL201",)}).findings
    assert one.fix is not None and one.fix.applicability is Applicability.UNSAFE


SAMPLERS = """
    first = Shuffled(data)
    second = Shuffled(data)
    train_loader = DataLoader(Noisy(), sampler=first, num_workers=2)
    extra_loader = DataLoader(Noisy(), sampler=second, num_workers=2)
    return train_loader, extra_loader
"""


def test_seeds_of_workers_are_counted_without_the_samplers(write, monkeypatch) -> None:
    monkeypatch.setattr(to_be_read, "MAX_UNREAD", 4)
    text = f"""{HEAD}import numpy as np
from torch.utils.data import RandomSampler as Shuffled


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.rand()


def make():
{SAMPLERS.strip(chr(10))}


train, valid = make()
print(*train, *valid)
"""
    root = write({"pyproject.toml": "", "main.py": text})
    fix([root], {"select": ("TRL101",), "target_torch": ">=1.6", "unsafe_fixes": True})
    fixed = (root / "main.py").read_text(encoding="utf-8")
    assert "train_generator.manual_seed(torch.initial_seed())" in fixed
    assert "extra_generator.manual_seed(torch.initial_seed() + 1)" in fixed


LIT = """\
import sys

import torch

torch.manual_seed(3)
torch.backends.cudnn.deterministic = True
notes = sys.argv
"""
#: What stands around the switch, and says that it is on.
TOLD = {
    "in a list": ("torch.backends.cudnn.benchmark = True\nnotes.append('cuDNN benchmark enabled')", True),
    "in a log": (
        "if torch.cuda.is_available():\n    torch.backends.cudnn.benchmark = True\n    print('benchmark on')",
        True,
    ),
    "above the if": ("# Find the fastest kernels.\nif notes:\n    torch.backends.cudnn.benchmark = True", True),
    "nowhere": ("if notes:\n    torch.backends.cudnn.benchmark = True\n    print('ready')", False),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_switch_that_the_program_tells_of_is_left_to_a_person(name: str, write) -> None:
    text, is_left = TOLD[name]
    root = write({"pyproject.toml": "", "train.py": f"{LIT}{text}\n"})
    (one,) = check([root], {"select": ("TRL301",)}).findings
    assert one.fix is not None
    assert (one.fix.applicability is Applicability.UNSAFE) == is_left


COUNTED = f"""{HEAD}
def tried():
    loaders = [DataLoader(data, batch_size=size, shuffle=True) for size in (2, 4)]
    return loaders


def trained():
    return DataLoader(data, batch_size=8, shuffle=True)


small, large = tried()
print(*zip(small, large, trained()))
"""


def test_a_safe_fix_does_not_count_the_others(write) -> None:
    """The number in a seed would be a riddle where the generator with the one before is not written."""
    root = write({"pyproject.toml": "", "main.py": COUNTED})
    found = [one.fix for one in check([root], {"select": ("TRL201",)}).findings]
    contents = [edit.content for one in found if one is not None for edit in one.edits]
    assert any("g.manual_seed(torch.initial_seed())\n" in one for one in contents)


HALF = f"""{HEAD}
def make(parts):
    whole = DataLoader(data, batch_size=8, shuffle=True)
    loaders = [DataLoader(part, batch_size=2, shuffle=True) for part in parts]
    return whole, loaders


print([list(one) for one in make([data, data])[1]])
"""
OF_AN_OBJECT = f"""{HEAD}from torch.utils.data import RandomSampler


class Trainer:
    def __init__(self, parts):
        self.parts = parts

    def loaders(self):
        first = RandomSampler(self.parts[0])
        second = RandomSampler(self.parts[1])
        third = RandomSampler(self.parts[2])
        return [DataLoader(data, sampler=one) for one in (first, second, third)]

    def fit(self):
        for epoch in range(3):
            print([list(one) for one in self.loaders()])


Trainer([data, data, data]).fit()
"""
#: Programs of which some loaders or samplers would be left, or many seeded, in one function or constructor.
LEFT = {"half of a function": (HALF, "TRL201"), "three samplers of an object": (OF_AN_OBJECT, "TRL202")}


@pytest.mark.parametrize("name", LEFT)
def test_a_function_is_fixed_as_a_whole_and_with_few_generators(name: str, write) -> None:
    program, rule = LEFT[name]
    root = write({"pyproject.toml": "", "main.py": program})
    found = check([root], {"select": (rule,)}).findings
    assert found
    assert not [one for one in found if one.fix is not None and one.fix.applicability is Applicability.SAFE]


def test_what_a_script_keeps_is_no_training(write) -> None:
    noisy = f"{HEAD}\n\nclass Noisy(Dataset):\n    def __len__(self):\n        return 8\n\n    def __getitem__(self, index):\n"
    text = (
        noisy
        + "        return index + torch.rand(1)\n\n\nfor batch in DataLoader(Noisy(), num_workers=2):\n    print(batch)\n"
    )
    root = write({"pyproject.toml": "", "save_features.py": text, "learn.py": text})
    assert [one.location.path.name for one in check([root]).untold if one.code == "TRL201"] == ["learn.py"]


CHOSEN = """\
import random

import torch


def parts(names, seed):
    random.seed(seed)
    random.shuffle(names)
    cut = len(names) // 2
    print(torch.rand(3))
    return names[:cut], names[cut:]


def main():
    print(parts(["a", "b", "c"], 3))
    print(torch.nn.Linear(2, 2).weight)


if __name__ == "__main__":
    main()
"""


def test_the_only_seed_of_a_function_that_shuffles_is_left_alone(write) -> None:
    root = write({"pyproject.toml": "", "main.py": CHOSEN})
    found = check([root], {"select": ("TRL502",)}).findings
    assert not [one for one in found if one.fix is not None and one.fix.applicability is Applicability.SAFE]


def test_the_only_seed_of_a_cell_that_chooses_is_left_alone(write) -> None:
    cells = (
        "import numpy as np\nimport torch",
        "np.random.seed(3)\nclasses = np.arange(10)\nnp.random.shuffle(classes)",
        "model = torch.nn.Linear(2, 2)\nmodel(torch.ones(2)).sum().backward()\nprint(model.weight.grad, classes)",
    )
    root = write({"pyproject.toml": "", "train.ipynb": notebook(*cells)})
    found = check([root], {"select": ("TRL502",)}).findings
    assert [one.fix.applicability for one in found if one.fix is not None] == [Applicability.UNSAFE]


COPIED = """\
import torch
from torch.utils.data import DataLoader


def build_dataloader(data):
    return DataLoader(data, batch_size=2, shuffle=True)
"""
TRAINS = """\
import torch

from mmseg.datasets import build_dataloader

torch.manual_seed(3)
print(*build_dataloader(torch.arange(8)))
"""


@pytest.mark.parametrize(
    ("name", "applicability"), [("paper", Applicability.UNSAFE), ("mmsegmentation", Applicability.SAFE)]
)
def test_a_copy_of_a_library_is_left_as_it_is(name: str, applicability: Applicability, write) -> None:
    """The library's own project may be changed."""
    files = {"train.py": TRAINS, "mmseg/__init__.py": "", "mmseg/datasets.py": COPIED}
    root = write({"pyproject.toml": f'[project]\nname = "{name}"\n', **files})
    found = [one.fix for one in check([root], {"select": ("TRL201",)}).findings]
    assert [one.applicability for one in found if one is not None] == [applicability]


@pytest.mark.parametrize("number", [3, 20])
def test_a_folder_with_a_common_word_for_a_name_is_a_copy_if_it_is_large(number: int, write) -> None:
    files = {"train.py": TRAINS.replace("mmseg", "lightning"), "lightning/datasets.py": COPIED}
    modules = {f"lightning/module_{one}.py": "" for one in range(number)}
    root = write({"pyproject.toml": "", "lightning/__init__.py": "", **files, **modules})
    found = [one.fix for one in check([root], {"select": ("TRL201",)}).findings]
    assert [one.applicability is Applicability.SAFE for one in found if one is not None] == [number == 3]


@pytest.mark.parametrize("folder", ["mmseg", "references/parts-main", "third_party/parts", "old_parts", "licensed"])
def test_another_project_within_one_is_left_as_it_is(folder: str, write) -> None:
    inner = {f"{folder}/setup.py": 'from setuptools import setup\n\nsetup(name="parts")\n'}
    trains = TRAINS.replace("mmseg", "parts")
    files = {f"{folder}/train.py": trains, f"{folder}/parts/__init__.py": "", f"{folder}/parts/datasets.py": COPIED}
    licences = {
        "LICENSE": "of the paper",
        f"{folder}/LICENSE": "of the parts" if folder == "licensed" else "of the paper",
    }
    root = write({"pyproject.toml": "", **inner, **files, **licences})
    found = [one.fix for one in check([root], {"select": ("TRL201",)}).findings]
    assert [one.applicability for one in found if one is not None] == [Applicability.UNSAFE]


@pytest.mark.parametrize(
    ("licences", "safe"),
    [(("flownet",), False), (("flownet", "own"), True), (("flownet", "."), True)],
    ids=["of a folder", "of all folders", "of the project"],
)
def test_a_folder_with_a_licence_in_a_project_without_one_is_a_copy(licences: list[str], safe: bool, write) -> None:
    trains = TRAINS.replace("mmseg.", "")
    files = {"flownet/train.py": trains, "flownet/datasets.py": COPIED, "own/train.py": "print()\n"}
    root = write({**files, ".git/HEAD": "", **{f"{folder}/LICENSE": "of the parts" for folder in licences}})
    found = [one.fix for one in check([root], {"select": ("TRL201",)}).findings]
    assert [one.applicability is Applicability.SAFE for one in found if one is not None] == [safe]


@pytest.mark.parametrize(
    ("function", "passed", "is_safe"),
    [
        ("(worker_id, base_seed=SEED):\n    np.random.seed(base_seed + worker_id)", "seed_worker", False),
        ('(worker_id):\n    np.random.seed(int(os.environ["SEED"]) + worker_id)', "seed_worker", False),
        ("(seed, worker_id):\n    np.random.seed(seed + worker_id)", "partial(seed_worker, SEED)", False),
        ("(worker_id, seed):\n    np.random.seed(seed + worker_id)", "partial(seed_worker, seed=SEED)", False),
        ("(seed, worker_id):\n    np.random.seed(worker_id)", "partial(seed_worker, SEED)", True),
        ("(worker_id):\n    np.random.seed(worker_id)", "seed_worker", True),
    ],
)
def test_an_init_function_of_which_something_would_not_be_read_is_left_alone(
    function: str, passed: str, is_safe: bool, write
) -> None:
    text = f"""\
import os
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

SEED = 3


def seed_worker{function}


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.rand()


torch.manual_seed(SEED)
for epoch in range(2):
    print(*DataLoader(Noisy(), num_workers=2, worker_init_fn={passed}))
"""
    root = write({"pyproject.toml": "", "main.py": text})
    found = check([root], {"select": ("TRL103", "TRL104")}).findings
    assert [one.is_fixed_safely for one in found if one.fix is not None] == [is_safe]


EVALUATES = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.rand()


for epoch in range(2):
    print(*DataLoader(Noisy(), num_workers=2))
"""


def test_workers_of_an_evaluation_are_left_alone(write) -> None:
    loads = EVALUATES.replace("    print(*DataLoader(", "    test_loader = DataLoader(").replace(
        "2))", "2)\n    print(*test_loader)"
    )
    files = {"train.py": EVALUATES, "evaluate.py": EVALUATES, "transcribe.py": loads}
    root = write({"torchrepro-lint.toml": 'target-torch = ">=1.7,<1.9"', **files})
    found = check([root], {"select": ("TRL101",)}).findings
    assert len(found) == 3
    safe = [one.location.path.name for one in found if one.fix and one.fix.applicability is Applicability.SAFE]
    assert safe == ["train.py"]


@pytest.mark.parametrize(
    "seed",
    [
        "np.random.seed(3)",
        "if torch.cuda.is_available:\n    np.random.seed(3)",
        "number = 3\nnp.random.seed(number)",
    ],
)
def test_a_seed_that_its_comment_gives_to_a_split_is_left_alone(seed: str, write) -> None:
    text = f"""\
import numpy as np
import torch

# Fixed seed for a reproducible split.
{seed}
print(np.random.rand())
order = np.random.permutation(10)
model = torch.nn.Linear(2, 2)
model(torch.ones(2)).sum().backward()
print(order, model.weight.grad, np.random.rand())
"""
    root = write({"pyproject.toml": "", "main.py": text})
    found = [one.fix for one in check([root], {"select": ("TRL502",)}).findings]
    assert [one.applicability for one in found if one is not None] == [Applicability.UNSAFE]


def test_an_init_function_brings_no_number_above_one_unread(write) -> None:
    loaders = "\n".join(
        f"""
def {name}():
    return DataLoader(Noisy(), batch_size=2, num_workers=2, shuffle=True)
"""
        for name in ("small", "large", "other")
    )
    text = f"""{HEAD}
import numpy as np


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.rand()

{loaders}

for parts in zip(small(), large(), other()):
    print(parts)
"""
    root = write({"torchrepro-lint.toml": 'target-torch = ">=1.7,<1.9"', "main.py": text})
    fix([root])
    fixed = (root / "main.py").read_text("utf-8")
    assert "worker_init_fn" in fixed and "+ 2" not in fixed


def test_a_loader_beside_its_sampler_gets_no_number_unread(write) -> None:
    text = f"""{HEAD}
def make(weighted):
    sampler = None
    if weighted:
        sampler = torch.utils.data.RandomSampler(data)
    return DataLoader(data, shuffle=not weighted, sampler=sampler)


print(*make(True))
print(*make(False))
"""
    root = write({"pyproject.toml": "", "main.py": text})
    fix([root])
    assert " + 1)" not in (root / "main.py").read_text("utf-8")


@pytest.mark.parametrize(("again", "safe"), [("os.listdir(folder)", 0), ("sorted(os.listdir(folder))", 1)])
def test_one_of_two_lists_of_a_folder_is_not_sorted_unread(again: str, safe: int, write) -> None:
    text = f"""{HEAD}
import os


def parts(folder):
    names = os.listdir(folder)
    names = [name for name in names if name.endswith(".pt")]
    images = torch.cat([torch.load(os.path.join(folder, name)) for name in names])
    labels = {again}
    labels = [name for name in labels if name.endswith(".txt")]
    print(len(images), labels[:0])
    return torch.utils.data.random_split(names, [4, 4], generator=torch.Generator().manual_seed(3))


print(parts("parts"))
"""
    root = write({"pyproject.toml": "", "main.py": text})
    found = [one.fix for one in check([root], {"select": ("TRL207",)}).findings]
    assert [one.applicability is Applicability.SAFE for one in found if one is not None] == [bool(safe)]


def test_a_number_is_read_with_the_loader_that_it_tells_apart(write) -> None:
    text = f"""{HEAD}

class Trains:
    def first(self, size):
        self.train = DataLoader(data, batch_size=size, shuffle=True)
        self.val = DataLoader(data, batch_size=size, shuffle=False)

    def second(self, size):
        self.tune = DataLoader(data, batch_size=size, shuffle=True)
        self.tune_val = DataLoader(data, batch_size=size, shuffle=False, num_workers=2)


trains = Trains()
trains.first(2)
trains.second(4)
for one, other in zip(trains.train, trains.tune):
    print(one, other)
"""
    root = write({"pyproject.toml": "", "main.py": text})
    fix([root])
    assert " + 1)" not in (root / "main.py").read_text("utf-8")


def test_an_arm_for_other_arguments_is_not_left_behind_unread(write) -> None:
    text = f"""{HEAD}

def make(last):
    if last:
        loader = DataLoader(data, batch_size=4, shuffle=True)
    else:
        loader = DataLoader(data, batch_size=4, shuffle=True, drop_last=True)
    return loader


print(*make(False))
"""
    root = write({"pyproject.toml": "", "main.py": text})
    found = [one.fix for one in check([root], {"select": ("TRL201",)}).findings]
    assert [one.applicability for one in found if one is not None] == [Applicability.UNSAFE]


@pytest.mark.parametrize(("turns", "seed", "safe"), [("range(5)", "args.seed", False), ("args.seeds", "turn", True)])
def test_repeats_with_one_seed_are_not_made_equal_unread(turns: str, seed: str, safe: bool, write) -> None:
    text = f"""\
import argparse

import numpy as np
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2])
args = parser.parse_args()


def prepare(seed):
    torch.manual_seed(seed)


for turn in {turns}:
    prepare({seed})
    model = torch.nn.Linear(2, 2)
    loss = model(torch.from_numpy(np.random.randn(4, 2)).float()).sum()
    loss.backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    print(turn, loss.item())
"""
    root = write({"pyproject.toml": "", "main.py": text})
    found = [one.fix for one in check([root], {"select": ("TRL502",)}).findings]
    assert [one.applicability is Applicability.SAFE for one in found if one is not None] == [safe]


@pytest.mark.parametrize(("value", "safe"), [("True", False), ("False", True)])
def test_a_misspelt_benchmark_is_not_turned_on_unread(value: str, safe: bool, write) -> None:
    root = write({"pyproject.toml": "", "main.py": f"import torch\n\ntorch.backends.cudnn.benchmarch = {value}\n"})
    found = [one.fix for one in check([root], {"select": ("TRL305",)}).findings]
    assert [one.applicability is Applicability.SAFE for one in found if one is not None] == [safe]


STUDY = """\
import optuna
{imports}
from training import objective

study = optuna.create_study(direction="minimize")
study.optimize(objective, n_trials=3)
print(study.best_params)
"""
TRAINING = """\
import random

import numpy as np
import torch

random.seed(3)
np.random.seed(3)
torch.manual_seed(3)


def objective(trial):
    return trial.suggest_float("lr", 0.1, 1) * torch.rand(()).item()
"""


@pytest.mark.parametrize(
    "imports", ["", "import torch", "from torch import nn", "import os, torch", "    # import torch"]
)
def test_a_file_imports_torch_only_to_ask_for_the_seed_of_another(imports: str, write) -> None:
    root = write({"pyproject.toml": "", "search.py": STUDY.format(imports=imports), "training.py": TRAINING})
    (found,) = [one for one in check([root], {"extend_select": ("TRL510",)}).findings if one.code == "TRL510"]
    assert found.fix is not None and "initial_seed()" in found.fix.message
    assert found.is_fixed_safely is ("torch" in imports and "#" not in imports)
