"""Findings and texts to show, for the tests of the output formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torchrepro_lint.diagnostics import Applicability, Edit, Finding, Fix, Location, Position, Severity, TraceStep
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.formats import OutputFormat, written
from torchrepro_lint.report.report_input import ReportInput
from torchrepro_lint.report.texts import Texts

PATH = Path("/project/src/train.py")
OTHER = Path("/project/src/data.py")
PLAIN = Colours(False)
TEXT = """import torch

def main():
    ds = Data()
    loader = DataLoader(ds, num_workers=4)

    return loader
"""
OTHER_TEXT = "import x\n\tnp.random.rand()\n"
SAFE = Fix(Applicability.SAFE, "insert seed_worker", (Edit(PATH, 13, 14, "\n\n"),))
UNSAFE = Fix(Applicability.UNSAFE, "insert seed_worker", ())


def at(path: Path, row: int, column: int, end: int | None = None, end_row: int | None = None) -> Location:
    """A place; one character of one row where no end is given."""
    return Location(path, Position(row, column), Position(end_row or row, end or column + 1))


def finding(fix: Fix | None = None, declined: str | None = None, code: str = "TRL101") -> Finding:
    """A finding at the loader, with a chain of two steps over two files."""
    trace = (
        TraceStep(at(PATH, 4, 10), "the dataset is Data"),
        TraceStep(at(OTHER, 2, 1), "its __getitem__ draws"),
    )
    return Finding(code, "a-name", "workers repeat", Severity.ERROR, at(PATH, 5, 14, 43), trace, fix, declined, (5, 5))


def texts(text: str = TEXT) -> Texts:
    """The texts of the two files."""
    return Texts({PATH: text, OTHER: OTHER_TEXT}, Path("/project"))


def report(name: OutputFormat, findings: Sequence[Finding], text: str = TEXT, errors: Sequence[str] = ()) -> str:
    """What a format writes, as one text."""
    reported = ReportInput(findings, texts(text), PLAIN, lambda one: one.fix is SAFE, errors, _rules)
    return "".join(line + "\n" for line in written(name, reported))


class ExampleRule:
    """The rule of the findings here. It stands alone."""

    code = "TRL101"
    name = "a-name"
    summary = "workers draw alike"
    severity = Severity.ERROR
    profile = "default"


def _rules() -> list[ExampleRule]:
    return [ExampleRule()]
