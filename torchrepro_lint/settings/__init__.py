"""What the user has chosen: read from `torchrepro-lint.toml` or `[tool.torchrepro-lint]`, the command line over it.

model.py      the settings, and how the command line stands over them
values.py     what each may be, and what is said where it is something else
files.py      which file counts, and what it extends
override.py   tables of an editor or of another tool
patterns.py   what is not a pattern of files
specifier.py  versions of torch
toml.py       what all of it is written in
"""

from __future__ import annotations

from torchrepro_lint.settings.files import load_settings
from torchrepro_lint.settings.model import (
    DEFAULT_BASELINE,
    DEFAULT_EXCLUDE,
    EVERY_RULE,
    Intent,
    Profile,
    Settings,
    SettingsOverride,
)
from torchrepro_lint.settings.override import override_from_table, settings_over_files
from torchrepro_lint.settings.specifier import normalised_specifier
from torchrepro_lint.settings.toml import settings_table

__all__ = [
    "DEFAULT_BASELINE",
    "DEFAULT_EXCLUDE",
    "EVERY_RULE",
    "Intent",
    "Profile",
    "Settings",
    "SettingsOverride",
    "load_settings",
    "normalised_specifier",
    "override_from_table",
    "settings_over_files",
    "settings_table",
]
