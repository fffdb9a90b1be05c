"""The sieve by names lets through whatever a construct of Python carries, and little else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from constructs.cells import Construct, constructs, with_ends
from program.asking import program_of

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.flow_transfers import MAX_NESTING
from torchrepro_lint.program.running.name_flow import NameFlow, name_flow


def _calls(program: Program, name: str) -> Iterator[tuple[ModuleFacts, Scope, tree.Call]]:
    for path in program.project.files:
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            for call, _ in scope.calls:
                if called_name(call.func) == name:
                    yield facts, scope, call


def _flow(program: Program, name: str) -> NameFlow:
    return name_flow(program.ev, program.project.files, [(facts, call) for facts, _, call in _calls(program, name)])


CARRIED = [one for one in constructs() if one.name != "argparse default"]  # no library object comes from a command line


@pytest.mark.parametrize("construct", CARRIED, ids=lambda one: one.name.replace(" ", "-"))
def test_what_a_construct_carries_is_let_through(construct: Construct, tmp_path: Path) -> None:
    files = {name: with_ends(text, "Mark()", "arrive_here(VALUE)") for name, text in construct.files}
    program = program_of(tmp_path, files)
    flow = _flow(program, "Mark")
    taken = list(_calls(program, "arrive_here"))
    assert taken
    for facts, scope, call in taken:
        assert flow.may_reach(facts, scope, call.args[0].value)


SHARP = {
    "a batch": "for batch in Mark():\n    arrive_here(batch)\n",
    "a batch with its number": "for number, batch in enumerate(Mark()):\n    arrive_here(batch)\n",
    "batches in a list": "kept = [batch for batch in Mark()]\nfor batch in kept:\n    arrive_here(batch)\n",
    "an attribute of a library": "arrive_here(Mark().sampler)\n",
    "another attribute": "class Box:\n    def __init__(self, mark):\n        self.mark = mark\n        self.other = 1\n"
    "    def run(self):\n        arrive_here(self.other)\nBox(Mark()).run()\n",
    "a length": "size = len(Mark())\narrive_here(size)\n",
    "another parameter": "def use(mark, other):\n    arrive_here(other)\nuse(Mark(), 1)\n",
    "another function's variable of a library": "def use(mark):\n    other = load()\n    arrive_here(other)\nuse(Mark())\n",
    "what a function of the project computes": "def count(mark):\n    return len(mark)\narrive_here(count(Mark()))\n",
    "a comparison": "arrive_here(Mark() is None)\n",
}


@pytest.mark.parametrize("text", SHARP.values(), ids=SHARP.keys())
def test_what_does_not_come_there_is_held_back(text: str, tmp_path: Path) -> None:
    program = program_of(tmp_path, text)
    flow = _flow(program, "Mark")
    ((facts, scope, call),) = _calls(program, "arrive_here")
    assert not flow.may_reach(facts, scope, call.args[0].value)


@pytest.mark.parametrize("depth", [1, 2, MAX_NESTING, MAX_NESTING + 2])
def test_containers_in_each_other_are_told_apart_up_to_a_depth(depth: int, tmp_path: Path) -> None:
    kept = "x0 = Mark()\n" + "".join(f"x{at} = [x{at - 1}]\n" for at in range(1, depth + 1))
    taken = f"y0 = x{depth}\n" + "".join(f"for y{at} in y{at - 1}:\n    pass\n" for at in range(1, depth + 2))
    asked = f"arrive_here(y{depth})\narrive_here(y{depth + 1})\n"
    program = program_of(tmp_path, kept + taken + asked)
    flow = _flow(program, "Mark")
    mark, batch = _calls(program, "arrive_here")
    assert flow.may_reach(mark[0], mark[1], mark[2].args[0].value)
    # Beyond the limit nothing is denied.
    assert flow.may_reach(batch[0], batch[1], batch[2].args[0].value) is (depth >= MAX_NESTING)
