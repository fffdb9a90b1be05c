"""Which files of a project are code for the programs of others: what it distributes as a package, and what is copied
into it from elsewhere. Whoever runs such code chooses the seed, and a constant there would take the choice away.

And which are kept without being worked on: what was put aside, and whole projects that were downloaded into this one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.source.metadata import ini_of, text_of, toml_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_for_others", "is_of_its_package", "is_put_aside"]

#: Folders for code of others (github-linguist/linguist, lib/linguist/vendor.yml@v9.0.0).
_COPIED: Final = re.compile(r"_?vendor(s|ed)?|extern(als?)?|(3rd|third)[-_]?party|deps|submodules", re.IGNORECASE)
#: Folders for what is no longer used, and those that the archive of a repository on GitHub unpacks to.
_PUT_ASIDE: Final = re.compile(
    r"\.?_*(?:old|olds|trash|bak|back_?ups?|deprecated|obsolete|legacy|archi?e?ved?|archives|unused|attic|junk|graveyard)"
    r"|.+[-_ ](?:old|bak|backup|deprecated|copy)|.+-(?:master|main)",
    re.IGNORECASE,
)
#: Files beside the ones that replace them: `train_old.py`, `model copy.py`.
_OLD_FILE: Final = re.compile(r".+[-_ .](?:old|bak|backup|deprecated|copy)\d*", re.IGNORECASE)
_SETUP: Final = re.compile(r"\bsetup\s*\(")


def is_for_others(program: Program, path: Path) -> bool:
    """Whether a file is of a package that the project distributes, or lies in a folder for copied code; and no program
    starts in it.
    """
    if not path.is_relative_to(program.root) or not (_is_copied(program.root, path) or _is_distributed(program, path)):
        return False
    return all(one.path != path for one in entry_points(program))


def is_of_its_package(program: Program, path: Path) -> bool:
    """Whether a file is of a package that the project distributes, and no program starts in it."""
    return is_for_others(program, path) and _is_distributed(program, path)


def is_put_aside(program: Program, path: Path) -> bool:
    """Whether a file, by its name or that of a folder below the root, was put aside, or downloaded with a whole
    project: nobody asks for a change there.
    """
    if not path.is_relative_to(program.root):
        return False
    folders = path.relative_to(program.root).parts[:-1]
    return any(map(_PUT_ASIDE.fullmatch, folders)) or _OLD_FILE.fullmatch(path.stem) is not None


def _is_copied(root: Path, path: Path) -> bool:
    return any(_COPIED.fullmatch(folder) for folder in path.relative_to(root).parts[:-1])


def _is_distributed(program: Program, path: Path) -> bool:
    """Whether a file is a module of a package at the root of the project, or in `src`, and the project is built."""
    folders = path.relative_to(program.root).parts[:-1]
    in_src = folders[:1] == ("src",)
    top = folders[in_src : in_src + 1]
    if not top or not program.once("is built", lambda: _is_built(program.root)):
        return False
    return in_src or program.root.joinpath(*top, "__init__.py") in program.project.files


def _is_built(root: Path) -> bool:
    """Whether the metadata of a project says how to build a distribution of it."""
    settings, ini = toml_of(root / "pyproject.toml"), ini_of(root / "setup.cfg")
    if "build-system" in settings or "poetry" in settings.get("tool", {}):
        return True
    return ini.has_section("options") or _SETUP.search(text_of(root / "setup.py")) is not None
