"""Where things stand, and under which conditions they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.engine import check
from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.guards import excludes, guards, place_of


def calls(program: Program, name: str) -> list[Site]:
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    return [
        Site(facts.path, call.site)
        for scope in facts.walk_scopes()
        for call, _ in scope.calls
        if isinstance(call.func, tree.Name) and call.func.id == name
    ]


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("x = 1\ndef f(\n    a,\n): pass\n", "f", ((2, 1), (2, 6))),
        ("@a\n@b(\n  1)\ndef f(): pass\n", "f", ((4, 1), (4, 6))),
        ("@a\n# why\n\ndef f(): pass\n", "f", ((4, 1), (4, 6))),
        ("@a\nasync def f(): pass\n", "f", ((2, 1), (2, 12))),
        ("@a\nclass f(B): pass\n", "f", ((2, 1), (2, 8))),
        ("class f: pass\n", "f", ((1, 1), (1, 8))),
        ("if a:\n  @b\n  def f(): pass\n", "f", ((3, 3), (3, 8))),
    ],
)
def test_a_definition_stands_at_its_own_line(
    tmp_path: Path, source: str, name: str, expected: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    program = program_of(tmp_path, source)
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    node = next(scope.node for scope in facts.walk_scopes() if scope.name == name)
    assert node is not None
    place = program.location(Site(facts.path, node.site))
    assert ((place.start.row, place.start.column), (place.end.row, place.end.column)) == expected


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_places_in_all_kinds_of_lines(tmp_path: Path, newline: str) -> None:
    program = program_of(tmp_path, newline.join(["é = 1", "\x0c", "if é:", "\tx = f(1,", "\t\t2)", ""]))
    (site,) = calls(program, "f")
    place = program.location(site)
    assert (place.start.row, place.start.column, place.end.row, place.end.column) == (4, 6, 5, 5)


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("f()\n", (1, 1)),
        ("x = [\n  1,\n  f(),\n]\n", (1, 4)),
        ("if f(\n    1):\n    pass\n", (1, 2)),
        ("for a in b: pass\nwith f(\n) as c:\n  d\n", (2, 3)),
        ("@f(\n  1)\ndef g(): pass\n", (1, 2)),
        ("def g(\n  a=f(),\n):\n  pass\n", (1, 3)),
        ("x = 1; f()\n", (1, 1)),
        ("if a: f()\n", (1, 1)),
        ("try:\n    pass\nexcept f():\n    pass\n", (3, 3)),
    ],
)
def test_the_rows_of_the_logical_line(tmp_path: Path, source: str, rows: tuple[int, int]) -> None:
    program = program_of(tmp_path, source)
    (site,) = calls(program, "f")
    assert program.places.statement_rows(site) == rows


@pytest.mark.parametrize(
    ("source", "arms"),
    [
        ("f()", []),
        ("if a: f()", ["then"]),
        ("if a: pass\nelse: f()", ["else"]),
        ("if a: pass\nelif b: f()", ["else", "then"]),
        ("try: pass\nexcept E: f()", ["except0"]),
        ("match a:\n  case 1: pass\n  case 2: f()", ["case1"]),
        ("x = f() if a else 0", [None]),
        ("x = a and f()", [None]),
        ("x = f() and a", []),
        ("if a:\n  x = b or f()", ["then", None]),
    ],
)
def test_the_conditions_of_a_place(tmp_path: Path, source: str, arms: list[str | None]) -> None:
    program = program_of(tmp_path, source + "\n")
    (site,) = calls(program, "f")
    place = place_of(program.ev, site)
    assert place is not None
    assert [guard.arm and guard.arm[1] for guard in guards(program.ev, place)] == arms


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if a: f()\nelse: f()", True),
        ("if a: f()\nf()", False),
        ("if a: f()\nif a: f()", False),
        ("try: f()\nexcept E: f()", True),
        ("def g(): f()\nf()", False),
        ("if a:\n  f()\n  f()", False),
    ],
)
def test_places_of_which_only_one_runs(tmp_path: Path, source: str, expected: bool) -> None:
    program = program_of(tmp_path, source + "\n")
    first, second = (place_of(program.ev, site) for site in calls(program, "f"))
    assert first is not None and second is not None
    assert excludes(first, second) is expected


def test_a_place_in_a_file_that_does_not_parse_is_none(tmp_path: Path) -> None:
    program = program_of(tmp_path, "x = (\n")
    assert place_of(program.ev, Site(tmp_path / "main.py", 0)) is None
    assert program.unreadable[tmp_path / "main.py"][2] == "syntax error: '(' was never closed"


def test_a_file_that_only_python_reads_is_reported_and_laid_aside(tmp_path: Path) -> None:
    generator = "import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n"
    (tmp_path / "odd.py").write_text(generator + "(h): int\n")  # libcst 1.9 does not know brackets here
    (tmp_path / "plain.py").write_text(generator)
    found = {}
    for profile in ("default", "strict"):
        report = check([tmp_path], {"profile": profile, "select": ("TRL203",)})
        assert not report.errors
        found[profile] = [(one.location.path.name, one.location.start.row, one.code) for one in report.findings]
    assert found["default"] == [("plain.py", 2, "TRL203")]
    assert found["strict"] == [("odd.py", 4, "TRL900"), ("plain.py", 2, "TRL203")]
