"""What the default profile says of orders that, by the names around them, only an evaluation or an extraction takes."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_HEAD = """
import os
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Images(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.files[index]


def batches_of(files):
    g = torch.Generator()
    g.manual_seed(torch.initial_seed())
    return DataLoader(Images(files), shuffle=True, generator=g)
"""
_LISTED = """
{name} = os.listdir("images")
for batch in batches_of({name}):
    print(batch)
"""
_NUMBERED = """
def {name}(folder):
    rows = {{}}
    for number, file in enumerate(os.listdir(folder)):
        rows[file] = number
    torch.save(rows, "rows.pt")


{name}("images")
"""
_METHOD = """
class Data:
    def {name}(self):
        loader = DataLoader(Images(["a", "b", "c"]), shuffle=True)
        return loader


for batch in Data().{name}():
    print(batch)
"""


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        (_LISTED, "train_files", ["TRL207"]),
        (_LISTED, "files", ["TRL207"]),
        (_LISTED, "val_files", []),
        (_NUMBERED, "index_words", ["TRL207"]),
        (_NUMBERED, "extract_features", []),
        (_METHOD, "train_dataloader", ["TRL201"]),
        (_METHOD, "loaders", ["TRL201"]),
        (_METHOD, "val_dataloader", []),
    ],
)
def test_an_order_that_is_named_so(write, text: str, name: str, found: list[str]) -> None:
    root = write({"torchrepro-lint.toml": "", "main.py": _HEAD + text.format(name=name)})
    assert [one.code for one in check([root]).found] == found
    strictly = [one.code for one in check([root], {"profile": "strict"}).findings]
    assert "TRL207" in strictly or "TRL201" in strictly
