"""The import statements of a text, found without a parse."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["import_statements", "names_taken"]

_FROM = (
    r"^[ \t]*(?:>>>[ \t]*)?from[ \t]+(?P<dots>\.*)[ \t]*(?P<base>[\w.]*)[ \t]+"
    r"import[ \t]*(?P<names>\([^)]*\)|[^\n#]*)"
)
_PLAIN = r"^[ \t]*(?:>>>[ \t]*)?import[ \t]+"
_CALLED = r"\bimport_module\([ \t]*[\"'](?=\w[\w.]*[\"'][ \t]*\))"
_STATEMENT = re.compile(rf"{_FROM}|{_PLAIN}(?P<plain>[^\n#;]+)", re.MULTILINE)
_STATEMENT_OR_CALL = re.compile(rf"{_FROM}|(?:{_PLAIN}|{_CALLED})(?P<plain>[^\n#;\"']+)", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")


def import_statements(text: str) -> Iterator[re.Match[str]]:
    """A match for each: `dots`, `base` and `names` of one with `from`, `plain` of one without, as which also counts
    `import_module("name")`.
    """
    pattern = _STATEMENT_OR_CALL if "import_module(" in text else _STATEMENT  # it takes five times as long
    return pattern.finditer(text)


def names_taken(statement: re.Match[str]) -> list[str]:
    """What a statement with `from` takes out of its module: the names there, whatever they are called here."""
    listed = _COMMENT.sub("", statement["names"] or "").strip("() \t\r\n\\")
    return [words[0] for name in listed.split(",") if (words := name.strip(" \t\r\n\\").split())]
