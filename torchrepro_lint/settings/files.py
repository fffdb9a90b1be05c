"""Settings from files: which one counts, and what it extends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.regular_files import NotRegular, note, read_regular
from torchrepro_lint.settings.model import Settings, SettingsOverride
from torchrepro_lint.settings.toml import settings_table
from torchrepro_lint.settings.values import checked, require_known, typed

__all__ = ["load_settings"]

NAME = "torchrepro-lint"
SETTINGS_FILES = (f".{NAME}.toml", f"{NAME}.toml")
PROJECT_FILE = "pyproject.toml"
TABLE = f"tool.{NAME}"

# The name, also as it comes out when it is written from memory.
_NAME = re.compile(rb"torch[-_]?repro[-_]?lint(?:er)?", re.IGNORECASE)

#: Files in which other linters have their settings, and the head of a section there that is called like this tool.
_FILES_OF_OTHERS = ("setup.cfg", "tox.ini")
_SECTION = re.compile(rb"^\[(?:tool[:.])?" + _NAME.pattern + rb"\]", re.IGNORECASE | re.MULTILINE)

_LONGEST_CHAIN = 100

# A file, what its keys are called in messages, and the settings in it.
_Table: TypeAlias = tuple[Path, str, Mapping[str, Any]]


def load_settings(root: Path, override: SettingsOverride | None = None) -> Settings:
    """The settings for the project at `root`: from the nearest file at or above it that has any, else the defaults; and
    what the command line says over them.

    The search ends at the top of the git repository. TorchReproLintError where the file does not say what it should.
    """
    override = override or {}
    if "config" not in override:
        nearest = _nearest_table(root)
        settings = _of_chain(_chain(nearest)) if nearest is not None else Settings()
    else:
        # Patterns of a file that serves many projects count from each of them.
        named = override["config"]
        settings = replace(_of_chain(_chain(_named_table(named))), base=root) if named is not None else Settings()
    return replace(settings, **override.get("over_files", {})).overridden(override)


def _of_chain(chain: list[_Table]) -> Settings:
    values: dict[str, Any] = {}
    for one in reversed(chain):
        values.update(_values(*one))
    files = tuple(path for path, _, _ in chain)
    return Settings(**{**values, "base": files[0].parent, "files": files})


def _named_table(path: Path) -> _Table:
    """The settings of a file that somebody has named, so that it must hold some."""
    table = _table_of(path, named=True)
    if table is not None:
        return table
    if path.is_dir():
        raise TorchReproLintError(f"{path}: a folder, and no settings file")
    if not path.exists():
        raise TorchReproLintError(f"{path}: no such settings file")
    raise TorchReproLintError(f"{path}: has no table [{TABLE}]")


def _nearest_table(root: Path) -> _Table | None:
    for folder in (root, *root.parents):
        table = _table_in(folder)
        if table is not None:
            return table
        if (folder / ".git").exists():
            break
    return None


def _table_in(folder: Path) -> _Table | None:
    """The settings that `folder` holds, if it holds any. TorchReproLintError where they are in a file of another kind,
    in which nobody looks for them.
    """
    for name in (*SETTINGS_FILES, PROJECT_FILE):
        table = _table_of(folder / name)
        if table is not None:
            return table
    for name in _FILES_OF_OTHERS:
        data = _read(folder / name, named=False)
        if data is not None and (section := _SECTION.search(data)) is not None:
            there = section[0].decode("ascii")
            raise TorchReproLintError(f"{folder / name}: {there}: settings belong in [{TABLE}] of {PROJECT_FILE}")
    return None


def _table_of(path: Path, *, named: bool = False) -> _Table | None:
    """The settings that a file holds, if it holds any. One that nobody has `named` is passed over where it is none that
    can hold settings, such as a link to a device.
    """
    data = _read(path, named=named)
    if data is None:
        return None
    if path.name != PROJECT_FILE:
        table = _parsed(path, data)
        if "tool" in table:
            raise TorchReproLintError(f"{path}: in this file, settings are written without the table [{TABLE}]")
        return path, "", table
    # A file that never says the name is not parsed: it is none of our business when it is broken.
    if not _NAME.search(data):
        return None
    whole = _parsed(path, data)
    tool = whole.get("tool")
    if not isinstance(tool, dict) or NAME not in tool:
        _refuse_misspelt(path, whole)
        return None
    return path, TABLE + ".", typed(tool[NAME], dict, "a table", f"{path}: {TABLE}")


def _refuse_misspelt(path: Path, whole: Mapping[str, Any]) -> None:
    """TorchReproLintError where settings are under a name that nobody looks for."""
    tool = whole.get("tool")
    named = {f"tool.{name}": value for name, value in (tool.items() if isinstance(tool, dict) else ())}
    for name, value in {**named, **whole}.items():
        if isinstance(value, dict) and _NAME.fullmatch(name.removeprefix("tool.").encode()):
            raise TorchReproLintError(f"{path}: {name}: settings belong in [{TABLE}]")


def _read(path: Path, *, named: bool) -> bytes | None:
    try:
        return read_regular(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        if isinstance(error, NotRegular) and not named:
            note(path, f"not read: {error.strerror}")
            return None
        raise TorchReproLintError(f"{path}: cannot be read: {error.strerror}") from error


def _parsed(path: Path, data: bytes) -> Mapping[str, Any]:
    try:
        return settings_table(data.decode("utf-8-sig"))
    except ValueError as error:  # of TOML, or of UTF-8
        raise TorchReproLintError(f"{path}: not valid TOML: {error}") from error


def _chain(nearest: _Table) -> list[_Table]:
    """A table, the one of the file that its `extend` names, and so on.

    A key of the nearer file takes the place of the same key of the farther one. Patterns count from the nearest file;
    the folders of `src` from the file that they are in.
    """
    chain = [nearest]
    seen = {nearest[0].resolve()}
    while "extend" in chain[-1][2]:
        here, prefix, table = chain[-1]
        where = f"{here}: {prefix}extend"
        name = typed(table["extend"], str, "a string", where)
        try:
            target = (here.parent / Path(name).expanduser()).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # no such user, a loop of links, a null character
            raise TorchReproLintError(f'{where}: "{name}" names no file') from error
        if target in seen:
            raise TorchReproLintError(f"{where}: {target} extends itself")
        seen.add(target)
        if len(chain) >= _LONGEST_CHAIN:
            raise TorchReproLintError(f"{where}: more than {_LONGEST_CHAIN} files extend each other")
        try:
            chain.append(_named_table(target))
        except TorchReproLintError as wrong:
            raise TorchReproLintError(f"{where}: {wrong}") from wrong
    return chain


def _values(path: Path, prefix: str, table: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    keys = ("extend", *Settings.names())
    for key, value in table.items():
        where = f"{path}: {prefix}{key}"
        require_known(key, keys, where)
        if key != "extend":
            values[key.replace("-", "_")] = checked(key, value, where, path.parent)
    return values
