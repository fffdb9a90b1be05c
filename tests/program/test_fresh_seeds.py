"""Splits right behind a seed that a function of the project sets, however many others call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.program.ordering import fresh_seeds
from torchrepro_lint.program.ordering.samplers import unseeded_splits
from torchrepro_lint.program.program import Program
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import find_target

SEEDING = "import random, torch\ndef set_seed(seed):\n    random.seed(seed)\n{}"
SPLIT = """\
from torch.utils.data import random_split
from seeding import set_seed
def parts(samples, seed):
    set_seed(seed)
    return random_split(samples, [8, 2])
"""
CALLER = "from seeding import set_seed\nset_seed(1)\n"


@pytest.mark.parametrize(
    ("seeds", "others", "found"),
    [
        ("    torch.manual_seed(seed)\n", 0, 0),
        ("    torch.manual_seed(seed)\n", 40, 0),
        ("", 40, 1),
    ],
)
def test_a_split_behind_a_seed(seeds: str, others: int, found: int, tmp_path: Path) -> None:
    texts = {"seeding.py": SEEDING.format(seeds), "split.py": SPLIT}
    texts |= {f"a{number}.py": CALLER for number in range(others)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = sorted(tmp_path.glob("*.py"))
    program = Program(tmp_path, files, Settings(), find_target(tmp_path, Settings()))
    assert len(list(unseeded_splits(program))) == found


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ("g = torch.Generator()\ng.manual_seed(0)\n", 0),
        ("g = torch.Generator().manual_seed(0)\n", 0),
        ("model = torch.nn.Linear(4, 2)\n", 1),
    ],
)
def test_what_is_between_the_seed_and_the_split(between: str, found: int, tmp_path: Path) -> None:
    head = "import torch\nfrom torch.utils.data import random_split\ntorch.manual_seed(0)\n"
    (tmp_path / "split.py").write_text(f"{head}{between}train, val = random_split(range(10), [8, 2])\n")
    program = Program(tmp_path, [tmp_path / "split.py"], Settings(), find_target(tmp_path, Settings()))
    assert len(list(unseeded_splits(program))) == found


OPTIONS = """\
import torch
from torch.utils.data import random_split

def options():
    found = dict(size=0)
    found["size"] = {value}
    return found

torch.manual_seed(42)
size = options()["size"]
parts = random_split(range(10), [size, 10 - size])
"""


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("8", 0),
        ("int(8.0)", 0),
        ("int(torch.rand(1) * 8)", 1),
        ("read_size()", 1),
    ],
)
def test_a_split_behind_a_function_that_draws_nothing(value: str, found: int, tmp_path: Path) -> None:
    (tmp_path / "split.py").write_text(OPTIONS.format(value=value))
    program = Program(tmp_path, [tmp_path / "split.py"], Settings(), find_target(tmp_path, Settings()))
    assert len(list(unseeded_splits(program))) == found


@pytest.mark.parametrize(("depth", "found"), [(fresh_seeds._MAX_DEPTH, 0), (fresh_seeds._MAX_DEPTH + 1, 1)])
def test_functions_are_followed_to_a_depth(depth: int, found: int, tmp_path: Path) -> None:
    """Past the limit nobody knows that nothing draws: the split is found."""
    functions = "def size_1():\n    return 8\n"
    for number in range(2, depth + 1):
        functions += f"def size_{number}():\n    return size_{number - 1}()\n"
    text = f"import torch\nfrom torch.utils.data import random_split\n{functions}torch.manual_seed(42)\n"
    (tmp_path / "split.py").write_text(f"{text}size = size_{depth}()\nparts = random_split(range(10), [size, 2])\n")
    program = Program(tmp_path, [tmp_path / "split.py"], Settings(), find_target(tmp_path, Settings()))
    assert len(list(unseeded_splits(program))) == found
