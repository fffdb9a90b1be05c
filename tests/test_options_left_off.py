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
