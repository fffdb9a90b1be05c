"""A seed that only the workers of a loader set is no seed of the program, whatever form the function has."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.commands.explain import explain
from torchrepro_lint.engine import check

_PROGRAM = """\
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Items(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand()


{functions}


def main():
    noise = np.random.rand(3)
    loader = DataLoader(Items(), num_workers=2, shuffle=True, worker_init_fn={init})
    {seed}
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        (model(batch) + noise.sum()).sum().backward()
        optimizer.step()


main()
"""
_OF_WORKERS = "torch.initial_seed() % 2**32"
_BOTH = "def seed_both(seed):\n    np.random.seed(seed)\n    torch.manual_seed(seed)"
_FORMS = {
    "a lambda": ("", f"lambda i: np.random.seed({_OF_WORKERS})"),
    "a lambda that calls a helper": (_BOTH, f"lambda i: seed_both({_OF_WORKERS})"),
    "a function of any name": (f"def each(i):\n    np.random.seed({_OF_WORKERS})", "each"),
    "a function that calls a helper": (f"{_BOTH}\n\n\ndef each(i):\n    seed_both({_OF_WORKERS})", "each"),
    "a partial": (f"def each(base, i):\n    np.random.seed(({_OF_WORKERS} + base) % 2**32)", "partial(each, 3)"),
    "a class": (f"class Each:\n    def __call__(self, i):\n        np.random.seed({_OF_WORKERS})", "Each()"),
    "a name for workers": (f"def seed_worker(worker_id):\n    np.random.seed({_OF_WORKERS})", "seed_worker"),
}


def _codes(root: Path) -> list[str]:
    return sorted(one.code for one in check([root]).found)


@pytest.mark.parametrize("form", _FORMS)
def test_the_program_has_still_to_seed_what_it_draws(form: str, write) -> None:
    functions, init = _FORMS[form]
    root = write({"torchrepro-lint.toml": "", "train.py": _PROGRAM.format(functions=functions, init=init, seed="pass")})
    report = check([root])
    assert (report.findings, [path.name for path in report.left.programs]) == ((), ["train.py"])
    seed = "torch.manual_seed(0)"
    root = write({"train.py": _PROGRAM.format(functions=functions, init=init, seed=seed)})
    assert _codes(root) == ["TRL201", "TRL502"]


@pytest.mark.parametrize("form", ["a lambda that calls a helper", "a function that calls a helper"])
def test_a_helper_that_the_program_calls_as_well_seeds_both(form: str, write) -> None:
    functions, init = _FORMS[form]
    seed = "seed_both(0)"
    root = write({"torchrepro-lint.toml": "", "train.py": _PROGRAM.format(functions=functions, init=init, seed=seed)})
    assert _codes(root) == ["TRL201", "TRL504"]  # the order repeats: it is left to the strict profile


def test_explain_does_not_name_it(write, capsys: pytest.CaptureFixture[str]) -> None:
    functions, init = _FORMS["a lambda that calls a helper"]
    text = _PROGRAM.format(functions=functions, init=init, seed="pass")
    root = write({"torchrepro-lint.toml": "", "train.py": text})
    explain([f"{root / 'train.py'}:{text[: text.index('DataLoader(')].count(chr(10)) + 1}"])
    assert "torch is seeded  nowhere" in capsys.readouterr().out
