"""Folders with the project of others of which a project uses some functions, and none of the programs.

Such a folder stands alone: it has a licence, requirements or a README of its own that describes a repository, imports
nothing of the project around it, and that imports from it. Its own programs are left over if no program, script or
README outside names them. In a repository of several projects with equal standing, each program lies in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.program.programs.folder_origins import describes_a_repository, folders_between, named_in
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.source.metadata import text_of
from torchrepro_lint.source.outside import is_named_below
from torchrepro_lint.source.requirements import READMES

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_of_a_used_copy"]


def is_of_a_used_copy(program: Program, path: Path) -> bool:
    """Whether a file lies in such a folder below the root of its project."""
    return any(
        program.once(("used copy", one), partial(_is_a_used_copy, program, one))
        for one in folders_between(program.root, path)
    )


def _is_a_used_copy(program: Program, folder: Path) -> bool:
    if not describes_a_repository(program.root, folder):
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


def _is_of_another_part(root: Path, folder: Path, user: Path) -> bool:
    """Whether a file lies below a folder with a README, beside another one: both are parts of one repository."""
    around = folders_between(root, user)
    return any(named_in(one, READMES) for one in around if not folder.is_relative_to(one))


def _is_run_by_name(program: Program, folder: Path, inside: Iterable[Path]) -> bool:
    """Whether a script, a README above the folder or code outside it names a path through the folder, or goes there."""
    name = re.escape(folder.name)
    path = re.compile(rf"\b{name}[/\\]|\b(?:cd|-m|pushd)\s+\S*{name}\b")
    above = [one for one in folder.parents if one.is_relative_to(program.root)]
    if any(path.search(text_of(one)) for place in above for one in named_in(place, READMES)):
        return True
    for needle in (f"{folder.name}/", f"cd {folder.name}", f"-m {folder.name}"):
        program.project.outside[needle] = is_named_below(program.root, needle.encode())
        if program.project.outside[needle]:
            return True
    written = re.compile(rb"""["'][^"'\n]*\b%s[/\\]""" % name.encode())
    return any(one not in inside for one in program.project.matching(written))
