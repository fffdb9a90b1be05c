"""What is copied into a project from elsewhere, and run by nothing of its own, is of the strict profile, whatever it
breaks; what the project runs of it is reported.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

LOADER = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand(3)


def load():
    return DataLoader(Noise(), batch_size=4, num_workers=2)
"""

TRAIN = """
if __name__ == "__main__":
    for batch in load():
        print(batch)
"""

OWN = """\
import torch

model = torch.nn.Linear(3, 1)
print(model(torch.ones(3)))
"""

OWN_PAPER = "# Ours\n\n```\n@article{ours2024,\n  title={Ours},\n}\n```\n"
THEIR_PAPER = "# Theirs\n\n```\n@inproceedings{theirs2020vision,\n  title={Theirs},\n}\n```\n"
BOTH_PAPERS = OWN_PAPER + THEIR_PAPER
REQUIREMENTS = "torch==1.7.1\n"
SETUP = "from setuptools import setup\n\nsetup(name='them', install_requires=['torch==1.7.1'])\n"


def _codes(root: Path, files: dict[str, str]) -> tuple[list[str], list[str]]:
    """What is found in a project by default, and what in the strict profile."""
    for name, text in {"setup.cfg": "", "requirements.txt": REQUIREMENTS, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    by_default, strict = check([root]), check([root], {"profile": "strict"})
    assert by_default.errors == strict.errors == ()
    return [one.code for one in by_default.findings], [one.code for one in strict.findings if one.code == "TRL101"]


COPIES = {
    "a folder for code of others": {"external/them/train.py": LOADER + TRAIN},
    "a project that was downloaded": {"them-master/train.py": LOADER + TRAIN},
    "a project that was downloaded, with metadata of its own": {
        "code/main.py": OWN,
        "code/them-master/setup.py": "from setuptools import setup\nsetup(name='them')\n",
        "code/them-master/train.py": LOADER + TRAIN,
    },
    "a project that is of another paper": {
        "README.md": OWN_PAPER,
        "them/README.md": THEIR_PAPER,
        "them/setup.py": "from setuptools import setup\nsetup(name='them')\n",
        "them/tools/train.py": LOADER + TRAIN,
    },
    "its programs need other packages": {
        "README.rst": OWN_PAPER,
        "code/them/README.md": THEIR_PAPER,
        "code/them/requirements.txt": "torch\n",
        "code/them/train.py": LOADER + TRAIN,
    },
}


@pytest.mark.parametrize("name", COPIES)
def test_what_only_copies_run_is_of_the_strict_profile(tmp_path: Path, name: str) -> None:
    assert _codes(tmp_path, {"train.py": OWN, **COPIES[name]}) == ([], ["TRL101"])


USED = {
    "the project starts it": {
        "external/__init__.py": "",
        "external/them.py": LOADER,
        "train.py": "from external.them import load\n" + TRAIN,
    },
    "the project is nothing but the download": {"them-master/train.py": LOADER + TRAIN},
    "a package of the project has a licence of its own": {
        "train.py": OWN,
        "LICENSE": "Copyright 2020",
        "them/LICENSE": "Copyright 2024",
        "them/train.py": LOADER + TRAIN,
    },
    "the project cites the paper itself": {
        "train.py": OWN,
        "README.md": BOTH_PAPERS,
        "them/README.md": THEIR_PAPER,
        "them/setup.py": SETUP,
        "them/train.py": LOADER + TRAIN,
    },
    "the project is of no paper": {
        "train.py": OWN,
        "README.md": "# Many papers\n",
        "them/README.md": THEIR_PAPER,
        "them/setup.py": SETUP,
        "them/train.py": LOADER + TRAIN,
    },
    "a folder of data names the paper of its data": {
        "train.py": OWN,
        "README.md": OWN_PAPER,
        "data/README.md": THEIR_PAPER,
        "data/train.py": LOADER + TRAIN,
    },
}


@pytest.mark.parametrize("name", USED)
def test_what_the_project_runs_is_reported(tmp_path: Path, name: str) -> None:
    assert _codes(tmp_path, USED[name]) == (["TRL101"], ["TRL101"])


FOLDERS = {
    "one that says what it is copied from": (
        "them/README.md", "# Them\n\nThis folder is copied from [them](https://github.com/others/them).\n", False
    ),
    "one that is adapted": ("them/README.md", "Adapted from\thttps://github.com/others/them with small changes\n", False),
    "one that is like another": ("them/README.md", "See https://github.com/others/them for something alike\n", True),
    "one whose data is from elsewhere": ("them/README.md", "The data is described at https://github.com/others/them\n", True),
    "the project itself": ("README.md", "This code is adapted from https://github.com/others/them\n", True),
}  # fmt: skip
LISTS = """\
import os
import random

import torch
from torch.utils.data import DataLoader

torch.manual_seed(3)
random.seed(3)
names = [one for one in os.listdir("images")]
print(list(DataLoader(names)))
"""


def _is_fixed(root: Path) -> bool:
    found = check([root]).findings
    return any(one.fix is not None and one.fix.applicability is Applicability.SAFE for one in found)


@pytest.mark.parametrize(("readme", "text", "is_fixed"), FOLDERS.values(), ids=FOLDERS)
def test_a_folder_by_its_readme(readme: str, text: str, is_fixed: bool, write) -> None:
    assert _is_fixed(write({"setup.cfg": "", "them/run.py": LISTS, "main.py": OWN, readme: text})) is is_fixed


@pytest.mark.parametrize("name", ["pytorch_pretrained_bert", "pytorch_pretrained_vit", "pytorch_pretrained_gans"])
def test_a_folder_by_its_name(name: str, write) -> None:
    assert not _is_fixed(write({"setup.cfg": "", f"{name}/run.py": LISTS, "main.py": OWN}))


@pytest.mark.parametrize("folder", ["benchmarks/trash", "old", "third_party", "docs"])
@pytest.mark.parametrize("project", [{}, {"setup.cfg": ""}], ids=("without a project file", "with one"))
def test_a_folder_that_was_put_aside(folder: str, project: dict[str, str], write) -> None:
    assert not _is_fixed(write({**project, f"{folder}/run.py": LISTS, "main.py": OWN}))


def test_a_folder_as_an_archive_unpacks_to(write) -> None:
    assert _is_fixed(write({"ours-main/run.py": LISTS}))


NETWORK = "import torch\n\n\ndef network():\n    return torch.nn.Linear(3, 1)\n"
THEIR_LOADER = LOADER + TRAIN
IN_USE = {
    "main.py": "from them.network import network\n\nprint(network())\n",
    "them/network.py": NETWORK,
    "them/train.py": "from network import network\n" + THEIR_LOADER,
}
WHOLE = "# Them\n\nThis repository contains the code of the paper.\n"

PARTLY_USED = {
    "its README speaks of a repository": {"them/README.md": WHOLE},
    "it has requirements": {"them/README.md": "# Them\n", "them/requirements.txt": "torch\n"},
    "it has another licence": {"them/README.md": "# Them\n", "them/LICENSE": "Theirs\n", "LICENSE": "Ours\n"},
    "it lies in the package that uses it": {
        "them/network.py": "",
        "main.py": "from ours.use import use\n\nprint(use())\n",
        "ours/__init__.py": "",
        "ours/use.py": "from .graphs.network import network\n\n\ndef use():\n    return network()\n",
        "ours/graphs/__init__.py": "",
        "ours/graphs/network.py": NETWORK,
        "ours/graphs/train.py": "from .network import network\n" + THEIR_LOADER,
        "ours/graphs/README.md": WHOLE,
        "them/train.py": "",
    },
}


@pytest.mark.parametrize("name", PARTLY_USED)
def test_the_programs_of_a_project_that_is_used_in_part_are_of_the_strict_profile(tmp_path: Path, name: str) -> None:
    assert _codes(tmp_path, IN_USE | PARTLY_USED[name]) == ([], ["TRL101"])


OF_THE_PROJECT = {
    "a folder with a README": {"them/README.md": "# Training\n\nRun `python train.py`.\n"},
    "nothing of it is used": {"them/README.md": WHOLE, "main.py": OWN},
    "it uses the project": {
        "them/README.md": WHOLE,
        "them/network.py": "from ours import layer\n" + NETWORK,
        "ours.py": "def layer():\n    return 0\n",
    },
    "a README names its program": {"them/README.md": WHOLE, "README.md": "```\npython them/train.py\n```\n"},
    "a script goes there": {"them/README.md": WHOLE, "run.sh": "cd them\npython train.py\n"},
    "a program starts it": {
        "them/README.md": WHOLE,
        "start.py": "import subprocess\n\nsubprocess.run(['python', 'them/train.py'])\n",
    },
    "two projects of equal standing": {
        "them/README.md": WHOLE,
        "main.py": "",
        "other/README.md": WHOLE,
        "other/main.py": IN_USE["main.py"],
    },
    "the project has no other program": {
        "them/README.md": WHOLE,
        "main.py": "from them.network import network\n\n\ndef make():\n    return network()\n",
    },
    "what it defines is run by the project": {
        "them/README.md": WHOLE,
        "main.py": "from them.network import network\nfrom them.train import load\n\nprint(network(), list(load()))\n",
    },
}


@pytest.mark.parametrize("name", OF_THE_PROJECT)
def test_a_folder_that_is_no_copy_or_is_run(tmp_path: Path, name: str) -> None:
    assert _codes(tmp_path, IN_USE | OF_THE_PROJECT[name]) == (["TRL101"], ["TRL101"])
