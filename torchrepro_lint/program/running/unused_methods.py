"""Methods that nothing in their programs mentions: no run reaches what is in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.classes import external_bases, has_unknown_base
from torchrepro_lint.program.running.callers import BASES_THAT_CALL_NOTHING, is_called_unseen
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.training_hooks import is_named_by_a_configuration

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_in_a_method_of_tests", "is_in_unused_method", "is_of_an_unmade_class"]

#: Methods that are looked up by a name which is put together, and those that a command line offers.
_ANY_METHOD: Final = re.compile(
    rb"getattr\(\s*[\w.]+\s*,\s*(?![\"'])|\bmethodcaller\(|\bimport fire\b|\bfrom fire\b|\bCmd\)"
)


def is_in_unused_method(program: Program, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a scope is in a method that neither an attribute nor a text in the programs of its file names, apart from
    comments. A method with a decorator, or of a class with other bases than `torch.nn.Module`, may be called all the
    same, and one of a file that no other imports.
    """
    method = _method_around(scope)
    if method is None or not isinstance(method.node, tree.FunctionDef) or method.node.decorators:
        return False
    if is_called_unseen(method.name) or not _has_plain_bases(program, facts, method):
        return False
    if not program.imports.is_imported(facts.path) and all(one.path != facts.path for one in entry_points(program)):
        return False  # who loads the file is out of sight
    together = program.imports.any_together
    mention = re.compile(rf"^[^#\n]*(?:\.\s*|[\"']){method.name}\b".encode(), re.MULTILINE)
    return not together(facts.path, mention) and not together(facts.path, _ANY_METHOD)


def is_in_a_method_of_tests(program: Program, scope: Scope) -> bool:
    """Whether a scope is in a method that tests name, by an attribute, and no other file of the project."""
    method = _method_around(scope)
    if method is None or not isinstance(method.node, tree.FunctionDef) or is_called_unseen(method.name):
        return False
    naming = frozenset(program.project.matching(re.compile(rb"(?:\.\s*|[\"'])%s\b" % method.name.encode())))
    return bool(naming) and naming <= program.tests


def is_of_an_unmade_class(program: Program, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a scope is in a method of a class of which its programs import the name and use nothing but attributes,
    `Name.static_method(...)`: they make no object of it.
    """
    method = _method_around(scope)
    cls = method.parent if method is not None else None
    if method is None or cls is None or not isinstance(cls.node, tree.ClassDef) or cls.node.decorators:
        return False
    if isinstance(method.node, tree.FunctionDef) and any(map(_is_static, method.node.decorators)):
        return False
    if not program.imports.is_imported(facts.path) or is_named_by_a_configuration(program.ev, facts, cls.name):
        return False
    together = program.imports.any_together
    lines = rf"^(?!\s*(?:from|import|class\s+{cls.name})\b)[^#\n]*\b(?<!super\(){cls.name}\b(?!\s*\.\s*\w)"
    mention = re.compile(lines.encode(), re.MULTILINE)
    return not together(facts.path, mention) and not together(facts.path, _ANY_METHOD)


def _is_static(decorator: tree.Expr) -> bool:
    return isinstance(decorator, tree.Name) and decorator.id in ("staticmethod", "classmethod")


def _method_around(scope: Scope) -> Scope | None:
    while scope.parent is not None and not isinstance(scope.parent.node, tree.ClassDef):
        scope = scope.parent
    return scope if scope.parent is not None else None


def _has_plain_bases(program: Program, facts: ModuleFacts, method: Scope) -> bool:
    value = class_of_method(program.ev, facts, method)
    if value is None:
        return False
    bases = external_bases(program.ev, value)
    return BASES_THAT_CALL_NOTHING.issuperset(bases) and not has_unknown_base(program.ev, value)
