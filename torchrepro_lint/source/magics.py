"""What IPython adds to Python, made readable for a parser: `%magic`, `!command`, `object?`, `%%magic` over a cell.

Each is replaced by Python of the same length, line by line, so that every offset and every row stays what it is. Code
that a magic runs (`%time fit(model)`) stays; shell commands and other languages become comments. The replaced text is
only ever parsed; what is shown and written is the text of the cell.
"""

from __future__ import annotations

import ast
import re
from itertools import groupby

from torchrepro_lint.knowledge.magics import magics
from torchrepro_lint.quiet import without_warnings

__all__ = ["as_python", "commented", "escapes", "parses"]

# What starts no statement of Python: IPython's own escapes (IPython.core.inputtransformer2).
_ESCAPES = frozenset("%!?/,;")
_INDENTATION = re.compile(r"[ \t]*")
_CELL_MAGIC = re.compile(r"\s*^%%(?P<name>\w*)[^\r\n]*", re.MULTILINE)
# Two words in a row are no Python, but for its own operators; `pip = 1` and `ls -la` are.
_AUTOMATIC = re.compile(r"[ \t]*(?P<name>[a-z_]+)[ \t]+(?!(?:and|as|else|for|if|in|is|not|or)\b)[\w./~*\"'$]")
_LINE_MAGIC = re.compile(r"%(?P<name>\w+)[ \t]+")
_NAME = re.compile(r"%?(?P<name>\w+)")
_NUMPY = "import numpy"
# Options take a number or a name after a blank: `-n 10`, `-s cumulative`, `-f function`.
_OPTIONS = re.compile(r"(?:-[nrp][ \t]*\d+[ \t]+|-[slTDfm][ \t]*\S+[ \t]+|-[a-zA-Z]+[ \t]+)*")
# A line, and those that a backslash at its end adds to it.
_REST = re.compile(r"(?:[^\\\r\n]|\\(?:\r\n|.)?)*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<text>'''(?:[^\\]|\\.)*?'''|\"""(?:[^\\]|\\.)*?\"""|'(?:[^\\\r\n']|\\.)*'|"(?:[^\\\r\n"]|\\.)*")"""
    r"""|(?P<comment>\#[^\r\n]*)|(?P<open>[\[({])|(?P<close>[\])}])|(?P<joined>\\(?:\r\n|\r|\n))|(?P<end>\r\n|\r|\n)"""
    r"""|(?P<assigned>=[ \t]*(?=[%!](?!=)))|(?P<help>\?)""",
    re.DOTALL | re.VERBOSE,
)
_CHARACTER = re.compile(r"[^\r\n]")
_MARK = "#%%"


def as_python(cell: str) -> str:
    """The text of one cell as Python of the same length and lines; what is Python stays as it is."""
    parts: list[str] = []
    done = 0
    magic = _CELL_MAGIC.match(cell)
    if magic is not None:
        # A comment that opens a cell is what nothing is ever put above.
        start, done = magic.start() + len(magic[0]) - len(magic[0].lstrip()), magic.end()
        length = done - start
        parts += [cell[:start], (_MARK + "#" * length)[:length]]
        if magic["name"] not in magics().cell:
            return "".join(parts) + commented(cell[done:])
    for start, end, python in _replacements(cell, done):
        parts += [cell[done:start], python]
        done = end
    return "".join(parts) + cell[done:]


def escapes(cell: str) -> list[str]:
    """The pieces of a cell that are not Python, in order: what no edit may change."""
    python = as_python(cell)
    if python == cell:
        return []
    pairs = zip(cell, python, strict=True)
    runs = groupby(pairs, key=lambda pair: pair[0] != pair[1])
    return ["".join(character for character, _ in run) for replaced, run in runs if replaced]


def _replacements(cell: str, at: int) -> list[tuple[int, int, str]]:
    """Start, end and replacement of the escapes in the text of a cell from `at` on, statement by statement."""
    found: list[tuple[int, int, str]] = []
    while at < len(cell):
        start = _indentation_end(cell, at)
        if cell[start : start + 1] in _ESCAPES or _is_automatic(cell, at):
            end = _rest(cell, start)
            found.append((start, end, _statement(cell[start:end])))
            at = end + 1
        else:
            at = _scan(cell, at, found)
    return found


def _is_automatic(cell: str, at: int) -> bool:
    """Whether the statement at `at` is a magic that is written without its percent sign."""
    match = _AUTOMATIC.match(cell, at)
    if match is None or match["name"] not in magics().automatic:
        return False
    return not parses(cell[match.start("name") : _rest(cell, at)])


def _scan(cell: str, start: int, found: list[tuple[int, int, str]]) -> int:
    """Goes over the statement at `start`, notes an escape in it, and gives where the next one begins."""
    depth = 0
    position = start
    asks = False
    while (token := _TOKEN.search(cell, position)) is not None:
        kind = token.lastgroup
        between = cell[position : token.start()]
        asks = asks and not between.strip() and kind in ("comment", "end", "help")
        position = token.end()
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif kind == "help":
            asks = True
        elif kind == "assigned" and depth == 0:
            end = _rest(cell, position)
            found.append((position, end, _value(cell[position:end])))
            return end + 1
        elif kind == "end" and depth == 0:
            if asks:
                found.append(_question(cell, start, token.start()))
            return position
    if asks and not cell[position:].strip():
        found.append(_question(cell, start, len(cell)))
    return len(cell)


def _question(cell: str, start: int, end: int) -> tuple[int, int, str]:
    start += len(cell[start:end]) - len(cell[start:end].lstrip())
    return start, end, _silent("0", cell[start:end])


def _statement(text: str) -> str:
    magic = _LINE_MAGIC.match(text)
    if magic is not None and magic["name"] in magics().line and "\n" not in text:
        code = _OPTIONS.match(text, magic.end())
        assert code is not None  # it matches nothing at least
        python = "0;".ljust(code.end()) + text[code.end() :]
        if text[code.end() :].strip() and parses(python):
            return python
    name = _NAME.match(text)
    is_one_line = "\n" not in text and "\r" not in text
    if name is not None and name["name"] in magics().numpy and is_one_line and len(text) >= len(_NUMPY):
        return _NUMPY + commented(text[len(_NUMPY) :])
    return _silent("0", text)


def _value(text: str) -> str:
    magic = _LINE_MAGIC.match(text)
    if magic is not None and magic["name"] in magics().value and "\n" not in text:
        python = " " * magic.end() + text[magic.end() :]
        if parses(python.strip()):
            return python
    # A name that nothing binds: the value is unknown.
    return _silent("_", text)


def _silent(head: str, text: str) -> str:
    return head + commented(text[1:])


def commented(text: str) -> str:
    """A comment of the same length and lines."""
    return _CHARACTER.sub("#", text)


def _indentation_end(cell: str, at: int) -> int:
    match = _INDENTATION.match(cell, at)
    assert match is not None
    return match.end()


def _rest(cell: str, start: int) -> int:
    match = _REST.match(cell, start)
    assert match is not None
    return match.end()


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        with without_warnings():
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
