"""Options for a seed that nothing reads: of which programs the default profile says so."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

_PROGRAM = """
import argparse
import torch
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=7)
parser.add_argument("--size", type=int, default=7)
args = parser.parse_args()
for batch in DataLoader(range(args.size), shuffle=True):
    print(batch)
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("train.py", ["TRL305"]),
        ("main.py", ["TRL305"]),
        ("preprocess_speech.py", []),
        ("extract_features.py", []),
        ("eval.py", []),
        ("demo_face.py", []),
    ],
)
def test_an_option_of_a_program_that_prepares_or_evaluates(write, name: str, found: list[str]) -> None:
    root = write({"torchrepro-lint.toml": "", name: _PROGRAM})
    assert [one.code for one in check([root]).findings if one.code == "TRL305"] == found
    assert [one.code for one in check([root], {"select": ("TRL305",)}).findings] == ["TRL305"]


_DRAWS = """
import argparse
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self):
        np.random.seed(7)
        self.order = np.random.permutation(8)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.as_tensor(self.order[index] + np.random.randn())

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=7)
parser.add_argument("--size", type=int, default=7)
args = parser.parse_args()
for batch in DataLoader(Noisy(), args.size, num_workers=2, shuffle=True):
    print(batch)
"""


def test_an_option_that_nothing_reads_gives_no_generator_beside_an_init_function(write) -> None:
    root = write({"torchrepro-lint.toml": 'target-torch = "<1.9"\n', "train.py": _DRAWS})
    (found,) = check([root], {"select": ("TRL101",)}).findings
    assert found.fix is not None and found.fix.applicability is Applicability.SAFE
    written = "".join(edit.content for edit in found.fix.edits)
    assert "worker_init_fn=seed_worker" in written and "generator" not in written
