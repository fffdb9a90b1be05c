"""However a program is given its seed, what a fix writes runs: each fix, for each way of passing a seed, before and after.

A program that runs may not end with an error because of its fix (`torch.manual_seed(None)`, `manual_seed([7, 8])`), and one that
is given a seed repeats.
"""

from __future__ import annotations

import importlib.util
import random
import runpy
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

import pytest

from torchrepro_lint.fix_loop import fix

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the programs need torch"),
]

HEAD = """\
import argparse
import os
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.float32(index + np.random.rand())


"""


@dataclass(frozen=True)
class Way:
    """How `main` is called, and the expression of the seed in it. `guarded`: the seed may be None there."""

    signature: str
    seed: str
    call: str
    guarded: bool = False
    is_text: bool = False
    above: str = ""
    in_class: bool = False

    @property
    def is_given(self) -> bool:
        return not self.guarded


OPTION = "parser = argparse.ArgumentParser()\nparser.add_argument({})\nmain(parser.parse_args([]))"
WAYS: Mapping[str, Way] = {
    "a number": Way("main()", "7", "main()"),
    "a named number": Way("main()", "SEED", "main()", above="SEED = 7\n\n\n"),
    "by position": Way("main(seed)", "seed", "main(7)"),
    "by its name": Way("main(*, seed)", "seed", "main(seed=7)"),
    "the default of a parameter": Way("main(seed=7)", "seed", "main()"),
    "a parameter that is None": Way("main(seed=None)", "seed", "main()", guarded=True),
    "an option": Way("main(args)", "args.seed", OPTION.format('"--seed", type=int, default=7')),
    "an option without a type": Way("main(args)", "args.seed", OPTION.format('"--seed", default=7')),
    "an option that is None": Way("main(args)", "args.seed", OPTION.format('"--seed", type=int'), guarded=True),
    "each of a list": Way("main(seed)", "seed", "for seed in [7, 8]:\n    main(seed)"),
    "each of an option of several": Way(
        "main(seed)",
        "seed",
        OPTION.format('"--seeds", type=int, nargs="+", default=[7, 8]').replace(
            "main(parser.parse_args([]))", "for seed in parser.parse_args([]).seeds:\n    main(seed)"
        ),
    ),
    "the first of a list": Way("main(seeds)", "seeds[0]", "main([7, 8])"),
    "a variable of the environment": Way("main()", 'int(os.environ.get("SEED", "7"))', "main()"),
    "a text of the environment": Way("main(seed)", "seed", 'main(os.environ.get("SEED", "7"))', is_text=True),
    "a key": Way("main(config)", 'config["seed"]', 'main({"seed": 7})'),
    "an attribute": Way("main(self)", "self.seed", "Run(7).main()", in_class=True),
}
TORCH, NUMPY, PYTHON = "torch.manual_seed({})", "np.random.seed({})", "random.seed({})"
DRAWS = "print(random.random(), np.random.rand(), torch.rand(1).item())"
TRAINS = "print([batch.tolist() for _ in range(2) for batch in loader])"
#: The rule, what seeds, and what the seed is to reach.
FAULTS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "workers": (
        "TRL101",
        (TORCH,),
        f'loader = DataLoader(Noisy(), shuffle=True, num_workers=2, multiprocessing_context="fork")\n{TRAINS}',
    ),
    "a loader": ("TRL201", (TORCH, NUMPY), f"loader = DataLoader(torch.arange(8.0), shuffle=True)\n{TRAINS}"),
    "a split": (
        "TRL202",
        (TORCH,),
        "print(torch.rand(1).item())\nprint([list(part.indices) for part in random_split(range(8), [6, 2])])",
    ),
    "a generator": ("TRL203", (TORCH,), "g = torch.Generator()\nprint(torch.rand(2, generator=g).tolist())"),
    "the global generator": (
        "TRL204",
        (),
        "loader = DataLoader(torch.arange(8.0), shuffle=True, generator=torch.manual_seed({}))\n" + TRAINS,
    ),
    "the global generator, by name": (
        "TRL204",
        (),
        "loader = DataLoader(torch.arange(8.0), shuffle=True, generator=torch.manual_seed(seed={}))\n" + TRAINS,
    ),
    "torch beside the others": ("TRL502", (PYTHON, NUMPY), DRAWS),
    "torch beside a test of another option": ("TRL502", ("if ALL:\n    np.random.seed({})",), DRAWS),
    "NumPy beside the others": ("TRL502", (PYTHON, TORCH), DRAWS),
    "random beside the others": ("TRL502", (NUMPY, TORCH), DRAWS),
}


#: What no fix is written for, and what no safe one.
OF_NONE = ("a parameter that is None", "a variable of the environment")
OF_THE_GLOBAL = (
    "a parameter that is None", "an option that is None", "the first of a list", "a variable of the environment",
    "a text of the environment", "a key",
)  # fmt: skip
LEFT: Mapping[str, tuple[str, ...]] = {
    "the global generator": OF_THE_GLOBAL,
    "the global generator, by name": OF_THE_GLOBAL,
    "torch beside the others": OF_NONE,
    "torch beside a test of another option": OF_NONE,
    "NumPy beside the others": OF_NONE,
    "random beside the others": OF_NONE,
}
NOT_SAFE = {(fault, "a parameter that is None") for fault in ("a loader", "a split", "a generator")}


def _program(way: Way, seedings: tuple[str, ...], rest: str) -> str:
    def seeded(line: str) -> str:
        """A call that seeds, as the program itself writes it for a seed of its kind."""
        is_pythons = line.startswith("random")
        seed = f"int({way.seed})" if way.is_text and not is_pythons else way.seed
        written = line.format(seed)
        # `random` and NumPy take None.
        return f"if {way.seed} is not None:\n    {written}" if way.guarded and "torch" in line else written

    fit = way.seed if not way.is_text else f"int({way.seed})"
    body = "".join(f"{seeded(line)}\n" for line in seedings) + rest.replace("{}", f"{fit} or 0" if way.guarded else fit)
    if "ALL:" in body:
        other = f"{way.seed}_all" if way.seed.replace(".", "").isidentifier() else "seed_all"
        body = f"{other} = True\n{body.replace('ALL:', f'{other}:')}"
    main = f"def {way.signature}:\n{indent(body, '    ')}\n"
    if way.in_class:
        main = f"class Run:\n    def __init__(self, seed):\n        self.seed = seed\n\n{indent(main, '    ')}\n"
    return f'{HEAD}{way.above}{main}\n\nif __name__ == "__main__":\n{indent(way.call, "    ")}\n'


def _run(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a program prints that begins with random states of its own."""
    import numpy as np
    import torch

    random.seed()
    np.random.seed()
    torch.seed()
    monkeypatch.setattr(sys, "argv", [str(path)])
    capsys.readouterr()
    runpy.run_path(str(path), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("given", WAYS)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_fix_writes_runs_and_repeats(
    fault: str,
    given: str,
    unsafe: bool,
    write,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (rule, seedings, rest), way = FAULTS[fault], WAYS[given]
    path: Path = (
        write({"torchrepro-lint.toml": 'target-torch = ">=1.7,<1.9"', "train.py": _program(way, seedings, rest)})
        / "train.py"
    )
    _run(path, capsys, monkeypatch)
    before = path.read_text("utf-8")
    fix([path], {"select": (rule,), "unsafe_fixes": unsafe})
    after = path.read_text("utf-8")
    assert (after == before) is (given in LEFT.get(fault, ()) or (not unsafe and (fault, given) in NOT_SAFE)), after
    if after == before:
        return
    printed = _run(path, capsys, monkeypatch)
    if way.is_given:
        assert _run(path, capsys, monkeypatch) == printed, after
