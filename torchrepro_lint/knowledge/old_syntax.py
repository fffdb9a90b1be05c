"""What in a line an older Python reads, and the Python of today refuses as a syntax error; what in it shows that a
text is no module of any Python; and notebooks that no Jupyter of today opens as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from torchrepro_lint.knowledge.tables import DataFileError, read_toml

__all__ = [
    "BEGINS_INDENTED",
    "BLOCK_LEFT_OUT",
    "BYTES_IN_COMMENTS",
    "ENDS_EARLY",
    "ENDS_WITH_NULL",
    "NOTEBOOK_FORMAT",
    "NOT_BY_LIBCST",
    "form_of_no_module",
    "is_left_to_do",
    "is_meant_for_no_module",
    "is_of_an_older_python",
    "is_to_be_filled_in",
    "older_form",
]

#: Why a part of a file cannot be read that was put into a file of its own.
BEGINS_INDENTED: Final = "it begins with an indented line, as a part of a file does"
#: Why a text cannot be read that ends below a line such as `for name in names:`.
ENDS_EARLY: Final = "it ends where a block begins, as a part of a file does"

#: Why a text cannot be read in which a comment stands where the block of a function or an `if` is to be written.
BLOCK_LEFT_OUT: Final = "a block is left out, as in code to be filled in"
#: How the reasons end, in `no_module.toml` too, why something cannot be read that its author is yet to write.
_TO_BE_FILLED_IN: Final = "as in code to be filled in"
_TO_DO: Final = re.compile(r"#.*\b(?:todo|fixme|hint|your (?:own )?code|fill (?:in|out)|implement)\b", re.IGNORECASE)

#: Why a text cannot be read that has null characters after its last line: until 3.11.3 Python left out what follows one
#: in its line (docs.python.org/3.12/whatsnew/3.12.html: "The parser now raises SyntaxError when parsing source code
#: containing null bytes").
ENDS_WITH_NULL: Final = "it ends with a null character, which Python before 3.11.4 ignores and later ones refuse"

#: How the reason begins why a notebook cannot be read whose format is not that of today; the number of it follows.
NOTEBOOK_FORMAT: Final = "notebook format"
#: Those of IPython, before Jupyter: nbformat.readthedocs.io/en/latest/changelog.html.
_OLD_NOTEBOOKS: Final = tuple(f"{NOTEBOOK_FORMAT} {number}:" for number in (1, 2, 3))

#: How the reason begins why a file cannot be analysed that Python reads: libcst takes some mixtures of tabs and spaces
#: for another indentation than Python does.
NOT_BY_LIBCST: Final = "Python reads it, but the parser libcst does not"

#: How the reason ends why a file cannot be read of which Python compiles the bytes when it is imported: those that are
#: no UTF-8 are in comments (CPython 3.6 to 3.13 refuse them only in a file that is run).
BYTES_IN_COMMENTS: Final = "in a comment, where Python refuses it only if the file is run"

#: Python's TabError, with which Python 3 refuses what Python 2 reads: docs.python.org/3.0/whatsnew/3.0.html.
_TABS: Final = "inconsistent use of tabs and spaces in indentation"

_TEXT: Final = re.compile("\"[^\"]*\"|'[^']*'")
_PYTHON_2: Final = "2.7"


@cache
def _forms() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """The rows of `old_syntax.toml`, which explains the fields. DataFileError where it is not what it should be."""
    rows = read_toml("old_syntax.toml")["form"]
    if any(set(row) != {"pattern", "cause", "source", "until"} for row in rows):
        raise DataFileError(
            "old_syntax.toml: a form has a pattern, a cause, a source and the last Python that reads it"
        )
    return tuple((re.compile(row["pattern"]), row["cause"], row["until"]) for row in rows)


@cache
def _no_modules() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The rows of `no_module.toml`, which explains the fields. DataFileError where it is not what it should be."""
    rows = read_toml("no_module.toml")["form"]
    if any(set(row) != {"pattern", "cause", "source"} for row in rows):
        raise DataFileError("no_module.toml: a form has a pattern, a cause and a source")
    return tuple((re.compile(row["pattern"]), row["cause"]) for row in rows)


def _code_of(line: str) -> str:
    return _TEXT.sub('""', line).partition("#")[0]


def older_form(line: str) -> str | None:
    """The form of an older Python in a line with a syntax error, in words; None where there is none."""
    code = _code_of(line)
    return next((cause for pattern, cause, _ in _forms() if pattern.search(code)), None)


def form_of_no_module(line: str) -> str | None:
    """What in a line with a syntax error shows that the text is no module, in words; None where nothing does."""
    code = _code_of(line)
    return next((cause for pattern, cause in _no_modules() if pattern.search(code)), None)


def is_left_to_do(lines: Iterable[str]) -> bool:
    """Whether lines where a block is to be are comments, one of which says that something is to be done there."""
    filled = [line.strip() for line in lines if line.strip()]
    return all(line.startswith("#") for line in filled) and any(map(_TO_DO.search, filled))


def is_to_be_filled_in(reason: str) -> bool:
    """Whether the reason why a file cannot be read says that something is left out that is to be filled in."""
    return reason.endswith(_TO_BE_FILLED_IN)


def is_of_an_older_python(reason: str) -> bool:
    """Whether the reason why a file cannot be read is one that `older_form` gives, or a null character at its end."""
    return reason == ENDS_WITH_NULL or any(reason == cause for _, cause, _ in _forms())


def is_meant_for_no_module(reason: str) -> bool:
    """Whether the reason why a file cannot be read says that today's programs cannot contain it as it is: it is written
    for Python 2, or is a template or a part of something, or a notebook from before Jupyter; or that Python takes it.
    """
    if reason.startswith((*_OLD_NOTEBOOKS, NOT_BY_LIBCST)) or reason.endswith(_TABS):
        return True
    of_python_2 = any(reason == cause for _, cause, until in _forms() if until == _PYTHON_2)
    return (
        of_python_2
        or reason in (BEGINS_INDENTED, BLOCK_LEFT_OUT, ENDS_EARLY)
        or any(reason == cause for _, cause in _no_modules())
    )
