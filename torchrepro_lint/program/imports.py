"""Who imports whom: the graph of a project's files.

It is read from the text of the import statements, without a parse, so that the whole project can be asked. A statement
inside a string counts as well; that can only join programs that are apart, never part one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from torchrepro_lint.program.components import components
from torchrepro_lint.program.modules import Project, folder_of
from torchrepro_lint.source.discovery import in_order

__all__ = ["ImportGraph"]

_NAME = re.compile(r"[\w.]+|\*")


class ImportGraph:
    """Edges between the files of a project, and what can be reached along them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._above: dict[Path, frozenset[Path]] = {}
        self._below: dict[Path, frozenset[Path]] = {}
        self._imported: dict[Path, frozenset[Path]] = {}
        self._together: dict[frozenset[Path], frozenset[Path]] = {}
        self._ordered: dict[frozenset[Path], list[Path]] = {}
        self._found: dict[tuple[re.Pattern[bytes], frozenset[Path]], bool] = {}

    def imported_by_file(self, path: Path) -> frozenset[Path]:
        """The project files that importing `path` imports directly, the packages around them included."""
        self.project.looks.imports()
        if path not in self._imported:
            self._imported[path] = self._read(path)
        return self._imported[path]

    def _read(self, path: Path) -> frozenset[Path]:
        found: set[Path] = set()
        for match in self.project.import_statements(path):
            for target in self._targets(path, match):
                if target.suffix == ".py":
                    found.add(target)
                    self._add_packages(target, found)
        found.discard(path)
        return frozenset(found)

    def _targets(self, path: Path, match: re.Match[str]) -> Iterator[Path]:
        if match["plain"] is not None:
            for part in match["plain"].split(","):
                dotted = part.split(" as ")[0].strip()
                target = self.project.resolve(path, dotted) if re.fullmatch(r"[\w.]+", dotted) else None
                if target is not None:
                    yield target
            return
        base, level = match["base"], len(match["dots"])
        home = self.project.resolve_relative(path, level, base) if level else self.project.resolve(path, base)
        if home is None:
            return
        yield home
        folder = folder_of(home)
        if folder.suffix == ".py":
            return
        for name in _NAME.findall(match["names"]):
            below = self.project.module_file(folder, name) if "." not in name and name != "*" else None
            if below is not None:
                yield below

    def _add_packages(self, target: Path, found: set[Path]) -> None:
        folder = target.parent
        while (package := folder / "__init__.py") in self.project.known and package != target:
            found.add(package)
            folder = folder.parent

    @cached_property
    def _importers(self) -> dict[Path, set[Path]]:
        importers: dict[Path, set[Path]] = {}
        for path in self.project.files:
            for target in self.imported_by_file(path):
                importers.setdefault(target, set()).add(path)
        return importers

    @cached_property
    def _beside(self) -> dict[Path, list[Path]]:
        """For each file those that import it and are imported by it, be it through others: a package whose modules
        import each other has the same above and below them all.
        """
        return {path: part for part in components(self.project.files, self.imported_by_file) for path in part}

    def is_imported(self, path: Path) -> bool:
        """Whether another file imports `path`."""
        self.project.looks.imports()
        return path in self._importers

    def importers(self, path: Path) -> Sequence[Path]:
        """The files that import `path` directly, in order."""
        self.project.looks.imports()
        return in_order(self._importers.get(path, ()))

    def is_imported_at_once(self, path: Path) -> bool:
        """Whether a file imports `path` as it starts, and not in a function or a branch, which may never run."""
        self.project.looks.imports()
        return any(
            not match[0][:1].isspace() and path in self._targets(importer, match)
            for importer in sorted(self._importers.get(path, ()))
            for match in self.project.import_statements(importer)
        )

    def lacks_a_module(self, path: Path) -> bool:
        """Whether it is not known of an import in the programs that `path` is part of which module of the project it
        means.
        """
        return any(
            self.project.has_an_unknown_import(one)
            for one in self.project.files_with_sys_path
            if one in self.together(path)
        )

    def below(self, path: Path) -> frozenset[Path]:
        """The files that importing `path` imports, directly or through others, and itself."""
        self.project.looks.imports()
        if path not in self._below:
            below = self._closure([path])
            self._below.update(dict.fromkeys(self._beside.get(path, (path,)), below))
        return self._below[path]

    def above(self, path: Path) -> frozenset[Path]:
        """`path` and every file that imports it, directly or through others."""
        self.project.looks.imports()
        if path not in self._above:
            seen = {path}
            pending = [path]
            while pending:
                for importer in self._importers.get(pending.pop(), ()):
                    if importer not in seen:
                        seen.add(importer)
                        pending.append(importer)
            self._above.update(dict.fromkeys(self._beside.get(path, (path,)), frozenset(seen)))
        return self._above[path]

    def together(self, path: Path) -> frozenset[Path]:
        """The files of the programs that `path` is part of: all above it, and what these import."""
        return self.with_imports(self.above(path))

    def with_imports(self, files: frozenset[Path]) -> frozenset[Path]:
        """`files`, and all that these import, directly or through others."""
        self.project.looks.imports()
        if files not in self._together:
            self._together[files] = self._closure(files)
        return self._together[files]

    def ordered(self, files: frozenset[Path]) -> Sequence[Path]:
        """`files` in the order of their paths, sorted once."""
        if files not in self._ordered:
            self._ordered[files] = in_order(files)
        return self._ordered[files]

    def any_together(self, path: Path, pattern: re.Pattern[bytes]) -> bool:
        """Whether the pattern finds something in one of the files of the programs that `path` is part of."""
        return self._any(self.together(path), pattern)

    def any_below(self, path: Path, pattern: re.Pattern[bytes]) -> bool:
        """Whether the pattern finds something in `path`, or in a file that importing it imports."""
        return self._any(self.below(path), pattern)

    def follow(self, changed: Iterable[Path]) -> None:
        """Other texts have come: what patterns find in them is asked anew, and so is what these files import."""
        self._found.clear()
        for path in changed:
            self._imported.pop(path, None)
            for table in (self._above, self._below, self._together, self._ordered):
                table.clear()
            self.__dict__.pop("_importers", None)
            self.__dict__.pop("_beside", None)

    def _any(self, files: frozenset[Path], pattern: re.Pattern[bytes]) -> bool:
        self.project.looks.pattern(pattern)
        key = (pattern, files)
        if key not in self._found:
            self._found[key] = any(self.project.holds(file, pattern) for file in self.ordered(files))
        return self._found[key]

    def _closure(self, paths: Iterable[Path]) -> frozenset[Path]:
        found = set(paths)
        pending = list(found)
        while pending:
            new = self.imported_by_file(pending.pop()) - found
            found |= new
            pending += new
        return frozenset(found)
