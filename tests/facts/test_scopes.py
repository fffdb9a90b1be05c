"""Which bindings of a name reach a use of it.

Each program binds `x` to numbers and uses it in `use(x)`; the expectation says which of the numbers can be seen there,
and ends with `?` where it is not sure that one of them is.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from facts.programs import programs
from hypothesis import HealthCheck, given, settings

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts, facts_of_text
from torchrepro_lint.facts.scopes import END, Binding, Scope


def facts_of(source: str) -> ModuleFacts:
    return facts_of_text(Path("module.py"), dedent(source))


def the_use(facts: ModuleFacts, name: str = "use") -> tuple[Scope, tree.Name]:
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            if isinstance(call.func, tree.Name) and call.func.id == name:
                (arg,) = call.args
                assert isinstance(arg.value, tree.Name)
                return scope, arg.value
    raise AssertionError("no use")


def label(binding: Binding) -> str:
    if binding.kind == "opaque":
        return "opaque"
    match binding.node:
        case tree.Const(value=value):
            return str(value)
        case tree.AugAssign():
            return "+="
    return binding.kind


def reaching(source: str) -> str:
    scope, use = the_use(facts_of(source))
    found, certain = scope.reaching(use.id, use.site)
    return " ".join(sorted({label(binding) for binding in found})) + ("" if certain else "?")


STRAIGHT = [
    ("x = 1\nuse(x)", "1"),
    ("x = 1\nx = 2\nuse(x)", "2"),
    ("use(x)\nx = 1", "?"),
    ("x = x = 1\nuse(x)", "1"),
    ("x, y = 1, 2\nuse(x)", "assign"),
    ("x: int\nuse(x)", "?"),
    ("x: int = 1\nuse(x)", "1"),
    ("x = 1\nx += 2\nuse(x)", "+="),
    ("x = 1\ndel x\nuse(x)", "delete"),
    ("import x.y\nuse(x)", "import"),
    ("import y as x\nuse(x)", "import"),
    ("from y import z as x\nuse(x)", "import-from"),
    ("def x(): pass\nuse(x)", "function"),
    ("class x: pass\nuse(x)", "class"),
    ("type x = int\nuse(x)", "assign"),
    ("with f() as x:\n    use(x)", "context"),
    ("with f() as x:\n    pass\nuse(x)", "context"),
    ("y = (x := 1)\nuse(x)", "1"),
    ("if (x := 1): use(x)", "1"),
    ("def f(x):\n    use(x)", "param"),
    ("def f(x):\n    x = 1\n    use(x)", "1"),
]
BRANCHES = [
    ("if c: x = 1\nelse: x = 2\nuse(x)", "1 2"),
    ("if c: x = 1\nuse(x)", "1?"),
    ("x = 0\nif c: x = 1\nuse(x)", "0 1"),
    ("x = 0\nif c:\n    x = 1\n    x = 2\nuse(x)", "0 2"),
    ("x = 0\nif c:\n    if d: x = 1\n    x = 2\nuse(x)", "0 2"),
    ("x = 0\nif c:\n    x = 1\n    if d: x = 2\nuse(x)", "0 1 2"),
    ("x = 0\nfor i in c:\n    x = 1\n    if d: break\n    x = 2\nuse(x)", "0 1 2"),
    ("x = 0\ntry:\n    x = 1\n    x = f()\nexcept E: pass\nuse(x)", "0 1 assign"),
    ("x = 0\nif c:\n    x = 1\n    use(x)", "1"),
    ("x = 0\nif c:\n    use(x)\n    x = 1", "0"),
    ("x = 0\nif c: x = 1\nelse: use(x)", "0"),
    ("x = 0\nif c: x = 1\nelif d: x = 2\nelse: x = 3\nuse(x)", "1 2 3"),
    ("x = 0\nif c: x = 1\nelif d: x = 2\nuse(x)", "0 1 2"),
    ("if c:\n    if d: x = 1\n    else: x = 2\nelse: x = 3\nuse(x)", "1 2 3"),
    ("def f():\n    if c:\n        x = 1\n        return\n    else: x = 2\n    use(x)", "2"),
    ("def f():\n    if c:\n        x = 1\n        raise E\n    x = 2\n    use(x)", "2"),
    ("x = 0\nif c:\n    x = 1\n    sys.exit()\nuse(x)", "0"),
    ("def f():\n    x = 0\n    if c:\n        x = 1\n        with y: return\n    use(x)", "0"),
    ("match v:\n    case 1: x = 1\n    case _: x = 2\nuse(x)", "1 2"),
    ("x = 0\nmatch v:\n    case 1: x = 1\n    case 2: x = 2\nuse(x)", "0 1 2"),
    ("match v:\n    case x: use(x)", "assign"),
    ("match v:\n    case [x, *_] if use(x): pass", "assign"),
    ("match v:\n    case [1, *x]: use(x)", "rest"),
    ("match v:\n    case [x] | {1: x}: use(x)", "opaque"),
    ("x = 0\nmatch v:\n    case 1: x = 1\n    case 2: use(x)", "0"),
    ("x = 0\nmatch v:\n    case 1: x = 1\n    case 1 | _: x = 2\nuse(x)", "1 2"),
]
SAME_TEST = [
    ("if c: x = 1\nelse: x = 2\nif c: use(x)", "1"),
    ("if c: x = 1\nelse: x = 2\nif not c: use(x)", "2"),
    ("if not c: x = 1\nelse: x = 2\nif c: pass\nelse: use(x)", "1"),
    ("x = 0\nif c: x = 1\nif c:\n    if d: use(x)", "1"),
    ("x = 0\nif d:\n    if c: x = 1\nif c: use(x)", "0 1"),
    ("x = 0\nif d: x = 1\nelif c: x = 2\nif c: use(x)", "1 2"),
    ("c = f()\nif c: x = 1\nelse: x = 2\nif c: use(x)", "1"),
    ("c = f()\nif c: x = 1\nelse: x = 2\nc = f()\nif c: use(x)", "1 2"),
    ("for c in y:\n    if c: x = 1\n    else: x = 2\n    if c: use(x)", "1 2"),
    ("if a.c: x = 1\nelse: x = 2\nif a.c: use(x)", "1"),
    ("if a.c: x = 1\nelse: x = 2\na.c = f()\nif a.c: use(x)", "1 2"),
    ("if c: x = 1\nelse: x = 2\nif d: use(x)", "1 2"),
    ("if c(): x = 1\nelse: x = 2\nif c(): use(x)", "1 2"),
]
LOOPS = [
    ("for x in y: use(x)", "element"),
    ("for x in y: pass\nuse(x)", "element?"),
    ("x = 0\nfor i in y: x = 1\nuse(x)", "0 1"),
    ("for i in y:\n    x = 1\n    for j in y: use(x)\n    x = 2", "1"),
    ("for i in y:\n    x = 1\n    for j in y:\n        use(x)\n        x = 2\n    x = 3", "1 2"),
    ("for i in y:\n    if c: x = 1\n    for j in y: use(x)\n    x = 2", "1 2?"),
    ("x = 1\nfor i in y:\n    for j in y: use(x)\n    x = 2", "1 2"),
    ("x = 0\nfor i in y:\n    use(x)\n    x = 1", "0 1"),
    ("x = 0\nfor i in y:\n    x = 1\n    use(x)", "1"),
    ("x = 0\nwhile c:\n    use(x)\n    x = 1\n", "0 1"),
    ("x = 0\nfor i in y:\n    if c:\n        x = 1\n        break\nuse(x)", "0 1"),
    ("x = 0\nfor i in y:\n    if c:\n        x = 1\n        break\n    use(x)", "0"),
    ("x = 0\nfor i in y:\n    if c:\n        x = 1\n        continue\n    use(x)", "0 1"),
    ("x = 0\nfor i in y:\n    if c:\n        x = 1\n        continue\nuse(x)", "0 1"),
    ("x = 0\nfor i in y:\n    for j in y:\n        if c:\n            x = 1\n            break\n        use(x)", "0 1"),
    ("def f():\n    x = 0\n    for i in y:\n        if c:\n            x = 1\n            return\n    use(x)", "0"),
    ("x = 0\nfor i in y:\n    if c: x = 1\n    else: x = 2\nuse(x)", "0 1 2"),
    ("x = 0\nfor i in y:\n    x = 1\nelse:\n    use(x)", "0 1"),
]
TRIES = [
    ("try: x = 1\nexcept E: x = 2\nuse(x)", "1 2"),
    ("try: import x\nexcept ImportError: x = None\nuse(x)", "None import"),
    ("x = 0\ntry:\n    x = 1\n    f()\nexcept E:\n    use(x)", "0 1"),
    ("x = 0\ntry: x = 1\nexcept E: x = 2\nfinally: use(x)", "1 2"),
    ("def f():\n    x = 0\n    try: x = 1\n    except E:\n        x = 2\n        raise\n    use(x)", "1"),
    ("try: f()\nexcept E as x: use(x)", "caught"),
    ("try: f()\nexcept* (E, F) as x: use(x)", "caught"),
    ("globals()['x'] = 1\nuse(x)", "1"),
    ("x = 0\ntry: f()\nexcept E: x = 1\nelse: x = 2\nuse(x)", "1 2"),
    ("x = 0\ntry: f()\nexcept E: x = 1\nelse: use(x)", "0"),
    ("x = 0\ntry: x = 1\nexcept use(x): pass", "0 1"),
    ("def f():\n    x = 0\n    try: return 1\n    except E: x = 2\n    use(x)", "2"),
    ("def f():\n    x = 0\n    if c:\n        x = 1\n        try: return 1\n        except E: raise\n    use(x)", "0"),
]


@pytest.mark.parametrize(("source", "expected"), STRAIGHT + BRANCHES + SAME_TEST + LOOPS + TRIES)
def test_what_reaches_a_use(source: str, expected: str) -> None:
    assert reaching(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\ndef f():\n    global x\n    x = 2\nuse(x)", "1 2"),
        ("x = 1\nuse(x)\ndef f():\n    global x\n    x = 2", "1 2"),
        ("def f():\n    global x\n    x = 2\nuse(x)", "2?"),
        ("def g():\n    x = 1\n    def f():\n        nonlocal x\n        x = 2\n    use(x)", "1 2"),
        (
            "class A:\n  x = 3\n  def g(self):\n    x = 1\n    def f():\n      nonlocal x\n      x = 2\n    use(x)",
            "1 2",
        ),
        ("x = 1\ndef f():\n    x = 2\nuse(x)", "1"),
        ("y = [x := 1 for _ in z]\nuse(x)", "opaque?"),
        ("x = 0\ny = [x := 1 for _ in z]\nuse(x)", "0 opaque"),
        ("x = 0\nx = (x := 1) + use(x)", "1"),
        ("x = 0\ny = [x for x in z]\nuse(x)", "0"),
        ("y = [use(x) for x in z]", "element"),
        ("y = lambda x: use(x)", "param"),
        ("class A:\n    x = 1\n    use(x)", "1"),
    ],
)  # fmt: skip
def test_scopes(source: str, expected: str) -> None:
    assert reaching(source) == expected


def test_an_assignment_expression_does_not_see_itself() -> None:
    facts = facts_of("x = 0\n(x := f(x))\n")
    ((call, _),) = facts.scope.calls
    inner = call.args[0].value
    assert isinstance(inner, tree.Name)
    found, certain = facts.scope.reaching("x", inner.site)
    assert [label(binding) for binding in found] == ["0"] and certain


def test_what_holds_at_the_end_of_a_scope() -> None:
    facts = facts_of("x = 1\nif c:\n    x = 2\n    sys.exit()\nx2 = 3\n")
    found, certain = facts.scope.reaching("x", END)
    assert {label(binding) for binding in found} == {"1", "2"} and certain


def test_what_is_proven_not_to_run_does_not_reach() -> None:
    facts = facts_of("x = 0\nif c: x = 1\nuse(x)")
    scope, use = the_use(facts)

    def told(answer: bool) -> list[str]:
        found, _ = scope.reaching("x", use.site, lambda path: answer if path and path[-1][1] == "then" else None)
        return [label(binding) for binding in found]

    assert told(True) == ["1"]
    assert told(False) == ["0"]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("self.a = 1", ["self.a"]),
        ("self.a, self.b = 1, 2", ["self.a", "self.b"]),
        ("self.a += 1", ["self.a"]),
        ("with f() as self.a: pass", ["self.a"]),
        ("for self.a in b: pass", ["self.a"]),
        ("other.a = 1", []),
        ("self.a.b = 1", []),
        ("def inner(): self.a = 1", []),
    ],
)
def test_attributes_of_self_are_bindings(method: str, expected: list[str]) -> None:
    facts = facts_of(f"class A:\n    def f(self):\n        {method}\n")
    scope = facts.scope.children[0].children[0]
    assert scope.self_name == "self"
    assert sorted(name for name in scope.bindings if name.startswith("self.")) == expected


def test_calls_are_noted_wherever_they_stand() -> None:
    facts = facts_of(
        """\
        @c1()
        def f(a=c2(), b: c3() = 0) -> c4():
            del c5()[0], c6().x
            assert c7(), c8()
            raise c9() from c10()
        x: c11() = c12()
        y[c13()] = 1
        for y[c14()] in c15(): pass
        try: pass
        except c16(): pass
        match c17():
            case 1 if c18(): pass
        z = [c19() for a in c20() if c21()]
        w = lambda p=c22(): c23()
        f"{c24():{c25()}}"
        """
    )
    names = {c.func.id for s in facts.walk_scopes() for c, _ in s.calls if isinstance(c.func, tree.Name)}
    assert names == {f"c{number}" for number in range(1, 26)}


def test_a_module_says_which_classes_it_has() -> None:
    facts = facts_of("class A:\n    class B: pass\ndef f():\n    class C: pass\n")
    assert [node.name for node in facts.classes] == ["A", "B", "C"]


@given(programs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_every_place_of_any_program_has_its_arms(source: str) -> None:
    facts = facts_of_text(Path("module.py"), source)
    for scope in facts.walk_scopes():
        starts = scope.statement_sites
        assert starts == sorted(starts)
        for call, path in scope.calls:
            if not isinstance(scope.node, (tree.Comprehension, tree.Lambda)):
                assert scope.path_at(call.site)[: len(path)] == path
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                assert binding.name == name
            for site in (*starts[:3], END):
                scope.reaching(name, site)
        if scope.node is not None:
            assert facts.scope_of(scope.node) is scope
