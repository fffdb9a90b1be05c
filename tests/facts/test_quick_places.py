"""Where Python's own tree says that nodes stand: held against the places of libcst's nodes."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import libcst as cst
import pytest
from facts.programs import programs
from hypothesis import HealthCheck, given, settings

from torchrepro_lint.facts.quick_places import QuickPlaces
from torchrepro_lint.program.locations import ParsedFile
from torchrepro_lint.source.text import SourceError, read_source

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))


def assert_same_places(text: str) -> int:
    """How many places were compared."""
    parsed, quick = ParsedFile(Path("a.py"), text), QuickPlaces.of(text)
    assert quick is not None
    known = 0
    for site, node in enumerate(parsed.nodes):
        found = quick.span(site)
        if found is None:
            continue
        known += 1
        start, end = whole = parsed.span(site)
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            end = parsed.spans[id(node.name)][1]
        assert found == (start, end), (type(node).__name__, text[start:end], text[slice(*found)])
        assert quick.logical_lines.rows(*found) == parsed.logical_lines.rows(*whole), type(node).__name__
    return known


@pytest.mark.parametrize(
    "text",
    [
        "x = (a).b((c), *(d), e=(f))",
        "x = a and b and (c)",
        "x = (a) or (b)",
        "x = (1, 2), 3",
        "f(x for x in y)",
        "x = f'{a} {b.c(d)}' 'e'",
        "# über\nx = f('ä', b).c\n",
        "a = 1; b = f(2) ; c = 3;\n",
        "if a: b; c\nelif (d): e\nelse: f",
        "if a:  # why\n    # and how\n    b",
        "with a as b, (c): d",
        "@a\n# between\n@b\nclass C(\n    D,\n): e = 1\n",
        "@a\n# between\nasync  def \\\n  f(x): return (x)\n",
        "class A:\n    @property\n    def b(self):\n        'text'\n        return [c\n            for c in d]\n",
        "try: a\nexcept B as c: d()\nelse: e()\nfinally: f()",
        "match a:\n  case b.c: d()\n  case [1, -2]: e()\n",
        "x = '''a\nb'''; y = f(x)",
        "for a in (b): c\nelse: d()",
        "import a.b as c, d\nfrom e import (f, g as h)",
        "x = a[1:2, ...][(3, 4)]",
        "x: int = (yield)",
        "a\r\nb = c(d)\re = f(g)\n",
        "\x0cdef f():\n  a()\n",
        "x = (  # why\n    a.\n    b\n)",
        "del (a), b[c]",
        "while (a := b()): c()",
        "a\n    # comment\n\n    # comment",
    ],
)
def test_as_libcst_has_it(text: str) -> None:
    assert assert_same_places(text)


def test_what_libcst_bounds_otherwise_is_not_known() -> None:
    quick = QuickPlaces.of("(a, b)")
    assert quick is not None
    assert [quick.span(site) for site in range(4)] == [(0, 6), None, (1, 2), (4, 5)]


def test_nothing_is_known_of_what_this_python_cannot_parse() -> None:
    assert QuickPlaces.of("a b") is None


@pytest.mark.exhaustive
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_as_libcst_has_it_in_random_programs(text: str) -> None:
    if QuickPlaces.of(text) is not None:
        assert_same_places(text)


@pytest.mark.exhaustive
def test_as_libcst_has_it_in_the_standard_library() -> None:
    """A sample: every ninth of its files that both parsers take."""
    compared = 0
    for path in sorted(STANDARD_LIBRARY.glob("*.py"))[::9]:
        try:
            text = read_source(path).text
            cst.parse_module(text)
        except (SourceError, cst.ParserSyntaxError):
            continue
        if QuickPlaces.of(text) is not None:
            compared += assert_same_places(text)
    assert compared > 20_000
