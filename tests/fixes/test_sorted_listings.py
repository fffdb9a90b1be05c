"""How `sorted(...)` is written, and where it is not to be merged unread."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from torchrepro_lint.diagnostics import Applicability, Finding
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

BLACK = "[tool.black]\n"
HEAD = """\
import glob
import os
import random

import torch

torch.manual_seed(0)
random.seed(0)


def read(folder):
"""
LISTED = "images = glob.glob(os.path.join(folder, 'RemoteSensing', 'RGB-only', '*.tiff'))\n"
FILTERED = "subdirs = [f for f in os.listdir(folder) if os.path.isdir(os.path.join(folder, f))]\n"
LAYOUTS = {
    "an assignment": (
        BLACK, LISTED,
        "images = sorted(\n    glob.glob(os.path.join(folder, 'RemoteSensing', 'RGB-only', '*.tiff'))\n)\n",
    ),
    "a comprehension": (
        BLACK, FILTERED,
        "subdirs = [\n    f for f in sorted(os.listdir(folder)) if os.path.isdir(os.path.join(folder, f))\n]\n",
    ),
    "no formatter": ("", LISTED, LISTED.replace("glob.glob", "sorted(glob.glob").replace("))", ")))")),
    "it fits": (BLACK, "images = os.listdir(folder)\n", "images = sorted(os.listdir(folder))\n"),
}  # fmt: skip


@pytest.mark.parametrize(("settings", "line", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(settings: str, line: str, expected: str, write) -> None:
    name = line.partition(" ")[0]
    tail = f"    random.shuffle({name})\n    return {name}\n\n\nprint(read('clips'), torch.rand(1))\n"
    root = write({"pyproject.toml": settings, "read.py": HEAD + indent(line, "    ") + tail})
    fix([root])
    assert (root / "read.py").read_text() == HEAD + indent(expected, "    ") + tail


FOLDER = """\
class Images(Dataset):
    def __init__(self, root, at):
        {above}
        self.images = os.listdir(os.path.join(root, folders[at]))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, at):
        return self.images[at]


for batch in DataLoader(Images("images", 1), shuffle=True):
    print(batch)
"""
ABOVE = {
    "a listing": ("folders = os.listdir(root)", Applicability.UNSAFE),
    "a sorted listing": ("folders = sorted(os.listdir(root))", Applicability.SAFE),
    "names that are written": ("folders = ['a', 'b']", Applicability.SAFE),
}


@pytest.mark.parametrize(("above", "expected"), ABOVE.values(), ids=ABOVE)
def test_the_files_of_a_folder_that_is_taken_by_its_position(above: str, expected: Applicability, write) -> None:
    head = "import os\n\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\n\ntorch.manual_seed(0)\n\n\n"
    root = write({"read.py": head + FOLDER.format(above=above)})
    found = [one for one in check([root]).findings if one.code == "TRL207" and "self.images" in _line(root, one)]
    assert [one.fix.applicability if one.fix is not None else None for one in found] == [expected]


LATER = {
    "under a test": ("if in_order:\n        names = sorted(names)", Applicability.UNSAFE),
    "not at all": ("if in_order:\n        names = names[:4]", Applicability.SAFE),
    "in another way": ("if in_order:\n        names = sorted(names)\n        print(names)", Applicability.SAFE),
    "others": ("if in_order:\n        others = sorted(in_order)", Applicability.SAFE),
}


@pytest.mark.parametrize(("later", "expected"), LATER.values(), ids=LATER)
def test_a_listing_that_is_sorted_later_on_some_ways(later: str, expected: Applicability, write) -> None:
    text = f"""\
import os
import random

random.seed(0)


def read(folder, in_order=()):
    names = os.listdir(folder)
    {later}
    return names


names = read("images")
random.shuffle(names)
print(names)
"""
    found = [one for one in check([write({"read.py": text})]).findings if one.code == "TRL207"]
    assert [one.fix.applicability if one.fix is not None else None for one in found] == [expected]


def _line(root: Path, one: Finding) -> str:
    return (root / "read.py").read_text().splitlines()[one.location.start.row - 1]
