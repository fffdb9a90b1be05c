"""The oldest torch that can run a file, as far as its text shows: by the names of torch and the syntax that it uses.

A use that is guarded counts for nothing: in a `try`, in an `if` that asks for a version or whether there is such a
name, or anywhere in a file that compares versions of torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from torchrepro_lint.knowledge.torch_floors import api_keywords, api_names, companions, python_syntax
from torchrepro_lint.knowledge.versions import release
from torchrepro_lint.source.cells import is_notebook
from torchrepro_lint.source.import_statements import import_statements
from torchrepro_lint.source.stamps import stamp
from torchrepro_lint.source.text import SourceError, decode, read_bytes

__all__ = ["CodeFloor", "code_floor"]

#: Text that is no code: strings, also over several lines, and comments.
_NO_CODE = re.compile(
    r"(?:[rbuf]{0,2})(?:\"\"\".*?\"\"\"|\'\'\'.*?\'\'\'|\"(?:[^\"\\\n]|\\.)*\"|\'(?:[^\'\\\n]|\\.)*\')|#[^\n]*",
    re.DOTALL | re.IGNORECASE,
)
_COMPARES_VERSIONS = re.compile(
    r"__version__|TORCH_(?:VERSION|MAJOR|MINOR|GE|LT)|hasattr\(\s*(?:torch|th|nn|F)\b|LooseVersion|parse_version|"
    r"version\.parse|digit_version|is_torch_(?:version|greater|less)"
)
_GUARD = re.compile(r"try\s*:|(?:el)?if\b.*(?:hasattr|version|TORCH_|_available)", re.IGNORECASE)
_CHAIN = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*")
#: How many uses of one file are looked at, those of the highest floors first.
_MAX_USES = 100
_SYNTAX = {
    "match": re.compile(r"^([ \t]*)match[ \t(][^\n]*:[ \t]*\n(?:[ \t]*\n)*\1[ \t]+case[ \t(\[{][^\n]*:", re.MULTILINE),
    "except*": re.compile(r"^[ \t]*except[ \t]*\*", re.MULTILINE),
    "type": re.compile(r"^[ \t]*type[ \t]+\w+[ \t]*(?:\[[^\]\n]*\])?[ \t]*=[^=]", re.MULTILINE),
    "type-parameters": re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+[ \t]*\[", re.MULTILINE),
}


@dataclass(frozen=True, slots=True)
class CodeFloor:
    """The version of torch, what needs it, as a person would say it, and the line on which that is."""

    torch: str
    what: str
    row: int


def code_floor(path: Path) -> CodeFloor | None:
    """The highest floor in a file; None where it shows none or cannot be read."""
    return _code_floor(path, *stamp(path))


@lru_cache(maxsize=10_000)
def _code_floor(path: Path, changed: int, size: int) -> CodeFloor | None:
    try:
        data = read_bytes(path)
    except SourceError:
        return None
    if not _words().search(data):
        return None
    text = _NO_CODE.sub(_blank, _text(path, data))
    found = list(_by_syntax(text))
    if not _COMPARES_VERSIONS.search(text):
        found += _by_names(text)
    return max(found, key=lambda one: (release(one.torch), -one.row), default=None)


def _text(path: Path, data: bytes) -> str:
    if not is_notebook(path):
        return data.decode("utf-8", "replace")
    try:
        return decode(path, data).text
    except SourceError:
        return ""


@cache
def _words() -> re.Pattern[bytes]:
    """A quick look at the bytes: the last parts of the names, the arguments, and what begins a construct."""
    names = {name.rpartition(".")[2] for name in api_names()} | {argument for _, argument in api_keywords()}
    words = "|".join(sorted(names))
    return re.compile(
        rf"\b(?:{words})\b|"
        r"^[ \t]*(?:case[ \t(\[{]|except[ \t]*\*|type[ \t]+\w+[ \t]*[=\[]|(?:def|class)[ \t]+\w+[ \t]*\[)".encode(),
        re.MULTILINE,
    )


def _blank(match: re.Match[str]) -> str:
    """A string, so that the brackets around it stay in order, and as many lines."""
    return ("" if match[0].startswith("#") else "''") + "\n" * match[0].count("\n")


def _by_syntax(text: str) -> Iterator[CodeFloor]:
    for construct, version in python_syntax().items():
        match = _SYNTAX[construct].search(text)
        torch = companions()["python"].torch_of(f">={version}")
        if match is not None and torch is not None:
            row = text.count("\n", 0, match.start()) + 1
            yield CodeFloor(torch.removeprefix(">="), f"`{construct.replace('-', ' ')}` (Python {version})", row)


def _by_names(text: str) -> Iterator[CodeFloor]:
    """The highest floor of the names that are used without a guard."""
    names, keywords = api_names(), api_keywords()
    known, imported = _bound_names(text)
    found: list[tuple[str, str, int]] = []
    uses = [(match.start(), match.end(), "".join(match[0].split())) for match in _CHAIN.finditer(text)]
    for start, end, name in [*imported, *((start, end, _resolved(chain, known)) for start, end, chain in uses)]:
        if name is None or not name.startswith("torch."):
            continue
        parts = name.split(".")
        prefixes = (".".join(parts[:length]) for length in range(2, len(parts) + 1))
        found += [(names[prefix], f"`{prefix}`", start) for prefix in prefixes if prefix in names]
        for (function, argument), torch in keywords.items():
            if name == function and _passes(text, end, argument):
                found.append((torch, f"`{function}({argument}=..)`", start))
    found.sort(key=lambda one: (tuple(-number for number in release(one[0])), one[2]))
    lines = text.splitlines()
    for torch, what, start in found[:_MAX_USES]:
        row = text.count("\n", 0, start)
        if not _is_guarded(lines[: row + 1]):
            yield CodeFloor(torch, what, row + 1)
            return


def _bound_names(text: str) -> tuple[dict[str, str], list[tuple[int, int, str | None]]]:
    """What names of the file stand for, and the members of torch that are imported, with their place."""
    known: dict[str, str] = {}
    members: list[tuple[int, int, str | None]] = []
    for statement in import_statements(text):
        if statement["dots"]:
            continue
        start = statement.start()
        if statement["base"]:
            for name in re.sub(r"[()\\]", " ", statement["names"] or "").split(","):
                words = name.split()
                if words:
                    known[words[-1]] = f"{statement['base']}.{words[0]}"
                    members.append((start, start, known[words[-1]]))
            continue
        for name in (statement["plain"] or "").split(","):
            words = name.split()
            if len(words) == 3:
                known[words[2]] = words[0]
            elif words:
                known[words[0].partition(".")[0]] = words[0].partition(".")[0]
            if words:
                members.append((start, start, words[0]))
    return known, members


def _resolved(chain: str, known: dict[str, str]) -> str | None:
    first, dot, rest = chain.partition(".")
    return known[first] + dot + rest if first in known else None


def _passes(text: str, end: int, argument: str) -> bool:
    """Whether the call that begins at `end` passes an argument by that name."""
    if text[end : end + 1] != "(":
        return False
    depth = 0
    for at in range(end, len(text)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return re.search(rf"\b{argument}\s*=(?!=)", text[end:at]) is not None
    return False


def _is_guarded(lines: list[str]) -> bool:
    """Whether the last of the lines is in a `try`, or in a branch that asks for a version: told by the lines that it is
    indented under.
    """
    below = _indentation(lines[-1]) + 1
    for line in reversed(lines):
        statement = line.strip()
        own = _indentation(line)
        if not statement or own >= below:
            continue
        if _GUARD.match(statement):
            return True
        # The arms of one statement are at one level.
        below = own + 1 if re.match(r"(?:else|elif|except|finally)\b", statement) else own
        if below == 0:
            return False
    return False


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
