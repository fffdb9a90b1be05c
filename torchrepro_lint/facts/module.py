"""`ModuleFacts`: what one file says."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.quick_lower import quick_parse
from torchrepro_lint.facts.raising import Around
from torchrepro_lint.facts.scope_builder import build_scopes
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.old_syntax import NOT_BY_LIBCST
from torchrepro_lint.quiet import without_warnings
from torchrepro_lint.source.broken_cells import explained
from torchrepro_lint.source.cells import parts
from torchrepro_lint.source.depth import is_too_deep, too_large, too_large_for_python
from torchrepro_lint.source.text import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import libcst as cst
    from libcst import ParserSyntaxError

__all__ = ["ModuleFacts", "UnreadableModule", "facts_of_text", "parsed_with_places"]


_TOO_DEEP = "nested too deeply to be analysed"


class UnreadableModule(Exception):
    """The file is no Python that can be analysed. `row` and `column` start at 1."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


@dataclass(eq=False)
class ModuleFacts:
    """The lowered text of one file, and its scopes (built when first asked for)."""

    path: Path
    body: tree.Block
    _scopes: tuple[Scope, Callable[[object], Scope]] | None = field(default=None, repr=False)
    # The project, and what it has answered.
    _around: Around | None = field(default=None, repr=False)
    _names: dict[str, bool] = field(default_factory=dict, repr=False)
    _imports: dict[tuple[int, str], bool] = field(default_factory=dict, repr=False)

    @property
    def in_cells(self) -> bool:
        """Whether it is a notebook: its cells are run by hand."""
        return self.path.suffix == ".ipynb"

    def _build(self) -> tuple[Scope, Callable[[object], Scope]]:
        if self._scopes is None:
            asked = self if self._around is not None else None
            self._scopes = build_scopes(self.body, in_cells=self.in_cells, around=asked)
        return self._scopes

    def may_give(self, name: str) -> bool:
        """Whether anything in the project may give the file a name that it does not bind."""
        if name not in self._names:
            self._names[name] = self._around is None or not self.is_program or self._around.may_give(name)
        return self._names[name]

    def fails(self, level: int, module: str) -> bool:
        """Whether importing a module surely raises in the file, as the project has no such module."""
        if (level, module) not in self._imports:
            self._imports[level, module] = self._around is not None and self._around.fails(level, module)
        return self._imports[level, module]

    def belong_to(self, around: Around) -> None:
        """Says in which project the file is. Scopes that were built with other answers are built again."""
        self._around = around
        if not self.is_answered_alike():
            self._scopes, self._names, self._imports = None, {}, {}

    def is_answered_alike(self) -> bool:
        """Whether the project still gives the answers with which the scopes were built."""
        around = self._around
        if around is None:
            return True
        return all(
            (around.may_give(name) or not self.is_program) is given for name, given in self._names.items()
        ) and all(around.fails(*imported) is failed for imported, failed in self._imports.items())

    @property
    def is_program(self) -> bool:
        """Whether the file is more than an excerpt, in which names may be left open on purpose: it is no notebook,
        imports something, and defines two functions or classes at least.
        """
        defined = [one for one in self.body if isinstance(one, (tree.FunctionDef, tree.ClassDef))]
        imports = any(isinstance(one, (tree.Import, tree.ImportFrom)) for one in self.body)
        return len(defined) > 1 and imports and not self.in_cells

    @property
    def scope(self) -> Scope:
        """The module's own scope."""
        return self._build()[0]

    def scope_of(self, node: object) -> Scope:
        """The scope that a function, class, lambda or comprehension of this module opens."""
        return self._build()[1](node)

    def walk_scopes(self) -> Iterator[Scope]:
        """All scopes, outer before inner, in the order of the text."""
        pending = [self.scope]
        while pending:
            scope = pending.pop()
            yield scope
            pending.extend(reversed(scope.children))

    @cached_property
    def classes(self) -> tuple[tree.ClassDef, ...]:
        """All classes of the module, nested ones included, in the order of the text."""
        return tuple(scope.node for scope in self.walk_scopes() if isinstance(scope.node, tree.ClassDef))


def _explained(path: Path, text: str, otherwise: UnreadableModule) -> UnreadableModule:
    """The syntax error in Python's own words ("Perhaps you forgot a comma?"), which say more than the parser's."""
    for first_row, part in parts(path, text):
        try:
            with without_warnings():
                ast.parse(part)
        except SyntaxError as python_error:
            reason, row, column = explained(part, python_error)
            return UnreadableModule(reason, first_row + row - 1, column)
        except (ValueError, RecursionError, MemoryError):
            break
    return otherwise


def _refusal(error: ParserSyntaxError) -> UnreadableModule:
    reason = error.message.partition("\n")[0]
    return UnreadableModule(f"syntax error: {reason}", error.raw_line, error.raw_column + 1)


def parsed_with_places(path: Path, text: str) -> cst.Module:
    """The libcst tree of a text that has facts. SourceError where libcst refuses what Python takes, or it would be too
    large.
    """
    import libcst as cst

    from torchrepro_lint.facts.libcst_parser import parse_module

    if (reason := too_large(text)) is not None:
        raise SourceError(path, 1, 1, reason)
    try:
        return parse_module(text)
    except cst.ParserSyntaxError as error:
        reason = f"{NOT_BY_LIBCST}: {error.message.partition(chr(10))[0]}"
        raise SourceError(path, error.raw_line, error.raw_column + 1, reason) from None


def facts_of_text(path: Path, text: str) -> ModuleFacts:
    """Parses and lowers the decoded text of a file, of a notebook `Source.python`.

    Raises UnreadableModule for a syntax error, a nesting deeper than Python's stack, and a text that is too large.
    """
    if is_too_deep(text):
        raise UnreadableModule(_TOO_DEEP, 1, 1)
    if (reason := too_large_for_python(text)) is not None:
        raise UnreadableModule(reason, 1, 1)
    quick = quick_parse(text)
    if quick is not None:
        return ModuleFacts(path, quick)
    if (reason := too_large(text)) is not None:
        raise _explained(path, text, UnreadableModule(reason, 1, 1))
    # libcst takes longer to import than everything else together: only a file that must be parsed pays for it.
    import libcst as cst

    from torchrepro_lint.facts.libcst_parser import parse_module
    from torchrepro_lint.facts.lower import lower_module

    try:
        module = parse_module(text)
        body, _ = lower_module(module)
    except cst.ParserSyntaxError as error:
        raise _explained(path, text, _refusal(error)) from None
    except RecursionError:
        raise UnreadableModule(_TOO_DEEP, 1, 1) from None
    return ModuleFacts(path, body)
