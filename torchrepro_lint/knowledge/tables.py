"""Reading of the data files: tab-separated tables, name lists in braces, and look-up by name or by pattern."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["DataFileError", "NameIndex", "expand_names", "read_rows", "read_table", "read_toml", "read_words"]

HERE = Path(__file__).parent

T = TypeVar("T")


class DataFileError(ValueError):
    """A data file of the package does not have its form. Only a fault of the package itself can raise it."""


def read_table(name: str, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """Rows of the tab-separated file `name`, whose header must be `columns`.

    Empty lines and lines that begin with `#` say something to the reader of the file only. Cells at the end
    of a row may be left out: they are empty.
    """
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    rows = ((number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#"))
    _, header = next(rows, (0, ""))
    if header.split("\t") != list(columns):
        raise DataFileError(f"{name}: the header is {header.split(chr(9))}, not {list(columns)}")
    for number, line in rows:
        cells = line.split("\t")
        if len(cells) > len(columns):
            raise DataFileError(f"{name}:{number}: {len(cells)} cells, at most {len(columns)}")
        cells += [""] * (len(columns) - len(cells))
        yield dict(zip(columns, (cell.strip() for cell in cells), strict=True))


@cache
def read_toml(name: str) -> Mapping[str, Any]:
    """The TOML file `name`; read once, however many of its tables are asked for one by one."""
    with (HERE / name).open("rb") as file:
        return tomllib.load(file)


def read_rows(name: str, table: str) -> Sequence[Mapping[str, Any]]:
    """The rows of an array of tables of the TOML file `name`; each row says its source."""
    rows: list[Mapping[str, Any]] = read_toml(name)[table]
    if not all(row.get("source") for row in rows):
        raise DataFileError(f"{name}: a row of {table} without a source")
    return rows


def read_words(name: str, table: str, key: str = "words") -> list[str]:
    """The words that a table of the TOML file `name` lists under `key`; each table says its source."""
    row = read_toml(name).get(table, {})
    if not row.get("source"):
        raise DataFileError(f"{name}: no table {table}, or one without a source")
    words: list[str] = row[key]
    return words


_TOKEN = re.compile(r"[{},]|[^{},]+")


def expand_names(text: str) -> list[str]:
    """The names that `text` lists: separated by commas, with shell-like braces for what they share.

    >>> expand_names("random.{choice,shuffle}, torch.rand")
    ['random.choice', 'random.shuffle', 'torch.rand']
    """
    tokens = _TOKEN.findall(text.replace(" ", ""))
    names, at = _alternatives(tokens, 0)
    if at != len(tokens):
        raise DataFileError(f"a brace too many in {text!r}")
    return names


def _alternatives(tokens: list[str], at: int) -> tuple[list[str], int]:
    """Names of the comma list that begins at token `at`, and the token after it: a closing brace, or the end."""
    names: list[str] = []
    stems = [""]
    while at < len(tokens) and tokens[at] != "}":
        token = tokens[at]
        at += 1
        if token == ",":
            names += stems
            stems = [""]
        elif token == "{":
            inner, at = _alternatives(tokens, at)
            if at == len(tokens):
                raise DataFileError("a brace is not closed")
            at += 1
            stems = [stem + part for stem in stems for part in inner]
        else:
            stems = [stem + token for stem in stems]
    return names + stems, at


class NameIndex(Generic[T]):
    """Values under qualified names. A name may be a pattern: `*` stands for one part of the name, `**` for any.

    A name that is there itself is not looked for among the patterns: what is said of it overrides what they say.
    The order in which values were added is kept.
    """

    def __init__(self) -> None:
        self._exact: dict[str, list[T]] = {}
        self._patterns: dict[str, list[tuple[str, re.Pattern[str], T]]] = {}

    def add(self, name: str, value: T) -> None:
        """Put `value` under `name`. The first part of a pattern must be literal."""
        if "*" not in name:
            self._exact.setdefault(name, []).append(value)
            return
        root = name.partition(".")[0]
        if "*" in root:
            raise DataFileError(f"{name}: the first part of a pattern must be literal")
        expression = re.escape(name).replace(r"\*\*", r".+").replace(r"\*", r"[^.]+")
        self._patterns.setdefault(root, []).append((name, re.compile(expression), value))

    def get(self, name: str) -> tuple[T, ...]:
        """All values for `name`; empty where it is not known."""
        exact = self._exact.get(name)
        if exact is not None:
            return tuple(exact)
        patterns = self._patterns.get(name.partition(".")[0], ())
        return tuple(value for _, pattern, value in patterns if pattern.fullmatch(name))

    def names(self) -> Iterator[str]:
        """The names under which there are values, patterns as they were written."""
        yield from self._exact
        for patterns in self._patterns.values():
            yield from (name for name, _, _ in patterns)
