"""What is known of torch's seed just before the line of a program that the word `HERE` marks in a comment."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest
from program.asking import program_of

from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.seeds.torch_seeds import TorchSeed, torch_seed_at

HEAD = """
import argparse
import os
import random
import numpy as np
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
args = parser.parse_args()
"""


class Case(NamedTuple):
    """A program, and what is to be known: always seeded, another seed on each rank, anything seeded at all."""

    program: str
    always: bool
    by_rank: bool
    seeded: bool


CASES = {
    "called here, and started as a process elsewhere": Case(
        """
        import torch.multiprocessing as mp

        def worker(gpu):
            x = 1  # HERE

        def main():
            torch.manual_seed(args.seed)
            if torch.cuda.device_count() > 1:
                mp.spawn(worker, nprocs=2)
            else:
                worker(0)

        main()
        """,
        False,
        False,
        True,
    ),
    "called here, and started as a process that seeds": Case(
        """
        import torch.multiprocessing as mp

        def worker(gpu):
            torch.manual_seed(args.seed)
            x = 1  # HERE

        if torch.cuda.device_count() > 1:
            mp.spawn(worker, nprocs=2)
        else:
            worker(0)
        """,
        True,
        False,
        True,
    ),
    "seeded above": Case("torch.manual_seed(args.seed)\nx = 1  # HERE", True, False, True),
    "seeded below": Case("x = 1  # HERE\ntorch.manual_seed(args.seed)", False, False, True),
    "seeded where a seed is given": Case(
        "if args.seed is not None:\n    torch.manual_seed(args.seed)\nx = 1  # HERE", True, False, True
    ),
    "seeded in one arm of something else": Case(
        "if os.cpu_count() > 3:\n    torch.manual_seed(args.seed)\nx = 1  # HERE", False, False, True
    ),
    "seeded in a helper": Case(
        """
        def set_seed(seed):
            random.seed(seed)
            torch.manual_seed(seed)
        set_seed(args.seed)
        x = 1  # HERE
        """,
        True,
        False,
        True,
    ),
    "seeded by the caller": Case(
        """
        def make():
            x = 1  # HERE
        torch.manual_seed(args.seed)
        make()
        """,
        True,
        False,
        True,
    ),
    "seeded by one of two callers": Case(
        """
        def make():
            x = 1  # HERE
        def first():
            torch.manual_seed(args.seed)
            make()
        def second():
            make()
        if os.cpu_count() > 3:
            first()
        else:
            second()
        """,
        False,
        False,
        True,
    ),
    "the rank in the seed": Case(
        'rank = int(os.environ["RANK"])\ntorch.manual_seed(args.seed + rank)\nx = 1  # HERE', True, True, True
    ),
    "the local rank in the seed": Case(
        'local_rank = int(os.environ["LOCAL_RANK"])\ntorch.manual_seed(args.seed + local_rank)\nx = 1  # HERE',
        True,
        True,
        True,
    ),
    "seeded from the system": Case("torch.seed()\nx = 1  # HERE", False, False, True),
    "only NumPy": Case("np.random.seed(args.seed)\nx = 1  # HERE", False, False, True),
    "nothing seeded": Case("x = 1  # HERE", False, False, False),
    "put back afterwards": Case(
        "state = torch.get_rng_state()\ntorch.manual_seed(0)\nnoise = torch.rand(2)\n"
        "torch.set_rng_state(state)\nx = 1  # HERE",
        False,
        False,
        True,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_torch_seed(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = asked(tmp_path, HEAD + dedent(case.program))
    assert (found.always, found.by_rank, found.seeded) == (case.always, case.by_rank, case.seeded)


@pytest.mark.parametrize(
    ("program", "number", "is_named", "may_be"),
    [
        pytest.param("torch.manual_seed(7)\nx = 1  # HERE", 7, False, True, id="the number of the call"),
        pytest.param("torch.manual_seed(7)\nx = 1  # HERE", 8, True, False, id="another number"),
        pytest.param("torch.manual_seed(7)\nx = 1  # HERE\nrandom.seed(8)", 7, False, True, id="torch's before others"),
        pytest.param("torch.manual_seed(args.seed + 7)\nx = 1  # HERE", 7, False, False, id="a part of the seed"),
        pytest.param("torch.manual_seed(args.seed)\nx = 1  # HERE", 7, True, False, id="a seed that the user gives"),
        pytest.param("x = 1  # HERE", 7, True, True, id="a name in a program that seeds nothing"),
        pytest.param("x = 1  # HERE", 7, False, False, id="a number in a program that seeds nothing"),
    ],
)
def test_whether_a_number_may_be_the_seed(
    tmp_path: Path, program: str, number: int, is_named: bool, may_be: bool
) -> None:
    assert asked(tmp_path, HEAD + program).may_be(number, is_named=is_named) is may_be


EACH_CALL = {
    "by the function": ("torch.manual_seed(3)", True),
    "by a helper": ("seed_all(args.seed or 1)", True),
    "NumPy alone": ("np.random.seed(3)", False),
    "where a seed is given": ("if args.seed is not None: torch.manual_seed(args.seed)", False),
    "in one arm": ("if width > 3: torch.manual_seed(3)", False),
    "by the callers": ("pass", False),
}


@pytest.mark.parametrize(("seeding", "each_call"), EACH_CALL.values(), ids=EACH_CALL)
def test_a_function_that_seeds_torch_begins_anew_in_each_call(tmp_path: Path, seeding: str, each_call: bool) -> None:
    program = (
        "def seed_all(seed):\n    torch.manual_seed(seed)\n\n"
        f"def train(width):\n    {seeding}\n    if width:\n        x = 1  # HERE\n\n"
        "torch.manual_seed(5)\nfor width in (2, 4):\n    train(width)\n"
    )
    found = asked(tmp_path, HEAD + program)
    assert (found.always, found.each_call) == (True, each_call)


def asked(root: Path, text: str) -> TorchSeed:
    program = program_of(root, text)
    path = program.root / "main.py"
    facts, parsed = program.facts(path), program.parsed(path)
    assert facts is not None
    line = next(number for number, one in enumerate(text.split("\n"), start=1) if "HERE" in one)
    site = next(
        site
        for scope in facts.walk_scopes()
        for site in scope.statement_sites
        if text.count("\n", 0, parsed.span(site)[0]) + 1 == line
    )
    return torch_seed_at(program, Site(path, site))
