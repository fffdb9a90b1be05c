"""How `sorted(...)` is written where the line would be longer than the project's formatter leaves it."""

from __future__ import annotations

from textwrap import indent

import pytest

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
