"""The parameter that a worker init function lacks: workers call it with their number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.generators import fresh_name
from torchrepro_lint.fixes.unsafe_reasons import PARAMETER, Because
from torchrepro_lint.fixes.worker_init import is_annotated
from torchrepro_lint.program.evaluation.values import FunctionValue
from torchrepro_lint.program.running.callers import visible_calls

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["Parameter", "plan_parameter"]

_NAMES = ("worker_id", "worker_number", "number_of_worker")


@dataclass(frozen=True, slots=True)
class Parameter:
    """The edits that add the parameter, unsafe where something other than a loader may hold the function."""

    edits: tuple[Edit, ...]
    because: Because | None


def plan_parameter(program: Program, function: FunctionValue, apart: tree.Call | None = None) -> Parameter | str:
    """One parameter more after those of the function, or why it cannot be added. `apart` is a call that goes anyway."""
    path = function.frame.facts.path
    scope = program.ev.function_scope(function)
    if any(call is not apart for call, _ in visible_calls(program.ev, function.frame.facts, scope)):
        return "it is called elsewhere without the worker id"
    document = document_of(program, path)
    found = program.parsed(path).node(function.node.site)
    node = document.node_at(*program.parsed(path).spans[id(found)], type(found)) if found is not None else None
    if not isinstance(node, cst.FunctionDef | cst.Lambda):
        return "its definition could not be located"
    params = (*node.params.posonly_params, *node.params.params)
    if any(param.default is not None for param in params):
        return "its parameters have defaults"
    if isinstance(node, cst.FunctionDef) and node.type_parameters is not None:
        return "it has type parameters"
    name = fresh_name(_NAMES, document.scope_of(node.body))
    if isinstance(node, cst.FunctionDef) and document.once(is_annotated):
        name += ": int"
    is_alone = _is_only_passed(program, document, node)
    return Parameter((_added(document, node, name),), None if is_alone else PARAMETER)


def _added(document: Document, node: cst.FunctionDef | cst.Lambda, name: str) -> Edit:
    params = (*node.params.posonly_params, *node.params.params)
    if params:
        last = params[-1]
        end = document.end(last.annotation.annotation if last.annotation is not None else last.name)
        return document.insertion(end, f", {name}")
    follows = ", " if node.params.star_kwarg is not None else ""
    if isinstance(node, cst.Lambda):
        start = document.text.index("lambda", document.start(node)) + len("lambda")
        return document.insertion(start, f" {name}{follows.rstrip()}")
    return document.insertion(document.text.index("(", document.end(node.name)) + 1, name + follows)


def _is_only_passed(program: Program, document: Document, node: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether a function is named only where it is defined, imported, and passed as an init function."""
    if isinstance(node, cst.Lambda):
        argument = document.parent(node)
        return isinstance(argument, cst.Arg) and argument.keyword is not None
    name = re.escape(node.name.value)
    own = re.compile(
        rf"\bdef {name}\b|\bworker_init_fn[\"']?\s*[=:]\s*(?:[\w.]*\bpartial\(\s*)?(?:\w+\.)*{name}\b"
        rf"|^[ \t]*from [\w.]+ import [^\n]*\b{name}\b",
        re.MULTILINE,
    )
    for path in program.project.containing(node.name.value):
        source = program.project.source(path)
        if source is None or len(own.findall(source.text)) < len(re.findall(rf"\b{name}\b", source.text)):
            return False
    return True
