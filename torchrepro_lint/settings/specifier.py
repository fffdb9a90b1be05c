"""Versions of torch as people write them."""

from __future__ import annotations

import re

__all__ = ["admits_nothing", "normalised_specifier"]

_LOCAL = re.compile(r"\+[\w.]+")
_RELEASE = re.compile(r"(?:\d+!)?\d+(?:\.\d+)*")
_BARE = re.compile(r"v?(\d+(?:\.\d+)*)(\.\*)?")


def normalised_specifier(text: str) -> str:
    """A version specifier of torch in the form that `packaging` reads.

    A bare version is a pin: `1.8` is `==1.8.*`, `1.8.1` is `==1.8.1`. Local parts, which name a build and not a
    release, go: `==1.10.0+cu113` is `==1.10.0`. ValueError where it is not a specifier.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    text = _LOCAL.sub("", text.strip())
    bare = _BARE.fullmatch(text)
    if bare is not None:
        text = f"=={bare[1]}" + (".*" if bare[2] or bare[1].count(".") < 2 else "")
    elif text[:1].isdigit():
        text = f"=={text}"
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        raise ValueError(f"not a version specifier: {text!r}") from None


def admits_nothing(specifier: str) -> bool:
    """Whether no version at all lies within a specifier: `>=2,<1`. What a range admits, it admits at one of its bounds,
    right above or right below one.
    """
    from packaging.specifiers import SpecifierSet

    clauses = SpecifierSet(specifier)
    if any(clause.operator == "===" for clause in clauses):
        return False
    bounds = [clause.version.removesuffix(".*") for clause in clauses]
    releases = [match.group() for match in map(_RELEASE.match, bounds) if match is not None]
    around = [version for release in releases for version in (f"{release}.0.0.1", _right_below(release))]
    return bool(bounds) and not any(clauses.contains(version, prereleases=True) for version in (*bounds, *around))


def _right_below(release: str) -> str:
    """A release below another and above all that people mean by lower ones: 1.6.99999 for 1.7."""
    epoch, mark, plain = release.rpartition("!")
    numbers = [int(number) for number in plain.split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return epoch + mark + ".".join(map(str, (*numbers[:-1], max(numbers[-1] - 1, 0), 99999)))
