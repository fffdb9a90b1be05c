"""What the text of a call hands to a parameter."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument


@pytest.mark.parametrize(
    ("function", "call", "handed"),
    [
        ("def f(a, x): ...", "f(1, 2)", 2),
        ("def f(a, x): ...", "f(1, x=2)", 2),
        ("def f(a, x): ...", "f(*some, x=2)", 2),
        ("def f(a, x): ...", "f(*some, 2)", None),
        ("def f(a, x): ...", "f(1)", None),
        ("def f(a, *, x): ...", "f(1, 2)", None),
        ("class C:\n    def f(self, x): ...", "C().f(2)", 2),
        ("class C:\n    @classmethod\n    def f(cls, x): ...", "C.f(2)", 2),
        ("class C:\n    @staticmethod\n    def f(x): ...", "C.f(2)", 2),
        ("class C(Function):\n    @staticmethod\n    def forward(ctx, x): ...", "C.apply(2)", 2),
    ],
)
def test_written_argument(tmp_path: Path, function: str, call: str, handed: int | None) -> None:
    program = program_of(tmp_path, {"main.py": f"{function}\n{call}\n"})
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    (scope,) = [one for one in facts.walk_scopes() if isinstance(one.node, tree.FunctionDef)]
    statement = facts.body[-1]
    assert isinstance(statement, tree.ExprStmt) and isinstance(statement.value, tree.Call)
    written = written_argument(statement.value, parameter_of(scope, "x"))
    assert (written.value if isinstance(written, tree.Const) else None) == handed
