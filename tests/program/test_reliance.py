"""What an expression relies on: it is asked once for all calls that differ in other parameters alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program.asking import named, program_of

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.evaluator import Evaluator
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.reliance import Reliances
from torchrepro_lint.program.program import Program

# What the argument of `use` relies on, from its own scope outwards: "" where no parameter matters; nothing where all
# do, and nothing of the outer scopes of which all do.
PLACES = [
    ("use(torch.utils.data)", []),
    ("def f(a, b):\n use(torch.utils.data)", [""]),
    ("def f(a, b):\n use(is_there('cuda', 1)[0] + 2)", [""]),
    ("def f(a, b):\n use(g(1, key=a))", ["a"]),
    ("def f(a, b):\n use([a, b])", []),
    ("def f(a, b):\n import torch\n use(torch.nn)", [""]),
    ("def f(a, b):\n global g\n g = b\n use(a.b)", ["a"]),
    # through what is bound to a name
    ("def f(a, b):\n c = a + 1\n d = c\n use(d.x)", ["a"]),
    ("def f(a, b):\n c = 0\n c += a\n use(c)", ["a"]),
    ("def f(a, b):\n for c in a: use(c)", ["a"]),
    ("def f(a, b):\n with a as c: use(c)", ["a"]),
    ("def f(a, b):\n (c, d), e = a\n use(d)", ["a"]),
    ("def f(a, b):\n use(g(c := a) + c)", ["a"]),
    ("def f(a, b):\n c = d = 0\n while c: c, d = d, a\n use(c)", ["a"]),
    # the tests around it
    ("def f(a, b, c):\n d = 0\n if a: d = b\n use(d)", ["a b"]),
    ("def f(a, b, c):\n match a:\n  case 1: d = b\n  case _: d = 0\n use(d)", ["a b"]),
    ("def f(a, b, c):\n if isinstance(a, b): use(a)", ["a b"]),
    ("def f(a, b, c):\n if c: use(a)", ["a"]),
    # what is put into it
    ("def f(a, b, c):\n d = []\n d.append(a)\n b.append(c)\n use(d)", ["a"]),
    ("def f(a, b, c):\n d = {}\n if c: d[a] = 1\n use(d)", ["a c"]),
    ("def f(a, b, c):\n d = Compose([])\n d.transforms.append(a)\n use(d)", ["a"]),
    ("def f(a, b, c):\n d = a\n d.sort(b)\n use(d)", ["a"]),
    # methods
    ("class C:\n def f(self, a):\n  use(self.x)", ["self"]),
    ("class C:\n def f(self, a, b):\n  self.x = a\n  use(self.x)", ["a self"]),
    ("class C:\n def f(self, a, b):\n  self.x.append(a)\n  use(self.y)", ["self"]),
    ("class C:\n def f(self, a):\n  use(super().x)", ["self"]),
    ("class C:\n a = 1\n def f(self, b):\n  use(a)", [""]),
    # scopes around
    ("def f(a, b):\n def g(c):\n  use(a)", ["", "a"]),
    ("def f(a, b):\n def g(a):\n  use(a)", ["a", "a"]),
    ("def f(a, b):\n def g(c=a, d=b):\n  use(c)", ["c", "a"]),
    ("class C:\n def f(self, a):\n  def g(b):\n   use(self.a)", ["", "self"]),
    ("def f(a, b):\n [use(a) for c in d]", ["", "a"]),
    ("def f(a, b):\n [use(c) for c in a]", ["c", "a"]),
    ("def f(a, b):\n use([c for c in a])", ["a"]),
    # what is made here knows the whole frame
    ("def f(a):\n use(lambda: 1)", []),
    ("def f(a):\n def g(): pass\n use(g)", []),
    ("def f(a):\n class C: pass\n use(C)", []),
    ("def f(a):\n def g(b):\n  def h(): pass\n  use(h)", []),
    ("def f(a):\n def h(): pass\n def g(b):\n  use(h)", [""]),
    # too much to look at
    ("def f(a):\n use([" + "b, " * 100 + "])", []),
    ("def f(a):\n x0 = 1\n" + "".join(f" x{n} = x{n - 1}\n" for n in range(1, 90)) + " use(x89)", []),
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
def test_the_parameters_that_matter(tmp_path: Path, text: str, expected: list[str]) -> None:
    found = Reliances().of(*used(program_of(tmp_path, text)))
    assert [" ".join(sorted(names)) for names in found] == expected


MEANT = [
    # a closure means what the function around it was called with
    ("def f(a):\n def g(b): return a + 0\n return g\nx = [f(1)(5), f(2)(5)]", "list[1 2]"),
    ("def f(a):\n return (lambda b: [a for c in (0,)][0])\nx = [f(1)(5), f(2)(5)]", "list[1 2]"),
    ("def f(a, b):\n def g(): return a + 0\n return [g][0]\nx = [f(1, 5)(), f(2, 5)()]", "list[1 2]"),
    # a name is what it is when the function runs, not where it stands
    ("a = 1\ndef f(b): return a + 0\na = 2\nx = [f(5), f(6)]", "list[2 2]"),
    ("a = 1\nclass C:\n a = 2\n def f(self, b): return a\nx = [C().f(5), C().f(6)]", "list[1 1]"),
    ("class C:\n def f(self):\n  def g(b): return self.a\n  return g\n def __init__(self, a): self.a = a\n"
     "x = [C(1).f()(5), C(2).f()(5)]", "list[1 2]"),
    ("class C:\n def __init__(self, a): self.a = a\n def g(self): return self.a\n"
     "class D(C):\n def f(self, b): return super().g()\nx = [D(1).f(5), D(2).f(5)]", "list[1 2]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MEANT)
def test_what_is_shared_is_what_it_was(tmp_path: Path, text: str, expected: str) -> None:
    assert named(program_of(tmp_path, text), "x") == expected


NAMES = st.sampled_from("abcde")
PARTS = st.one_of(
    NAMES, st.sampled_from(["0", "'k'", "None", "[a, 1]", "{}", "g(b)", "[a for a in c]", "(lambda d: a)(b)", "h()"])
)
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, NAMES, PARTS),
    st.builds("{} += {}".format, NAMES, PARTS),
    st.builds("{}.append({})".format, NAMES, PARTS),
    st.builds("{}[{}] = {}".format, NAMES, PARTS, PARTS),
    st.builds("{}, {} = {}, {}".format, NAMES, NAMES, PARTS, PARTS),
    st.builds("if {}: return {}".format, PARTS, PARTS),
    st.builds("if isinstance({}, {}): {} = {}".format, NAMES, st.sampled_from(["int", "str", "c"]), NAMES, PARTS),
    st.builds("if {}:\n  {} = {}\n else:\n  {}.append({})".format, PARTS, NAMES, PARTS, NAMES, PARTS),
    st.builds("for {} in {}: {} = {}".format, NAMES, PARTS, NAMES, PARTS),
    st.builds("if {} is None: {} = {}".format, NAMES, NAMES, PARTS),
    st.builds("def h({}={}): return {}".format, NAMES, PARTS, PARTS),
)


@given(st.lists(STATEMENTS, max_size=8), PARTS)
def test_to_leave_out_what_does_not_matter_changes_no_answer(statements: list[str], result: str) -> None:
    lines = "".join(f" {statement}\n" for statement in (*statements, f"return {result}"))
    calls = ["f(1, 'k')", "f(2, None, [3])", "f([4], {}, d=int)", "f(None, 0, (5, 6), e=7)"]
    text = f"def g(a): return a\ndef f(a, b, c=(), d=None, e=0):\n{lines}x = [{', '.join(calls)}]\n"
    answers = []
    for relevant in (Evaluator.relevant, _whole):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Evaluator, "relevant", relevant)
            answers.append(named(program_of(Path("/project"), text), "x"))
    assert answers[0] == answers[1]


def _whole(ev: Evaluator, node: tree.Expr, frame: Frame) -> Frame:
    return frame


def test_one_more_call_asks_only_what_hangs_on_it(tmp_path: Path) -> None:
    body = "def f(a, b):\n c = b\n return [" + ", ".join(f"c.g{n}.h" for n in range(9)) + ", a]\n"

    def work(calls: int) -> int:
        program = program_of(tmp_path, body + f"x = [{', '.join(f'f({n}, 0)' for n in range(calls))}]")
        named(program, "x")
        return program.ev.computed

    assert work(9) - work(8) == work(8) - work(7) < 9
