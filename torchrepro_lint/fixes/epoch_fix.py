"""The fix that tells a sampler its epoch, at the head of the epoch loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.visibility import is_bound_at
from torchrepro_lint.program.evaluation.values import Constant, ExternalObject, Site, Value, Values
from torchrepro_lint.program.ordering.epoch_samplers import ForgottenEpoch
from torchrepro_lint.program.programs.epoch_loops import EpochLoop
from torchrepro_lint.program.programs.restarted_iterators import Restart
from torchrepro_lint.program.running.callers import contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["set_epoch_fix"]

Planned = tuple[Fix | None, str | None]


def set_epoch_fix(program: Program, one: ForgottenEpoch) -> Planned:
    """Insert `sampler.set_epoch(epoch)`, or say why that cannot be written there."""
    where = one.loop
    if isinstance(where, Restart):
        return None, "the iterator is made again wherever it ends, and nothing counts how often"
    loop = where.run.loop
    if not isinstance(loop, tree.For) or not isinstance(loop.target, tree.Name):
        return None, "the loop has no variable that counts the epochs"
    document = document_of(program, where.site.path)
    node = document.node_at(*program.parsed(where.site.path).span(loop.site), cst.For)
    if node is None or not isinstance(node.body, cst.IndentedBlock):
        return None, "the loop could not be located"
    if _is_counted_again(program, document, node, one):
        return None, "the loop is inside another, and counts from the start each time"
    named = _sampler_name(program, one, where)
    if isinstance(named, str):
        return None, named
    name, may_be_none = named
    first = node.body.body[0]
    if not is_bound_at(document, name.partition(".")[0], node):
        return None, "the sampler is not created on every path to the loop"
    indent = document.indentation(document.start(first))
    epoch, edits = _counter(document, node, loop.target.id)
    guard = f"if {name} is not None:{document.newline}{indent}{document.indent_unit(first)}" if may_be_none else ""
    # A comment above a loop is that one's own; one above a line is the title of what follows.
    start = document.line_start(document.start(first))
    offset = start if isinstance(first, cst.SimpleStatementLine) else document.lead_start(first)
    line = f"{indent}{guard}{name}.set_epoch({epoch}){document.newline}"
    edits.append(document.insertion(offset, line))
    return Fix(Applicability.UNSAFE, "Set the sampler's epoch", tuple(edits)), None


def _is_counted_again(program: Program, document: Document, loop: cst.For, one: ForgottenEpoch) -> bool:
    """Whether the loop is inside another that goes on with the same sampler: its numbers would repeat."""
    made = one.sampler.site
    for outer in document.loops(loop):
        start, end = document.span(outer)
        if made.path != document.path or not start <= program.parsed(made.path).span(made.number)[0] < end:
            return True
    return False


def _counter(document: Document, loop: cst.For, name: str) -> tuple[str, list[Edit]]:
    """What the loop counts in: `_` says that nobody reads it, and gets a name."""
    scope = document.scope_of(loop)
    if name != "_" or "_" in scope.reads or scope.resolve("epoch") is not None:
        return name, []
    return "epoch", [document.replacement(*document.span(loop.target), "epoch")]


def _sampler_name(program: Program, one: ForgottenEpoch, where: EpochLoop) -> tuple[str, bool] | str:
    """What the sampler is called where the loop is, and whether that may be None; or why nothing calls it so."""
    unfit = "the sampler has no name where the loop is"
    for name, values in _names(program, where):
        rest = [value for value in values if not _is_made_at(value, one.sampler.site)]
        if len(rest) == len(values):
            continue
        if all(isinstance(value, Constant) and value.value is None for value in rest):
            return name, bool(rest)
        unfit = f"`{name}` may be another sampler, which counts no epochs"
    if len(one.loader.given("sampler")[0]) != 1:
        return unfit
    for name, values in _names(program, where):
        if values and all(_is_made_at(value, one.loader.site) for value in values):
            return f"{name}.sampler", False
    return unfit


def _names(program: Program, where: EpochLoop) -> Iterator[tuple[str, Values]]:
    """The names that can be read where the loop is, with what they can be; those of `self` as they are written."""
    waypoint = where.run.way[where.run.index]
    frame = contexts(program.ev, waypoint.facts, waypoint.scope)[0]
    scope: Scope | None = waypoint.scope
    while scope is not None:
        if not isinstance(scope.node, tree.ClassDef):
            for name in scope.bindings:
                if "." not in name:
                    yield name, program.ev.name(name, where.site.number, frame)
        scope = scope.parent
    node = where.over
    while isinstance(node, tree.Call) and node.args:
        node = node.args[0].value
    if where.run.index == 0 and isinstance(node, tree.Attribute) and isinstance(node.value, tree.Name):
        yield f"{node.value.id}.{node.attr}", program.ev.values(node, frame)


def _is_made_at(value: Value, site: Site) -> bool:
    return isinstance(value, ExternalObject) and value.site == site
