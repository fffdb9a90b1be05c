"""What in a line an older Python reads, and the Python of today refuses as a syntax error."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from torchrepro_lint.knowledge.tables import DataFileError, read_toml

__all__ = ["is_of_an_older_python", "older_form"]

_TEXT: Final = re.compile("\"[^\"]*\"|'[^']*'")


@cache
def _forms() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The rows of `old_syntax.toml`, which explains the fields. DataFileError where it is not what it should be."""
    rows = read_toml("old_syntax.toml")["form"]
    if any(set(row) != {"pattern", "cause", "source"} for row in rows):
        raise DataFileError("old_syntax.toml: a form has a pattern, a cause and a source")
    return tuple((re.compile(row["pattern"]), row["cause"]) for row in rows)


def older_form(line: str) -> str | None:
    """The form of an older Python in a line with a syntax error, in words; None where there is none."""
    code = _TEXT.sub('""', line).partition("#")[0]
    return next((cause for pattern, cause in _forms() if pattern.search(code)), None)


def is_of_an_older_python(reason: str) -> bool:
    """Whether the reason why a file cannot be read is one that `older_form` gives."""
    return any(reason == cause for _, cause in _forms())
