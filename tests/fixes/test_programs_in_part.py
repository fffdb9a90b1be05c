"""A safe fix that seeds a generator is unsafe beside a program that seeds another one and leaves out the same."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

TRAINS = """\
import numpy as np
import torch

np.random.seed(3)
net = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    net(torch.tensor(np.random.rand(4, 2)).float()).sum().backward()
    optimizer.step()
torch.save(net.state_dict(), "net.pt")
"""
HELPER = """\
import random

import numpy as np


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
"""
BODY = """\
import torch
import torch.nn as nn

{}
net = {}
torch.save(net, "other.pt")
"""
NETWORK = BODY.format("{}", "nn.Linear(2, 2)")
AT_IMPORT = "import numpy as np\n\nnp.random.seed(0)\n\n\nclass DataUtils:\n    pass\n"
#: The other files of the repository, and whether they leave a program that does not seed torch.
OTHERS = {
    "nothing is seeded": ({"other.py": NETWORK.format("")}, False),
    "a helper that is imported": (
        {"utils.py": HELPER, "other.py": NETWORK.format("from utils import set_seed\n\nset_seed(0)")}, True
    ),
    "a star import": ({"utils.py": HELPER, "other.py": NETWORK.format("from utils import *\n\nset_seed(0)")}, True),
    "a helper that nothing calls": ({"utils.py": HELPER, "other.py": NETWORK.format("from utils import set_seed")}, False),
    "a helper that seeds torch too": (
        {
            "utils.py": f"{HELPER}    torch.manual_seed(seed)\n".replace("import random", "import random\nimport torch"),
            "other.py": NETWORK.format("from utils import set_seed\n\nset_seed(0)"),
        },
        False,
    ),
    "a module that seeds at its import": (
        {"utils.py": AT_IMPORT, "other.py": NETWORK.format("from utils import DataUtils")}, True
    ),
    "a module in a folder that the start names": (
        {"cil/utils/Utils.py": AT_IMPORT, "cil/FT/codes/other.py": NETWORK.format("from Utils import DataUtils")}, True
    ),
    "a folder that is nearer": (
        {
            "cil/utils/Utils.py": AT_IMPORT,
            "siw/utils/Utils.py": "class DataUtils:\n    pass\n",
            "siw/codes/other.py": NETWORK.format("from Utils import DataUtils"),
        },
        False,
    ),
    "an evaluation with the same header": (
        {"evaluate.py": NETWORK.format("import numpy as np\n\nnp.random.seed(3)").replace("torch.save(net,", "print(net,")},
        True,
    ),
    "draws from nothing else": (
        {"other.py": BODY.format("import numpy as np\n\nnp.random.seed(3)", "np.random.rand(3)")}, False
    ),
    "a helper of somebody": (
        {"other.py": NETWORK.format("import random\n\nimport tools\n\nrandom.seed(3)\ntools.seed_everything(3)")}, False
    ),
    "a test": (
        {"tests/test_other.py": NETWORK.format("import numpy as np\n\nnp.random.seed(3)")}, False
    ),
    "code that was put aside": (
        {"old/other.py": NETWORK.format("import numpy as np\n\nnp.random.seed(3)")}, False
    ),
}  # fmt: skip


def _is_safe(root) -> bool:
    (found,) = [one for one in check([root]).findings if one.code == "TRL502" and one.location.path.name == "train.py"]
    return found.fix is not None and found.fix.applicability is Applicability.SAFE


@pytest.mark.parametrize(("files", "is_left"), OTHERS.values(), ids=OTHERS)
def test_beside_a_program_that_leaves_out_the_same(files, is_left: bool, write) -> None:
    assert _is_safe(write({"pyproject.toml": "", "train.py": TRAINS, **files})) is not is_left


def test_beside_one_that_is_mended_as_well(write) -> None:
    assert _is_safe(write({"pyproject.toml": "", "train.py": TRAINS, "tune.py": TRAINS.replace("net.pt", "tuned.pt")}))


def test_beside_one_of_which_a_comment_says_that_it_is_to(write) -> None:
    other = TRAINS.replace("np.random.seed(3)", "np.random.seed(3)  # noqa: TRL502")
    assert _is_safe(write({"pyproject.toml": "", "train.py": TRAINS, "tune.py": other}))


#: What a file has that is called like a test, and whether it is a program.
CALLED_LIKE_TESTS = {
    "trains, with a command line": ("import argparse\n\nargparse.ArgumentParser().parse_args()\n" + TRAINS, True),
    "trains": (TRAINS, False),
    "is for a runner": ("import argparse\n\n" + TRAINS + "\n\ndef test_it():\n    assert net\n", False),
}


@pytest.mark.parametrize(("text", "is_program"), CALLED_LIKE_TESTS.values(), ids=CALLED_LIKE_TESTS)
def test_a_program_that_is_called_like_a_test(text: str, is_program: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": TRAINS, "adversarial_test.py": text})
    assert _is_safe(root) is not is_program
