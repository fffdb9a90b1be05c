"""Methods of networks that nothing in their programs mentions: no run reaches what they compute."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.classes import external_bases, has_unknown_base
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.running.callers import BASES_THAT_CALL_NOTHING, is_called_unseen
from torchrepro_lint.program.running.classes_around import class_of_method

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_in_unused_method"]


def is_in_unused_method(program: Program, operation: Operation) -> bool:
    """Whether an operation is in a method that neither an attribute nor a text in the programs of its file names. A
    method with a decorator, or of a class with other bases than `torch.nn.Module`, may be called all the same.
    """
    method = _method_around(operation.frame.scope)
    if method is None or not isinstance(method.node, tree.FunctionDef) or method.node.decorators:
        return False
    if is_called_unseen(method.name) or not _is_plain_network(program, operation, method):
        return False
    mention = re.compile(rf"(?:\.\s*|[\"']){method.name}\b".encode())
    return not program.imports.any_together(operation.site.path, mention)


def _method_around(scope: Scope) -> Scope | None:
    while scope.parent is not None and not isinstance(scope.parent.node, tree.ClassDef):
        scope = scope.parent
    return scope if scope.parent is not None else None


def _is_plain_network(program: Program, operation: Operation, method: Scope) -> bool:
    value = class_of_method(program.ev, operation.frame.facts, method)
    if value is None:
        return False
    bases = external_bases(program.ev, value)
    return (
        "torch.nn.Module" in bases
        and BASES_THAT_CALL_NOTHING.issuperset(bases)
        and not has_unknown_base(program.ev, value)
    )
