"""Worker init functions of other modules: those that a file can import in every way in which it is started.

A name that resolves in an editor need not resolve in the program. `python pkg/train.py` looks for modules in `pkg`,
`python -m pkg.train` in the folder above it, and a test runner in the root of the project. So a new import is written
only where one that is there already proves it: from the same folder of Python's module path, or as relative as it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.fixes.document import dotted_name
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.worker_init import ExistingInit, find_worker_init
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.program.files_of_tests import MAIN_GUARD
from torchrepro_lint.program.modules import folder_of
from torchrepro_lint.program.programs.for_others import is_copied, is_put_aside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchrepro_lint.program.program import Program

__all__ = ["existing_init", "importable_as", "other_homes"]

#: How many files an import may read that no other import of the file reads.
MAX_NEW = 8


def existing_init(program: Program, path: Path) -> ExistingInit | None:
    """A correct worker init function in another module that the file can import without running a script."""
    words = last_parts(known_calls("worker_seed") | known_calls("worker_info"))
    for file in sorted({file for word in words for file in program.project.containing(word)}):
        module = importable_as(program, path, file)
        if module is None or program.facts(file) is None:  # what cannot be read cannot be imported either
            continue
        found = document_of(program, file).once(find_worker_init)
        if found is not None:
            return ExistingInit(found.name.value, module)
    return None


def other_homes(program: Program, path: Path) -> frozenset[Path]:
    """The files with loaders from which this one can import a worker init function, should they be given one."""
    files = _with_loaders(program) & program.imports.below(path)  # others are none that a file imports first for this
    return frozenset(file for file in program.imports.ordered(files) if importable_as(program, path, file) is not None)


def _with_loaders(program: Program) -> frozenset[Path]:
    return program.once("files with loaders", lambda: frozenset(loader.facts.path for loader in program.loaders))


def importable_as(program: Program, path: Path, file: Path) -> str | None:
    """What stands after `from` where `path` imports something of the module `file`; None where that may fail.

    The module must be one that is imported already, in a program that the file `path` has a part in, or one that only
    defines things and needs no more than `path`. What is imported in a function alone may be one of several programs,
    which define the same options. A script is none that a file imports first for this, nor is a module with loaders of
    its own, a trainer or a data set beside that of the file: they may be moved or changed for their own ends, and so
    may what was put aside or copied.
    """
    importers, others = program.imports.above(path), program.imports.above(file)
    if file in importers or is_put_aside(program, file) or is_copied(program, file):
        return None
    if path not in others and (program.project.holds(file, MAIN_GUARD) or file in _with_loaders(program)):
        return None
    is_imported = len(others) > 1 and others & importers and program.imports.is_imported_at_once(file)
    if not is_imported and not _brings_nothing_new(program, path, file):
        return None
    module = _relative(program, path, file) or _absolute(program, path, file)
    # Beside each other at the top of a project are scripts, which may be moved or changed for their own ends.
    return module if is_imported or (module is not None and "." in module) else None


def _brings_nothing_new(program: Program, path: Path, file: Path) -> bool:
    """Whether importing `file` does no more than define functions and classes, and needs nothing that importing `path`
    does not need: the trainers of one package, of which each program imports another.
    """
    if _needed(program, file) is None:
        return False
    new = program.imports.below(file) - program.imports.below(path)
    if len(new) > MAX_NEW or program.facts(path) is None:
        return False
    there = {*_packages(program, path), *sys.stdlib_module_names, "torch", "numpy"}
    return all((needed := _needed(program, one)) is not None and needed <= there for one in new)


def _needed(program: Program, path: Path) -> frozenset[str] | None:
    """The packages from which a module imports that only defines things; None for others, and what cannot be read."""

    def find() -> frozenset[str] | None:
        if program.facts(path) is None or not all(map(_only_defines, document_of(program, path).module.body)):
            return None
        return _packages(program, path)

    return program.once(("only defines", path), find)


def _packages(program: Program, path: Path) -> frozenset[str]:
    """The packages from which a file imports at the level of the module."""
    return program.once(
        ("packages", path),
        lambda: frozenset(dotted.partition(".")[0] for dotted in _absolute_imports(program, path)),
    )


def _only_defines(statement: cst.BaseStatement) -> bool:
    """Whether a statement of a module only imports something, or defines a function, a class or a constant."""
    match statement:
        case cst.FunctionDef(decorators=decorators) | cst.ClassDef(decorators=decorators):
            return not decorators
        case cst.SimpleStatementLine(body=parts):
            return all(map(_is_inert, parts))
    return False


def _is_inert(part: cst.BaseSmallStatement) -> bool:
    match part:
        case cst.Import() | cst.ImportFrom() | cst.Pass() | cst.Expr(value=cst.SimpleString()):
            return True
        case cst.Assign(value=value) | cst.AnnAssign(value=value):
            is_plain = isinstance(value, cst.BaseNumber | cst.BaseString | cst.Name | cst.Attribute)
            return is_plain or (isinstance(value, cst.Call) and dotted_name(value.func) == "logging.getLogger")
    return False


def _relative(program: Program, path: Path, file: Path) -> str | None:
    """The module `file` as `path` names it in a relative import, if it imports its other neighbours so."""
    used = [len(node.relative) for node in _from_imports(program, path) if node.relative]
    for level in range(1, max(used, default=0) + 1):
        base = path.parents[level - 1]
        if file.is_relative_to(base):
            dotted = ".".join(file.relative_to(base).with_suffix("").parts).removesuffix("__init__").rstrip(".")
            if program.project.resolve_relative(path, level, dotted) == file:
                return "." * level + dotted
    return None


def _absolute(program: Program, path: Path, file: Path) -> str | None:
    """The dotted name of the module `file`, below a folder in which Python is known to look when it runs `path`."""
    known = _module_path(program, path)
    home = folder_of(file) if file.name == "__init__.py" else file.with_suffix("")
    names = []
    for folder, packages in known.items():
        parts = home.relative_to(folder).parts if home.is_relative_to(folder) else ()
        dotted = ".".join(parts)
        if not parts or not all(part.isidentifier() for part in parts):
            continue
        if program.project.resolve(path, dotted) == file:
            names.append((parts[0] not in packages, len(parts), dotted))
    return min(names)[2] if names else None


def _module_path(program: Program, path: Path) -> dict[Path, set[str]]:
    """The folders in which Python surely looks for modules when it runs a file, and what is imported from each.

    The absolute imports at the top of the file prove it, since the file needs them in every way in which it is started.
    A file without any, which is no script, is reached only by those that import it.
    """
    own: dict[Path, set[str]] = {}
    for dotted in _absolute_imports(program, path):
        _note(own, program, path, dotted)
    if own or _from_imports_are_relative(program, path) or "__main__" in document_of(program, path).text:
        return own
    ways = []
    for importer in sorted(program.imports.above(path) - {path}):
        if path in program.imports.imported_by_file(importer):
            found: dict[Path, set[str]] = {}
            for dotted in _absolute_imports(program, importer):
                if path in _meant(program, importer, dotted):
                    _note(found, program, importer, dotted)
            ways.append(found)
    common = set.intersection(*map(set, ways)) if ways else set()
    return {folder: ways[0][folder] for folder in sorted(common)}


def _note(known: dict[Path, set[str]], program: Program, importer: Path, dotted: str) -> None:
    target = program.project.resolve(importer, dotted)
    if target is None:
        return
    home = target.parent if target.name == "__init__.py" else target.with_suffix("")
    parts = dotted.split(".")
    if len(home.parents) >= len(parts) and list(home.parts[-len(parts) :]) == parts:
        known.setdefault(home.parents[len(parts) - 1], set()).add(parts[0])


def _meant(program: Program, importer: Path, dotted: str) -> set[Path | None]:
    """The file that the module `dotted` is, and those right below it, which `from dotted import name` may mean."""
    target = program.project.resolve(importer, dotted)
    if target is None or folder_of(target).suffix == ".py":
        return {target}
    names = {alias for node in _from_imports(program, importer) for alias in _names_from(node, dotted)}
    return {target, *(program.project.module_file(folder_of(target), name) for name in names)}


def _names_from(node: cst.ImportFrom, dotted: str) -> Iterator[str]:
    if not node.relative and node.module is not None and dotted_name(node.module) == dotted:
        for alias in node.names if not isinstance(node.names, cst.ImportStar) else ():
            yield dotted_name(alias.name) or ""


def _absolute_imports(program: Program, path: Path) -> Iterator[str]:
    """The modules that the file imports at the level of the module, whatever happens, by their full names."""
    for node in _imports(program, path):
        if isinstance(node, cst.Import):
            yield from (dotted_name(alias.name) or "" for alias in node.names)
        elif not node.relative and node.module is not None:
            yield dotted_name(node.module) or ""


def _from_imports_are_relative(program: Program, path: Path) -> bool:
    return any(node.relative for node in _from_imports(program, path))


def _from_imports(program: Program, path: Path) -> Iterator[cst.ImportFrom]:
    return (node for node in _imports(program, path) if isinstance(node, cst.ImportFrom))


def _imports(program: Program, path: Path) -> Iterator[cst.Import | cst.ImportFrom]:
    if program.facts(path) is None:
        return
    for statement in document_of(program, path).module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from (node for node in statement.body if isinstance(node, cst.Import | cst.ImportFrom))
