"""Which statements of a file surely raise: they read a name without a value, take the length of an iterator, or import
a module that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.iterators import iterators_of
from torchrepro_lint.facts.scopes import ELSEWHERE, Scope
from torchrepro_lint.facts.unbound import BUILTIN_NAMES, unbound_uses

__all__ = ["Around", "EarlyReads", "imports_of"]


class Around(Protocol):
    """What the project around a file says of it."""

    def may_give(self, name: str) -> bool:
        """Whether anything may give the file a name that it does not bind."""

    def fails(self, level: int, module: str) -> bool:
        """Whether importing a module, with that many dots in front, surely raises in the file."""


class EarlyReads:
    """What the walk over a file notes of names that functions read before the text binds them."""

    def __init__(self) -> None:
        self.functions: list[tuple[tree.FunctionDef, Scope, set[str]]] = []  # each with its early names
        self.suspects: set[int] = set()  # the functions of which one may raise, by the ids of their scopes
        self.declared: set[str] = set()
        self.in_expressions: set[tuple[int, str]] = set()  # scopes with names that they bind by `:=`

    def raising(self, body: tree.Block | None, module: Scope, around: Around | None) -> dict[int, int]:
        """The statements that surely raise: as they read a name of their function that nothing can have bound, or one
        that nothing binds at all, as they take the length or an item of an iterator, or, at the top of the file
        (`body`, none of cells), as they import a module that is not there. By the id of each, the site of the name.
        """
        found: dict[int, int] = {}
        if around is not None and body is not None:
            found.update((id(one), one.site) for one, level, name in imports_of(body) if around.fails(level, name))
        known = BUILTIN_NAMES.union(module.bindings)
        is_open = around is None or bool(module.stars) or any(scope.stars for _, scope, _ in self.functions)
        is_python_3 = self._is_python_3()
        for function, scope, early in self.functions:
            unknown = early - known if not is_open else set()
            if unknown and around is not None:
                unknown = {name for name in unknown if scope.binder(name) is None and self._is_unbound(name, scope)}
                unknown = {name for name in unknown if not around.may_give(name)}
            iterators = iterators_of(scope, module, is_python_3=is_python_3)
            if unknown or iterators or id(scope) in self.suspects:
                found.update(unbound_uses(function.body, self._local_names(scope), unknown, iterators))
        return found

    def _is_python_3(self) -> bool:
        """Whether Python 2 cannot read the file, in which `map` and `zip` give lists: a parameter is annotated."""
        return any(
            function.returns is not None or any(param.annotation is not None for param in function.params)
            for function, _, _ in self.functions
        )

    def _is_unbound(self, name: str, scope: Scope) -> bool:
        """Whether no statement is meant to bind a name that no scope around its use binds: it is not declared global,
        and no comprehension of the function binds it, as Python 2 did.
        """
        inner = (child for child in scope.children if isinstance(child.node, tree.Comprehension))
        return not (name.startswith("__") or name in self.declared or any(name in child.bindings for child in inner))

    def _local_names(self, scope: Scope) -> set[str]:
        """The names that statements of a function alone bind, and no parameter."""
        return {
            name
            for name, bindings in scope.bindings.items()
            if name not in scope.declared
            and (id(scope), name) not in self.in_expressions
            and all(one.kind != "param" and one.path is not ELSEWHERE for one in bindings)
        }


def imports_of(body: tree.Block) -> Iterator[tuple[tree.Stmt, int, str]]:
    """The import statements of a block itself, each with the dots in front and the name of the module."""
    for statement in body:
        match statement:
            case tree.Import(module=module):
                yield statement, 0, module
            case tree.ImportFrom(module=module, level=level):
                yield statement, level, module
