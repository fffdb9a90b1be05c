"""Fixtures as the tests use them: each program alone, as a project of itself in a temporary folder."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.rules import all_rules
from torchrepro_lint.verify.fixtures.fixture import Fixture, expectations, find_fixtures, header_length, strip_marks

FOLDER = Path(__file__).resolve().parents[1] / "fixtures"
SETTINGS_FILE = "torchrepro-lint.toml"

Places = Counter[tuple[str, int, str]]


def named(fixtures: Iterable[Fixture]) -> list[object]:
    """Fixtures as parameters of a test, by their names."""
    return [pytest.param(fixture, id=fixture.name) for fixture in fixtures]


@cache
def known_codes() -> frozenset[str]:
    """The codes that the tool can report."""
    return frozenset({rule.code for rule in (*HOUSEKEEPING, *all_rules())})


def all_fixtures() -> list[Fixture]:
    """The fixtures of the rules that there are; programs for rules to come are run by `verify` only."""
    codes = known_codes()
    return [fixture for fixture in find_fixtures([FOLDER]) if fixture.rule in codes]


def expected(fixture: Fixture) -> Places:
    """What the fixture expects, as (file within the program, row, code)."""
    codes = known_codes()
    places: Places = Counter()
    for file in fixture.files:
        for (row, code), count in expectations(file.read_text(encoding="utf-8")).items():
            if code in codes:
                places[_name(fixture, file), row, code] += count
    return places


def found(fixture: Fixture) -> Places:
    """What the tool finds in the fixture, in the same form."""
    return as_places(*reported(fixture))


@cache
def reported(fixture: Fixture) -> tuple[tuple[Finding, ...], Path]:
    """What the tool finds in the fixture, and the folder in which the program was."""
    with tempfile.TemporaryDirectory() as scratch:
        root = copied(fixture, Path(scratch))
        # The files are named: one that cannot be read is reported then, whatever it is.
        report = check([root, *root.rglob("*.py")])
        assert not report.errors, report.errors
        return report.findings, root


def as_places(findings: Iterable[Finding], root: Path) -> Places:
    """Findings as (file below `root`, row, code)."""
    return Counter(
        (finding.location.path.relative_to(root).as_posix(), finding.location.start.row, finding.code)
        for finding in findings
    )


@cache
def fixed_texts(fixture: Fixture) -> dict[str, str]:
    """What `--fix` makes of the program without its marks, by file."""
    with tempfile.TemporaryDirectory() as scratch:
        root = copied(fixture, Path(scratch), stripped=True)
        fix([root])
        return _texts(root)


@contextmanager
def as_fixed(fixture: Fixture) -> Iterator[Path]:
    """The program without its marks and after `--fix`, as a project of itself in a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        root = copied(fixture, Path(scratch), stripped=True)
        for name, text in fixed_texts(fixture).items():
            (root / name).write_text(text, encoding="utf-8")
        yield root


def findings_left(fixture: Fixture) -> list[Finding]:
    """What the tool finds in the program after `--fix`."""
    with as_fixed(fixture) as root:
        return list(check([root]).findings)


def fixed_again(fixture: Fixture) -> dict[str, str]:
    """What a second `--fix` makes of the program, by file."""
    with as_fixed(fixture) as root:
        fix([root])
        return _texts(root)


def _texts(root: Path) -> dict[str, str]:
    return {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in sorted(root.rglob("*.py"))}


def plain_texts(fixture: Fixture) -> dict[str, str]:
    """The program without its marks, by file."""
    return {_name(fixture, file): strip_marks(file.read_text(encoding="utf-8")) for file in fixture.files}


def header_of(text: str) -> str:
    """The header lines of a program."""
    return "".join(text.splitlines(keepends=True)[: header_length(text)])


def copied(fixture: Fixture, scratch: Path, *, stripped: bool = False) -> Path:
    """The program as a project of itself in a folder; with `stripped`, without its marks."""
    root = scratch / "program"
    root.mkdir()
    (root / SETTINGS_FILE).write_text("".join(f"{line}\n" for line in fixture.settings), encoding="utf-8")
    for file in fixture.files:
        target = root / _name(fixture, file)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        target.write_text(strip_marks(text) if stripped else text, encoding="utf-8")
    for file in fixture.path.rglob("*.yaml"):
        target = root / _name(fixture, file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    return root


def _name(fixture: Fixture, file: Path) -> str:
    # A program of one file has the same name in its three kinds, so that twins can be compared.
    return fixture.path.name.partition("_")[2] if fixture.alone else file.relative_to(fixture.path).as_posix()
