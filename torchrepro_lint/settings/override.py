"""Settings over those of the files, as an editor or another tool hands them on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from torchrepro_lint.settings.model import Settings, SettingsOverride
from torchrepro_lint.settings.values import checked, require_known

__all__ = ["override_from_table", "settings_over_files"]

#: What options of the command line alone can say.
_OF_OPTIONS = ("ignore_noqa", "over_files")


def override_from_table(table: Mapping[str, Any], where: str) -> SettingsOverride:
    """What a table of settings with the names of the settings file, such as an editor gives, says over that file.

    A value of None says nothing. TorchReproLintError, which begins with `where`, where it does not say what it should.
    """
    keys = [name.replace("_", "-") for name in SettingsOverride.__annotations__ if name not in _OF_OPTIONS]
    return cast("SettingsOverride", _by_field(table, keys, where))


def settings_over_files(table: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """A table of settings as `over_files` of `SettingsOverride` holds it. Paths count from the current folder.

    TorchReproLintError, which begins with `where`, where it does not say what it should.
    """
    return _by_field(table, Settings.names(), where)


def _by_field(table: Mapping[str, Any], keys: Iterable[str], where: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        require_known(key, keys, f"{where}{key}")
        if value is not None:
            values[key.replace("-", "_")] = checked(key, value, f"{where}{key}", Path())
    return values
