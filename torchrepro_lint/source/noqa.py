"""Comments that silence findings: `# noqa` on a line, `# flake8: noqa` for a file. The forms are those of flake8."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.source.text import split_lines

__all__ = ["Directives", "is_suppressed", "read_directives"]

# After flake8.defaults.NOQA_INLINE_REGEXP and NOQA_FILE, flake8 7. The names of rules are our addition.
_CODES = r"[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*"
_NAMES = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+"
_INLINE = re.compile(
    rf"#\s*noqa(?::\s?(?P<listed>(?:{_CODES}|{_NAMES})(?:[,\s]+(?:{_CODES}|{_NAMES}))*))?", re.IGNORECASE
)
_FILE = re.compile(
    rf"#\s*(?:flake8|torchrepro-lint)[:=]\s*noqa(?P<listed>:\s?(?:{_CODES}|{_NAMES})(?:[,\s]+(?:{_CODES}|{_NAMES}))*)?\s*$",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"[,\s]+")

# None in place of a list means that all is silenced.
Listed = frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Directives:
    """What the comments of a file silence. `rows` are the rows with a directive; `logical` gives the first and the
    last row of the logical line that a row belongs to, where that has several.
    """

    file: tuple[Listed, ...] = ()
    rows: dict[int, Listed] = field(default_factory=dict)
    logical: dict[int, tuple[int, int]] = field(default_factory=dict)


def read_directives(text: str) -> Directives:
    """The directives in the comments of `text`. What stands in strings is none.

    A text that does not tokenize to its end is read to where it breaks, and line by line from there.
    """
    if "noqa" not in text.lower():
        return Directives()
    file: list[Listed] = []
    rows: dict[int, Listed] = {}
    logical: dict[int, tuple[int, int]] = {}
    for row, comment, alone in _comments(text, logical):
        whole = _FILE.match(comment) if alone else None
        if whole is not None:
            file.append(_listed((whole["listed"] or "").lstrip(":")))
            continue
        found = _INLINE.search(comment)
        if found is not None:
            rows[row] = _listed(found["listed"])
    return Directives(tuple(file), rows, logical)


def is_suppressed(finding: Finding, directives: Directives) -> bool:
    """Whether a directive silences the finding: one for the file, or one on any row of the statement it stands on."""
    if any(_covers(listed, finding) for listed in directives.file):
        return True
    if not directives.rows:
        return False
    row = finding.location.start.row
    spans = [finding.statement_rows or (row, row), directives.logical.get(row, (row, row))]
    return any(
        one in directives.rows and _covers(directives.rows[one], finding)
        for first, last in spans
        for one in range(first, last + 1)
    )


def _covers(listed: Listed, finding: Finding) -> bool:
    return listed is None or finding.name.upper() in listed or finding.code.startswith(tuple(listed))


def _listed(text: str | None) -> Listed:
    words = frozenset(word.upper() for word in _SEPARATOR.split(text or "") if word)
    return words or None


def _comments(text: str, logical: dict[int, tuple[int, int]]) -> Iterator[tuple[int, str, bool]]:
    """Row, text, and whether it has the line for itself, of every comment; the logical lines go into `logical`."""
    # The tokenizer is handed lines that end as it expects, so that its rows are ours.
    lines = [line.rstrip("\r\n") + "\n" for line in split_lines(text)]
    first = 0
    reached = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(lines), newline="").readline):
            reached = max(reached, token.end[0])
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string, not token.line[: token.start[1]].strip()
            elif token.type == tokenize.NEWLINE:
                last = token.start[0]
                if first and first < last:
                    logical.update(dict.fromkeys(range(first, last + 1), (first, last)))
                first = 0
            elif not first and token.type not in _BETWEEN:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        for row, line in enumerate(lines[reached:], reached + 1):
            at = line.find("#")
            if at != -1:
                yield row, line[at:].rstrip(), not line[:at].strip()


_BETWEEN = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER)
