"""Where a function is called and an object is made: the places, whatever the frames in which they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running import calling_places as places_module
from torchrepro_lint.program.running.calling_places import calling_places, making_places


def places(program: Program, name: str) -> list[tuple[str, str]]:
    """The scopes in which the function or class `name` of the main file is called, and the name that is called."""
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    scope = next(scope for scope in facts.walk_scopes() if scope.name == name)
    if isinstance(scope.node, tree.ClassDef):
        found = making_places(program.ev, ClassValue(scope.node, program.ev.module_frame(facts)))
    else:
        found = calling_places(program.ev, facts, scope)
    return [(one.scope.name, one.call.func.id if isinstance(one.call.func, tree.Name) else "") for one in found]


@pytest.mark.parametrize(
    ("source", "name", "scopes"),
    [
        ("def f(): pass\ndef g(): f()\ndef h(): g()", "f", ["g"]),
        ("def f(): pass", "f", []),
        ("def f(): pass\ndef g(b):\n    if b: f()\ng(False)", "f", []),
        ("def f(): pass\ndef g(b):\n    if b: f()\ng(True)", "f", ["g"]),
        ("def f(): pass\ndef g(b):\n    if b: f()", "f", ["g"]),
        ("def f(): pass\ndef g():\n    if False: f()", "f", []),
        ("def f(): pass\ndef h(): pass\ndef g(f): f()\ng(h)", "f", []),
        ("def f(): pass\ndef g(f): f()\ng(f)", "f", ["g"]),
        ("class C:\n    def f(self): pass\n    def g(self): self.f()", "f", ["g"]),
        ("class C:\n    def f(self): pass\nclass D:\n    def f(self): pass\ndef g(): D().f()", "f", []),
        ("class C: pass\ndef g(): return C()", "C", ["g"]),
        ("class C: pass\nclass D(C): pass\ndef g(): return D()", "C", ["g"]),
        ("class C: pass\nclass D: pass\ndef g(): return D()", "C", []),
        ("class C: pass\ndef g(b):\n    if b: return C()\ng(False)", "C", []),
    ],
)
def test_the_scopes_that_come_to_the_call(tmp_path: Path, source: str, name: str, scopes: list[str]) -> None:
    found = places(program_of(tmp_path, source), name)
    assert [scope for scope, _ in found if scope != "<module>"] == scopes


def test_who_calls_a_caller_is_not_asked_where_the_caller_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object) -> None:
        raise AssertionError("asked for frames")

    monkeypatch.setattr(places_module, "frames_meaning", ask)
    assert places(program_of(tmp_path, "def f(): pass\ndef g(b):\n    while b: f()\ng(1)"), "f") == [("g", "f")]


def test_conditions_can_be_left_aside(tmp_path: Path) -> None:
    program = program_of(tmp_path, "def f(): pass\ndef g(b):\n    if b: f()\ng(False)")
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    scope = next(scope for scope in facts.walk_scopes() if scope.name == "f")
    assert calling_places(program.ev, facts, scope) == ()
    assert [one.scope.name for one in calling_places(program.ev, facts, scope, reached=False)] == ["g"]


def test_the_names_that_are_next_are_followed_first(tmp_path: Path) -> None:
    chain = "".join(f"def c{at}(x{at}): c{at + 1}(x{at})\n" for at in range(60))
    near = "def g(b):\n    make = [f, h][b]\n    make()\n"
    source = f"def f(): pass\ndef h(): pass\n{chain}{near}def last(): c0(f)\n"
    assert places(program_of(tmp_path, source), "f") == [("g", "make")]
