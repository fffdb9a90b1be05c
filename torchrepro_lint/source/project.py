"""Projects: which one a file belongs to, its settings, its files and the torch that it is written for."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torchrepro_lint.settings import Settings, SettingsOverride, load_settings
from torchrepro_lint.source.connected import connected
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.discovery import ProjectTree, expand, in_order
from torchrepro_lint.source.ignore import git_top
from torchrepro_lint.source.imported_folders import ImportedFolders
from torchrepro_lint.source.root import absolute, folder_above, holds_installed, is_marked, is_shared_folder, local_root
from torchrepro_lint.source.target import TargetTorch, find_target
from torchrepro_lint.source.write import link_out_of

__all__ = ["THROUGH_LINKS", "Project", "Projects", "repository"]

#: The option that allows to write files outside of the project that links in it lead to.
THROUGH_LINKS = "--write-through-links"


def repository(root: Path, folders: Iterable[Path]) -> Path:
    """Where the repository of the project at `root` begins, of which somebody merges a change as one: the top of the
    git work tree; where there is none, the outermost of the `folders` that were given (absolute) and that hold the
    project, unless strangers share that; else the project itself.
    """
    around = (one for one in folders if root.is_relative_to(one) and not is_shared_folder(one))
    return git_top(root) or min(around, key=lambda one: len(one.parts), default=root)


@dataclass(frozen=True, eq=False)
class Project:
    """One project. `outer` is the project that leaves this one out, where it is a folder that one leaves out; `also`
    is a folder below the root that the tree leaves out, and that is of this project none the less.
    """

    root: Path
    settings: Settings
    tree: ProjectTree
    outer: Project | None = None
    also: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """All Python files of the project."""
        return self.tree.files() if self.also is None else (*self.tree.files(), *self.tree.files(self.also))

    def program_of(self, files: Collection[Path], read: Read) -> list[Path]:
        """The files of the project that are of one program with `files`, these included, in order: all of it where a
        project file says where it begins; else what imports connect with them. Among installed packages, those of other
        packages are libraries to it.
        """
        everything = in_order({*self.files, *files})
        if holds_installed(self.root):
            own = {file.relative_to(self.root).parts[0] for file in files}
            everything = [file for file in everything if file.relative_to(self.root).parts[0] in own]
        return everything if is_marked(self.root) else connected(everything, self.root, frozenset(files), read)

    @cached_property
    def target(self) -> TargetTorch:
        """The torch that the project is written for."""
        # What other installed packages use says nothing of the torch that this one is written for.
        own = find_target(self.root, self.settings, lambda: () if holds_installed(self.root) else self.files)
        return self.outer.target if self.outer is not None and not own.known else own


class Projects:
    """Finds the projects of files, one after the other. What it learns is kept: use an instance for one run."""

    def __init__(self, override: SettingsOverride) -> None:
        self._override = override
        self._of: dict[Path, Project] = {}
        self._roots: dict[Path, Path] = {}
        self._imported = ImportedFolders()
        self._marked: dict[Path, Path | None] = {}
        self._projects: dict[tuple[Path, Path | None], Project] = {}

    def files(self, paths: Iterable[Path]) -> list[Path]:
        """The files that the arguments `paths` stand for. TorchReproLintError where one is not there."""
        return expand(paths, lambda folder: self._project(self._root(folder), None).tree)

    def notices(self, paths: Iterable[Path]) -> list[tuple[Path, str]]:
        """What is to be said of the folders in the arguments `paths`, after `files` has walked them: which of them the
        system refuses to list.
        """
        folders = [path for path in map(absolute, paths) if path.is_dir()]
        unread = {
            folder: reason
            for start in folders
            for folder, reason in self._project(self._root(start), None).tree.unread.items()
            if folder.is_relative_to(start)
        }
        return [(folder, f"this folder cannot be read: {unread[folder]}") for folder in in_order(unread)]

    def of(self, file: Path) -> Project:
        """The project of `file` (absolute).

        What a project leaves out, such as a folder of examples, is not a part of its program: a file there that is
        named none the less belongs with the modules around it, under the settings of the project that it lies in.
        """
        if file not in self._of:
            self._of[file] = self._find(file)
        return self._of[file]

    def around(self, path: Path) -> Project:
        """The project of a file, or that of the modules in a folder (absolute). Of what is not there, the project that
        a module beside it would be in.
        """
        # os.path, unlike Path, does not raise where a name is too long.
        if os.path.isfile(path):  # noqa: PTH113
            return self.of(path)
        return self.of((path if os.path.isdir(path) else path.parent) / "x.py")  # noqa: PTH112

    def _find(self, file: Path) -> Project:
        root = self._root(file.parent)
        project = self._project(root, None)
        if project.tree.accepts(file):
            return project
        inner = local_root(file, self._imported, below=root)
        if inner != root:
            return self._project(inner, project)
        # A package at the top of the project: its modules see those of the project, and the other way round.
        above = [folder for folder in file.parents if folder.parent == root]
        return self._project(root, project, above[0]) if above else project

    def why_outside(self, file: Path) -> str | None:
        """Why a change of `file` would change what lies outside of its repository, or of its project where that is in
        none: a link on the way leads there. None where it would not.
        """
        root = self.of(file).root
        target = link_out_of(git_top(root) or root, file)
        return f"a link leads out of the project, to {target}; allow it with {THROUGH_LINKS}" if target else None

    def leaves_out(self, path: Path) -> bool:
        """Whether the project around a file or folder (absolute) leaves it out, as far as patterns say."""
        folder = path if path.is_dir() else path.parent
        return not self._project(self._root(folder), None).tree.accepts(path)

    def whole(self, file: Path) -> list[Path]:
        """The files that are in the project of `file` and in no project further in."""
        project = self.of(file)
        return [other for other in project.files if self.of(other) is project]

    def _root(self, folder: Path) -> Path:
        if folder not in self._roots:
            marked = self._marked_root(folder)
            if marked is None:  # as `local_root` does it, but each folder is looked at once
                above = folder_above(folder, self._imported)
                marked = self._root(above) if above is not None else folder
            self._roots[folder] = marked
        return self._roots[folder]

    def _marked_root(self, folder: Path) -> Path | None:
        """The nearest folder, from this one up, that says that a project begins there: each is looked at once."""
        if folder not in self._marked:
            if is_marked(folder):
                self._marked[folder] = folder
            else:
                self._marked[folder] = self._marked_root(folder.parent) if folder.parent != folder else None
        return self._marked[folder]

    def _project(self, root: Path, outer: Project | None, also: Path | None = None) -> Project:
        key = (root, also)
        if key not in self._projects:
            settings = outer.settings if outer is not None else load_settings(root, self._override)
            tree = outer.tree if outer is not None and outer.root == root else ProjectTree(root, settings)
            self._projects[key] = Project(root, settings, tree, outer, also)
        return self._projects[key]
