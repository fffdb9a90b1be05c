"""What keeps the order of a listing on its way to where it is shuffled; tests/constructs has the ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import is_reported

HEAD = """\
import os, random
import torch
random.seed(0)
torch.manual_seed(0)
"""


@pytest.mark.parametrize(
    ("made", "is_found"),
    [
        ("[name for name in xs if name]", True),
        ("list(xs) + ['last']", True),
        ("xs[:100]", True),
        ("[*map(str, xs)]", False),  # a display with a star is not followed
        ("sorted(xs)", False),
        ("{name: 1 for name in xs}", False),
        ("set(xs)", False),
        ("[len(xs), 3]", False),
    ],
)
def test_what_is_made_of_it(made: str, is_found: bool, tmp_path: Path) -> None:
    text = f"class Parts:\n    def __init__(self, xs):\n        self.xs = {made}\n"
    assert (
        is_reported(tmp_path, HEAD + text + "random.shuffle(Parts(os.listdir('d')).xs)\n", "TRL207", "default")
        is is_found
    )


def test_across_modules(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("class Parts:\n    def __init__(self, xs):\n        self.xs = xs\n")
    text = "from parts import Parts\nparts = Parts(os.listdir('d'))\nrandom.shuffle(parts.xs)\n"
    assert is_reported(tmp_path, HEAD + text, "TRL207", "default")
    assert not is_reported(
        tmp_path, HEAD + text.replace("random.shuffle", "parts.xs.sort()\nrandom.shuffle"), "TRL207", "default"
    )
    assert is_reported(tmp_path, HEAD + text + "parts.xs.sort()\n", "TRL207", "default")
