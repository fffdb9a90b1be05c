"""From a function to the frames in which it runs: who calls it, with what; and the objects that a program makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of, shown

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.callers import MAX_CALLS, MAX_CONTEXTS, contexts, instances_of, visible_calls


def the_scope(program: Program, name: str, file: str = "main.py") -> Scope:
    facts = program.facts(program.root / file)
    assert facts is not None
    return next(scope for scope in facts.walk_scopes() if scope.name == name)


def runs(program: Program, name: str, param: str, file: str = "main.py") -> list[str]:
    """What a parameter of the function is, frame by frame."""
    facts = program.facts(program.root / file)
    assert facts is not None
    frames = contexts(program.ev, facts, the_scope(program, name, file))
    return sorted(shown(frame.param(param) or frozenset()) for frame in frames)


CASES = [
    ("def f(a): pass\nf(1)", ["1"]),
    ("def f(a): pass\nf(1)\nf(a=2)", ["1", "2"]),
    ("def f(a): pass\nf(1)\nf(1)", ["1"]),
    ("def f(a): pass", ["?"]),
    ("def f(a=1): pass", ["1 | ?"]),
    ("def f(a=1): pass\nf()", ["1"]),
    ("def f(a): pass\nif False: f(1)\nf(2)", ["2"]),
    # What stands behind an arm that leaves, and is proven to be taken, does not run.
    ("def f(a): pass\ndef g(b):\n    if b is None: return\n    f(b)\ng(None)\ng(1)", ["1"]),
    ("def f(a): pass\ndef g(b):\n    if b > 1: pass\n    else: raise E\n    f(b)\ng(1)\ng(2)", ["2"]),
    ("def f(a): pass\ndef g(b):\n    if b: f(b)\n    if b: return\n    f(0)\ng(1)\ng(0)", ["0", "1"]),
    ("def f(a): pass\ndef g(b):\n    if x:\n        if b: return\n    f(b)\ng(1)", ["1"]),
    ("def f(a): pass\ndef g(b):\n    try:\n        if b: raise E\n    except E: pass\n    f(b)\ng(1)", ["1"]),
    ("def f(a): pass\ndef g(b):\n    f(b)\n    if b: return\ng(1)", ["1"]),
    ("def f(a): pass\ndef g(b):\n    if b: return f(b)\n    return None\ng(1)", ["1"]),
    ("def f(a): pass\ndef g(b):\n    if b:\n        if c: f(b)\n        return\ng(1)", ["1"]),
    ("def f(a): pass\ndef g(b): f(b)\ng(1)\ng(2)", ["1", "2"]),
    ("def f(a): pass\nfor i in (1, 2): f(i)", ["1 | 2"]),
    ("def f(a): return 1\nx = [f(i) for i in (1, 2)]", ["1", "2"]),
    ("from functools import partial\ndef f(b, a): pass\np = partial(f, 3)\np(4)", ["4"]),
    ("def f(a): pass\ng = f\ng(5)", ["5"]),
    ("def f(a): f(a)\nf(1)", ["1", "?"]),
    ("class C:\n    def f(self, a): pass\nC().f(1)", ["1"]),
    ("class C:\n    def f(self, a): pass\n    def g(self): self.f(2)\nC().g()", ["2"]),
    ("class C:\n    def f(self, a): pass\nclass D(C):\n    def g(self): super().f(3)\nD().g()", ["3"]),
    ("class C:\n    @staticmethod\n    def f(a): pass\nC.f(1)", ["1"]),
    (
        "class C:\n    def __init__(self): self.b = B()\n    def g(self): self.b.f(1)\n"
        "class B:\n    def f(self, a): pass",
        ["1"],
    ),
    ("def f(a): return a\n@f\ndef g(): pass", ["def g"]),
    ("class C:\n    def __getitem__(self, a): pass\n    f = __getitem__\nC()[3]", ["?"]),
]


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_with_what_a_function_is_called(tmp_path: Path, source: str, expected: list[str]) -> None:
    name = "__getitem__" if "__getitem__" in source else "f"
    assert runs(program_of(tmp_path, source + "\n"), name, "a") == expected


def test_callers_in_other_files(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "from .a import f",
        "p/a.py": "def f(a): pass",
        "one.py": "from p import f\nf(1)",
        "two.py": "import p.a as q\nq.f(2)",
        "three.py": "from p.a import f as g\ng(3)",
        "other.py": "def f(a): pass\nf(4)",
    }
    assert runs(program_of(tmp_path, files), "f", "a", "p/a.py") == ["1", "2", "3"]


def _called_so_often(tmp_path: Path, count: int) -> list[str]:
    source = "def f(tag, a): pass\n" + "".join(f"f('{number}', {number % 2})\n" for number in range(count))
    return runs(program_of(tmp_path, source), "f", "a")


def test_the_calls_past_those_that_are_told_apart_are_joined(tmp_path: Path) -> None:
    assert _called_so_often(tmp_path, MAX_CONTEXTS) == ["0"] * 8 + ["1"] * 8
    assert _called_so_often(tmp_path, MAX_CONTEXTS + 2) == ["0"] * 8 + ["0 | 1"] + ["1"] * 8


def test_of_more_calls_than_are_looked_at_nothing_is_known_of_the_arguments(tmp_path: Path) -> None:
    assert _called_so_often(tmp_path, MAX_CALLS + 1) == ["0"] * 8 + ["1"] * 8 + ["nothing"]


def test_nothing_calls_a_lambda_or_a_comprehension_by_a_name(tmp_path: Path) -> None:
    program = program_of(tmp_path, "def f(xs):\n    return [x.seed() for x in xs], lambda y: y.seed()\nf([1])\n")
    (facts,) = (one for path in program.project.files if (one := program.facts(path)) is not None)
    inner = the_scope(program, "f").children
    assert len(inner) == 2
    assert [visible_calls(program.ev, facts, scope) for scope in inner] == [(), ()]


def test_the_calls_themselves(tmp_path: Path) -> None:
    program = program_of(tmp_path, "def f(a): pass\ndef g():\n    f(1)\nclass C:\n    def f(self): pass\nC().f()\n")
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    calls = visible_calls(program.ev, facts, the_scope(program, "f"))
    assert [frame.scope.name for _, frame in calls] == ["g"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class C: pass\nC()", 1),
        ("class C: pass\nC()\nC()", 2),
        ("class C: pass\nclass D(C): pass\nD()", 1),
        ("class C: pass\nR = {'c': C}\nR[k]()", 1),
        ("class C: pass\nif False: C()\nC()", 1),
        ("class C:\n    @classmethod\n    def make(cls): return cls()\nC.make()", 1),
    ],
)
def test_the_objects_of_a_class(tmp_path: Path, source: str, expected: int) -> None:
    program = program_of(tmp_path, source + "\n")
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    node = next(node for node in facts.classes if node.name == "C")
    made = instances_of(program.ev, ClassValue(node, program.ev.module_frame(facts)))
    assert sum(one.site is not None for one in made) == (
        expected if "R[k]" not in source and "cls()" not in source else 0
    )


def test_a_class_of_which_none_is_made_has_one_object_made_unseen(tmp_path: Path) -> None:
    program = program_of(tmp_path, "class C: pass\n")
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None and isinstance(facts.classes[0], tree.ClassDef)
    (only,) = instances_of(program.ev, ClassValue(facts.classes[0], program.ev.module_frame(facts)))
    assert only.site is None and only.arguments is None
