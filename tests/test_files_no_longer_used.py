"""What the default profile says of files that are kept beside what is used instead."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_TRAINING = """
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
g = torch.Generator()
for batch in DataLoader(TensorDataset(torch.arange(16)), shuffle=True, generator=g):
    print(batch)
"""


@pytest.mark.parametrize(
    ("name", "other", "found"),
    [
        ("bin/old/train.py", "import torch\n", []),
        ("train_old.py", "import torch\n", []),
        ("deprecated/train.py", "import torch\n", []),
        ("nets/unused_code/train.py", "import torch\n", []),
        ("train_archived.py", "import torch\n", []),
        ("train_bkp.py", "import torch\n", []),
        ("bkp/train.py", "import torch\n", []),
        ("bkp_manager.py", "import torch\n", ["TRL203"]),
        ("deprecated_train.py", "import torch\n", []),
        ("已经用不到了的文件/train.py", "import torch\n", []),
        ("train_旧版.py", "import torch\n", []),
        ("备份/train.py", "import torch\n", []),
        ("不用显卡/train.py", "import torch\n", ["TRL203"]),
        ("新旧对比/train.py", "import torch\n", ["TRL203"]),
        ("bin/train.py", "import torch\n", ["TRL203"]),
        ("household/train.py", "import torch\n", ["TRL203"]),
        ("legacy/train.py", "import legacy.train\n", ["TRL203"]),
        ("legacy/train.py", None, ["TRL203"]),
        ("net-main/train.py", "import torch\n", []),
    ],
)
def test_a_file_that_is_no_longer_used(write, name: str, other: str | None, found: list[str]) -> None:
    others = {} if other is None else {"run.py": other}
    root = write({"torchrepro-lint.toml": "", name: _TRAINING, **others})
    assert [one.code for one in check([root]).findings] == found
    assert [one.code for one in check([root], {"select": ("TRL203",)}).findings] == ["TRL203"]


def test_what_only_files_import_that_are_no_longer_used(write) -> None:
    files = {"old/train.py": "import old.data\n", "old/data.py": _TRAINING, "train.py": "import torch\n"}
    assert check([write({"torchrepro-lint.toml": "", **files})]).findings == ()
