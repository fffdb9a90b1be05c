"""What no fix seeds a generator with: `args.seeds`, which may be a list, and a number that is no longer the run's."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix

OF_A_CLASS = """\
import numpy as np
import optuna

np.random.seed(0)


class Search:
    def __init__(self, trials, **options):
        self.trials = trials
        self.seed = {seed}

    def run(self):
        study = optuna.create_study(direction="maximize")
        study.optimize(objective, n_trials=self.trials)
        return study.best_value


print(Search(3, seed=2).run())
"""
OF_AN_OPTION = """\
import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int{more})
args = parser.parse_args()


def main(data):
    np.random.seed(args.seed)
    for batch in DataLoader(data, shuffle=True):
        torch.nn.Linear(1, 1)(batch).sum().backward()


main([1.0, 2.0])
"""
VALUES = {
    "one": ("options.get('seed', 1)", True),
    "a list": ("[1]", False),
    "a list where none is given": ("options.pop('seed') if 'seed' in options else [1]", False),
    "a list by `or`": ("options.get('seed') or [1, 2]", False),
    "a comprehension": ("[seed for seed in options.values()]", False),
}
OPTIONS = {
    "one": ("", True),
    "one or none": (', nargs="?"', True),
    "one or more": (', nargs="+", default=[1]', False),
    "each time it is given": (', action="append"', False),
}


@pytest.mark.parametrize(("seed", "is_taken"), VALUES.values(), ids=VALUES)
def test_an_attribute(seed: str, is_taken: bool, write) -> None:
    root = write({"pyproject.toml": "", "search.py": OF_A_CLASS.format(seed=seed)})
    (found,) = check([root], {"select": ("TRL510",)}).findings
    written = "".join(edit.content for edit in found.fix.edits) if found.fix is not None else ""
    assert ("self.seed" in written) is is_taken


@pytest.mark.parametrize(("more", "is_taken"), OPTIONS.values(), ids=OPTIONS)
def test_an_option(more: str, is_taken: bool, write) -> None:
    root = write({"pyproject.toml": "", "train.py": OF_AN_OPTION.format(more=more)})
    (found,) = check([root], {"select": ("TRL201",)}).findings
    written = "".join(edit.content for edit in found.fix.edits) if found.fix is not None else ""
    assert ("args.seed" in written) is is_taken


SETTINGS = "SEED = 1234\n"
SETS_ITS_OWN = SETTINGS + "\n\ndef choose(seed):\n    global SEED\n    SEED = seed\n"
MAKES = """\
import torch
from settings import SEED
from torch.utils.data import DataLoader


def make(data):
    return DataLoader(data, batch_size=2, shuffle=True)
"""
TRAINS = """\
import sys

import numpy as np
import settings
import torch
from make import make

{sets}
np.random.seed(settings.SEED)
loader = make(torch.arange(8.0))
net = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x in loader:
        optimizer.zero_grad()
        net(x[:, None] + np.random.rand()).mean().backward()
        optimizer.step()
"""
COPIED = {
    "a module that keeps its number": (SETTINGS, "print(settings.SEED)", True),
    "a module that is given another": (SETTINGS, "settings.SEED = int(sys.argv[1])", False),
    "a module that gives itself another": (SETS_ITS_OWN, "settings.choose(int(sys.argv[1]))", False),
    "another name of it": (SETTINGS, "settings.SIZE = int(sys.argv[1])", True),
}


@pytest.mark.parametrize(("settings", "sets", "is_kept"), COPIED.values(), ids=COPIED)
def test_a_name_that_was_imported_before_its_module_gets_another(
    settings: str, sets: str, is_kept: bool, write
) -> None:
    files = {"settings.py": settings, "make.py": MAKES, "train.py": TRAINS.format(sets=sets)}
    root = write({"pyproject.toml": "", **files})
    fix([root], {"profile": "strict"})
    assert "torch.manual_seed(settings.SEED)" in (root / "train.py").read_text()
    seed = "SEED" if is_kept else "torch.initial_seed()"
    assert f"g.manual_seed({seed})" in (root / "make.py").read_text()
