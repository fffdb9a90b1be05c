"""What a fix does depends on the kind of file: in tests nothing without a review, in notebooks what it does elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from notebooks import notebook

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

LOADER = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand(3)


def init(worker_id):
    np.random.seed(worker_id)


def test_batches():
    g = torch.Generator()
    g.manual_seed(0)
    for batch in DataLoader(Noise(), num_workers=2, worker_init_fn=init, generator=g):
        print(batch)
"""


@pytest.mark.parametrize("name", ["train.py", "tests/test_train.py"])
def test_in_a_test_a_fix_is_unsafe(name: str, write) -> None:
    text = LOADER + "\n\ntest_batches()\n"
    root = write({"pyproject.toml": "", name: text})
    (finding,) = (one for one in check([root]).findings if one.code == "TRL104")
    is_test = "test_" in name
    assert finding.fix is not None
    assert (finding.fix.applicability is Applicability.UNSAFE) == is_test
    fix([root])
    assert ((root / name).read_text() == text) == is_test
    assert fix([root], {"unsafe_fixes": True}).changes if is_test else True


CLASS = "import time\n\nimport numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
CLASS += LOADER[LOADER.index("class Noise") : LOADER.index("def init")]
INIT = "def {name}(worker_id):\n    np.random.seed(int(time.time()) + worker_id)"
MADE = "{name}_loader = DataLoader(Noise(), num_workers=2, worker_init_fn={name}, generator=g)\nprint(*{name}_loader)"


def cells(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def test_the_last_fix_takes_the_import_out_of_a_notebook_too(write) -> None:
    sources = [CLASS.rstrip(), "g = torch.Generator()\ng.manual_seed(0)"]
    sources += [part.format(name=name) for name in ("first", "second") for part in (INIT, MADE)]
    root = write({"torchrepro-lint.toml": "", "train.ipynb": notebook(*sources)})
    fix([root], {"select": ("TRL105",)})
    after = cells(root / "train.ipynb")
    assert "time.time()" not in "".join(after)
    assert "import time" not in "".join(after)


def test_a_future_import_in_a_later_cell_is_named_as_the_reason(write) -> None:
    sources = [CLASS.rstrip(), "from __future__ import annotations\ng = torch.Generator()\ng.manual_seed(0)"]
    sources += [part.format(name="first") for part in (INIT, MADE)]
    root = write({"torchrepro-lint.toml": "", "train.ipynb": notebook(*sources)})
    result = fix([root], {"select": ("TRL105",)})
    assert not result.changes
    assert [one.reason for one in result.rejected] == [
        "a later cell imports from `__future__`: move that import into the first cell, then it can be fixed"
    ]
