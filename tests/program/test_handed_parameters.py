"""Whether calls may hand something to a parameter: told before their callers are followed, and never against them."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of
from program.test_callers import CASES, the_scope

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, Value
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.callers import contexts, frame_without_callers
from torchrepro_lint.program.running.handed_parameters import may_be_handed

NO = [
    "def f(a): g(a)",
    "def f(a): g(a)\nf(2)",
    "def f(a=None): g(a)\nf()",
    "def f(a): g(a)\ndef h(a): f(a)\nh(2)",
    "def f(a): g(a)\ndef h(a, n):\n    f(a)\n    h(a, n - 1)",
    "def f(a): g(a)\nclass C:\n    def __call__(self, a): f(a)\nC()(1)",  # what the language calls gets anything
    "class C:\n    def f(self, a): g(a)\n    def h(self): self.f(2)",
    "class C:\n    @staticmethod\n    def f(a): g(a)\n    def h(self): self.f(2)",
    "def f(a): [g(a[i]) for i in range(3)]\nf([2, 3])",
    "def f(a, **more): g(a)\nf(2, **options)",
]
YES = [
    "def f(a): g(a)\nf(1)",
    "def f(a=1): g(a)",
    "def f(a): g(a)\nf(unknown())",  # anything
    "def f(a): g(a)\nf(**options)",
    "def f(a): g(a)\nf(*options)",
    "def f(a): g(a)\ndef h(a): f(a)\nh(1)",
    "def f(a): g(a)\ndef h(a=1): f(a)",
    "def f(a): g(a)\ndef h(a):\n    a = other(a)\n    f(a)\nh(2)",
    "from functools import partial\ndef f(a): g(a)\nh = partial(f, 1)\nh()",
    "import threading\ndef f(a): g(a)\nthreading.Thread(target=f, args=(1,)).start()",
    "class C:\n    def f(self, a): g(a)\n    def h(self): self.f(1)",
    "class C:\n    def f(self, a): g(a)\nC.f(C(), 1)",
    "class C:\n    def __init__(self, a): g(a)\nC(1)",
    "def f(a): [g(a[i]) for i in range(3)]\nf([1, 2])",
    "def f(a):\n    a = a or other()\n    g(a)\nf(2)",
    "f = lambda a: g(a)\nf(2)",
]


def is_wanted(value: Value) -> bool:
    return isinstance(value, Constant) and value.value == 1


def what_g_is_given(program: Program) -> tuple[tree.Expr, Frame]:
    """The expression, with the frame of its scope without callers."""
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    (place,) = [
        (call.args[0].value, frame_without_callers(program.ev, facts, scope))
        for scope in facts.walk_scopes()
        for call, _ in scope.calls
        if isinstance(call.func, tree.Name) and call.func.id == "g"
    ]
    return place


@pytest.mark.parametrize("text", NO)
def test_no_call_hands_it_over(tmp_path: Path, text: str) -> None:
    program = program_of(tmp_path, text)
    node, alone = what_g_is_given(program)
    assert not may_be_handed(program.ev, node, alone, is_wanted)


@pytest.mark.parametrize("text", YES)
def test_a_call_may_hand_it_over(tmp_path: Path, text: str) -> None:
    program = program_of(tmp_path, text)
    node, alone = what_g_is_given(program)
    assert may_be_handed(program.ev, node, alone, is_wanted)


@pytest.mark.parametrize("text", [text for text, _ in CASES if "def f(" in text])
def test_what_the_callers_are_seen_to_hand_over_may_be_handed(tmp_path: Path, text: str) -> None:
    program = program_of(tmp_path, text)
    scope = the_scope(program, "f")
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    handed = any(is_wanted(value) for frame in contexts(program.ev, facts, scope) for value in frame.param("a") or ())
    alone = frame_without_callers(program.ev, facts, scope)
    may_be = may_be_handed(
        program.ev, tree.Name(scope.statement_sites[0] if scope.statement_sites else 0, "a"), alone, is_wanted
    )
    assert may_be or not handed
