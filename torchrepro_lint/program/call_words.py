"""A look at a text for calls of a name, or for subclasses of a class, before anything is parsed."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from torchrepro_lint.program.word_index import any_word

__all__ = ["may_call", "subclass_of"]

_FOLLOWED = re.compile(rb"[\s\\)]*[(#]|[\s\\]+as\b")
_PRECEDED = re.compile(rb"[=(,][\s\\(]*(?:[^\s=(,]+[.])?[\s\\]*\Z")
_LETTERS = frozenset(bytes((code,)) for code in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LOOK_BACK = 300


def may_call(data: bytes, name: bytes) -> bool:
    """Whether a text calls the name, or gives it another name: all that an index of calls may hold."""
    at = data.find(name)
    while at != -1:
        end = at + len(name)
        if data[at - 1 : at] not in _LETTERS and data[end : end + 1] not in _LETTERS:
            before = data[max(at - _LOOK_BACK, 0) : at]
            if _FOLLOWED.match(data, end) and not before.endswith((b"def ", b"class ")):
                return True
            if _PRECEDED.search(before):
                return True
        at = data.find(name, end)
    return False


# What may stand in the list of bases before one of them: not the colon that ends it.
_BASES: Final = rb"(?:[^:#]|#[^\n]*\n|:(?!\s*[\n\r]))*?"


@cache
def subclass_of(name: str) -> re.Pattern[bytes]:
    """Finds the definitions of classes that may have a base of that name, before anything is parsed."""
    return re.compile(rb"\bclass\s[^#:(]*(?:\[[^#]*?\]\s*)?\(" + _BASES + any_word([name]).pattern)
