"""From text to nodes: every form of expression and statement, and the numbers by which nodes are known."""

from __future__ import annotations

import libcst as cst
import pytest
from facts.programs import programs
from facts.shapes import lowered, nodes_of, written
from hypothesis import HealthCheck, given, settings

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.lower import lower_module


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a", "Name(a)"),
        ("None", "Const(None)"),
        ("0x1F", "Const(31)"),
        ("1_000", "Const(1000)"),
        ("1.5e3", "Const(1500.0)"),
        ("2j", "Const(2j)"),
        ("-3", "Const(-3)"),
        ("- a", "Unary(- Name(a))"),
        ("not a", "Unary(not Name(a))"),
        ("~a", "Unary(~ Name(a))"),
        ("...", "Const(Ellipsis)"),
        ("a.b", "Attribute(Name(a) b)"),
        ("f(1, k=2)", "Call(Name(f) [Arg(Const(1)) Arg(Const(2) k)])"),
        ("f(*a, **b)", "Call(Name(f) [Arg(Name(a) *) Arg(Name(b) **)])"),
        ("a[1]", "Subscript(Name(a) Const(1))"),
        ("a[1:b]", "Subscript(Name(a) Opaque([Const(1) Name(b)]))"),
        ("a[1, ::2]", "Subscript(Name(a) Display(tuple [Const(1) Opaque([Const(2)])]))"),
        ("a[*b]", "Subscript(Name(a) Display(tuple [Starred(Name(b))]))"),
        ("[1, *a]", "Display(list [Const(1) Starred(Name(a))])"),
        ("{1, 2}", "Display(set [Const(1) Const(2)])"),
        ("()", "Display(tuple [])"),
        ("{1: 2, **a}", "DictDisplay([[Const(1) Const(2)] [None Name(a)]])"),
        ("a + b * c", "Binary(+ Name(a) Binary(* Name(b) Name(c)))"),
        ("a - b - c", "Binary(- Binary(- Name(a) Name(b)) Name(c))"),
        ("a @ b", "Binary(@ Name(a) Name(b))"),
        ("a ** -1", "Binary(** Name(a) Const(-1))"),
        ("a and b or c", "Boolean(or Boolean(and Name(a) Name(b)) Name(c))"),
        ("a < b is not c", "Compare(Name(a) [< is not] [Name(b) Name(c)])"),
        ("a not in b", "Compare(Name(a) [not in] [Name(b)])"),
        ("a if b else c", "Conditional(Name(b) Name(a) Name(c))"),
        (
            "lambda a, /, b=1, *c, d, **e: a",
            "Lambda([Param(a positional) Param(b positional Const(1)) Param(c star) Param(d keyword) "
            "Param(e double-star)] Name(a))",
        ),
        (
            "[a for a in b if a for c in a]",
            "Comprehension(list None Name(a) [Clause(Name(a) Name(b) [Name(a)]) Clause(Name(c) Name(a) [])])",
        ),
        ("{a for a in b}", "Comprehension(set None Name(a) [Clause(Name(a) Name(b) [])])"),
        ("{a: 1 for a in b}", "Comprehension(dict Name(a) Const(1) [Clause(Name(a) Name(b) [])])"),
        ("(a for a in b)", "Comprehension(generator None Name(a) [Clause(Name(a) Name(b) [])])"),
        ("(a := 1)", "Walrus(Name(a) Const(1))"),
        ("f'{a!r:>{b}} {c}'", "FormatString([Name(a) Name(b) Name(c)])"),
        ("f'a.b.{c}.d'", "FormatString([Name(c)] a.b.)"),
        ("'a.' f'b.{c}'", "FormatString([Name(c)] a.b.)"),
        (r"f'\x61.{b}'", "FormatString([Name(b)] a.)"),
        ("f'{{a.{b}'", "FormatString([Name(b)])"),
        ("f'random_{a}_{b}'", "FormatString([Name(a) Name(b)] random_)"),
        ("f'a, {b}'", "FormatString([Name(b)])"),
        ("f'a.{b=}'", "FormatString([Name(b)])"),
        ("'a' 'b' 'c' + d", "Binary(+ Const(abc) Name(d))"),
        ("(b'a' b'b')[0]", "Subscript(Const(b'ab') Const(0))"),
        ("('a' f'{b}')[0]", "Subscript(FormatString([Name(b)] a) Const(0))"),
        (r"'\x41' + r'\x41'", r"Binary(+ Const(A) Const(\x41))"),
        ('"""a"b""" + ""', 'Binary(+ Const(a"b) Const())'),
    ],
)
def test_expressions(source: str, expected: str) -> None:
    (statement,) = lowered(source)
    assert isinstance(statement, tree.ExprStmt)
    assert written(statement.value) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b = 1", "Assign([Name(a) Name(b)] Const(1))"),
        ("a, *b = c", "Assign([Display(tuple [Name(a) Starred(Name(b))])] Name(c))"),
        ("a: int", "Assign([Name(a)] None Name(int))"),
        ("a: int = 1", "Assign([Name(a)] Const(1) Name(int))"),
        ("a.b += 1", "AugAssign(Attribute(Name(a) b) + Const(1))"),
        ("a **= 1", "AugAssign(Name(a) ** Const(1))"),
        ("a >>= 1", "AugAssign(Name(a) >> Const(1))"),
        ("raise", "Raise(None)"),
        ("raise a from b", "Raise(Name(a) Name(b))"),
        ("assert a, b", "Assert(Name(a) Name(b))"),
        ("del a, b[0]", "Delete([Name(a) Subscript(Name(b) Const(0))])"),
        ("del (a)", "Delete([Name(a)])"),
        ("import a.b as c", "Import(a.b c)"),
        ("import a.b", "Import(a.b None)"),
        ("from ..a.b import c as d, e", "ImportFrom(a.b 2 [[c d] [e None]])"),
        ("from . import a", "ImportFrom(1 [[a None]])"),
        ("from a import *", "ImportFrom(a 0 [[* None]])"),
        ("type A = int", "Assign([Name(A)] Opaque([]))"),
        (
            "if a: b\nelif c: d\nelse: e",
            "If(Name(a) [ExprStmt(Name(b))] [If(Name(c) [ExprStmt(Name(d))] [ExprStmt(Name(e))])])",
        ),
        ("for a in b: break\nelse: continue", "For(Name(a) Name(b) [Jump(break)] [Jump(continue)])"),
        ("while a: pass", "While(Name(a) [] [])"),
        ("with (a as b, c): d", "With([[Name(a) Name(b)] [Name(c) None]] [ExprStmt(Name(d))])"),
        (
            "try: a\nexcept B as c: d\nexcept: e\nelse: f\nfinally: g",
            "Try([ExprStmt(Name(a))] [Handler(Name(B) c [ExprStmt(Name(d))]) Handler(None None [ExprStmt(Name(e))])] "
            "[ExprStmt(Name(f))] [ExprStmt(Name(g))])",
        ),
        ("try: a\nexcept* B: c", "Try([ExprStmt(Name(a))] [Handler(Name(B) None [ExprStmt(Name(c))])] [] [])"),
        (
            "def f[T](a: T) -> T: yield a",
            "FunctionDef(f [Param(a positional Name(T))] [] Name(T) [ExprStmt(Yield(Name(a)))] True)",
        ),
        ("async def f(): await a", "FunctionDef(f [] [] None [ExprStmt(Await(Name(a)))] True)"),
        ("def f(): yield from a", "FunctionDef(f [] [] None [ExprStmt(Yield(Name(a) True))] True)"),
        (
            "@d.e(1)\nclass C(B, k=v): x = 1",
            "ClassDef(C [Arg(Name(B)) Arg(Name(v) k)] [Call(Attribute(Name(d) e) [Arg(Const(1))])] "
            "[Assign([Name(x)] Const(1))])",
        ),
        ("class C[T](B): pass", "ClassDef(C [Arg(Name(B))] [] [])"),
    ],
)  # fmt: skip
def test_statements(source: str, expected: str) -> None:
    (statement,) = lowered(source)
    assert written(statement).replace("Param(a positional None", "Param(a positional") == expected


def test_a_nested_function_makes_no_generator_of_the_one_around() -> None:
    (outer,) = lowered("def f():\n    def g():\n        yield 1\n    h = lambda: (yield)\n")
    assert isinstance(outer, tree.FunctionDef)
    inner = outer.body[0]
    assert isinstance(inner, tree.FunctionDef)
    assert inner.is_generator
    assert not outer.is_generator


@pytest.mark.parametrize(
    ("pattern", "literals", "captures"),
    [
        ("1", 1, []),
        ("'a' | 'b' | None", 3, []),
        ("_", 0, []),
        ("x", 0, ["x"]),
        ("1 | _", 0, []),
        ("1 as x", 1, ["x"]),
        ("a.B", 1, []),
        ("[1, x, *rest]", None, ["x", "rest"]),
        ("{'k': x, **rest}", None, ["rest", "x"]),
        ("C(1, k=x)", None, ["x"]),
        ("1 | [x]", None, ["x"]),
        ("-1", 1, []),
    ],
)
def test_patterns(pattern: str, literals: int | None, captures: list[str]) -> None:
    (statement,) = lowered(f"match s:\n    case {pattern}:\n        pass\n")
    assert isinstance(statement, tree.Match)
    (case,) = statement.cases
    assert (None if case.literals is None else len(case.literals)) == literals
    assert sorted(capture.name for capture in case.captures) == sorted(captures)


@given(programs())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_sites_are_the_numbers_of_libcst_nodes(source: str) -> None:
    module = cst.parse_module(source)
    body, nodes = lower_module(module, keep_nodes=True)
    again, none = lower_module(module)
    assert nodes is not None and none is None
    assert written(body) == written(again)
    sites = [node.site for node in nodes_of(body) if not isinstance(node, (tree.Clause, tree.Case))]
    assert len(sites) == len(set(sites))
    assert all(0 <= site < len(nodes) for site in sites)
    known = {id(node) for node in _below(module)}
    assert all(id(node) in known for node in nodes)
    for node in nodes_of(body):
        if isinstance(node, tree.Name):
            assert isinstance(nodes[node.site], cst.Name) and nodes[node.site].value == node.id
        if isinstance(node, (tree.FunctionDef, tree.ClassDef)):
            assert nodes[node.site].name.value == node.name


@given(programs())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_statements_begin_at_growing_sites(source: str) -> None:
    def check(block: tree.Block, before: int) -> int:
        for statement in block:
            assert statement.site > before
            before = statement.site
            for name in ("body", "handlers", "cases", "orelse", "final"):
                part = getattr(statement, name, ())
                for inner in (part,) if name not in ("handlers", "cases") else [one.body for one in part]:
                    before = max(before, check(inner, before))
        return before

    check(lower_module(cst.parse_module(source))[0], -1)


def _below(root: cst.CSTNode) -> list[cst.CSTNode]:
    found = [root]
    for node in found:
        found.extend(node.children)
    return found
