"""Which calls are looked at closely: those of what may be a class of loaders by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

LOADED = "from torch.utils.data import DataLoader\n\nloader = DataLoader(list(range(8)), batch_size=2)\n"


def _work(tmp_path: Path, calls: int) -> int:
    model = "model = prepare(network(), loader)\n"
    uses = "".join(f"def step{number}(x):\n    return model(x.given{number})\n\n\n" for number in range(calls))
    program = program_of(tmp_path, f"{LOADED}{model}{uses}")
    assert len(program.loaders) == 1
    return program.ev.computed


def test_what_is_made_with_a_loader_is_no_class_of_loaders(tmp_path: Path) -> None:
    assert _work(tmp_path, 20) == _work(tmp_path, 2)


@pytest.mark.parametrize(
    "made",
    [
        "make = partial(DataLoader, batch_size=2)\nmake(data)",
        "Loaders = {'plain': DataLoader}\nmake = Loaders.get(kind)\nmake(data)",
        "Loader = DataLoader if flag else Other\nLoader(data)",
        "def build(make=DataLoader):\n    return make(data)",
    ],
)
def test_a_class_of_loaders_by_another_name(tmp_path: Path, made: str) -> None:
    start = "from functools import partial\n\nfrom torch.utils.data import DataLoader\n\ndata = [1, 2]\n"
    assert len(program_of(tmp_path, f"{start}{made}\n").loaders) == 1
