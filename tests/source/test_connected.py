"""Which files are of one program with some of them, where no project file says it."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.source.connected import connected
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.discovery import in_order

CASES = {
    "nothing": ({"a.py": "", "b.py": ""}, "a.py"),
    "down": ({"a.py": "import b", "b.py": "", "c.py": ""}, "a.py b.py"),
    "up": ({"a.py": "", "b.py": "from a import x", "c.py": ""}, "a.py b.py"),
    "across": ({"a.py": "", "b.py": "import a, c", "c.py": "", "d.py": ""}, "a.py b.py c.py"),
    "a package": (
        {"a.py": "from p.q import x", "p/__init__.py": "", "p/q.py": "", "p/r.py": ""},
        "a.py p/__init__.py p/q.py",
    ),
    "a module taken out of a package": ({"a.py": "from p import q", "p/q.py": "", "p/r.py": ""}, "a.py p/q.py"),
    "relative": ({"a.py": "", "p/b.py": "from ..a import x", "p/c.py": "from .b import y"}, "a.py p/b.py p/c.py"),
    "beside a script": ({"a.py": "import s.b", "s/b.py": "import c", "s/c.py": ""}, "a.py s/b.py s/c.py"),
    "a library": ({"a.py": "import torch", "b.py": "import torch"}, "a.py"),
    "within a function": ({"a.py": "def f():\n    import b\n", "b.py": ""}, "a.py b.py"),
    "by its name": (
        {"a.py": "import importlib\nx = importlib.import_module('p.b').X", "p/b.py": "", "c.py": ""},
        "a.py p/b.py",
    ),
    "by a name that is put together": (
        {"a.py": "x = import_module('p.' + name)", "p/b.py": "", "p/__init__.py": ""},
        "a.py",
    ),
    "a notebook": (
        {"a.py": "", "n.ipynb": '{"cells": [{"cell_type": "code", "source": [\n  "import a\\n",\n  "x"]}]}'},
        "a.py n.ipynb",
    ),
}


@pytest.mark.parametrize(("files", "wanted"), CASES.values(), ids=CASES)
def test_connected(write, files, wanted):
    root = write(files)
    found = connected(in_order(root / name for name in files), root, {root / "a.py"}, Contents())
    assert {path.relative_to(root).as_posix() for path in found} == set(wanted.split())


STRANGER = "import torch\n\ntorch.manual_seed(0)\n"
TRAINING = """
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.arange(8)), shuffle=True)
for batch in loader:
    print(batch)
"""


def test_a_stranger_is_not_even_parsed(write):
    """A file that does not parse would be reported as soon as anything looked at it."""
    root = write(
        {"train.py": TRAINING, "old.py": "import torch\nfrom torch.utils.data import (\n", "other.py": STRANGER}
    )
    report = check([root / "train.py"], {"extend_select": ("TRL201",)})
    assert {finding.code for finding in report.findings} == {"TRL201"}
    assert not report.errors
