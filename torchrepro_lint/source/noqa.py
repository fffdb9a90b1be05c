"""Comments that silence findings: `# noqa` on a line, `# flake8: noqa` for a file. The forms are those of flake8."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.source.lines import LineTable
from torchrepro_lint.source.text import split_lines

__all__ = [
    "NOQA_OF_OURS",
    "Directive",
    "Directives",
    "Word",
    "may_name_a_rule",
    "may_silence",
    "read_directives",
    "rows_with_an_end",
]

# After flake8.defaults.NOQA_INLINE_REGEXP and NOQA_FILE, flake8 7. The names of rules are our addition.
_CODES = r"[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*"
_NAMES = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+"
_LISTED = rf"(?:{_CODES}|{_NAMES})(?:[,\s]+(?:{_CODES}|{_NAMES}))*"
_INLINE = rf"#\s*noqa(?::\s?(?P<listed>{_LISTED}))?"
_FILE = rf"#\s*(?:flake8|torchrepro-lint)[:=]\s*noqa(?P<listed>:\s?{_LISTED})?\s*$"
_NOQA = re.compile(rb"noqa", re.IGNORECASE)
#: What a file has in it with a directive that names a rule of ours.
NOQA_OF_OURS = re.compile(rb"noqa[^\r\n]*(?:TRL\d|[a-z]-[a-z])", re.IGNORECASE)

# A word that directives list: a code, or the name of a rule.
_WORD = re.compile(r"[^,\s]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A code or a name in a directive, as it is written, with its offsets in the text; `end` is exclusive."""

    text: str
    start: int
    end: int

    def covers(self, code: str, name: str) -> bool:
        """Whether the word means a rule: as its name, its code or the beginning of its code."""
        return self.text.lower() == name or code.startswith(self.text.upper())


@dataclass(frozen=True, slots=True)
class Directive:
    """One comment that silences. Without `words` it silences all; with `file`, in the whole file.

    `start` and `end` bound the directive from its `#` to its last word; the comment that it is in goes on to
    `comment_end`. They are offsets in the text.
    """

    row: int
    words: tuple[Word, ...]
    start: int
    end: int
    comment_end: int
    file: bool = False

    def covers(self, finding: Finding) -> bool:
        """Whether the directive names the rule of `finding`, wherever that is."""
        return not self.words or any(word.covers(finding.code, finding.name) for word in self.words)


@dataclass(frozen=True, slots=True)
class Directives:
    """What the comments of a file silence. `rows` are the directives for a line, by row; `logical` gives the first and
    the last row of the logical line that a row belongs to, where that has several.
    """

    file: tuple[Directive, ...] = ()
    rows: dict[int, Directive] = field(default_factory=dict)
    logical: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Directive]:
        yield from self.file
        yield from self.rows.values()

    def at(self, row: int) -> list[Directive]:
        """The directives on the rows of the logical line that a row belongs to."""
        first, last = self.logical.get(row, (row, row))
        return [self.rows[one] for one in range(first, last + 1) if one in self.rows]

    def silencing(self, finding: Finding) -> list[Directive]:
        """The directives that silence the finding: those for the file, and those on any row of its statement."""
        found = [directive for directive in self.file if directive.covers(finding)]
        if self.rows:
            row = finding.location.start.row
            spans = [finding.statement_rows or (row, row), self.logical.get(row, (row, row))]
            rows = sorted({one for first, last in spans for one in range(first, last + 1)})
            found += [self.rows[one] for one in rows if one in self.rows and self.rows[one].covers(finding)]
        return found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Few runs meet a comment that silences: only those wait for the patterns."""
    return re.compile(pattern, re.IGNORECASE)


def read_directives(text: str) -> Directives:
    """The directives in the comments of `text`. What is in strings is none.

    A text that does not tokenize to its end is read to where it breaks, and line by line from there.
    """
    if "noqa" not in text.lower():
        return Directives()
    table = LineTable(text)
    file: list[Directive] = []
    rows: dict[int, Directive] = {}
    logical: dict[int, tuple[int, int]] = {}
    for row, column, comment, alone in _comments(text, logical):
        at = table.starts[row - 1] + column
        whole = _compiled(_FILE).match(comment) if alone else None
        if whole is not None:
            file.append(_directive(row, at, comment, whole, file=True))
            continue
        found = _compiled(_INLINE).search(comment)
        if found is not None:
            rows[row] = _directive(row, at, comment, found)
    return Directives(tuple(file), rows, logical)


def may_silence(data: bytes) -> bool:
    """Whether there can be a directive in the bytes of a file: a quick look."""
    return _NOQA.search(data) is not None


def may_name_a_rule(data: bytes) -> bool:
    """Whether there can be a directive in the bytes of a file that names a rule of ours."""
    return NOQA_OF_OURS.search(data) is not None


def rows_with_an_end(text: str) -> list[int]:
    """The rows of `text` whose end is code, so that a comment can be there: no string goes on over it, and no
    backslash. Up to where the text does not tokenize.
    """
    rows = []
    with suppress(tokenize.TokenError, SyntaxError):
        for token in _tokens(text):
            if token.type in (tokenize.NEWLINE, tokenize.NL):
                rows.append(token.start[0])
    return rows


def _directive(row: int, at: int, comment: str, found: re.Match[str], file: bool = False) -> Directive:
    """The directive that `found` is in a comment that starts at the offset `at`."""
    words: tuple[Word, ...] = ()
    if found["listed"]:
        first = at + found.start("listed")
        listed = found["listed"]
        skip = len(listed) - len(listed.lstrip(": \t"))  # the form for files has the colon in its list
        words = tuple(Word(one[0], first + one.start(), first + one.end()) for one in _WORD.finditer(listed, skip))
    end = words[-1].end if words else at + found.end()
    return Directive(row, words, at + found.start(), end, at + len(comment), file)


def _comments(text: str, logical: dict[int, tuple[int, int]]) -> Iterator[tuple[int, int, str, bool]]:
    """Row, column from 0, text, and whether it has the line for itself, of every comment; the logical lines go into
    `logical`.
    """
    first = 0
    reached = 0
    try:
        for token in _tokens(text):
            reached = max(reached, token.end[0])
            if token.type == tokenize.COMMENT:
                yield *token.start, token.string, not token.line[: token.start[1]].strip()
            elif token.type == tokenize.NEWLINE:
                last = token.start[0]
                if first and first < last:
                    logical.update(dict.fromkeys(range(first, last + 1), (first, last)))
                first = 0
            elif not first and token.type not in _BETWEEN:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        for row, line in enumerate(split_lines(text)[reached:], reached + 1):
            at = line.find("#")
            if at != -1:
                yield row, at, line[at:].rstrip(), not line[:at].strip()


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    # The tokenizer is handed lines that end as it expects, so that its rows are ours.
    lines = "".join(line.rstrip("\r\n") + "\n" for line in split_lines(text))
    return tokenize.generate_tokens(io.StringIO(lines, newline="").readline)


_BETWEEN = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER)
