"""A list of seeds is no seed of a generator: no fix writes `manual_seed(args.seeds)` where that may be a list."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

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
