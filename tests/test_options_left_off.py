"""What runs only with an option that is off by default, and that no command of the project turns on, is strict."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from torchrepro_lint.engine import check

MAIN = """\
import argparse
import os
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Cutout:
    def __init__(self, length):
        self.length = length

    def __call__(self, image):
        return image[np.random.randint(8 - self.length) :]


class Images(Dataset):
    def __init__(self, transforms):
        self.transforms = transforms

    def __len__(self):
        return 8

    def __getitem__(self, index):
        image = np.zeros(8)
        for transform in self.transforms:
            image = transform(image)
        return image


def get_transforms(length):
    if length > 0:
        return [Cutout(length)]
    return []


def get_names(args):
    if args.others:
        return os.listdir(args.others)
    return ["a", "b"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cutout-length", type=int, default=0)
    parser.add_argument("--others", default=None)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    names = get_names(args)
    random.shuffle(names)
    for batch in DataLoader(Images(get_transforms(args.cutout_length)), num_workers=2):
        print(names, batch)


main()
"""
LEFT_OFF: Mapping[str, Mapping[str, str]] = {
    "in a script": {"run.sh": "python main.py --seed 1\n"},
    "in a README": {"README.md": "# Training\n```\npython main.py\n```\n"},
    "by its value": {"run.sh": "python main.py --cutout-length 0 \\\n  --others=None\n"},
    "in commands that are commented out": {
        "run.sh": "python main.py\n# python main.py --cutout-length 4 --others more\n: <<BLOCK\n"
        "python main.py \\\n  --cutout-length 4 \\\n  --others more\nBLOCK\n"
    },
    "in commands of another program": {
        "run.sh": "python main.py\npython other.py --cutout-length 4 --others more\n"
        "torchrun other.py \\\n  --cutout-length 4 \\\n  --others more\n",
        "other.py": "print()\n",
    },
    "in another file": {
        "run.sh": "python train.py\n",
        "train.py": MAIN.replace('    parser.add_argument("--cutout-length", type=int, default=0)\n', "")
        .replace('    parser.add_argument("--others", default=None)\n', "")
        .replace("argparse.ArgumentParser()", "options.make()")
        .replace("import argparse", "import options"),
        "options.py": "import argparse\n\n\ndef make():\n    parser = argparse.ArgumentParser()\n"
        '    parser.add_argument("--cutout-length", type=int, default=0)\n'
        '    parser.add_argument("--others", default=None)\n    return parser\n',
        "main.py": "",
    },
}
MAY_BE_ON: Mapping[str, Mapping[str, str]] = {
    "no command": {},
    "of another program": {"run.sh": "python other.py\n"},
    "on in a script": {"run.sh": "python main.py\npython main.py --cutout-length 4 --others more\n"},
    "on below a comment": {
        "run.sh": "#:<<BLOCK\npython main.py \\\n  --cutout-length 4 \\\n  --others more\n# BLOCK\n:<<BLOCK\necho\nBLOCK\n"
    },
    "named in a comment alone": {"run.sh": "# python main.py\n"},
    "on in a command of unknown files": {
        "run.sh": "python main.py\npython $FILE --cutout-length 4 --others more\n"
        "python other.py && python main.py --cutout-length 4 --others more\n",
    },
    "told in a sentence": {"README.md": "python main.py\n\nSee other.py for `--cutout-length 4 --others more`.\n"},
    "from a variable": {"run.sh": "python main.py --cutout-length $1 --others $2\n"},
    "on in a README": {"README.md": "`python main.py --cutout-length=4 --others=more`", "run.sh": "python main.py\n"},
    "in a configuration": {"run.sh": "python main.py\n", "some.yaml": "cutout_length: 4\nothers: more\n"},
    "started by a program": {
        "run.sh": "python main.py\n",
        "start.py": "import os\n\nos.system('python main.py ' + '--cutout-length 4 ' + '--others more')\n",
    },
    "on by default": {
        "run.sh": "python main.py\n",
        "main.py": MAIN.replace("int, default=0)\n    parser.add_argument(\"--o", "int, default=4)\n    parser.add_argument(\"--o")
        .replace("default=None", "default='more'"),
    },
    "changed by the program": {
        "run.sh": "python main.py\n",
        "main.py": MAIN.replace("    random.seed(", "    args.cutout_length = 4\n    args.others = 'more'\n    random.seed("),
    },
}  # fmt: skip


def _codes(write, files: Mapping[str, str]) -> set[str]:
    root = write({"setup.cfg": "", "requirements.txt": "torch==1.7.1\n", "main.py": MAIN, **files})
    return {one.code for one in check([root]).findings} & {"TRL101", "TRL207"}


@pytest.mark.parametrize("files", LEFT_OFF.values(), ids=LEFT_OFF)
def test_what_no_command_turns_on(write, files: Mapping[str, str]) -> None:
    assert _codes(write, files) == set()


@pytest.mark.parametrize("files", MAY_BE_ON.values(), ids=MAY_BE_ON)
def test_what_may_be_on_is_reported(write, files: Mapping[str, str]) -> None:
    assert _codes(write, files) == {"TRL101", "TRL207"}


#: What any rule finds in a function that is reached with such an option alone.
FOLDS = """\
import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

from images import Images


def str2bool(text):
    return text.lower() in ("true", "1")


def new_folds(number):
    np.random.seed(int(time.time()))
    return np.random.permutation(number)


class Folds:
    def __init__(self, config):
        if config.new_folds:
            self.folds = new_folds(10)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--new-folds", {declared})
    parser.add_argument("--workers", type=int, default={workers})
    config, _ = parser.parse_known_args()
    np.random.seed(config.seed)
    torch.manual_seed(config.seed)
    Folds(config)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in DataLoader(Images(), num_workers=config.workers):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""
IMAGES = """\
import numpy as np
import torch
from torch.utils.data import Dataset


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor(np.random.rand(2), dtype=torch.float32)
"""
CLOCK, WORKERS = "TRL503", "TRL101"
OLD = {"setup.cfg": "", "requirements.txt": "torch==1.7.1\n", "images.py": IMAGES}


@pytest.mark.parametrize(
    ("declared", "workers", "command", "expected"),
    [
        ('action="store_true"', "2", "python main.py", {WORKERS}),
        ('type=str2bool, default="False"', "2", "python main.py", {WORKERS}),
        ('type=str2bool, default="False"', "2", "python main.py --new-folds no", {WORKERS, CLOCK}),
        ('type=str2bool, default="True"', "2", "python main.py", {WORKERS, CLOCK}),
        ('action="store_true"', "0", "python main.py --new-folds", {CLOCK}),
        ('action="store_true"', "0", "python main.py --new-folds --workers 4", {WORKERS, CLOCK}),
        ('action="store_true"', "0", "echo nothing", {WORKERS, CLOCK}),
    ],
)
def test_what_is_reached_with_such_an_option_alone(
    write, declared: str, workers: str, command: str, expected: set[str]
) -> None:
    text = FOLDS.format(declared=declared, workers=workers)
    root = write({**OLD, "main.py": text, "run.sh": command + "\n"})
    assert {one.code for one in check([root]).findings} & {CLOCK, WORKERS} == expected
    strict = {one.code for one in check([root], {"profile": "strict"}).findings}
    assert strict >= {CLOCK, WORKERS}


def test_options_that_several_files_declare_of_which_the_commands_name_one(write) -> None:
    text = FOLDS.format(declared='action="store_true"', workers="2")
    root = write({**OLD, "main.py": text, "run.sh": "python main.py\n", "other_main.py": text})
    assert CLOCK not in {one.code for one in check([root]).findings}


@pytest.mark.parametrize("option", ["deterministic", "do_train", "seed_folds"])
def test_options_that_count_wherever_they_may_be_on(write, option: str) -> None:
    text = FOLDS.format(declared='action="store_true"', workers="2").replace("new-folds", option.replace("_", "-"))
    text = text.replace("config.new_folds", f"config.{option}")
    root = write({**OLD, "main.py": text, "run.sh": "python main.py\n"})
    assert CLOCK in {one.code for one in check([root]).findings}
