"""A look at a text for calls of a name, decorators, subclasses of a class, or attributes that are set, before anything
is parsed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from torchrepro_lint.program.word_index import any_word

__all__ = [
    "attribute_called",
    "bases_in",
    "decorated_with",
    "decorators_in",
    "function_called",
    "may_call",
    "set_attribute",
    "set_attributes_in",
    "subclass_of",
    "type_parameter",
]

_FOLLOWED = re.compile(rb"[\s\\)]*[(#]|[\s\\]+as\b")
_PRECEDED = re.compile(rb"(?:[=(,]|\belse\b)[\s\\(]*(?:[^\s=(,]+[.])?[\s\\]*\Z")
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


# What stands after an `@` in the first column: of the statements of a module itself. With the `@` in front it is found
# ten times sooner.
_DECORATOR: Final = re.compile(rb"@(?:(?<=\A@)|(?<=[\n\r\f]@)|(?<=\xbb\xbf@))[^\n\r]*")

# What may be in the list of bases before one of them: not the colon that ends it.
_COMMENT: Final = rb"#[^\n]*\n"
_BASES: Final = rb"(?:[^:#]|%s|:(?!\s*[\n\r]))" % _COMMENT
# The head of a class up to that list: it can be read in one way only, so that one look finds all that is in it.
_CLASS: Final = rb"class[\s\\]+[^\s#:(\[\\]+[\s\\]*(?:\[(?:(?!\][\s\\]*\()[^#])*\][\s\\]*)?\("
_CLASS_AND_BASES: Final = re.compile(rb"%s(%s*)" % (_CLASS, _BASES))
_CLASS_WORD: Final = re.compile(rb"\bclass[\s\\]")


@cache
def decorated_with(name: str) -> re.Pattern[bytes]:
    """Finds the name after an `@` at the start of a line, where it may be a decorator of what the module defines."""
    return re.compile(_DECORATOR.pattern + any_word([name]).pattern)


def decorators_in(data: bytes) -> bytes:
    """What a text has after an `@` at the start of a line: all in which `decorated_with` finds a name."""
    return b" ".join(_DECORATOR.findall(data))


@cache
def function_called(name: str) -> re.Pattern[bytes]:
    """Finds the definitions of functions of that name, before anything is parsed."""
    return re.compile(rb"\bdef[ \t]+" + re.escape(name.encode()) + rb"\b")


@cache
def subclass_of(name: str) -> re.Pattern[bytes]:
    """Finds the definitions of classes that may have a base of that name, before anything is parsed."""
    return re.compile(rb"\b%s%s*?%s" % (_CLASS, _BASES, any_word([name]).pattern))


def bases_in(data: bytes) -> bytes:
    """What a text has in the lists of bases of its classes, but for comments: where `subclass_of` finds a name."""
    # One class may seem to be in the list of another, where a text has the word: each is looked at.
    found = (_CLASS_AND_BASES.match(data, word.start()) for word in _CLASS_WORD.finditer(data))
    return re.sub(_COMMENT, b" ", b" ".join(match[1] for match in found if match is not None))


# `name.attribute =`, with an annotation or without, and `setattr(name, "attribute", ...)`, but for those of `self`.
_SET: Final = re.compile(
    rb"(?<![\w.])(?!(?:self|cls)\b)[^\W\d]\w*[ \t]*\.[ \t]*(\w+)[ \t]*(?::[^\n=]*)?=(?!=)"
    rb"|\bsetattr\(\s*[^\W\d]\w*\s*,\s*[\"'](\w+)[\"']"
)


@cache
def set_attribute(name: str) -> re.Pattern[bytes]:
    """Finds where an attribute of that name may be set on what a plain name stands for."""
    return re.compile(rb"(?:\.[ \t]*%s[ \t]*(?::[^\n=]*)?=(?!=)|[\"']%s[\"'])" % (name.encode(), name.encode()))


@cache
def attribute_called(name: str) -> re.Pattern[bytes]:
    """Finds attributes of that name, of whatever object."""
    return re.compile(rb"\.[ \t]*%s\b" % name.encode())


@cache
def type_parameter(name: str) -> re.Pattern[bytes]:
    """Finds where a name may be a type parameter: `def first[T](items: list[T])`."""
    return re.compile(rb"\b(?:def|class|type)\s+\w+\s*\[[^(\n]*\b%s\b" % name.encode())


def set_attributes_in(data: bytes) -> bytes:
    """The names of the attributes that a text sets on what a plain name stands for: some of `set_attribute`'s."""
    return b" ".join(one or other for one, other in _SET.findall(data))
