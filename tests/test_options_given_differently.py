"""Options to which the commands and the configurations of a project give several values: only these move an order."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from torchrepro_lint.engine import check

PROGRAM = """\
import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--eval-every", type=int, default=1)
args = parser.parse_args()
torch.manual_seed(0)
data = TensorDataset(torch.arange(32.0)[:, None])
loader = DataLoader(data, batch_size=8, shuffle=True)
held_out = DataLoader(data, batch_size=8)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for (batch,) in loader:
        optimizer.zero_grad()
        model(batch).pow(2).mean().backward()
        optimizer.step()
    if epoch % args.eval_every == 0:
        for (batch,) in held_out:
            print(model(batch).sum())
"""

DIFFERENTLY: Mapping[str, Mapping[str, str]] = {
    "a variable of a script": {"run.sh": "python main.py --eval-every $1\n"},
    "two commands of a script": {"run.sh": "python main.py --eval-every 1\npython main.py --eval-every 5\n"},
    "with an equals sign": {"run.sh": "python main.py --eval-every=1\npython main.py --eval-every='5'\n"},
    "with an underscore": {"run.sh": "python main.py --eval_every 1\npython main.py --eval_every 5\n"},
    "a script that gives it once of two times": {"run.sh": "python main.py\npython main.py \\\n  --eval-every 5\n"},
    "a README that gives it once of two times": {
        "README.md": "```\npython main.py\npython main.py --eval-every 5\n```\n"
    },
    "the values of a sweep": {"sweep.yaml": "parameters:\n  eval_every:\n    values: [1, 5]\n"},
    "the values of a sweep, one a line": {
        "sweep.yaml": "parameters:\n  eval_every:\n    values:\n      - 1\n      - 5\n  lr:\n    value: 1\n"
    },
    "the ends of a sweep": {"sweep.yaml": "parameters:\n  eval_every:\n    min: 1\n    max: 5\n"},
    "two values of an override": {"run.sh": "python main.py -m eval_every=2,5\n"},
    "two files of TOML": {"a.toml": "eval_every = 1\n", "b.toml": "[train]\neval_every = 5\n"},
    "a command that a program makes": {
        "sweep.py": 'import os\n\nfor one in (1, 5):\n    os.system(f"python main.py --eval-every {one}")\n'
    },
    "a list with a variable": {
        "sweep.py": 'import subprocess\n\nfor one in "15":\n    subprocess.run(["python", "main.py", "--eval-every", one])\n'
    },
    "a command, and one without it": {"a.sh": "python main.py\n", "b.sh": "python main.py --eval-every 5\n"},
    "the README, and a script": {"README.md": "`python main.py`\n", "run.sh": "python main.py --eval-every 5\n"},
    "two configurations": {"a.yaml": "eval_every: 1\n", "b.yaml": "train:\n  eval_every: 5  # seldom\n"},
    "a program that starts it": {
        "sweep.py": 'import subprocess\n\nsubprocess.run(["python", "main.py", "--eval-every", "5"])\n'
    },
}
ALIKE: Mapping[str, Mapping[str, str]] = {
    "no command at all": {},
    "commands that leave it out": {"README.md": "`python main.py`\n", "run.sh": "python main.py --epochs 3\n"},
    "always the same": {"a.sh": "python main.py --eval-every 5\n", "b.sh": "python main.py --eval-every 5\n"},
    "the default written out": {"a.sh": "python main.py\n", "b.sh": "python main.py --eval-every 1\n"},
    "one configuration": {"a.yaml": "eval_every: 5\n"},
    "always the same, by what a script is given": {
        "a.sh": "python main.py $ARGS\n",
        "b.sh": 'python main.py --eval-every 1\npython main.py "$@"\n',
    },
    "one value of a sweep": {"sweep.yaml": "parameters:\n  eval_every:\n    value: 5\n  lr:\n    values: [1, 2]\n"},
    "a sweep over another option": {"sweep.yaml": "parameters:\n  eval_every_step:\n    values: [1, 5]\n"},
    "another option of two values": {"a.sh": "python main.py --no-eval-every 2\npython main.py --eval-every-step 5\n"},
    "another value in a comment": {"run.sh": "python main.py --eval-every 5\n# python main.py --eval-every 1\n"},
    "a command of another program": {"a.sh": "python other.py\n", "b.sh": "python main.py --eval-every 5\n"},
}


def _codes(write, files: Mapping[str, str]) -> list[str]:
    return [one.code for one in check([write({"setup.cfg": "", "main.py": PROGRAM, **files})]).findings]


@pytest.mark.parametrize("files", DIFFERENTLY.values(), ids=DIFFERENTLY)
def test_an_option_of_two_values_moves_the_order(write, files: Mapping[str, str]) -> None:
    assert _codes(write, files) == ["TRL201"]


@pytest.mark.parametrize("files", ALIKE.values(), ids=ALIKE)
def test_an_option_of_one_value_is_of_the_strict_profile(write, files: Mapping[str, str]) -> None:
    assert _codes(write, files) == []


@pytest.mark.parametrize(
    ("flags", "first", "second"),
    [
        ('"-e", "--eval-every"', "-e 1", "-e 5"),
        ('"--interval", dest="eval_every"', "--interval 1", "--interval 5"),
        ('"--interval", dest="eval_every"', "--epochs 1", "--interval 5"),
    ],
)
def test_commands_may_call_an_option_otherwise(write, flags: str, first: str, second: str) -> None:
    text = PROGRAM.replace('"--eval-every"', flags)
    for one, codes in ((second, ["TRL201"]), (first, [])):
        files = {"a.sh": f"python main.py {first}\n", "b.sh": f"python main.py {one}\npip install -e 7\n"}
        found = check([write({"setup.cfg": "", "main.py": text, **files})]).findings
        assert [each.code for each in found] == codes


def test_the_fields_of_a_class_have_defaults(write) -> None:
    declared = PROGRAM.replace('parser.add_argument("--eval-every", type=int, default=1)\n', "").replace(
        "parser = argparse.ArgumentParser()\nargs = parser.parse_args()\n",
        "@dataclass\nclass Options:\n    eval_every: int = 1\n\n\n"
        "(args,) = HfArgumentParser(Options).parse_args_into_dataclasses()\n",
    )
    text = "from dataclasses import dataclass\n\nfrom transformers import HfArgumentParser\n\n" + declared
    for second, codes in (("5", ["TRL201"]), ("1", [])):
        files = {"a.sh": "python main.py\n", "b.sh": f"python main.py --eval_every {second}\n"}
        found = check([write({"setup.cfg": "", "main.py": text, **files})]).findings
        assert [each.code for each in found] == codes
