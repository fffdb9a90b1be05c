"""The walk over Python's own tree gives what the walk over libcst's gives: the same nodes with the same sites."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import libcst as cst
import pytest
from facts.programs import programs
from facts.shapes import differing, lowered
from hypothesis import HealthCheck, given, settings

from torchrepro_lint.facts.quick_lower import quick_parse
from torchrepro_lint.source.text import SourceError, read_source

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize(
    "text",
    [
        "a and b and c or (d and e) and f",
        "(a or b) or c",
        "x = 'a' 'b' '''c\r\nd'''",
        "x = b'a' b'b'",
        "x = f'{a}' 'text' f'{b:>{c}}' rf'{d!r}'",
        "'doc' 'string'",
        "f'{not_a_docstring}'",
        "'text' f'{not_a_docstring}'",
        "a[1], a[1,], a[1, 2], a[(1, 2)], a[1:2], a[1:2, ...], a[::]",
        "a[*b], a[*b, c]",
        "del a",
        "del a,",
        "del (a, [b, c]), d[0]",
        "f(k=1, *a, m=2, **b)",
        "f(x for x in y)",
        "class A(B, *c, metaclass=D, **e): pass",
        "-1, - -1, -True, -1j, -1.5, --a, +1",
        "x = 0x1F, 1_000, 1e999, 00",
        r"x = '\d', '\ud800', '\N{BULLET}', rb'\x'",
        "if a: b\nelif c: d\nelse: e",
        "if a: b\nelse:\n  if c: d\n  else: e",
        "with (a as b, c): d",
        "with (a, b): c",
        "async def f():\n  async with a as b, c: await d\n  async for e in f: yield e\n  return [g async for g in h]",
        "def f(a, /, b: int = 1, *c: int, d, e: str = '', **g) -> None: yield from h",
        "lambda: (yield)",
        "def f(): lambda: (yield)",
        "try: a\nexcept* (B, C) as d: e",
        "match a:\n  case 1 | -2 | 'x' 'y': b\n  case {'k': v, **rest} if v: c\n  case [1, *_, x]: d\n"
        "  case C(1, k=D.E) as f: g\n  case None | True: h\n  case (1 | _): i\n  case _: j",
        "match a:\n  case C(int(x), k=str() as y) | [x, y]: b\n  case {1: p, 'x' 'y': q, True: r, -1: s, A.b: t, 1.5: u}: c\n"
        "  case [(a, *b), {'k': [c, *_, d]}, C(int(e), f, g=h)]: i",
        "import a.b as c, d; from . import e; from ...f.g import h as i, j; from k import *",
        "x: int\ny: int = 1\nself.z: list[int] = []",
        "a = b = c, *d = e",
        "print(*a, sep='')",
        "global a, b\nnonlocal_ = 1",
        "x = [a for b in c if d if e for f in g], {h: i for h, i in j}, {k for k in l}",
    ],
)
def test_both_walks_agree(text: str) -> None:
    quick = quick_parse(text)
    assert quick is not None
    assert differing(quick, lowered(text)) is None


@pytest.mark.exhaustive
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_both_walks_agree_on_random_programs(text: str) -> None:
    quick = quick_parse(text)
    if quick is not None:
        assert differing(quick, lowered(text)) is None


@pytest.mark.exhaustive
def test_both_walks_agree_on_the_standard_library() -> None:
    """A sample: every seventh of its files that both parsers take."""
    compared = 0
    for path in sorted(STANDARD_LIBRARY.glob("*.py"))[::7]:
        try:
            text = read_source(path).text
            reference = lowered(text)
        except (SourceError, cst.ParserSyntaxError):
            continue
        quick = quick_parse(text)
        if quick is not None:
            assert differing(quick, reference) is None, path
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("text", ["def", "print 'two'", "x = '\\N{no such name}'", "(" * 150 + ")" * 150 + "x"])
def test_what_python_cannot_parse_is_left_to_libcst(text: str) -> None:
    assert quick_parse(text) is None


def test_nothing_is_said_of_escapes_that_are_none(recwarn: pytest.WarningsRecorder) -> None:
    assert quick_parse(r"x = '\d'") is not None
    assert not recwarn.list
