"""Where the programs of a project start: guards for `__main__`, console scripts, scripts with code at the top level.

Tests, set-up files and modules that only define things are not programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import FunctionValue, Site
from torchrepro_lint.program.running.guards import is_main_guard
from torchrepro_lint.program.running.project_tests import is_called_as_a_program, tries_itself_out
from torchrepro_lint.regular_files import read_if_there
from torchrepro_lint.source.outside import METADATA

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["EntryPoint", "entry_points"]

_TORCH = re.compile(rb"\btorch\b|lightning|transformers|accelerate")
#: A statement that seeds something.
_SEEDS = re.compile(rb"^[ \t]*(?:\w+\.)*\w*seed\w*\(", re.MULTILINE)
_GUARD = re.compile(rb"__name__\s*==\s*['\"]__main__['\"]|['\"]__main__['\"]\s*==\s*__name__")
_CONSOLE = re.compile(r"['\"]?[\w.-]+['\"]?\s*=\s*['\"]?([A-Za-z_][\w.]*):([A-Za-z_]\w*)")
_NO_PROGRAM = re.compile(
    r"setup\.py|conftest\.py|noxfile\.py|tasks\.py|hubconf\.py|__init__\.py|conf\.py|"
    r".*(benchmark|bench|demo|profile|speed|convert|export|visuali[sz]e|viewer|plot|download|prepare|preprocess).*"
    r"\.(?:py|ipynb)"
)


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """Where a program starts. `called` is what a console script imports and calls; None for a file that is run."""

    facts: ModuleFacts
    site: Site
    called: str | None = None

    @property
    def path(self) -> Path:
        return self.facts.path


def entry_points(program: Program) -> list[EntryPoint]:
    """All of them, in the order of files."""
    return program.ev.of_project("entry-points", lambda: list(_entry_points(program)), [])


def _entry_points(program: Program) -> Iterator[EntryPoint]:
    scripts = _console_scripts(program)
    for path in program.project.files:
        if _NO_PROGRAM.fullmatch(path.name) or program.is_test(path):
            continue
        if not program.project.is_readable(path):
            continue
        yield from scripts.get(path, ())
        guarded = path in program.project.mentioning("__main__") and program.project.holds(path, _GUARD)
        if program.imports.is_imported(path) and (not guarded or tries_itself_out(program, path)):
            continue  # a library module
        if not guarded and not _uses_torch(program, path):
            continue
        facts = program.facts(path)
        site = _start(facts) if facts is not None else None
        if facts is not None and site is not None:
            yield EntryPoint(facts, Site(path, site))


def _uses_torch(program: Program, path: Path) -> bool:
    """Whether a file names torch, or imports a module that does, and seeds something or is called as programs are."""
    if program.project.holds(path, _TORCH):
        return True
    is_program = is_called_as_a_program(path) or program.project.holds(path, _SEEDS)
    return is_program and program.imports.any_below(path, _TORCH)


def _start(facts: ModuleFacts) -> int | None:
    """The guard, or the first statement of the top level that does something; None for a module that only defines."""
    for statement in facts.body:
        if is_main_guard(statement):
            return statement.site
    runs = any(
        isinstance(statement, (tree.For, tree.While, tree.With))
        or (isinstance(statement, tree.ExprStmt) and isinstance(statement.value, tree.Call))
        for statement in facts.body
    )
    for statement in facts.body:
        match statement:
            case tree.Import() | tree.ImportFrom() | tree.FunctionDef() | tree.ClassDef():
                continue
            case tree.ExprStmt(value=tree.Const()):
                continue
        return statement.site if runs else None
    return None


def _script_entry(program: Program, path: Path, name: str) -> EntryPoint | None:
    """A function, or an object that is called like one (`app = typer.Typer()`), in the file that makes it."""
    facts = program.facts(path)
    if facts is None:
        return None
    for value in ordered(program.ev.name(name, END, program.ev.module_frame(facts))):
        if isinstance(value, FunctionValue) and value.frame.scope.parent is None:
            home = value.frame.facts
            return EntryPoint(home, Site(home.path, value.node.site), value.name)
    for binding in facts.scope.bindings.get(name, ()):
        if binding.kind == "assign" and binding.node is not None:
            return EntryPoint(facts, Site(path, binding.node.site), name)
    return None


def _console_scripts(program: Program) -> dict[Path, list[EntryPoint]]:
    """What the project's metadata names as console scripts, by the file that has it."""
    found: dict[Path, dict[str, EntryPoint]] = {}
    for name in METADATA:
        file = program.root / name
        text = read_if_there(file).decode("utf-8", "replace")
        if "scripts" not in text:
            continue
        for match in _CONSOLE.finditer(text):
            path = program.project.resolve(program.root / "setup.py", match[1])
            entry = _script_entry(program, path, match[2]) if path is not None and path.suffix == ".py" else None
            if entry is not None and entry.called is not None:
                found.setdefault(entry.path, {})[entry.called] = entry
    return {path: [entries[name] for name in sorted(entries)] for path, entries in found.items()}
