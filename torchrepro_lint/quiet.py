"""Python's own parser, without its warnings: the user's invalid escapes and odd literals are not ours to report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_warnings"]


@contextmanager
def without_warnings() -> Iterator[None]:
    """Around whatever has Python parse or compile a text of the user's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
