"""The files of a project: their facts, and which of them an import means."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.facts.module import ModuleFacts, UnreadableModule, facts_of_text
from torchrepro_lint.program.call_words import attribute_called, type_parameter
from torchrepro_lint.program.files_of_tests import files_of_tests
from torchrepro_lint.program.import_folders import Added, folders_added
from torchrepro_lint.program.looks import Looks
from torchrepro_lint.program.missing_modules import MissingModules
from torchrepro_lint.program.project_texts import ProjectTexts
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.import_statements import import_statements, names_taken
from torchrepro_lint.source.left_over import is_of_cells
from torchrepro_lint.source.text import read_bytes

__all__ = ["FactsOf", "Project", "folder_of", "imports_top_level"]

FactsOf: TypeAlias = Callable[[Path, str], ModuleFacts]

#: Libraries that no module of a package stands in for.
_OF_LIBRARIES = frozenset({"torch", "numpy"})
_SYS_PATH = re.compile(rb"sys\.path\b|addsitedir")
# What may give files names that no statement of theirs binds: code that is run as text or in other namespaces, modules
# that are made or looked up, builtins that are set, and attributes of what is no object's own.
_NAMES_MADE = re.compile(
    rb"\b(?:exec|execfile|runpy|vars|locals|FunctionType|builtins|import_module|get_ipython|install)\b|\w*globals\w*"
    rb"|__dict__|__builtins__|\bsys\.modules\b|\bpatch\.object\b|\bsetattr\((?!\s*(?:self|cls)\s*,)"
)
# Of `import a.b as c, d`: a and d; of the base of `from a.b import c`: a.
_TOP_LEVEL = re.compile(r"(?:^|,)\s*(\w+)")


class Project(ProjectTexts):
    """All Python files below a root. Files are read, and parsed, when something first asks for them.

    `src` are folders in which Python looks for modules as well. `facts_of` may know the facts of a text that was read
    before. The rest is as in `ProjectTexts`.
    """

    def __init__(
        self,
        root: Path,
        files: Iterable[Path],
        overlay: Mapping[Path, str] | None = None,
        src: Sequence[Path] = (),
        facts_of: FactsOf = facts_of_text,
        read: Read = read_bytes,
        looks: Looks | None = None,
    ) -> None:
        super().__init__(files, overlay, read, looks)
        self.root = root
        self.src = tuple(src)
        self.facts_of = facts_of
        #: What was asked of other files than Python's, and the answers: for a variable, whether one names it.
        self.outside: dict[str, bool | str] = {}
        self._facts: dict[Path, ModuleFacts | None] = {}
        self._resolved: dict[tuple[Path, str], Path | None] = {}
        self._extra_roots: dict[Path, tuple[Path, ...]] = {}
        self._added: dict[Path, Added] = {}
        self._statements: dict[Path, tuple[re.Match[str], ...]] = {}

    @cached_property
    def tests(self) -> frozenset[Path]:
        """The files of the project that are tests."""
        return files_of_tests(self)

    @cached_property
    def folders(self) -> frozenset[Path]:
        """The folders that hold Python files, and those around them."""
        folders: set[Path] = set()
        for path in self.files:
            for folder in path.parents:
                if folder in folders:
                    break
                folders.add(folder)
        return frozenset(folders)

    @cached_property
    def _by_name(self) -> dict[str, Path]:
        return {str(path): path for path in self.files}

    @cached_property
    def _folders_by_name(self) -> dict[str, Path]:
        return {str(folder): folder for folder in self.folders}

    # --- facts ------------------------------------------------------------------------------------------------

    def facts(self, path: Path) -> ModuleFacts | None:
        """The facts of a file, or None where it is not readable Python (noted in `unreadable`)."""
        self.looks.facts(path)
        if path not in self._facts:
            source = self._source(path)
            facts = None
            if source is not None:
                try:
                    facts = self.facts_of(path, source.python)
                    facts.belong_to(_Around(self, path))
                except UnreadableModule as error:
                    self.unreadable[path] = (error.row, error.column, error.message)
            self._facts[path] = facts
        return self._facts[path]

    def lay_aside(self, path: Path, where: tuple[int, int, str]) -> None:
        """Counts a file as one that cannot be read: `where` is the row, the column and the reason."""
        self._facts[path] = None
        self.unreadable[path] = where

    def is_parsed(self, path: Path) -> bool:
        """Whether something has asked for the facts of a file."""
        return path in self._facts

    @cached_property
    def missing(self) -> MissingModules:
        """Which imports surely fail."""
        return MissingModules(self)

    def may_give(self, path: Path, name: str) -> bool:
        """Whether something in the project may give a file a name that no scope of the file binds: code that is run as
        text, a builtin that is set, or an attribute of that name, which may be the module's.
        """
        source = self._source(path)
        if source is None or is_of_cells(source.data) or self.matching(_NAMES_MADE):
            return True
        return self.holds(path, type_parameter(name)) or bool(self.matching(attribute_called(name)))

    # --- imports ----------------------------------------------------------------------------------------------

    def import_statements(self, path: Path) -> Iterator[re.Match[str]]:
        """The import statements of a file, in order; none where it cannot be read."""
        if path not in self._statements:
            source = self._source(path)
            self._statements[path] = tuple(import_statements(source.text)) if source is not None else ()
        return iter(self._statements[path])

    def module_file(self, base: Path, dotted: str) -> Path | None:
        """The file (or namespace folder) of the module `dotted` below the folder `base`."""
        # Asked a hundred thousand times in a large project: paths as texts are looked up in a tenth of the time.
        target = str(base).rstrip(os.sep)
        if dotted:
            target = f"{target}{os.sep}{dotted.replace('.', os.sep)}"
        package = self._by_name.get(f"{target}{os.sep}__init__.py")
        if package is not None:
            return package
        module = self._by_name.get(f"{target}.py") if dotted else None
        if module is not None:
            return module
        folder = self._folders_by_name.get(target)
        return folder if folder != self.root else None

    def resolve_relative(self, importer: Path, level: int, dotted: str) -> Path | None:
        """The module that `from ...dotted` means in the file `importer`."""
        base = importer.parent
        for _ in range(level - 1):
            base = base.parent
        if dotted:
            return self.module_file(base, dotted)
        package = base / "__init__.py"
        return package if package in self.known else (base if base in self.folders else None)

    def resolve_from(self, importer: Path, level: int, dotted: str) -> Path | None:
        """The module that `from dotted import ...` means in the file `importer`, with `level` dots in front."""
        return self.resolve_relative(importer, level, dotted) if level else self.resolve(importer, dotted)

    def resolve(self, importer: Path, dotted: str) -> Path | None:
        """The project file that `import dotted` means in `importer`, or None for a module from elsewhere."""
        key = (importer.parent, dotted)
        if self._extra_roots_of(importer) or dotted.partition(".")[0] in (importer.stem, self.root.name):
            key = (importer, dotted)
        if key not in self._resolved:
            self._resolved[key] = self._search(importer, dotted)
        return self._resolved[key]

    def _search(self, importer: Path, dotted: str) -> Path | None:
        first = dotted.partition(".")[0]
        itself: Path | None = None
        for root in self.roots(importer):
            top = self.module_file(root, first)
            if top is None or (root != self.root and self._is_named_after_a_library(first, top, root)):
                continue
            found = self.module_file(root, dotted)
            if found is None or not (found.suffix == ".py" or self._is_namespace(found)):
                continue
            if found != importer or found.name == "__init__.py":
                return found
            itself = found  # `from train import utils` in train/train.py rather means the folder
        return itself or self._below_its_own_name(importer, dotted) or self._in_an_unknown_folder(importer, dotted)

    def _in_an_unknown_folder(self, importer: Path, dotted: str) -> Path | None:
        """The one module of the project that an import may mean in a file that adds a folder which is not told."""
        found = self._all_in_unknown_folders(importer, dotted)
        return found[0] if len(found) == 1 else None

    def _all_in_unknown_folders(self, importer: Path, dotted: str) -> Sequence[Path]:
        if not self.added(importer).is_partly_unknown:
            return ()
        first = dotted.partition(".")[0]
        found = {
            self.module_file(folder, dotted)
            for folder in self.folders
            if (top := self.module_file(folder, first)) is not None
            and folder / "__init__.py" not in self.known
            and not self._is_named_after_a_library(first, top, folder)
        } - {None, importer}
        return [one for one in in_order(path for path in found if path is not None) if one.suffix == ".py"]

    def has_an_unknown_import(self, importer: Path) -> bool:
        """Whether a file imports a module of which several of the project have the name, from a folder that its text
        does not tell.
        """
        if not self.added(importer).is_partly_unknown:
            return False
        bases = [
            name.split()[0]
            for match in self.import_statements(importer)
            for name in (match["plain"] or match["base"] if not match["dots"] else "").split(",")
            if name.strip()
        ]
        return any(
            self.resolve(importer, name) is None and len(self._all_in_unknown_folders(importer, name)) > 1
            for name in bases
        )

    def _below_its_own_name(self, importer: Path, dotted: str) -> Path | None:
        """The module that a file means whose whole project is a namespace package: `pkg.data` in the folder `pkg`.

        None where the file imports the name alone, or something of it that is not there: it is a library's.
        """
        first, _, rest = dotted.partition(".")
        if first != self.root.name:
            return None
        known = list(_named_below(self.import_statements(importer), first))
        if not known or any(self.module_file(self.root, name.partition(".")[0]) is None for name in known):
            return None
        return self.module_file(self.root, rest) if rest else self.root

    def _is_named_after_a_library(self, name: str, path: Path, folder: Path) -> bool:
        """Whether the module `path` of a folder has the name of another that its neighbours mean: one that it imports
        itself (a package may mean its own modules by that); in a package also one of the standard library, torch
        or NumPy (`pkg/torch/` beside `pkg/tensorflow/`).
        """
        is_outside = name in sys.stdlib_module_names or name in _OF_LIBRARIES
        if is_outside and folder / "__init__.py" in self.known:
            return True
        return path.name == f"{name}.py" and imports_top_level(self.import_statements(path), name)

    def _is_namespace(self, folder: Path) -> bool:
        return folder.is_relative_to(self.root)

    def roots(self, importer: Path) -> list[Path]:
        """Where Python would look for a top-level module, nearest first."""
        own = importer.parent
        chain = [own, *own.parents] if own.is_relative_to(self.root) else [own]
        if self.root in chain:
            chain = chain[: chain.index(self.root) + 1]
        packages = [folder for folder in chain if folder / "__init__.py" in self.known]
        outside = [folder for folder in chain if folder not in packages]
        # Inside a package the parent of the package comes first; a module that is run as a script sees its own folder.
        ordered = [*outside, *packages] if packages else chain
        # A repository of several projects has a `src` in each.
        beside = [folder / name for folder in chain for name in ("src", "lib") if folder / name in self.folders]
        extra = [*self._extra_roots_of(importer), *beside, *self.src]
        return [*ordered, *(folder for folder in extra if folder not in ordered)]

    def _extra_roots_of(self, importer: Path) -> tuple[Path, ...]:
        """The folders on `sys.path` besides: what the file adds, and the modules that it imports; and where one of the
        folders that other files add holds the file, what else these add.
        """
        if importer not in self._extra_roots:
            self._extra_roots[importer] = ()
            if setters := self.files_with_sys_path:
                with_it = [importer, *(path for path in self._imported_setters(importer) if path != importer)]
                around = frozenset(importer.parents)
                with_it += [path for path in setters if not around.isdisjoint(self._added_aside(path))]
                found = {folder: None for path in with_it for folder in self.added(path).folders}
                self._extra_roots[importer] = tuple(found)
        return self._extra_roots[importer]

    def _added_aside(self, path: Path) -> Iterator[Path]:
        """The folders that a file adds to `sys.path`, but for those around it, which hold much that it does not run."""
        return (folder for folder in self.added(path).folders if not path.is_relative_to(folder))

    @property
    def files_with_sys_path(self) -> Sequence[Path]:
        """The files that name `sys.path`, to which they may add a folder."""
        return self.matching(_SYS_PATH)

    def _imported_setters(self, importer: Path) -> Iterator[Path]:
        """The modules that a file imports by name alone, from its own folder, and that add to `sys.path`."""
        own = {path.stem: path for path in self.files_with_sys_path if path.parent == importer.parent}
        if own:
            for match in self.import_statements(importer):
                names = (match["plain"] or match["base"] if not match["dots"] else match["names"]).split(",")
                yield from (own[name] for one in names if (name := one.partition(" as ")[0].strip()) in own)

    def added(self, path: Path) -> Added:
        """What a file adds to `sys.path`."""
        if path not in self._added:
            facts = self.facts(path) if self.holds(path, _SYS_PATH) else None
            # Read from the file alone: which modules the project has depends on it.
            alone = ModuleFacts(path, facts.body) if facts is not None else None
            self._added[path] = folders_added(alone, self.root, self.folders) if alone is not None else Added()
        return self._added[path]


@dataclass(frozen=True, slots=True)
class _Around:
    """What a project is to one of its files."""

    project: Project
    path: Path

    def may_give(self, name: str) -> bool:
        return self.project.may_give(self.path, name)

    def fails(self, level: int, module: str) -> bool:
        return self.project.missing.fails(self.path, level, module)


def _named_below(statements: Iterable[re.Match[str]], package: str) -> Iterator[str]:
    """What import statements name below a package, "" for the package itself."""
    for match in statements:
        if match["dots"]:
            continue
        if match["base"] == package:
            yield from names_taken(match)
        for name in (match["plain"] or match["base"]).split(","):
            first, _, rest = (name.split() or [""])[0].partition(".")
            if first == package and (rest or match["plain"]):
                yield rest


def folder_of(module: Path) -> Path:
    """Where the modules lie that are below a module: the folder of a package, for its `__init__.py`."""
    return module.parent if module.name == "__init__.py" else module


def imports_top_level(statements: Iterable[re.Match[str]], name: str) -> bool:
    """Whether one of these import statements means a top-level module of that name."""
    return any(
        not match["dots"] and name in _TOP_LEVEL.findall(match["plain"] or match["base"]) for match in statements
    )
