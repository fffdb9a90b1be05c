"""The files of a project: their text, their facts, and which of them an import means."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import strings_in
from torchrepro_lint.facts.module import ModuleFacts, UnreadableModule, facts_of_text
from torchrepro_lint.program.call_words import may_call
from torchrepro_lint.program.import_statements import import_statements
from torchrepro_lint.program.looks import Looks
from torchrepro_lint.program.word_index import WordIndex, any_word, finds
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.text import Source, decode, read_bytes

__all__ = ["FactsOf", "Project", "folder_of", "imports_top_level"]

FactsOf: TypeAlias = Callable[[Path, str], ModuleFacts]

_SYS_PATH = re.compile(rb"sys\.path")
_IMPORTED = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)
# Of `import a.b as c, d`: a and d; of the base of `from a.b import c`: a.
_TOP_LEVEL = re.compile(r"(?:^|,)\s*(\w+)")

# The decorators of the functions and classes that are statements of a module: what stands behind an `@` in the first
# column.
_DECORATORS = re.compile(rb"(?:^|[\n\r\f]|\xbb\xbf)@[^\n\r]*")


def _decorators(source: Source) -> bytes:
    return b" ".join(_DECORATORS.findall(source.searched))


class Project:
    """All Python files below a root. Files are read, and parsed, when something first asks for them.

    `overlay` gives texts that stand for what is on disk: unsaved editor buffers, or files with fixes not yet written.
    `facts_of` may know the facts of a text that was read before, and `read` the bytes of a file. `looks` is what was
    asked of the texts.
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
        self.root = root
        self.looks = looks or Looks()
        self.read = read
        self.overlay = dict(overlay or {})
        self.files: tuple[Path, ...] = tuple(sorted({*files, *self.overlay}))
        self.src = tuple(src)
        self.unreadable: dict[Path, tuple[int, int, str]] = {}
        self.known = frozenset(self.files)
        self.facts_of = facts_of
        #: What was asked of other files than Python's, and the answers: for a variable, whether one names it.
        self.outside: dict[str, bool | str] = {}
        self._sources: dict[Path, Source | None] = {}
        self._facts: dict[Path, ModuleFacts | None] = {}
        self._resolved: dict[tuple[Path, str], Path | None] = {}
        self._containing: dict[str, tuple[Path, ...]] = {}
        self._mentioning: dict[str, frozenset[Path]] = {}
        self._matching: dict[re.Pattern[bytes], list[Path]] = {}
        self._holds: dict[re.Pattern[bytes], dict[Path, bool]] = {}
        self._extra_roots: dict[Path, tuple[Path, ...]] = {}

    @cached_property
    def _folders(self) -> frozenset[Path]:
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
        return {str(folder): folder for folder in self._folders}

    # --- text and facts ---------------------------------------------------------------------------------------

    def source(self, path: Path) -> Source | None:
        """The text of a file, or None where it cannot be read or decoded (noted in `unreadable`). Who asks whether
        something stands in it asks `holds`: then only a change of the answer counts.
        """
        self.looks.text(path)
        return self._source(path)

    def _source(self, path: Path) -> Source | None:
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def _read(self, path: Path) -> Source | None:
        if path in self.overlay:
            text = self.overlay[path]
            return Source(path, text.encode("utf-8", "surrogatepass"), "utf-8", False, text)
        try:
            return decode(path, self.read(path))
        except TorchReproLintError as error:
            self.unreadable[path] = (1, 1, str(error))
            return None

    def is_readable(self, path: Path) -> bool:
        """Whether a file can be read and decoded."""
        return self._source(path) is not None

    def facts(self, path: Path) -> ModuleFacts | None:
        """The facts of a file, or None where it is no readable Python (noted in `unreadable`)."""
        self.looks.facts(path)
        if path not in self._facts:
            source = self._source(path)
            facts = None
            if source is not None:
                try:
                    facts = self.facts_of(path, source.python)
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
    def _words(self) -> WordIndex:
        return WordIndex(source.searched if source is not None else b"" for source in map(self._source, self.files))

    def containing(self, word: str) -> tuple[Path, ...]:
        """The files in whose text the identifier `word` stands, in order: all that could mention that name."""
        self._look_for(word)
        if word not in self._containing:
            if word.isascii():
                found = [self.files[number] for number in self._words.holding(word.encode())]
            else:
                found = self._searched(any_word([word]), self.files)
            self._containing[word] = tuple(found)
        return self._containing[word]

    def mentioning(self, word: str) -> frozenset[Path]:
        """The files of `containing`, to ask for one of them."""
        self._look_for(word)
        if word not in self._mentioning:
            self._mentioning[word] = frozenset(self.containing(word))
        return self._mentioning[word]

    def _look_for(self, word: str) -> None:
        if word.isascii():
            self.looks.word(word.encode())
        else:
            self.looks.pattern(any_word([word]))

    @cached_property
    def _words_of_decorators(self) -> WordIndex:
        sources = map(self._source, self.files)
        return WordIndex(_decorators(one) if one is not None else b"" for one in sources)

    def _reindex(self, number: int, old: Source, new: Source) -> None:
        """The file of this number has another text: the indexes that there are follow."""
        if "_words" in self.__dict__:
            self._words.replace(number, old.searched, new.searched)
        if "_words_of_decorators" in self.__dict__:
            self._words_of_decorators.replace(number, _decorators(old), _decorators(new))

    def decorating(self, name: str) -> list[Path]:
        """The files in which the name stands behind an `@` at the start of a line, so that it may be a decorator of
        what the module itself defines, in order.
        """
        pattern = re.compile(_DECORATORS.pattern + any_word([name]).pattern)
        if not name.isascii():
            return self._searched(pattern, self.containing(name))
        self.looks.pattern(pattern)
        return [self.files[number] for number in self._words_of_decorators.holding(name.encode())]

    def matching(self, pattern: re.Pattern[bytes], among: Iterable[Path] | None = None) -> list[Path]:
        """The files, of all or of those in `among`, whose bytes the pattern finds something in, in order."""
        if among is not None:
            return self._searched(pattern, among)
        self.looks.pattern(pattern)
        if pattern not in self._matching:
            numbers = self._words.holding_any(pattern)
            if numbers is not None:
                self._matching[pattern] = [self.files[number] for number in numbers]
                return list(self._matching[pattern])
            numbers = self._words.may_match(pattern)
            candidates = self.files if numbers is None else [self.files[number] for number in numbers]
            self._matching[pattern] = self._searched(pattern, candidates)
        return list(self._matching[pattern])

    def _searched(self, pattern: re.Pattern[bytes], files: Iterable[Path]) -> list[Path]:
        self.looks.pattern(pattern)
        sources = ((path, self._source(path)) for path in files)
        return [path for path, source in sources if source is not None and finds(pattern, source.searched)]

    def holds(self, path: Path, pattern: re.Pattern[bytes]) -> bool:
        """Whether the pattern finds something in the bytes of a file that can be read."""
        self.looks.pattern(pattern)
        answers = self._holds.setdefault(pattern, {})
        if path not in answers:
            source = self._source(path)
            answers[path] = source is not None and finds(pattern, source.searched)
        return answers[path]

    def may_call(self, path: Path, name: str) -> bool:
        """Whether a file that can be read may call something by that name, or give it another name."""
        self.looks.call(name.encode())
        source = self._source(path)
        return source is not None and may_call(source.searched, name.encode())

    def may_call_any(self, path: Path, names: Iterable[str]) -> bool:
        """Whether `may_call` holds of one of these names."""
        return any(self.may_call(path, name) for name in names)

    # --- imports ----------------------------------------------------------------------------------------------

    def import_statements(self, path: Path) -> Iterator[re.Match[str]]:
        """The import statements of a file, in order; none where it cannot be read."""
        source = self._source(path)
        return import_statements(source.text) if source is not None else iter(())

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
        return package if package in self.known else (base if base in self._folders else None)

    def resolve_from(self, importer: Path, level: int, dotted: str) -> Path | None:
        """The module that `from dotted import ...` means in the file `importer`, with `level` dots in front."""
        return self.resolve_relative(importer, level, dotted) if level else self.resolve(importer, dotted)

    def resolve(self, importer: Path, dotted: str) -> Path | None:
        """The project file that `import dotted` means in `importer`, or None for a module from elsewhere."""
        key = (importer.parent, dotted)
        if self._extra_roots_of(importer) or dotted.partition(".")[0] == importer.stem:
            key = (importer, dotted)
        if key not in self._resolved:
            self._resolved[key] = self._search(importer, dotted)
        return self._resolved[key]

    def importable_name(self, importer: Path, target: Path) -> str | None:
        """The dotted name by which `importer` can import the file `target`; None if by none.

        Of several (`src.pkg` and `pkg`), the one that starts as an import of the file does, else the shortest.
        """
        names: list[str] = []
        for root in self._roots(importer):
            # A module inside a package sees its neighbours only where it is run as a script.
            if not target.is_relative_to(root) or (root / "__init__.py" in self.known and names):
                continue
            parts = list(target.relative_to(root).with_suffix("").parts)
            if parts and parts[-1] == "__init__":
                parts.pop()
            dotted = ".".join(parts)
            if parts and all(part.isidentifier() for part in parts) and self.resolve(importer, dotted) == target:
                names.append(dotted)
        if len(names) < 2:
            return names[0] if names else None
        source = self.source(importer)
        used = set(_IMPORTED.findall(source.text)) if source is not None else set()
        return min(names, key=lambda name: (name.partition(".")[0] not in used, name.count(".")))

    def _search(self, importer: Path, dotted: str) -> Path | None:
        first = dotted.partition(".")[0]
        itself: Path | None = None
        for root in self._roots(importer):
            top = self.module_file(root, first)
            if top is None or (root != self.root and self._is_named_after_a_library(first, top, root)):
                continue
            found = self.module_file(root, dotted)
            if found is None or not (found.suffix == ".py" or self._is_namespace(found)):
                continue
            if found != importer or found.name == "__init__.py":
                return found
            itself = found  # `from train import utils` in train/train.py rather means the folder
        return itself

    def _is_named_after_a_library(self, name: str, path: Path, folder: Path) -> bool:
        """Whether the module `path` of a folder has the name of another that its neighbours mean: one that it imports
        itself (a package may mean its own modules by that); in a package also one of the standard library.
        """
        if name in sys.stdlib_module_names and folder / "__init__.py" in self.known:
            return True
        return path.name == f"{name}.py" and imports_top_level(self.import_statements(path), name)

    def _is_namespace(self, folder: Path) -> bool:
        return folder.is_relative_to(self.root)

    def _roots(self, importer: Path) -> list[Path]:
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
        beside = [folder / name for folder in chain for name in ("src", "lib") if folder / name in self._folders]
        extra = [*self._extra_roots_of(importer), *beside, *self.src]
        return [*ordered, *(folder for folder in extra if folder not in ordered)]

    def _extra_roots_of(self, importer: Path) -> tuple[Path, ...]:
        """Folders named literally in `sys.path.insert(0, "...")` or `.append("...")` of the file."""
        if importer not in self._extra_roots:
            self._extra_roots[importer] = ()
            if self.holds(importer, _SYS_PATH):
                facts = self.facts(importer)
                if facts is not None:
                    self._extra_roots[importer] = tuple(self._literal_paths(facts))
        return self._extra_roots[importer]

    def _literal_paths(self, facts: ModuleFacts) -> Iterable[Path]:
        for call, _ in facts.scope.calls:
            match call.func:
                case tree.Attribute(
                    value=tree.Attribute(value=tree.Name(id="sys"), attr="path"), attr="insert" | "append"
                ) if call.args:
                    for text in strings_in(call.args[-1].value):
                        for base in (facts.path.parent, self.root):
                            folder = Path(_normal(base / text))
                            if folder in self._folders:
                                yield folder


def folder_of(module: Path) -> Path:
    """Where the modules lie that are below a module: the folder of a package, for its `__init__.py`."""
    return module.parent if module.name == "__init__.py" else module


def imports_top_level(statements: Iterable[re.Match[str]], name: str) -> bool:
    """Whether one of these import statements means a top-level module of that name."""
    return any(
        not match["dots"] and name in _TOP_LEVEL.findall(match["plain"] or match["base"]) for match in statements
    )


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if len(parts) > 1:
                parts.pop()
        elif part != ".":
            parts.append(part)
    return str(Path(*parts)) if parts else "."
