"""Which files a path stands for."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

from torchrepro_lint.console import did_you_mean
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.cells import NOTEBOOK_SUFFIX
from torchrepro_lint.source.git_index import tracked_files
from torchrepro_lint.source.ignore import Layer, git_folder, git_top, gitignore_layer, info_exclude_layer, is_ignored
from torchrepro_lint.source.root import absolute, is_shared_folder

__all__ = ["SUFFIXES", "ProjectTree", "expand", "in_order", "present"]

#: How the names of files end that are checked.
SUFFIXES = (".py", NOTEBOOK_SUFFIX)
#: The pattern of a folder that is left out, of which only what git tracks is taken.
_ALL = ("*",)


class ProjectTree:
    """What of the folder `root` belongs to the project: .gitignore files, `exclude` and `extend-exclude` say it. What
    git tracks belongs to it whatever a .gitignore file says, as it does for git. With `respect-gitignore = false` those
    files say nothing.

    The answers are kept: an instance is for one run, not for a process that outlives changes on the disk.
    """

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self._respects_gitignore = settings.respect_gitignore
        self._excludes = Layer(settings.base or root, (*settings.exclude, *settings.extend_exclude))
        self._excludes = self._excludes.without_those_that_match(_posix(root))
        self._layers: dict[Path, tuple[Layer, ...] | None] = {root: self._layers_at_root()}
        self._walked: dict[tuple[Path, bool], tuple[Path, ...]] = {}
        self._found: set[Path] = set()
        self._links: set[Path] = set()
        #: The folders that a walk came to and could not list, and why.
        self.unread: dict[Path, str] = {}

    def accepts(self, path: Path) -> bool:
        """Whether the file or folder `path`, which lies below the root, belongs to the project."""
        if path in self._found:
            return True
        if path.is_dir():
            return self._layers_in(path) is not None
        layers = self._layers_in(path.parent)
        return layers is not None and not self._left_out(_posix(path), False, layers)

    def files(self, folder: Path | None = None) -> tuple[Path, ...]:
        """The Python files and notebooks below `folder`, by default the root. A folder that is left out is still walked
        if named.

        Links to folders are not followed, so that loops of them end. A folder that cannot be read is passed over and
        noted in `unread`.
        """
        start = folder or self.root
        # Strangers share this folder: only what stands in it, and the packages in it, are of one program.
        shallow = folder is None and is_shared_folder(start)
        if (start, shallow) not in self._walked:
            self._walked[start, shallow] = files = tuple(self._walk(start, shallow))
            if start == self.root:
                self._found.update(files)
        return self._walked[start, shallow]

    def links(self, files: Iterable[Path]) -> set[Path]:
        """Those of `files`, which the tree has given, that are links."""
        return self._links.intersection(files)

    def _walk(self, start: Path, shallow: bool) -> Iterator[Path]:
        layers = self._layers_in(start)
        excludes = self._excludes
        if layers is None:
            above = [layer.without_those_that_match(_posix(start)) for layer in self._layers_above(start)]
            own = self._gitignore_in(start)
            layers = (*above, own) if own else tuple(above)
            excludes = excludes.without_those_that_match(_posix(start))
        stack = [(start, layers)]
        while stack:
            current, inner = stack.pop()
            entries = self._listed(current)
            if current != start and any(entry.name == ".gitignore" for entry in entries):
                own = self._gitignore_in(current)
                inner = (*inner, own) if own else inner
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not entry.name.endswith(SUFFIXES):
                    continue
                path = _posix(entry.path)
                if excludes.verdict(path, is_folder):
                    continue
                ignored = is_ignored(path, is_folder, inner)
                if ignored and path not in self._tracked:
                    continue
                if is_folder:
                    wanted = not shallow or os.path.isfile(f"{path}/__init__.py")
                    if wanted and not os.path.exists(f"{path}/pyvenv.cfg"):
                        folder = current / entry.name
                        stack.append((folder, (*inner, Layer(folder, _ALL)) if ignored else inner))
                elif _is_file(entry):
                    file = current / entry.name
                    if entry.is_symlink():
                        self._links.add(file)
                    yield file

    def _listed(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            return _entries(folder)
        except FileNotFoundError:  # removed since its parent was listed
            return []
        except OSError as error:
            self.unread[folder] = error.strerror or str(error)
            return []

    def _gitignore_in(self, folder: Path) -> Layer | None:
        return gitignore_layer(folder) if self._respects_gitignore else None

    def _layers_at_root(self) -> tuple[Layer, ...]:
        top = git_top(self.root) or self.root
        folders = [self.root, *self.root.parents]
        folders = folders[: folders.index(top) + 1][::-1]
        layers = [info_exclude_layer(top), *map(gitignore_layer, folders)] if self._respects_gitignore else []
        # The user chose this root: what leaves it out as a whole does not count.
        return tuple(layer.without_those_that_match(_posix(self.root)) for layer in layers if layer is not None)

    def _layers_in(self, folder: Path) -> tuple[Layer, ...] | None:
        """The layers that speak about the entries of `folder`; None where it is left out itself."""
        if folder not in self._layers:
            if folder.parent == folder:
                return ()
            outer = self._layers_in(folder.parent)
            if outer is None or self._left_out(_posix(folder), True, outer) or (folder / "pyvenv.cfg").exists():
                self._layers[folder] = None
            else:
                if is_ignored(_posix(folder), True, outer):
                    outer = (*outer, Layer(folder, _ALL))
                own = self._gitignore_in(folder)
                self._layers[folder] = (*outer, own) if own else outer
        return self._layers[folder]

    def _layers_above(self, folder: Path) -> tuple[Layer, ...]:
        """The layers of the nearest folder above `folder` that is not left out."""
        return next((layers for one in folder.parents if (layers := self._layers_in(one)) is not None), ())

    def _left_out(self, path: str, is_folder: bool, layers: tuple[Layer, ...]) -> bool:
        if self._excludes.verdict(path, is_folder):
            return True
        return is_ignored(path, is_folder, layers) and path not in self._tracked

    @cached_property
    def _tracked(self) -> frozenset[str]:
        """The files that git tracks, and the folders that they are in, as far as they are of a kind to be read."""
        top = git_top(self.root)
        if top is None:
            return frozenset()
        files = [path for path in tracked_files(git_folder(top) / "index") if path.endswith(SUFFIXES)]
        folders = {str(folder) for path in files for folder in PurePosixPath(path).parents}
        return frozenset(f"{_posix(top)}/{path}" for path in (*files, *folders))


def expand(paths: Iterable[Path], tree_of: Callable[[Path], ProjectTree]) -> list[Path]:
    """The files that `paths` stand for, absolute, sorted, each once. `tree_of` gives the tree that a folder is in.

    A file that is named is always taken; a folder gives its Python files and notebooks, less what is left out. Of a
    file and a link to it, the file is taken. TorchReproLintError where a path is not there, or cannot be read.
    """
    named: set[Path] = set()
    found: set[Path] = set()
    links: set[Path] = set()
    for path in paths:
        full, mode = _present(path)
        if stat.S_ISREG(mode):
            named.add(full)
        elif stat.S_ISDIR(mode):
            tree = tree_of(full)
            # Walked as the root where it is the root: the walk then serves the analysis of the project too.
            whole = full == tree.root and not is_shared_folder(full)
            files = tree.files() if whole else tree.files(full)
            found.update(files)
            links |= tree.links(files)
        else:
            raise TorchReproLintError(f"{path}: neither a file nor a folder")
    return in_order(named | _without_links(found, links, named))


def in_order(paths: Iterable[Path]) -> list[Path]:
    """The paths sorted, as they compare with each other: to have Path compare two of them takes ten times as long."""
    return sorted(paths, key=lambda path: path.parts)


def _without_links(found: set[Path], links: set[Path], named: set[Path]) -> set[Path]:
    """`found` without those of its `links` that lead to files that are in it or in `named` themselves."""
    if not links:
        return found
    folder = cache(os.path.realpath)
    real = {os.path.join(folder(path.parent), path.name) for path in found - links}
    real.update(os.path.realpath(path) for path in named - links)
    return {path for path in found if path not in links or os.path.realpath(path) not in real}


def present(path: Path) -> Path:
    """The absolute path of what `path` names. TorchReproLintError, with what was meant, where it is not there."""
    return _present(path)[0]


def _present(path: Path) -> tuple[Path, int]:
    full = absolute(path)
    try:
        mode = full.stat().st_mode
        if stat.S_ISDIR(mode):
            os.scandir(full).close()
        return full, mode
    except (FileNotFoundError, NotADirectoryError):
        if full.is_symlink():
            raise TorchReproLintError(f"{path}: a link to a file that does not exist") from None
        try:
            siblings = [entry.name for entry in _entries(full.parent)]
        except OSError:
            siblings = []
        raise TorchReproLintError(f"{path}: no such file or folder{did_you_mean(full.name, siblings)}") from None
    except OSError as error:
        raise TorchReproLintError(f"{path}: cannot be read: {error.strerror}") from error


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _posix(path: Path | str) -> str:
    return str(path).replace(os.sep, "/")
