"""Functions of which a run takes one, and those that are called one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.engine import check
from torchrepro_lint.program.running.ways import never_together, ways

FUNCTIONS = "import argparse, sys\ndef first():\n    print('first')\ndef second():\n    print('second')\n"
TABLE = "T = {'first': first, 'second': second}\n"
CHOSEN = {
    "a table": TABLE + "def main(name):\n    T[name]()\nmain(sys.argv[1])\n",
    "a table with other values": "T = {'first': (first, 'help'), 'second': (second, 'help')}\nT[sys.argv[1]][0]()\n",
    "a table that is not named": "{'first': first, 'second': second}[sys.argv[1]]()\n",
    "a table of keywords": "T = dict(first=first, second=second)\nT.get(sys.argv[1], first)()\n",
    "a table that a helper reads": TABLE + "def run(table):\n    table[sys.argv[1]]()\nrun(table=T)\n",
    "a table whose names are listed": TABLE + "for name in T:\n    print(name)\nT[sys.argv[1]]()\n",
    "a table that fills parsers": (
        "p = argparse.ArgumentParser().add_subparsers()\n" + TABLE
        + "for name, function in T.items():\n    p.add_parser(name).set_defaults(func=function)\n"
    ),
    "defaults of parsers": (
        "p = argparse.ArgumentParser()\ns = p.add_subparsers()\na = s.add_parser('first')\na.set_defaults(func=first)\n"
        "b = s.add_parser('second')\nb.set_defaults(func=second)\np.parse_args().func()\n"
    ),
    "wrappers in a table": (
        "def one():\n    first()\ndef two():\n    second()\nT = {'first': one, 'second': two}\nT[sys.argv[1]]()\n"
    ),
}  # fmt: skip
ALL = {
    "calls": "first()\nsecond()\n",
    "a loop over the values": TABLE + "for function in T.values():\n    function()\n",
    "a loop over the items": TABLE + "for name, function in T.items():\n    print(name)\n    function()\n",
    "a loop over the keys": TABLE + "for name in T:\n    T[name]()\n",
    "a comprehension": TABLE + "print([function() for function in T.values()])\n",
    "a loop over what is not named": "for f in {'first': first, 'second': second}.values():\n    f()\n",
    "a list": "T = [first, second]\nfor function in T:\n    function()\n",
    "keywords of another function": "def run(a, b):\n    a()\n    b()\nrun(a=first, b=second)\n",
}


@pytest.mark.parametrize(
    ("text", "is_chosen"),
    [(text, True) for text in CHOSEN.values()] + [(text, False) for text in ALL.values()],
    ids=[*CHOSEN, *ALL],
)
def test_of_a_table_one_function_runs(tmp_path: Path, text: str, is_chosen: bool) -> None:
    program = program_of(tmp_path, {"main.py": FUNCTIONS + text})
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    first, second = (
        ways(program.ev, facts, scope, scope.calls[0][0].site)
        for name in ("first", "second")
        for scope in facts.walk_scopes()
        if scope.name == name
    )
    assert never_together(first, second) is is_chosen


PARSES = """\
import argparse
import random
import numpy as np
import torch

torch.manual_seed(0)
def train(args):
    print({draw})
parser = argparse.ArgumentParser()
commands = parser.add_subparsers()
commands.add_parser('train').set_defaults(func=train)
args = parser.parse_args()
args.func(args)
"""


def test_each_program_calls_the_handlers_of_its_own_parser(tmp_path: Path) -> None:
    (tmp_path / "torchrepro-lint.toml").touch()
    (tmp_path / "first.py").write_text(PARSES.format(draw="random.random()"))
    (tmp_path / "second.py").write_text(PARSES.format(draw="np.random.rand()"))
    found = [one for one in check([tmp_path]).findings if one.code == "TRL502" and one.location.path.name == "first.py"]
    assert ["`random` is" in one.message or "random.random" in one.message for one in found] == [True]
    assert not any("numpy" in one.message.lower() for one in found)


def test_a_handler_in_a_file_of_commands(tmp_path: Path) -> None:
    commands = "def train(args):\n    print('b')\ndef register(parsers):\n    parsers.set_defaults(func=train)\n"
    main = (
        "import argparse\nfrom commands import register\nparser = argparse.ArgumentParser()\nregister(parser)\n"
        "args = parser.parse_args()\nargs.func(args)\n"
    )
    program = program_of(tmp_path, {"main.py": main, "commands.py": commands})
    facts = program.facts(tmp_path / "commands.py")
    assert facts is not None
    scope = next(scope for scope in facts.walk_scopes() if scope.name == "train")
    ends = {way[-1].facts.path.name for way in ways(program.ev, facts, scope, scope.calls[0][0].site)}
    assert ends == {"main.py"}
