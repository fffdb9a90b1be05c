"""What the import statements of a file give: modules, names out of them, and what a star brings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.known import is_known
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    External,
    ModuleValue,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["from_stars", "import_from", "import_module", "may_give", "module_at", "source_of", "star_sources"]


def import_module(ev: Evaluator, importer: Path, dotted: str) -> Values:
    """The module `dotted` as the file `importer` would import it."""
    path = ev.project.resolve(importer, dotted)
    if path is None:
        return values_of(External(canonical(dotted)))
    return module_at(ev, path)


def module_at(ev: Evaluator, path: Path) -> Values:
    """The module that a file or a folder of the project is."""
    if path.suffix != ".py":
        return values_of(ModuleValue(path, None))
    facts = ev.project.facts(path)
    return values_of(ModuleValue(path, facts)) if facts is not None else unknown()


def import_from(ev: Evaluator, importer: Path, statement: tree.ImportFrom, name: str) -> Values:
    """What `from module import name` gives in the file `importer`."""
    if statement.level:
        path = ev.project.resolve_relative(importer, statement.level, statement.module)
        if path is None:
            return unknown()
    else:
        path = ev.project.resolve(importer, statement.module)
        if path is None:
            return values_of(External(canonical(f"{statement.module}.{name}")))
    return union(*(ev.attribute(module, name) for module in module_at(ev, path)))


def source_of(ev: Evaluator, statement: tree.ImportFrom, frame: Frame) -> Path | None:
    """The module of the project that a statement imports from."""
    return ev.project.resolve_from(frame.facts.path, statement.level, statement.module)


def from_stars(ev: Evaluator, name: str, frame: Frame, first: int = 0) -> Values:
    """What the star imports of a module, from the one at place `first` on, may give under a name; empty for nothing."""
    parts: list[Values] = []
    importer = frame.facts.path
    for statement in frame.scope.stars[first:]:
        path = source_of(ev, statement, frame)
        if path is None:
            if not statement.level:
                parts.append(_external_star(statement.module, name))
        elif path != importer and not name.startswith("_") and may_give(ev, path, name):
            parts.extend(ev.attribute(module, name) for module in module_at(ev, path))
    return union(*parts) if parts else NOTHING


def star_sources(ev: Evaluator, statement: tree.ImportFrom, frame: Frame) -> Values:
    """The modules of the project that `from module import *` takes from."""
    path = source_of(ev, statement, frame)
    return module_at(ev, path) if path is not None and path != frame.facts.path else NOTHING


# A module that lists its names literally gives no other.
# A search that begins with letters leaps to them: what must be before them is asked afterwards.
_LISTED = re.compile(rb"__all__(?<!.__all__)[ \t]*(?::[^=\n]*)?=[ \t]*[\[(]\s*[\"'\])]")
_LISTED_ELSEWHERE = re.compile(rb"__all__[ \t]*(?:\+=|\.)|__all__[ \t]*=[^#]*?[\])][ \t]*\+")
_STAR = re.compile(rb"import[\s\\(]*\*")


def may_give(ev: Evaluator, path: Path, name: str) -> bool:
    """Whether a star import of a module may bring the name, asked of its text: there may be hundreds to look at."""
    project = ev.project
    if path.suffix != ".py" or project.holds(path, _STAR):
        return True
    if path not in project.mentioning(name):
        return False
    if not project.holds(path, _LISTED) or project.holds(path, _LISTED_ELSEWHERE):
        return True
    word = re.escape(name.encode())
    return project.holds(path, re.compile(rb"%s(?<=[\"']%s)[\"']" % (word, word)))


def _external_star(module: str, name: str) -> Values:
    """A name that `from external import *` may give: only one that is known to exist there."""
    full = canonical(f"{module}.{name}")
    return values_of(External(full)) if is_known(full) else NOTHING
