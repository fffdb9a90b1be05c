"""How far up an expression means the same: what no name of a function takes part in is asked once for all its calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import named, program_of

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.heights import height
from torchrepro_lint.program.program import Program

PLACES = [
    ("use(torch.utils.data)", 0),
    ("def f():\n use(torch.utils.data)", 1),
    ("def f():\n use(is_there('cuda', 1)[0] + 2)", 1),
    ("def f(a):\n use(a)", 0),
    ("def f(a):\n use(g(1, key=a))", 0),
    ("def f():\n a = 1\n use([b, a])", 0),
    ("def f():\n global a\n use(a)", 0),
    ("def f():\n for a in b: pass\n use(a.b)", 0),
    ("def f():\n import torch\n use(torch.nn)", 0),
    ("def f(a):\n def g():\n  use(a)", 1),
    ("def f(a):\n def g():\n  use(b)", 2),
    ("def f(a):\n def g(a):\n  use(a)", 0),
    ("class C:\n a = 1\n use(a)", 0),
    ("class C:\n a = 1\n def f(self):\n  use(a)", 2),
    ("class C:\n a = 1\n def f(self):\n  use(self.a)", 0),
    ("class C:\n def f(self):\n  def g():\n   use(self.a)", 1),
    ("class C:\n a = 1\n b = [use(a) for c in d]", 1),
    ("def f(a):\n [use(a) for c in d]", 1),
    ("def f(a):\n [use(c) for c in a]", 0),
    ("def f(a):\n [use(b) for c in a]", 2),
    ("class C:\n def f(self):\n  use(super().a)", 0),
    ("def f():\n use(lambda: 1)", 0),
    ("def f():\n use([b for b in c])", 0),
    ("def f():\n use([" + "b, " * 100 + "])", 0),
]


def used(program: Program) -> tuple[tree.Expr, Scope]:
    """The argument of `use`, and the scope in which it stands."""
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    return next(
        (call.args[0].value, scope)
        for scope in facts.walk_scopes()
        for call, _ in scope.calls
        if isinstance(call.func, tree.Name) and call.func.id == "use"
    )


@pytest.mark.parametrize(("text", "expected"), PLACES)
def test_the_scopes_that_do_not_count(tmp_path: Path, text: str, expected: int) -> None:
    assert height(*used(program_of(tmp_path, text))) == expected


MEANT = [
    # a closure means what the function around it was called with
    ("def f(a):\n def g(b): return a + 0\n return g\nx = [f(1)(5), f(2)(5)]", "list[1 2]"),
    ("def f(a):\n return (lambda b: [a for c in (0,)][0])\nx = [f(1)(5), f(2)(5)]", "list[1 2]"),
    # a name is what it is when the function runs, not where it stands
    ("a = 1\ndef f(b): return a + 0\na = 2\nx = [f(5), f(6)]", "list[2 2]"),
    ("a = 1\nclass C:\n a = 2\n def f(self, b): return a\nx = [C().f(5), C().f(6)]", "list[1 1]"),
    ("class C:\n def f(self):\n  def g(b): return self.a\n  return g\n def __init__(self, a): self.a = a\n"
     "x = [C(1).f()(5), C(2).f()(5)]", "list[1 2]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MEANT)
def test_what_is_shared_is_what_it_was(tmp_path: Path, text: str, expected: str) -> None:
    assert named(program_of(tmp_path, text), "x") == expected


def test_one_more_call_asks_only_what_hangs_on_it(tmp_path: Path) -> None:
    body = "def f(a):\n return [" + ", ".join(f"m.g{n}.h" for n in range(9)) + ", a]\n"

    def work(calls: int) -> int:
        program = program_of(tmp_path, "import m\n" + body + f"x = [{', '.join(f'f({n})' for n in range(calls))}]")
        named(program, "x")
        return program.ev.computed

    assert work(9) - work(8) == work(8) - work(7) < 9
