"""Which names a file binds, where, and which it reads.

This is not the program's name resolution: it knows one file, and answers what an edit has to ask before it adds a name
(is it taken, would it be captured) or relies on one (is it bound there, and to what).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias
from weakref import ref

import libcst as cst

__all__ = ["Binding", "Scope", "Target", "children"]

Target: TypeAlias = tuple[str, str | None]
"""What an import binds: `("numpy", None)` is the module, `("numpy", "random")` is a name of it."""

_SKIPPED_FIELDS = frozenset({"leading_lines", "lines_after_decorators", "header", "footer", "lpar", "rpar", "comma"})


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = kind.__dataclass_fields__
    return tuple(name for name in names if not name.startswith("whitespace") and name not in _SKIPPED_FIELDS)


@cache
def _is_node(kind: type[object]) -> bool:
    return issubclass(kind, cst.CSTNode)  # an abstract class asks slowly


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes right below `node`, white space, comments, commas and parentheses left out."""
    found: list[cst.CSTNode] = []
    for name in _fields(type(node)):
        value = getattr(node, name)
        if _is_node(type(value)):  # type: ignore[arg-type]
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(item for item in value if _is_node(type(item)))  # type: ignore[arg-type]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One place that binds a name. `node` is the import alias, the definition, or the target's name node."""

    name: str
    kind: str
    node: cst.CSTNode
    target: Target | None = None


@dataclass(eq=False)
class Scope:
    """One name space: the module, a class, a function, a lambda or a comprehension.

    Of the scopes around it, it keeps none alive: with the module's scope all go, and the tree with them. `by_node` has
    the scopes of a module by their nodes; it is the module's alone.
    """

    kind: str
    node: cst.CSTNode
    around: ref[Scope] | None = None
    by_node: dict[int, Scope] = field(default_factory=dict)
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    passed_out: dict[str, str] = field(default_factory=dict)
    stars: list[cst.ImportFrom] = field(default_factory=list)
    inner: list[Scope] = field(default_factory=list)
    _mentioned: frozenset[str] | None = None
    _imported: tuple[tuple[str, Binding], ...] | None = None

    @property
    def parent(self) -> Scope | None:
        """The scope around this one; None for the module's."""
        if self.around is None:
            return None
        parent = self.around()
        assert parent is not None, "the scope of the module is gone"
        return parent

    def evaluates(self, child: cst.CSTNode) -> bool:
        """Whether a direct child of the scope's node is evaluated inside the scope, and not around it."""
        if self.kind in ("module", "comprehension"):
            return True
        return child is self.node.body  # type: ignore[attr-defined]

    def resolve(self, name: str) -> Scope | None:
        """The scope whose binding a read of `name` in this scope finds. None: nothing in the file binds it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.passed_out and scope.passed_out[name] == "global":
                root = scope.root
                return root if name in root.bindings else None
            # A class body's names are seen in that body alone, not in the functions below it.
            if name in scope.bindings and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None

    @property
    def root(self) -> Scope:
        """The module's scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def below(self) -> Iterator[Scope]:
        """This scope and all inside it."""
        yield self
        for scope in self.inner:
            yield from scope.below()

    def mentions(self, name: str) -> bool:
        """Whether a name is bound or read in this scope or in one inside it, when all of them are there."""
        if self._mentioned is None:
            self._mentioned = frozenset().union(*((*scope.bindings, *scope.reads) for scope in self.below()))
        return name in self._mentioned

    def imported(self) -> tuple[tuple[str, Binding], ...]:
        """The bindings of this scope that name something of another module, when all of them are there."""
        if self._imported is None:
            self._imported = tuple(
                (name, binding)
                for name, bindings in self.bindings.items()
                for binding in bindings
                if binding.target is not None
            )
        return self._imported

    def uses(self, name: str) -> bool:
        """Whether a new binding of `name` in this scope would replace one, or catch a read that meant another."""
        if name in self.bindings or name in self.passed_out:
            return True
        return self.mentions(name) and any(
            name in scope.reads and not scope.finds_below(name, self) for scope in self.below()
        )

    def finds_below(self, name: str, outer: Scope) -> bool:
        """Whether a read of `name` in this scope finds a binding that lies deeper than `outer`."""
        found = self.resolve(name)
        while found is not None and found is not outer:
            found = found.parent
            if found is outer:
                return True
        return False
