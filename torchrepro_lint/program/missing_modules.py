"""Imports that surely fail, as the project has no such module: what is below them in a file never runs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.raising import imports_of
from torchrepro_lint.knowledge.copied_libraries import copied_libraries
from torchrepro_lint.program.import_folders import Added
from torchrepro_lint.source.ignore import git_top, gitignore_layer, is_ignored

__all__ = ["MissingModules"]

#: Code that makes modules, or has Python look for them elsewhere.
_FINDS_OTHERS: Final = re.compile(
    rb"\b__path__\b|\bsys\.(?:modules|meta_path)\b|\bpkgutil\b|\bspec_from_file|\bmodule_from_spec\b"
)
#: Names of modules that are generated or compiled.
_MADE: Final = re.compile(r"_.*|.*_pb2(?:_grpc)?|version|.*(?:_cuda|_ext|_cpp|_ops|_lib)|.*(?:cuda|ext)")
#: Packages from elsewhere that share their names with folders of projects.
_ELSEWHERE: Final = frozenset({"datasets", "evaluate", "google", "mpl_toolkits"})
_ABOVE: Final = 3  # folders above the project in which the module may lie
#: Files that say how the project is built, and what it takes in.
_BUILDS: Final = re.compile(
    r"setup\.(?:py|cfg)|pyproject\.toml|CMakeLists\.txt|[Mm]akefile|\.gitmodules|Dockerfile.*|.*\.(?:sh|ya?ml|bat|ps1)"
)
_LARGEST: Final = 200_000  # bytes of such a file that are read


class Imports(Protocol):
    """What a project tells of its files, its folders with Python files, and which module an import means."""

    root: Path
    files: tuple[Path, ...]
    known: frozenset[Path]

    @property
    def folders(self) -> frozenset[Path]: ...
    @property
    def files_with_sys_path(self) -> Sequence[Path]: ...
    def added(self, path: Path) -> Added: ...
    def facts(self, path: Path) -> ModuleFacts | None: ...
    def matching(self, pattern: re.Pattern[bytes]) -> Sequence[Path]: ...
    def import_statements(self, path: Path) -> Iterator[re.Match[str]]: ...
    def module_file(self, base: Path, dotted: str) -> Path | None: ...
    def resolve_from(self, importer: Path, level: int, dotted: str) -> Path | None: ...
    def roots(self, importer: Path) -> Sequence[Path]: ...


class MissingModules:
    """Which imports of a project's files surely raise an ImportError."""

    def __init__(self, project: Imports) -> None:
        self.project = project
        self._failing: dict[Path, bool] = {}
        self._listed: dict[str, frozenset[str]] = {}

    @cached_property
    def _names(self) -> frozenset[str]:
        """What the project's top-level modules may be called: the names of its files and folders with Python files."""
        folders = {folder.name for folder in self.project.folders}
        return frozenset(folders.union(path.stem for path in self.project.files))

    @cached_property
    def _finds_others(self) -> bool:
        """Whether any file makes modules, or looks for them elsewhere than Python does."""
        return bool(self.project.matching(_FINDS_OTHERS))

    @cached_property
    def _built(self) -> str:
        """What the files say that build the project, and which repositories it takes in."""
        found = []
        around = self.project.root.parents[:_ABOVE]
        inside = sorted(one for one in self.project.folders if one.is_relative_to(self.project.root))
        for folder in (self.project.root, *around, *inside):
            found += [_text_of(folder / name) for name in sorted(_names_in(folder)) if _BUILDS.fullmatch(name)]
        return "\n".join(found)

    def fails(self, importer: Path, level: int, dotted: str) -> bool:
        """Whether `import dotted` or `from dotted import ...`, with `level` dots in front, surely raises in a file:
        there is no such module in the package of the project that it is to be in, or importing that one raises.
        """
        first = dotted.partition(".")[0]
        if not level and (first not in self._names or self._is_elsewhere(importer, first)):
            return False
        if self._finds_others:
            return False
        module = self.project.resolve_from(importer, level, dotted)
        if module is not None:
            inner = len(dotted.split(".")) - 1 if dotted else 0
            imported = [module, *list(self._packages_around(module, importer))[:inner]]
            return module != importer and any(self.is_failing(one) for one in imported if one.suffix == ".py")
        return self._is_missing(importer, level, dotted)

    def _packages_around(self, module: Path, importer: Path) -> Iterator[Path]:
        """The packages that Python imports before a module of theirs, but for those that the importer is in."""
        for folder in module.parents:
            package = folder / "__init__.py"
            if package not in self.project.known or importer.is_relative_to(folder):
                return
            yield package

    def is_failing(self, path: Path) -> bool:
        """Whether importing a file surely raises."""
        if path not in self._failing:
            self._failing[path] = False  # also of one that imports itself through others
            self._failing[path] = self._may_fail(path) and self._surely_fails(path)
        return self._failing[path]

    def _may_fail(self, path: Path) -> bool:
        """Whether an import at the beginning of a line fails: it may stand in a text."""
        for match in self.project.import_statements(path):
            if match[0][:1].isspace():
                continue
            if match["plain"] is None:
                if self.fails(path, len(match["dots"]), match["base"]):
                    return True
            elif any(self.fails(path, 0, part.split(" as ")[0].strip()) for part in match["plain"].split(",")):
                return True
        return False

    def _surely_fails(self, path: Path) -> bool:
        facts = self.project.facts(path)
        return (
            facts is not None
            and not facts.in_cells
            and any(self.fails(path, level, dotted) for _, level, dotted in imports_of(facts.body))
        )

    def _is_missing(self, importer: Path, level: int, dotted: str) -> bool:
        project = self.project
        first, _, rest = dotted.partition(".")
        if level:
            base = importer.parents[level - 1] if level <= len(importer.parents) else None
            if base is None or not dotted or not base.is_relative_to(project.root):
                return False
            return not self._may_be_there(base, dotted)
        if not rest or self._is_in_a_folder(rest):
            return False
        if any(project.added(path).is_partly_unknown for path in project.files_with_sys_path):
            return False
        bases = [root for root in project.roots(importer) if first.casefold() in self._in_folder(str(root))]
        above = [one for one in project.root.parents[:_ABOVE] if first.casefold() in self._in_folder(str(one))]
        # A folder that is a package is on Python's path only for a script in it.
        tops = (project.module_file(base, first) for base in bases if base / "__init__.py" not in project.known)
        # Python prefers an installed package to a folder without `__init__.py`; nobody installs one called `src`.
        is_own = any(top is not None and (top.name == "__init__.py" or top.name == "src") for top in tops)
        return is_own and not any(self._may_be_there(base, dotted) for base in (*bases, *above))

    def _is_elsewhere(self, importer: Path, name: str) -> bool:
        """Whether a top-level name may rather mean an installed package."""
        if name in _ELSEWHERE or name in sys.stdlib_module_names or name in copied_libraries(words=True):
            return True
        return name in copied_libraries() and name not in importer.parts

    def _is_in_a_folder(self, dotted: str) -> bool:
        """Whether any folder of the project has such a module, which another package of the same name may be."""
        parts = dotted.split(".")
        last = {path for path in self.project.files if parts[-1] in (path.stem, path.parent.name)}
        return any(self.project.module_file(path.parents[up], dotted) in last for path in last for up in range(3))

    def _may_be_there(self, base: Path, dotted: str) -> bool:
        """Whether a module may be below a folder: as a file of any kind, left out of the repository, or made."""
        folder = base
        for part in dotted.split("."):
            if _MADE.fullmatch(part) or re.search(rf"\b{part}\b", self._built):
                return True
            if part.casefold() not in self._in_folder(str(folder)):
                return self._is_ignored(folder, part)
            folder /= part
            if folder not in self.project.folders and not folder.with_suffix(".py").is_file():
                return True  # nothing is there yet: another repository that this one takes in, or no module at all
        return True

    def _in_folder(self, folder: str) -> frozenset[str]:
        """The names of what is in a folder, without endings, in small letters."""
        if folder not in self._listed:
            self._listed[folder] = frozenset(name.partition(".")[0].casefold() for name in _names_in(Path(folder)))
        return self._listed[folder]

    def _is_ignored(self, folder: Path, name: str) -> bool:
        top = git_top(self.project.root) or self.project.root
        around = [one for one in (folder, *folder.parents) if one.is_relative_to(top)]
        layers = tuple(layer for one in reversed(around) if (layer := gitignore_layer(one)) is not None)
        inside = str(folder / name)
        paths = [
            (inside, True),
            (f"{inside}.py", False),
            (f"{inside}/name.py", False),
            *((str(a), True) for a in around),
        ]
        return any(is_ignored(path, is_folder, layers) for path, is_folder in paths)


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []


def _text_of(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_LARGEST)
    except OSError:
        return ""
