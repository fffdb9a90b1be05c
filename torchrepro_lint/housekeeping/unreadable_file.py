"""TRL900 unreadable-file.

What it does
    Finds files that are to be checked and cannot be read as Python: a syntax error, bytes that are not in the file's
    encoding, code that is nested too deeply, or a file that the system refuses to open. The file is left alone, and the
    other files are checked.

Why is this bad?
    What is in the file is not known: what is found elsewhere may rest on it, and nothing is found in it.

Example
    ```python
    loader = DataLoader(dataset, num_workers=4
    ```

Use instead
    ```python
    loader = DataLoader(dataset, num_workers=4)
    ```

Known problems
    A file that can hold no finding, because it names nothing that a rule is about, is not parsed, and so its syntax
    errors are not seen. Code of Python 2 is reported.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from torchrepro_lint.diagnostics import Finding, Location, Position, Severity

__all__ = ["UnreadableFile"]


class UnreadableFile:
    """The rule. It is on unless `ignore` speaks of it."""

    code: ClassVar[str] = "TRL900"
    name: ClassVar[str] = "unreadable-file"
    summary: ClassVar[str] = "a file with a syntax error, or that cannot be decoded; other files go on"
    severity: ClassVar[Severity] = Severity.ERROR
    profile: ClassVar[Literal["default", "strict"]] = "default"

    def finding(self, path: Path, row: int, column: int, reason: str) -> Finding:
        """The finding at a place, row and column from 1."""
        location = Location(path, Position(row, column), Position(row, column + 1))
        return Finding(self.code, self.name, f"this file cannot be read: {reason}", self.severity, location)
