"""What calls the function that it is handed, `run(main)`, runs that of each call alone."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from program.asking import program_of

from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.ways import meet, never_together, ways

_BODIES = """
import sys
import click
import argparse
def one():
    print("one")
def two():
    print("two")
"""
#: Whether no run comes to both of `one` and `two`.
_PROGRAMS = {
    "two arms": (
        True,
        """
        def run(function):
            function()
        if sys.argv:
            run(one)
        else:
            run(two)
        """,
    ),
    "one after the other": (
        False,
        """
        def run(function):
            function()
        run(one)
        run(two)
        """,
    ),
    "through two helpers": (
        True,
        """
        def run(function):
            function()
        def start(what, verbose=False):
            run(what)
        if sys.argv:
            start(one)
        else:
            start(what=two)
        """,
    ),
    "through two helpers, one after the other": (
        False,
        """
        def run(function):
            function()
        def start(what, verbose=False):
            run(what)
        start(one)
        start(what=two)
        """,
    ),
    "a function of a table": (
        True,
        """
        COMMANDS = {"one": one, "two": two}
        def run(function):
            function()
        run(COMMANDS[sys.argv[1]])
        """,
    ),
    "all of a table": (
        False,
        """
        COMMANDS = {"one": one, "two": two}
        def run(function):
            function()
        for name in COMMANDS:
            run(COMMANDS[name])
        """,
    ),
    "functions that it is handed together": (
        False,
        """
        def run(first, second):
            first()
            second()
        run(one, two)
        """,
    ),
    "one that it chooses": (
        True,
        """
        def run(first, second):
            if sys.argv:
                first()
            else:
                second()
        run(one, two)
        """,
    ),
    "commands that are added": (
        True,
        """
        @click.group()
        def cli():
            pass
        cli.add_command(one)
        cli.add_command(two, name="second")
        cli()
        """,
    ),
    "commands that are made": (
        True,
        """
        cli = click.Group()
        cli.command()(one)
        cli.command("second")(two)
        cli()
        """,
    ),
    "functions that are handed to something unknown": (
        False,
        """
        from somewhere import thing
        thing(one)
        thing(two)
        """,
    ),
}


def _place(program: Program, name: str) -> tuple[ModuleFacts, Scope, int]:
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    scope = next(one for one in facts.walk_scopes() if one.name == name)
    return facts, scope, scope.calls[0][0].site


@pytest.mark.parametrize(("apart", "text"), _PROGRAMS.values(), ids=_PROGRAMS)
def test_which_functions_one_run_comes_to(apart: bool, text: str, tmp_path: Path) -> None:
    program = program_of(tmp_path, _BODIES + dedent(text))
    first, second = (ways(program.ev, *_place(program, name)) for name in ("one", "two"))
    assert never_together(first, second) is apart


def test_a_way_goes_on_with_the_calls_that_hand_over_its_function(tmp_path: Path) -> None:
    program = program_of(tmp_path, _BODIES + dedent(_PROGRAMS["through two helpers"][1]))
    for name in ("one", "two"):
        (way,) = ways(program.ev, *_place(program, name))
        assert len(way) == 4


def test_programs_with_one_helper_do_not_meet_there(tmp_path: Path) -> None:
    texts = {
        "helper.py": "def run(function):\n    function()\n",
        "main.py": "from helper import run\ndef one():\n    print(1)\nif __name__ == '__main__':\n    run(one)\n",
        "other.py": "from helper import run\ndef two():\n    print(2)\nif __name__ == '__main__':\n    run(two)\n",
    }
    program = program_of(tmp_path, texts)
    facts = program.facts(program.root / "other.py")
    assert facts is not None
    two = next(one for one in facts.walk_scopes() if one.name == "two")
    first = ways(program.ev, *_place(program, "one"))
    second = ways(program.ev, facts, two, two.calls[0][0].site)
    assert not meet(first, second)
