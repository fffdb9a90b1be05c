"""Conditions on the arguments of a call, as the data files write them and as the rest reads them.

One condition is `<parameter> <test>`, and several that must hold together are joined by `; `:

    random_state@7 missing-or-none      not given, or given as None; the parameter is the eighth positional one
    mode = 'bicubic' | 'linear'         given, and one of these
    mode =? 'nearest'                   one of these, or not given (the default is one of them)
    antialias is-false-or-missing
    num_classes given-something         given, and not known to be 0, None, or -1, by which libraries mean all there are
    input ndim>= 3; pad len= 4          what is known about the tensor; the length of a tuple

The equality tests are `=`, `=?`, `!=`, `!=?`: with `?`, an argument that is not given satisfies the test too.
Values are strings in single quotes, integers, True, False, None and tuples of integers.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import Final, Literal, Union, get_args

__all__ = [
    "PHRASES",
    "UNKNOWN",
    "Condition",
    "Parameter",
    "Test",
    "Value",
    "parse_condition",
    "parse_conditions",
    "render_conditions",
]

Value = Union[str, int, bool, None, "tuple[int, ...]"]

WordTest = Literal[
    "missing",
    "given",
    "given-something",
    "missing-or-none",
    "not-none",
    "is-true",
    "is-false",
    "is-true-or-missing",
    "is-false-or-missing",
    "is-tensor",
    # What an argument list alone does not tell.
    "is-float",
    "is-sparse",
    "is-quantized",
    "is-class-index",
    "is-overlapping",
]
ValueTest = Literal["equals", "equals-or-missing", "differs", "differs-or-missing"]
NumberTest = Literal["ndim-at-least", "ndim-is", "length-is"]
Test = WordTest | ValueTest | NumberTest

_OPERATORS: Final[dict[str, ValueTest]] = {
    "=": "equals",
    "=?": "equals-or-missing",
    "!=": "differs",
    "!=?": "differs-or-missing",
}
_NUMBER_OPERATORS: Final[dict[str, NumberTest]] = {"ndim>=": "ndim-at-least", "ndim=": "ndim-is", "len=": "length-is"}
_SIGNS: Final[dict[str, str]] = {test: sign for sign, test in (*_OPERATORS.items(), *_NUMBER_OPERATORS.items())}
_WORDS: Final = frozenset(get_args(WordTest))

#: Tests that an argument list decides, where its values are constants.
_BY_ARGUMENT: Final = frozenset(get_args(WordTest)[:10]) | frozenset(get_args(ValueTest)) | {"length-is"}

#: Subjects that are not parameters: `context` is how the call runs (`eager`, `compiled`, `scripted`; `off`, `warn`,
#: `raise` for the global flag; `workspace-unset`, `cudnn-deterministic`), `backend` the kernel that torch chooses. With
#: a position, they are parameters that are called so.
_CIRCUMSTANCES: Final = frozenset({"context", "backend"})

#: The circumstances as a person reads them, where the name and the value do not say it.
_IN_WORDS: Final[dict[str, dict[str, str]]] = {
    "context": {
        "eager": "in eager mode",
        "compiled": "compiled",
        "scripted": "scripted",
        "off": "without deterministic algorithms",
        "warn": "under warn_only",
        "raise": "under deterministic algorithms",
        "workspace-unset": "without CUBLAS_WORKSPACE_CONFIG",
        "cudnn-deterministic": "under cudnn.deterministic",
    },
    "backend": {"cudnn": "by cuDNN", "native": "by a kernel of torch"},
}

#: How each test is said of a parameter.
PHRASES: Final[dict[Test, str]] = {
    "missing": "without {name}",
    "given": "with {name}",
    "given-something": "with {name}",
    "missing-or-none": "without {name}",
    "not-none": "with {name}",
    "is-true": "{name}=True",
    "is-false": "{name}=False",
    "is-true-or-missing": "{name}=True, the default",
    "is-false-or-missing": "{name}=False, the default",
    "is-tensor": "{name} a tensor",
    "is-float": "{name} of floats",
    "is-sparse": "{name} sparse",
    "is-quantized": "{name} quantized",
    "is-class-index": "{name} of class indices",
    "is-overlapping": "{name} overlapping itself",
    "equals": "{name}={values}",
    "equals-or-missing": "{name}={values} or the default",
    "differs": "{name} other than {values}",
    "differs-or-missing": "{name} other than {values}, or none",
    "ndim-at-least": "{name} of {values} dimensions or more",
    "ndim-is": "{name} of {values} dimensions",
    "length-is": "{name} of {values} numbers",
}

_SUBJECT = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:@(?P<position>\d+))? (?P<test>\S+)(?: (?P<values>.+))?")
_VALUE = re.compile(r"'[^'\\|;\t\n]*'|-?\d+|True|False|None|\((?:-?\d+,|-?\d+(?:, -?\d+)+)\)")


class _Unknown:
    """An argument that is given, with a value that is not known."""

    def __repr__(self) -> str:
        return "UNKNOWN"


#: Given, with a value that is not known.
UNKNOWN: Final = _Unknown()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a callable. `position` counts the positional arguments of the call as it is written, without
    the receiver of a method, from 0; None where the parameter takes a keyword only, or the position is not known.
    """

    name: str
    position: int | None = None

    @classmethod
    def parse(cls, text: str) -> Parameter:
        """Read `name` or `name@position`."""
        name, _, position = text.partition("@")
        if not name.isidentifier():
            raise ValueError(f"not a parameter: {text!r}")
        return cls(name, int(position) if position else None)


@dataclass(frozen=True, slots=True)
class Condition:
    """One test on one argument. `position` is as in `Parameter`; `values` belongs to the tests that compare."""

    parameter: str
    position: int | None
    test: Test
    values: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        if not self.parameter.isidentifier():
            raise ValueError(f"not a parameter: {self.parameter!r}")
        if (self.test in _SIGNS) != bool(self.values):
            raise ValueError(f"{self.test} with the values {self.values!r}")
        for value in self.values:
            if not _VALUE.fullmatch(_literal(value)):
                raise ValueError(f"not a value that the grammar can say: {value!r}")
        if self.test in get_args(NumberTest) and not (len(self.values) == 1 and type(self.values[0]) is int):
            raise ValueError(f"{self.test} takes one integer")

    @property
    def decided_by_arguments(self) -> bool:
        """Whether the argument list of the call decides the test: no knowledge of shapes or modes is needed."""
        is_circumstance = self.parameter in _CIRCUMSTANCES and self.position is None
        return self.test in _BY_ARGUMENT and not is_circumstance

    def at(self, position: int | None) -> Condition:
        """The same test for a spelling of the callable that has the parameter at `position`."""
        return replace(self, position=position)

    def holds(self, given: bool, value: object = UNKNOWN) -> bool | None:
        """Whether the test holds for an argument that is `given`, as the constant `value`; None: cannot be told.

        Of the circumstances, no word of the code means that the call runs in eager mode.
        """
        if self.parameter == "context" and not given:
            return True if "eager" in self.values else False if set(self.values) <= {"compiled", "scripted"} else None
        if not self.decided_by_arguments:
            return None
        if not given:
            return self.test in ("missing", "missing-or-none") or self.test.endswith("-or-missing")
        if self.test in ("missing", "given"):
            return self.test == "given"
        if self.test == "given-something":
            return isinstance(value, _Unknown) or (bool(value) and value != -1)
        if self.test == "is-tensor":
            return None if isinstance(value, _Unknown) else False
        if isinstance(value, _Unknown):
            return None
        if self.test in ("missing-or-none", "not-none"):
            return (value is None) == (self.test == "missing-or-none")
        if self.test.startswith("is-"):
            return bool(value) == self.test.startswith("is-true")
        if self.test == "length-is":
            return isinstance(value, Sized) and len(value) == self.values[0]
        among = any(type(value) is type(known) and value == known for known in self.values)
        return among == self.test.startswith("equals")

    @property
    def in_words(self) -> str:
        """The test as a person reads it."""
        if self.parameter in _IN_WORDS:
            words = _IN_WORDS[self.parameter]
            return " or ".join(words.get(str(value), f"{self.parameter} {value}") for value in self.values)
        values = " or ".join(map(_literal, self.values))
        return PHRASES[self.test].format(name=self.parameter, values=values)

    def __str__(self) -> str:
        subject = self.parameter if self.position is None else f"{self.parameter}@{self.position}"
        if not self.values:
            return f"{subject} {self.test}"
        return f"{subject} {_SIGNS[self.test]} {' | '.join(map(_literal, self.values))}"


def _literal(value: Value) -> str:
    return f"'{value}'" if isinstance(value, str) else repr(value)


def parse_condition(text: str) -> Condition:
    """Read one condition; ValueError where the grammar does not admit it."""
    match = _SUBJECT.fullmatch(text)
    if match is None:
        raise ValueError(f"not a condition: {text!r}")
    position = None if match["position"] is None else int(match["position"])
    word, rest = match["test"], match["values"]
    if word in _WORDS and rest is None:
        return Condition(match["name"], position, word)  # type: ignore[arg-type]
    test: Test | None = _OPERATORS.get(word) or _NUMBER_OPERATORS.get(word)
    if test is None or rest is None:
        raise ValueError(f"not a condition: {text!r}")
    literals = rest.split(" | ")
    if not all(_VALUE.fullmatch(literal) for literal in literals):
        raise ValueError(f"not a list of values: {rest!r}")
    return Condition(match["name"], position, test, tuple(literal_eval(literal) for literal in literals))


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """Read conditions joined by `; `. Empty text is not a condition: it always holds."""
    return tuple(parse_condition(part.strip()) for part in text.split(";")) if text.strip() else ()


def render_conditions(conditions: tuple[Condition, ...]) -> str:
    """The text that `parse_conditions` reads back."""
    return "; ".join(map(str, conditions))
