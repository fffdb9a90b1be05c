"""Whether a text is nested so deeply, or is so large, that no parser should be given it.

libcst's parser recurses on the machine's own stack and takes time that grows with the square of the nesting: some
thousand open brackets end the whole process, ten thousand terms take minutes. Such texts are recognised here by
counting characters, before anything parses them. Python itself refuses 200 open brackets.

Its tree takes some five kilobytes for each word of code, and where there is no memory for that it ends the process too.
"""

from __future__ import annotations

import re

__all__ = ["is_too_deep", "too_large", "too_large_for_python"]

MAX_BRACKETS = 200
MAX_PATTERN_BRACKETS = 16  # the time for a pattern doubles with each: twenty-five take a minute
MAX_OPERATORS = 4_000
MAX_ELIFS = 3_000
MAX_WORDS = 300_000  # a gigabyte and a half, and half a minute
MAX_WORDS_OF_FACTS = 400_000  # Python's own tree takes a kilobyte for each: half a gigabyte, and some seconds

_TEXT = r"""(?P<text>'''(?:[^\\]|\\.)*?'''|\"""(?:[^\\]|\\.)*?\"""|'(?:[^\\\n']|\\.)*'|"(?:[^\\\n"]|\\.)*")|#[^\n\r]*"""

_TOKEN = re.compile(
    _TEXT + r"""|(?P<open>[\[({])|(?P<close>[\])}])|(?P<stop>,|\\\r?\n|\n|\r|;)"""
    r"""|(?P<operator>[-+*/%@|&^~.<>=]|\b(?:and|or|not|if|else|lambda|await|in|is|yield)\b)""",
    re.DOTALL,
)
_WORD = re.compile(rf"{_TEXT}|(?P<word>\w+)", re.DOTALL)
_CASE = re.compile(r"case\b(?=[ \t]*[^ \t=.,)])")
_LINE = re.compile(
    _TEXT + r"|(?P<open>[\[({])|(?P<close>[\])}])|(?P<line>\\\r?\n|\n|\r)",
    re.DOTALL,
)
_SIGNS = b"-+*/%@|&^~.<>=[("
_NO_BRACKETS = bytes(set(range(256)).difference(b"()[]{}"))
_PAIRS = (b"()", b"[]", b"{}")
_ROUNDS = 8
_WORDS = (b"and", b"or", b"not", b"if", b"lambda", b"await", b"yield")


def is_too_deep(text: str) -> bool:
    """Whether brackets, operators or `elif`s are nested more deeply than any program that a person writes."""
    if text.count("elif") > MAX_ELIFS:
        return True
    if any(_begins_line(text, case.start()) and _patterns_nest(text, case.end()) for case in _CASE.finditer(text)):
        return True
    brackets = text.count("(") + text.count("[") + text.count("{")
    if brackets <= MAX_BRACKETS and len(text) < MAX_OPERATORS:
        return False
    data = text.encode("utf-8", "surrogatepass")
    return (_may_have_operators(data) or _may_nest(data)) and _nests(text)


def _begins_line(text: str, start: int) -> bool:
    """Whether an indented line begins at `start`."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return before != "" and not before.strip(" \t")


def _may_have_operators(data: bytes) -> bool:
    """A quick look that takes operators in texts, comments and names for operators."""
    return len(data) - len(data.translate(None, _SIGNS)) + sum(map(data.count, _WORDS)) > MAX_OPERATORS


def too_large(text: str) -> str | None:
    """Why libcst should not be given a text that nests as it may, in a few words; None where it may be."""
    return _too_large(text, MAX_WORDS)


def too_large_for_python(text: str) -> str | None:
    """Why no parser at all should be given a text, in a few words; None where Python's own may be."""
    return _too_large(text, MAX_WORDS_OF_FACTS)


def _too_large(text: str, most: int) -> str | None:
    if len(text) < 2 * most or sum(match.lastgroup == "word" for match in _WORD.finditer(text)) <= most:
        return None
    return f"too large: more than {most:,} words of code; `extend-exclude` in the settings leaves it out"


def _patterns_nest(text: str, start: int) -> bool:
    depth = 0
    for match in re.compile(r"[\[({]|[\])}]|:[ \t]*(?:#|$)", re.MULTILINE).finditer(text, start):
        if match[0] in "[({":
            depth += 1
        elif match[0] in "])}":
            depth -= 1
        if depth > MAX_PATTERN_BRACKETS:
            return True
        if depth <= 0 and match[0][0] == ":":
            break
    return False


def _may_nest(data: bytes) -> bool:
    """A quick look that takes brackets in texts and comments for brackets, and lets none be closed by one of another
    kind.
    """
    brackets = data.translate(None, _NO_BRACKETS)
    for _ in range(_ROUNDS):
        for pair in _PAIRS:
            brackets = brackets.replace(pair, b"")
    # Each of these steps takes one bracket at most away from a nest.
    return sum(map(brackets.count, (b"(", b"[", b"{"))) > MAX_BRACKETS - _ROUNDS * len(_PAIRS)


def _nests(text: str) -> bool:
    """Whether some logical line of a text nests too deeply: only those are looked at closely that are long enough."""
    depth = start = 0
    for match in _LINE.finditer(text):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
            if depth > MAX_BRACKETS:
                return True
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif kind == "line" and not depth and not match["line"].startswith("\\"):
            if match.start() - start > MAX_OPERATORS and _line_nests(text[start : match.start()]):
                return True
            start = match.end()
    return len(text) - start > MAX_OPERATORS and _line_nests(text[start:])


def _line_nests(text: str) -> bool:
    counts = [0]  # operators since the last comma, for each open bracket
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "open":
            # A call or a subscript of what is before it goes on the same chain.
            counts[-1] += 1
            counts.append(0)
            if len(counts) > MAX_BRACKETS + 1:
                return True
        elif kind == "close":
            if len(counts) > 1:
                counts.pop()
        elif kind == "stop":
            if match["stop"] == "," or (len(counts) == 1 and not match["stop"].startswith("\\")):
                counts[-1] = 0
        elif kind == "operator":
            counts[-1] += 1
        if counts[-1] > MAX_OPERATORS:
            return True
    return False
