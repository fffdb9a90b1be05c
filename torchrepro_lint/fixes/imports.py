"""The import planner: how code that is to be inserted gets at a module, with as little new as can be.

A binding that is visible where the code will be is used under the name it has there. Only if there is none, an
import line is added: under a name that nothing else in the file has, at the place where a person would put it
(`import_layout.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.import_layout import ImportLine, place_imports
from torchrepro_lint.fixes.scopes import Binding, Scope, Target
from torchrepro_lint.fixes.visibility import is_made_on_the_way, runs_later

__all__ = ["ImportPlanner"]

_USUAL_ALIAS = {"numpy": "np", "torch.distributed": "dist"}
_STARS_WITH_RANDOM = frozenset({"numpy", "pylab", "matplotlib.pylab", "scipy"})


@dataclass(slots=True)
class ImportPlanner:
    """Plans the imports of one fix together, so that several new lines come out in order.

    `before` is the offset of the inserted code: new lines go above it (and above the statement of each `at`).
    """

    document: Document
    before: int | None = None
    _lines: dict[Target, tuple[str, ImportLine]] = field(default_factory=dict)

    def require(self, module: str, name: str | None = None, *, at: cst.CSTNode | None = None) -> str:
        """The expression for `module`, or for its attribute `name`, as it reads at the node `at`.

        Without `at`, the code will be in a new function at the level of the module. A binding counts only if it is
        made on every way to `at` (the body of a `try` counts: the file relies on it), and never one that is made for
        type checkers.
        """
        scope = self.document.scope if at is None else self.document.scope_of(at)
        found = self.find(module, name, at=at)
        if found is not None:
            return found
        planned = self._lines.get((module, name))
        if planned is None or scope.resolve(planned[0]) not in (None, self.document.scope):
            planned = self._new_line(scope, module, name)
            self._lines[(module, name)] = planned
        if at is not None:
            start = self.document.lead_start(self.document.top_level_statement(at))
            self.before = start if self.before is None else min(self.before, start)
        return planned[0]

    def find(self, module: str, name: str | None = None, *, at: cst.CSTNode | None = None) -> str | None:
        """The expression for `module`, or for its `name`, where one is bound already; nothing is planned."""
        scope = self.document.scope if at is None else self.document.scope_of(at)
        return _existing(self.document, scope, (module, name), at)

    def edits(self) -> list[Edit]:
        """The insertions that add what was asked for and is not there yet."""
        lines = [line for _, line in self._lines.values()]
        return place_imports(self.document, lines, self.before) if lines else []

    def _new_line(self, scope: Scope, module: str, name: str | None) -> tuple[str, ImportLine]:
        for bound, text in _spellings(module, name):
            if not self._is_taken(scope, bound, (module, name)):
                return bound, ImportLine(module, name is not None, text)
        raise AssertionError("the spellings never end")

    def _is_taken(self, scope: Scope, bound: str, target: Target) -> bool:
        root = self.document.scope
        if any(bound == other for key, (other, _) in self._lines.items() if key != target):
            return True
        if any(binding.target != target for binding in root.bindings.get(bound, ())):
            return True
        if scope.resolve(bound) not in (None, root):
            return True
        # A star import may be where an unbound name comes from. `np` and `torch` mean the same thing everywhere.
        return bound == "random" and _star_may_bind_random(root)


def _star_may_bind_random(root: Scope) -> bool:
    modules = {dotted_name(star.module) for star in root.stars if star.module is not None and not star.relative}
    if modules & _STARS_WITH_RANDOM:
        return True
    read = any("random" in scope.reads and scope.resolve("random") is None for scope in root.below())
    return bool(root.stars) and read


def _spellings(module: str, name: str | None) -> Iterator[tuple[str, str]]:
    """Names to bind, most natural first, and the line that binds each."""
    if name is not None:
        yield name, f"from {module} import {name}"
        yield f"_{name}", f"from {module} import {name} as _{name}"
        stem = name
        line = f"from {module} import {name} as "
    else:
        stem = last_part(module)
        usual = _USUAL_ALIAS.get(module)
        if usual is not None:
            yield usual, f"import {module} as {usual}"
        if "." not in module:
            yield module, f"import {module}"
        else:
            yield stem, f"import {module} as {stem}"
        yield f"_{stem}", f"import {module} as _{stem}"
        line = f"import {module} as "
    number = 2
    while True:
        yield f"_{stem}{number}", f"{line}_{stem}{number}"
        number += 1


def _existing(document: Document, scope: Scope, wanted: Target, at: cst.CSTNode | None) -> str | None:
    """The best expression for `wanted` that is already bound: a direct name before an attribute of a module."""
    found: list[tuple[int, int, str]] = []
    current: Scope | None = scope
    while current is not None:
        for name, binding in current.imported():
            suffix = _suffix(binding, wanted)
            if suffix is None or scope.resolve(name) is not current:
                continue
            if _is_usable(document, binding, current, scope, at):
                found.append((suffix.count("."), document.start(binding.node), name + suffix))
        current = current.parent
    return min(found)[2] if found else None


def _suffix(binding: Binding, wanted: Target) -> str | None:
    """What has to follow the imported name to reach `wanted`: "", ".name", ".sub.name"; None if nothing does."""
    assert binding.target is not None
    module, name = wanted
    bound_module, bound_name = binding.target
    if binding.target == wanted:
        return ""
    if bound_name is not None:
        # `from torch.utils import data` binds the module torch.utils.data, if that is a module. Where a module passes
        # on what it has imported (`from common import torch`), only torch's name is clear: `np` may be that of another.
        if f"{bound_module}.{bound_name}" != module and not bound_name == module == "torch":
            return None
        return "" if name is None else f".{name}"
    if bound_module == module and name is not None:
        return f".{name}"
    # `import a.b.c` makes a.b and a.b.c reachable through a.
    imported = _imported_module(binding)
    if imported != bound_module and (imported + ".").startswith(module + ".") and module.startswith(bound_module + "."):
        rest = module[len(bound_module) :]
        return rest if name is None else f"{rest}.{name}"
    return None


def _imported_module(binding: Binding) -> str:
    assert isinstance(binding.node, cst.ImportAlias)
    if binding.node.asname is not None:
        return binding.target[0] if binding.target is not None else ""
    return dotted_name(binding.node.name) or ""


def _is_usable(document: Document, binding: Binding, owner: Scope, scope: Scope, at: cst.CSTNode | None) -> bool:
    if not is_made_on_the_way(document, binding, at):
        return False
    if at is not None and not runs_later(scope, owner) and document.start(binding.node) > document.start(at):
        return False
    return all(
        other.target == binding.target or _is_handler_of(document, other, binding)
        for other in owner.bindings[binding.name]
    )


def _is_handler_of(document: Document, other: Binding, binding: Binding) -> bool:
    """Whether `other` is in an except clause of the `try` in whose body `binding` is made (`np = None`).

    An import there is another module under the same name, and then nobody knows which of them is bound.
    """
    if other.target is not None:
        return False
    tries = [node for node in document.ancestors(binding.node) if isinstance(node, cst.Try | cst.TryStar)]
    handlers = {id(handler) for node in tries for handler in node.handlers}
    return any(id(node) in handlers for node in document.ancestors(other.node))
