"""Versions of packages, as far as the data files need them."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["admits", "release"]

_RELEASE = re.compile(r"\s*v?(\d+(?:\.\d+)*)")


@cache
def release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without pre-release and local parts and without zeros at the end.

    `2.13.0+cpu` is `(2, 13)`, and so is `2.13`. ValueError where the text does not begin with a number.
    """
    match = _RELEASE.match(version)
    if match is None:
        raise ValueError(f"not a version: {version!r}")
    numbers = [int(number) for number in match[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(\S+)\s*")


def admits(specifier: str | None, version: str) -> bool:
    """Whether the release `version` lies in `specifier`, such as `>=1.4,<2`. None or empty admits everything."""
    if not specifier:
        return True
    ours = release(version)
    for clause in specifier.split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise ValueError(f"not a version specifier: {specifier!r}")
        theirs = release(match[2])
        verdict = {
            ">=": ours >= theirs,
            "<=": ours <= theirs,
            "==": ours == theirs,
            "!=": ours != theirs,
            ">": ours > theirs,
            "<": ours < theirs,
        }[match[1]]
        if not verdict:
            return False
    return True
