"""The names that decide where values may go: those of one file, and those that count in all of some files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts

__all__ = ["Defined", "FileNames", "defined_in", "names_in"]


class Defined(NamedTuple):
    """The names of functions and classes in some files, and of attributes that are given a value there."""

    names: frozenset[str]
    classes: frozenset[str]
    stored: frozenset[str]


def defined_in(files: Iterable[ModuleFacts]) -> Defined:
    """The names that decide, in all of some files, what a call means."""
    names: set[str] = set()
    classes: set[str] = set()
    stored: set[str] = set()
    for facts in files:
        for scope in facts.walk_scopes():
            if isinstance(scope.node, (tree.FunctionDef, tree.ClassDef)):
                names.add(scope.name)
                if isinstance(scope.node, tree.ClassDef):
                    classes.add(scope.name)
            stored.update(store.target.attr for store in scope.stores if isinstance(store.target, tree.Attribute))
            if isinstance(scope.node, tree.ClassDef):
                stored.update(name for name, bound in scope.bindings.items() if bound[-1].kind != "function")
    return Defined(frozenset(names), frozenset(classes), frozenset(stored))


class FileNames(NamedTuple):
    """The names that a file binds; those that it imports; those that are nothing but functions and classes of the file,
    or nothing but these and imports; and whether it imports all names of a module.
    """

    bound: frozenset[str]
    imported: frozenset[str]
    own: frozenset[str]
    known: frozenset[str]
    has_stars: bool


def names_in(facts: ModuleFacts) -> FileNames:
    """The names of a file."""
    kinds: dict[str, set[str]] = {}
    has_stars = False
    for scope in facts.walk_scopes():
        has_stars = has_stars or bool(scope.stars)
        for name, found in scope.bindings.items():
            kinds.setdefault(name, set()).update(one.kind for one in found)
    return FileNames(
        frozenset(kinds),
        frozenset(name for name, found in kinds.items() if found & {"import", "import-from"}),
        frozenset(name for name, found in kinds.items() if found <= {"function", "class"}),
        frozenset(name for name, found in kinds.items() if found <= {"function", "class", "import", "import-from"}),
        has_stars,
    )
