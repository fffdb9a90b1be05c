"""Folders with the project of others of which a project uses some functions, and none of the programs.

Such a folder stands alone: it has a licence, requirements or a README of its own that speaks of a repository, imports
nothing of the project around it, and that imports from it. Its own programs are left over if no program, script or
README outside names them. In a repository of several projects with equal standing, each program lies in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.source.metadata import text_of
from torchrepro_lint.source.outside import is_named_below
from torchrepro_lint.source.requirements import ENVIRONMENTS, READMES

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_of_a_used_copy"]

_LICENCES: Final = ("LICENSE*", "LICENCE*", "COPYING*")
_REQUIREMENTS: Final = ("requirements*.txt", *ENVIRONMENTS)
#: What the README of a whole repository says in its first lines, and that of a part of one does not.
_OF_A_REPOSITORY: Final = re.compile(
    r"\bthis repo(?:sitory)?\b|\b(?:code|implementation)\s+(?:of|for)\b[^\n]{0,40}\bpapers?\b", re.IGNORECASE
)
_FIRST_LINES: Final = 30


def is_of_a_used_copy(program: Program, path: Path) -> bool:
    """Whether a file lies in such a folder below the root of its project."""
    if not path.is_relative_to(program.root):
        return False
    around = (one for one in path.parents if one != program.root and one.is_relative_to(program.root))
    return any(program.once(("used copy", one), partial(_is_a_used_copy, program, one)) for one in around)


def _is_a_used_copy(program: Program, folder: Path) -> bool:
    if not _speaks_of_a_repository(program.root, folder):
        return False
    inside = frozenset(one for one in program.project.files if one.is_relative_to(folder))
    packages = {one / "__init__.py" for one in folder.parents}  # which Python runs before any module of the folder
    if any(program.imports.imported_by_file(one) - inside - packages for one in inside):
        return False
    users = {user for one in inside for user in program.imports.importers(one)} - inside - program.tests
    if not users or any(_is_of_another_part(program.root, folder, user) for user in users):
        return False
    starts = {one.path for one in entry_points(program)}
    return bool(starts & inside) and bool(starts - inside) and not _is_run_by_name(program, folder, inside)


def _speaks_of_a_repository(root: Path, folder: Path) -> bool:
    """Whether a folder has a README, and a licence other than that of the project or requirements of its own; or the
    README says that it is of a whole repository, or of the code of a paper.
    """
    readmes = _named(folder, READMES)
    if not readmes:
        return False
    licences = {" ".join(text_of(one).split()) for one in _named(root, _LICENCES)}
    if any(" ".join(text_of(one).split()) not in licences for one in _named(folder, _LICENCES)):
        return True
    if _named(folder, _REQUIREMENTS):
        return True
    return any(_OF_A_REPOSITORY.search("\n".join(text_of(one).splitlines()[:_FIRST_LINES])) for one in readmes)


def _is_of_another_part(root: Path, folder: Path, user: Path) -> bool:
    """Whether a file lies below a folder with a README, beside another one: both are parts of one repository."""
    around = (one for one in user.parents if one != root and one.is_relative_to(root))
    return any(_named(one, READMES) for one in around if not folder.is_relative_to(one))


def _is_run_by_name(program: Program, folder: Path, inside: Iterable[Path]) -> bool:
    """Whether a script, a README above the folder or code outside it names a path through the folder, or goes there."""
    name = re.escape(folder.name)
    path = re.compile(rf"\b{name}[/\\]|\b(?:cd|-m|pushd)\s+\S*{name}\b")
    above = [one for one in folder.parents if one.is_relative_to(program.root)]
    if any(path.search(text_of(one)) for place in above for one in _named(place, READMES)):
        return True
    for needle in (f"{folder.name}/", f"cd {folder.name}", f"-m {folder.name}"):
        program.project.outside[needle] = is_named_below(program.root, needle.encode())
        if program.project.outside[needle]:
            return True
    written = re.compile(rb"""["'][^"'\n]*\b%s[/\\]""" % name.encode())
    return any(one not in inside for one in program.project.matching(written))


def _named(folder: Path, patterns: Iterable[str]) -> list[Path]:
    return [one for pattern in patterns for one in sorted(folder.glob(pattern)) if one.is_file()]
