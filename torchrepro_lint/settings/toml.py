"""TOML as Python reads it, by any version of Python that the tool runs on."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["settings_table"]


def settings_table(text: str) -> dict[str, Any]:
    """The table that a text in TOML gives, such as `profile = "strict"`. ValueError, with one line that says why, where
    it is not TOML.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:  # also an integer of thousands of digits
        raise ValueError(str(error).splitlines()[0]) from error
