"""The import statements of a text, found without a parse."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["import_statements", "names_taken"]

_STATEMENT = re.compile(
    r"^[ \t]*(?:>>>[ \t]*)?"
    r"(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<base>[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n#]*)"
    r"|import[ \t]+(?P<plain>[^\n#;]+))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n]*")


def import_statements(text: str) -> Iterator[re.Match[str]]:
    """A match for each: `dots`, `base` and `names` of one with `from`, `plain` of one without."""
    return _STATEMENT.finditer(text)


def names_taken(statement: re.Match[str]) -> list[str]:
    """What a statement with `from` takes out of its module: the names there, whatever they are called here."""
    listed = _COMMENT.sub("", statement["names"] or "").strip("() \t\r\n\\")
    return [words[0] for name in listed.split(",") if (words := name.strip(" \t\r\n\\").split())]
