"""A file whose import surely fails, as its own project has no such module, never runs: it is no entry point and no
caller, and nothing is reported in it below that import.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.program.kept.programs import KeptPrograms
from torchrepro_lint.toolkit import Toolkit

DATA = """\
import numpy as np
from torch.utils.data import Dataset


class Crops(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.randint(0, 9, 3)
"""
TRAIN = """\
{}
from torch.utils.data import DataLoader
from src.data import Crops

for batch in DataLoader(Crops(), batch_size=2, num_workers=2):
    print(batch)
"""


def _told(folder: Path, files: dict[str, str], **settings: object) -> set[str]:
    for name, text in {"torchrepro-lint.toml": "", "src/data.py": DATA, "src/__init__.py": "", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = check([folder], {"target_torch": ">=1.7", **settings}).findings
    return {one.location.path.relative_to(folder).as_posix() for one in found if one.code == "TRL101"}


FAILS = {
    "a module": {"train.py": TRAIN.format("import src.losses.focal")},
    "a module, from": {"train.py": TRAIN.format("from src.losses import focal_loss")},
    "a module of a package": {
        "train.py": TRAIN.format("from src.models.focal import Focal"),
        "src/models/__init__.py": "",
        "src/models/other.py": "",
    },
    "below src, without an __init__": {
        "lib/train.py": "",
        "train.py": TRAIN.format("from src.models.focal import Focal"),
        "src/models/other.py": "",
    },
    "in a module that is imported": {
        "train.py": TRAIN.format("import src.net"),
        "src/net.py": "import src.losses.focal",
    },
    "in the package of a module": {
        "train.py": TRAIN.format("import src.net.head"),
        "src/net/__init__.py": "import src.losses.focal",
        "src/net/head.py": "",
    },
    "relative": {"train.py": TRAIN.format("import src.net"), "src/net.py": "from .losses import focal"},
    "relative to a folder above": {
        "train.py": TRAIN.format("import src.models.net"),
        "src/models/net.py": "from ..losses import focal",
    },
    "two steps away": {
        "train.py": TRAIN.format("import src.net"),
        "src/net.py": "import src.part",
        "src/part.py": "import src.losses.focal",
    },
}
RUNS = {
    "made by another file": {
        "train.py": TRAIN.format("import start\nimport src.focal"),
        "start.py": "import sys\nsys.modules['src.focal'] = sys",
    },
    "looked for by another file": {
        "train.py": TRAIN.format("import start\nimport src.focal"),
        "start.py": "import src\nsrc.__path__.append('/elsewhere')",
    },
    "fetched by a script": {
        "train.py": TRAIN.format("import src.focal"),
        "get.sh": "git clone https://example.org/focal src/focal",
    },
    "built below": {
        "train.py": TRAIN.format("import src.focal"),
        "ops/setup.py": "Extension('src.focal', ['focal.c'])",
    },
    "in another package of the name": {
        "train.py": TRAIN.format("import src.losses.focal"),
        "third/src/losses/focal.py": "",
        "third/src/losses/__init__.py": "",
    },
    "of a module called like one of Python's": {
        "train.py": TRAIN.format("import statistics"),
        "statistics.py": "import src.losses.focal",
    },
    "in a try": {"train.py": TRAIN.format("try:\n    import src.losses.focal\nexcept ImportError:\n    pass")},
    "for types": {
        "train.py": TRAIN.format("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import src.losses.focal")
    },
    "in a function": {"train.py": TRAIN.format("def focal():\n    import src.losses.focal")},
    "in a text": {"train.py": TRAIN.format('HELP = """\nimport src.losses.focal\n"""')},
    "an attribute of a package": {"train.py": TRAIN.format("from src import focal"), "src/__init__.py": "focal = 1"},
    "there": {"train.py": TRAIN.format("import src.losses.focal"), "src/losses/focal.py": ""},
    "a namespace": {"train.py": TRAIN.format("import src.losses"), "src/losses/focal.py": ""},
    "compiled": {"train.py": TRAIN.format("import src.focal"), "src/focal.cpython-311-x86_64-linux-gnu.so": ""},
    "of Cython": {"train.py": TRAIN.format("import src.focal"), "src/focal.pyx": ""},
    "a stub": {"train.py": TRAIN.format("import src.focal"), "src/focal.pyi": ""},
    "an empty folder": {"train.py": TRAIN.format("import src.losses.focal"), "src/losses/README": ""},
    "generated": {"train.py": TRAIN.format("import src.focal_pb2"), "src/focal.py": ""},
    "a version": {"train.py": TRAIN.format("from src._version import version")},
    "built": {"train.py": TRAIN.format("import src.focal"), "setup.py": "Extension('src.focal', ['focal.c'])"},
    "left out of the repository": {"train.py": TRAIN.format("import src.focal"), ".gitignore": "focal.py\n"},
    "in a folder left out": {"train.py": TRAIN.format("import src.losses.focal"), ".gitignore": "losses/\n"},
    "in a folder whose files are left out": {
        "train.py": TRAIN.format("import src.datasets.focal"),
        ".gitignore": "src/datasets/*\n",
    },
    "a library, in a package": {
        "train.py": TRAIN.format("import src.torch.net"),
        "src/torch/__init__.py": "",
        "src/torch/net.py": "import torch.nn.functional as F",
    },
    "a package that looks elsewhere": {
        "train.py": TRAIN.format("import src.focal"),
        "src/__init__.py": "__path__.append('/elsewhere')",
    },
    "a package that makes modules": {
        "train.py": TRAIN.format("import src.focal"),
        "src/__init__.py": "import sys\nsys.modules['src.focal'] = object()",
    },
    "a folder that is added": {
        "train.py": TRAIN.format("import sys\nsys.path.insert(0, sys.argv[1])\nimport src.focal")
    },
    "below a folder that an installed package stands in for": {
        "train.py": TRAIN.format("from wenet.focal import Focal"),
        "wenet/other.py": "",
    },
    "a library": {"train.py": TRAIN.format("import datasets.load"), "datasets/own.py": ""},
    "of the standard library": {"train.py": TRAIN.format("import logging.handlers"), "logging/own.py": ""},
    "below another root": {
        "train.py": TRAIN.format("import models.focal"),
        "models/a.py": "",
        "lib/models/focal.py": "",
    },
}


@pytest.mark.parametrize("how", FAILS)
def test_a_program_whose_import_fails(how: str, tmp_path: Path) -> None:
    assert _told(tmp_path, {"train.py": TRAIN.format("")}) == {"train.py"}
    assert _told(tmp_path, FAILS[how]) == set()


@pytest.mark.parametrize("how", RUNS)
def test_a_program_whose_import_may_succeed(how: str, tmp_path: Path) -> None:
    assert _told(tmp_path, RUNS[how]) == {"train.py"}


def test_what_stands_above_the_import_runs(tmp_path: Path) -> None:
    assert _told(tmp_path, {"train.py": f"{TRAIN.format('')}import src.losses.focal\n"}) == {"train.py"}


def test_what_only_a_program_mentions_whose_import_fails(tmp_path: Path) -> None:
    made = f"{DATA}\ndef loader():\n    return DataLoader(Crops(), num_workers=2)\n\n\ndef count():\n    return 8\n"
    files = {
        "src/data.py": f"from torch.utils.data import DataLoader\n{made}",
        "count.py": "from src.data import count\n\nprint(count())\n",
    }
    program = "{}\nfrom src.data import loader\n\nfor batch in loader():\n    print(batch)\n"
    assert _told(tmp_path, {**files, "train.py": program.format("")}) == {"src/data.py"}
    assert _told(tmp_path, {**files, "train.py": program.format("import src.losses.focal")}) == set()


def test_the_module_is_made(tmp_path: Path) -> None:
    files = {"train.py": TRAIN.format("import src.losses.focal")}
    assert _told(tmp_path, files) == set()
    assert _told(tmp_path, files, profile="strict") == set()
    assert _told(tmp_path, {**files, "src/losses/focal.py": ""}) == {"train.py"}


def test_a_module_whose_own_import_is_mended(tmp_path: Path) -> None:
    files = {"train.py": TRAIN.format("import src.net"), "src/net.py": "import src.losses.focal\n"}
    assert _told(tmp_path, files) == set()
    toolkit = Toolkit(make_program=KeptPrograms())

    def count(text: str) -> int:
        overlay = {tmp_path / "src" / "net.py": text}
        return len(check([tmp_path], {"target_torch": ">=1.7"}, overlay=overlay, toolkit=toolkit).findings)

    texts = ("import src.losses.focal\n", "import src.data\n", "import src.losses.focal\n")
    assert [count(text) > 0 for text in texts] == [False, True, False]
