"""How the generators of several loaders are called, and that no two loaders share one."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

HEAD = """\
import argparse
from functools import partial

import torch
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--big", action="store_true")
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
torch.manual_seed(args.seed)
data = list(range(9))
"""
ONE_NAME = {
    "beside a loader that draws nothing": (
        """
        val_loader = DataLoader(data, num_workers=2)
        train_loader = DataLoader(data, shuffle=True, num_workers=2)
        """,
        ["g"],
    ),
    "arms of one if": (
        """
        if args.big:
            loader = DataLoader(data, shuffle=True)
        else:
            loader = DataLoader(data, batch_size=2, shuffle=True)
        """,
        ["g", "g"],
    ),
    "tests for other values of one name": (
        """
        if args.seed == 1:
            loader = DataLoader(data, shuffle=True)
        if args.seed == 2:
            loader = DataLoader(data, batch_size=2, shuffle=True)
        """,
        ["g", "g"],
    ),
    "elif": (
        """
        if args.big:
            loader = DataLoader(data, shuffle=True)
        elif args.seed > 3:
            loader = DataLoader(data, batch_size=2, shuffle=True)
        else:
            loader = DataLoader(data, batch_size=3, shuffle=True)
        """,
        ["g", "g", "g"],
    ),
    "cases": (
        """
        match args.seed:
            case 1:
                loader = DataLoader(data, shuffle=True)
            case _:
                loader = DataLoader(data, batch_size=2, shuffle=True)
        """,
        ["g", "g"],
    ),
    "an arm that returns": (
        """
        def make():
            if args.big:
                return DataLoader(data, shuffle=True)
            return DataLoader(data, batch_size=2, shuffle=True)

        loader = make()
        """,
        ["g", "g"],
    ),
    "beside another loader": (
        """
        if args.big:
            train_loader = DataLoader(data, shuffle=True)
        else:
            train_loader = DataLoader(data, batch_size=2, shuffle=True)
        val_loader = DataLoader(data, shuffle=True)
        """,
        ["train_generator", "train_generator", "val_generator"],
    ),
    "one for each turn": (
        """
        for phase, size in {"train": 2, "test": 3}.items():
            if phase == "train":
                train_loader = DataLoader(data, batch_size=size, shuffle=True)
            else:
                test_loader = DataLoader(data, batch_size=size, shuffle=True)
        """,
        ["train_generator", "test_generator"],
    ),
}
APART = {
    "names in camel case": (
        """
        TrainImgLoader = DataLoader(data, shuffle=True)
        testDataLoader = DataLoader(data, batch_size=2, shuffle=True)
        """,
        ["train_img_generator", "test_generator"],
    ),
    "two of one name": (
        """
        loader = DataLoader(data, shuffle=True)
        loader = [loader, DataLoader(data, batch_size=2, shuffle=True)]
        """,
        ["g", "g2"],
    ),
    "arms in a loop of epochs": (
        """
        for epoch in range(3):
            if epoch % 2:
                loader = DataLoader(data, shuffle=True)
            else:
                loader = DataLoader(data, batch_size=2, shuffle=True)
            print(*loader)
        """,
        ["g", "g2"],
    ),
    "a pair that a method makes in each epoch": (
        """
        class Trainer:
            def __init__(self, data):
                self.data = data

            def loaders(self):
                return [DataLoader(self.data, shuffle=True), DataLoader(self.data, batch_size=2, shuffle=True)]

            def fit(self):
                for epoch in range(3):
                    for loader in self.loaders():
                        print(*loader)

        Trainer(data).fit()
        """,
        ["self.loader_generator", "self.loader_generator2"],
    ),
    "arms of a method that makes both in each epoch": (
        """
        class Trainer:
            def __init__(self, data):
                self.data = data

            def make(self, train):
                if train:
                    return DataLoader(self.data, shuffle=True)
                return DataLoader(self.data, batch_size=2, shuffle=True)

            def fit(self):
                for epoch in range(3):
                    print(*self.make(True), *self.make(False))

        Trainer(data).fit()
        """,
        ["self.loader_generator", "self.loader_generator2"],
    ),
    "a name that is taken": (
        """
        train_generator = map(str, data)
        train_loader = DataLoader(data, shuffle=True)
        train_loaders = [train_loader, DataLoader(data, batch_size=2, shuffle=True)]
        """,
        ["train_generator2", "train_generator3"],
    ),
    "a partial that is called twice": (
        """
        make = partial(DataLoader, shuffle=True)
        train_loader = make(data)
        val_loader = make(data)
        """,
        ["train_generator", "val_generator"],
    ),
    "a partial that an object keeps": (
        """
        class Loaders:
            def __init__(self):
                self.make = partial(DataLoader, shuffle=True)
                self.train = self.make(data)
                self.val = self.make(data)

        loaders = Loaders()
        """,
        ["train_generator", "val_generator"],
    ),
}


@pytest.mark.parametrize("name", ONE_NAME | APART)
def test_generators(name: str, write) -> None:
    program, names = (ONE_NAME | APART)[name]
    text = HEAD + dedent(program)
    # The order of an evaluation is reported where it is asked for.
    root = write({"train.py": text, "torchrepro-lint.toml": 'extend-select = ["TRL201"]\n'})
    assert len(fix([root], {"unsafe_fixes": True}).fixed) == len(names)
    fixed = (root / "train.py").read_text()
    assert re.findall(r"generator=([\w.]+)", fixed) == names
    made = re.findall(r"(\S+) = torch\.Generator\(\)", fixed)
    # Loaders of one name in the arms of one choice share the generator above it.
    shared = name in ("arms of one if", "elif", "cases", "beside another loader", "an arm that returns")
    assert sorted(made) == sorted(set(names) if shared else names)
    assert fix([root]).fixed == ()


def test_many_generators_of_one_name_are_left_to_a_person(write) -> None:
    """Ten samplers that differ in a file's name would get ten generators that differ in a number."""
    samplers = "".join(
        f"sampler = RandomSampler(data[{number}:])\nprint(*DataLoader(data, sampler=sampler))\n" for number in range(4)
    )
    text = f"{HEAD}from torch.utils.data import RandomSampler\n{samplers}"
    root = write({"train.py": text})
    strict = {"profile": "strict", "select": ("TRL202",)}
    assert fix([root], strict).fixed == ()
    assert len(fix([root], {**strict, "unsafe_fixes": True}).fixed) == 4
    root = write({"train.py": "\n".join(text.splitlines()[:-6])})
    assert len(fix([root], strict).fixed) == 1


PAIRS_IN_ARMS = """
def make(kind):
    if kind == 1:
        return DataLoader(data, shuffle=True), DataLoader(data, batch_size=2, shuffle=True)
    elif kind == 2:
        return DataLoader(data, batch_size=3, shuffle=True), DataLoader(data, batch_size=4, shuffle=True)
    else:
        return DataLoader(data, batch_size=5, shuffle=True), DataLoader(data, batch_size=6, shuffle=True)


print(make(args.seed))
"""


def test_more_generators_in_a_function_than_a_person_takes_unread_are_unsafe(write) -> None:
    """Also where some of them are in an arm of their own: no single one is made above the `if` for these."""
    root = write({"pyproject.toml": "", "main.py": HEAD + PAIRS_IN_ARMS})
    found = check([root / "main.py"], {"select": ("TRL201",)}).findings
    assert [one.fix is not None and one.fix.applicability for one in found] == [Applicability.UNSAFE] * 6


SETS = """
import torch
from torch.utils.data import DataLoader


class Images:
    def __init__(self, seed):
        self.data = list(range(9))
        self.seed = seed

    def get_loader(self, mode):
        return DataLoader(self.data, shuffle=mode == "train")
"""
CALLS = "\n".join(f'    show(held.images.get_loader("{mode}"))' for mode in ("train", "test", "val") * 2)


def test_a_method_whose_calls_are_not_all_known_gives_its_loaders_no_generator_in_common(write) -> None:
    """What it makes for training may be used beside what it makes for validation, by objects that are not known."""
    use = f"import torch\n\ntorch.manual_seed(1)\n\n\ndef run(held, show):\n{CALLS}\n"
    root = write({"pyproject.toml": "", "sets.py": SETS, "use.py": use, "main.py": "import sets\nimport use\n"})
    (one,) = check([root], {"select": ("TRL201",), "profile": "strict"}).findings
    assert one.fix is None
    assert one.fix_declined == (
        "not every call of `get_loader` is known, and loaders that are used beside each other would share it: "
        "pass each a generator"
    )


def test_a_generator_is_not_called_after_the_verb_of_a_method(write) -> None:
    epochs = """

def fit(seed):
    torch.manual_seed(seed)
    images = Images(seed)
    for epoch in range(3):
        print(*images.get_loader("train"))


fit(1)
"""
    root = write({"pyproject.toml": "", "sets.py": SETS + epochs})
    fix([root], {"select": ("TRL201",), "profile": "strict"})
    assert "self.loader_generator = torch.Generator()" in (root / "sets.py").read_text(encoding="utf-8")


SAMPLERS = """
from torch.utils.data import RandomSampler

train_sampler = RandomSampler(data)
extra_sampler = RandomSampler(data)
print(*DataLoader(data, sampler=train_sampler), *DataLoader(data, sampler=extra_sampler))
"""


def test_a_sampler_alone_gives_its_generator_the_short_name(write) -> None:
    root = write({"pyproject.toml": "", "main.py": HEAD + SAMPLERS})
    fix([root / "main.py"], {"unsafe_fixes": True, "profile": "strict", "ignore": ("TRL4", "TRL501")})
    made = re.findall(r"(\w+) = torch.Generator", (root / "main.py").read_text("utf-8"))
    assert made == ["train_generator", "extra_generator"]
