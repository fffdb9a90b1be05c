"""The files in which a project says things about itself, read tolerantly: one that does not parse says nothing."""

from __future__ import annotations

import configparser
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torchrepro_lint.regular_files import note, read_if_there

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["ini_of", "text_of", "toml_of"]


def text_of(path: Path) -> str:
    """The text of a file, empty where it cannot be read. `pip freeze >` in PowerShell writes UTF-16."""
    data = read_if_there(path)
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if utf16 else "utf-8-sig", "replace")


def toml_of(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text_of(path))
    except ValueError:  # not TOML, or an integer of thousands of digits
        return {}
    except RecursionError:
        note(path, "not read: nested too deeply")
        return {}


def ini_of(path: Path) -> configparser.RawConfigParser:
    """The sections of an ini file."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text_of(path))
    except configparser.Error:
        return configparser.RawConfigParser()
    return parser
