"""What the metadata of a project says of the distribution that others install."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.source.metadata import ini_of, text_of, toml_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_built", "names_a_distribution", "names_of"]

_SETUP: Final = re.compile(r"\bsetup\s*\(")
_SETUP_NAME: Final = re.compile(r"""\bname\s*=\s*["']([\w.-]+)["']""")


def names_of(root: Path) -> frozenset[str]:
    """What the metadata of a project, and its folder, call it, as the names of distributions are compared."""
    settings, ini = toml_of(root / "pyproject.toml"), ini_of(root / "setup.cfg")
    setup = _SETUP_NAME.search(text_of(root / "setup.py"))
    names = (
        settings.get("project", {}).get("name"),
        settings.get("tool", {}).get("poetry", {}).get("name"),
        ini.get("metadata", "name", fallback=None),
        setup[1] if setup is not None else None,
        root.name,
    )
    return frozenset(re.sub(r"[-_.]+", "-", name).lower() for name in names if isinstance(name, str))


def is_built(root: Path) -> bool:
    """Whether the metadata of a project says how to build a distribution of it."""
    settings, ini = toml_of(root / "pyproject.toml"), ini_of(root / "setup.cfg")
    if "build-system" in settings or "poetry" in settings.get("tool", {}):
        return True
    return ini.has_section("options") or _SETUP.search(text_of(root / "setup.py")) is not None


def names_a_distribution(program: Program) -> bool:
    """Whether the metadata of a project gives it a name under which others install it, built or not yet."""
    root = program.root
    return program.once("a distribution", lambda: "project" in toml_of(root / "pyproject.toml") or is_built(root))
