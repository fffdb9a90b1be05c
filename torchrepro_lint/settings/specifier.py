"""Versions of torch as people write them."""

from __future__ import annotations

import re

__all__ = ["normalised_specifier"]

_LOCAL = re.compile(r"\+[\w.]+")
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
