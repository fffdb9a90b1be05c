"""The import statements of a text, found without a parse."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["import_statements"]

_STATEMENT = re.compile(
    r"^[ \t]*(?:>>>[ \t]*)?"
    r"(?:from[ \t]+(?P<dots>\.*)[ \t]*(?P<base>[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n#]*)"
    r"|import[ \t]+(?P<plain>[^\n#;]+))",
    re.MULTILINE,
)


def import_statements(text: str) -> Iterator[re.Match[str]]:
    """A match for each: `dots`, `base` and `names` of one with `from`, `plain` of one without."""
    return _STATEMENT.finditer(text)
