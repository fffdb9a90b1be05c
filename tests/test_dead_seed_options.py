"""Options for a seed that nothing reads: of which programs the default profile says so."""

from __future__ import annotations

import pytest

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
