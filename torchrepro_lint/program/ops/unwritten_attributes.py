"""Attributes of objects that hold memory as it was found, are read, and are written nowhere in the project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ops.joined_tensors import is_joined
from torchrepro_lint.program.ops.memory_uses import memory_use
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["read_of_attribute"]

#: Beside the plain classes, a base that writes no attributes but its own.
_WRITES_NONE = frozenset({"lightning.pytorch.LightningModule"})

#: What fills tensors that it does not name: all parameters of a module at once, a checkpoint, attributes by their text.
_FILLS_UNNAMED = re.compile(
    rb"state_dict|checkpoint|ckpt|pretrained|torch\.load|\.load\(|load_(?:model|weights?|params|parameters|from)"
    rb"|\.apply\(|modules\(\)|children\(\)|named_parameters|named_buffers|vector_to_parameters"
    rb"|in\s+[\w.]+\.(?:parameters|buffers)\(\)|list\([\w.]+\.(?:parameters|buffers)\(\)\)"
    rb"|\b(?:setattr|getattr|vars)\(|__dict__|init(?:ialize)?_?weights?|reset_parameters|ctypes|triton|data_ptr"
)


def read_of_attribute(program: Program, made: Operation, target: tree.Attribute) -> Site | None:
    """The first read of `self.name`, to which fresh memory is bound, where no use of that name anywhere writes."""
    cls = class_of_method(program.ev, made.frame.facts, made.frame.scope)
    if not isinstance(target.value, tree.Name) or cls is None or target.value.id != made.frame.scope.self_name:
        return None
    bases = attributes.external_bases(program.ev, cls)
    if attributes.has_unknown_base(program.ev, cls) or _may_be_filled(program, made, target):
        return None
    if any(base not in plain_classes() and base not in _WRITES_NONE for base in bases):
        return None
    reads: list[Site] = []
    for path in program.project.matching(re.compile(rb"\b%s\b" % re.escape(target.attr.encode()))):
        for kind, site in _uses(program, path, target, may_be_joined=_is_whole_parameter(program, made)):
            if kind == "reads" and path == made.frame.facts.path:
                reads.append(site)
            elif kind not in ("reads", "form"):
                return None
    return min(reads, key=lambda site: site.number, default=None)


def _may_be_filled(program: Program, made: Operation, target: tree.Attribute) -> bool:
    """Whether something in the programs with this class may fill the attribute without naming it."""
    by_text = re.compile(rb"""["']%s["']""" % re.escape(target.attr.encode()))
    return any(
        not program.project.is_readable(path)
        or program.project.holds(path, _FILLS_UNNAMED)
        or program.project.holds(path, by_text)
        for path in program.imports.together(made.site.path)
    )


def _is_whole_parameter(program: Program, made: Operation) -> bool:
    """Whether memory is made for a parameter of a module, with no size that is written as 0."""
    parents = parents_of(program.ev, made.frame.facts)
    around = parents.of(made.call)
    holder = parents.of(around) if isinstance(around, tree.Arg) else None
    if not isinstance(holder, tree.Call) or called_name(holder.func) != "Parameter":
        return False
    return not any(
        isinstance(one, tree.Const) and one.value == 0 for one in walk([arg.value for arg in made.call.args])
    )


def _uses(program: Program, path: Path, target: tree.Attribute, *, may_be_joined: bool) -> Iterator[tuple[str, Site]]:
    """What each use of an attribute of that name in a file does; `unknown` where the file cannot be read."""
    facts = program.facts(path)
    if facts is None:
        yield "unknown", Site(path, 0)
        return
    parents = parents_of(program.ev, facts)
    for use in parents.attributes.get(target.attr, ()):
        if use is target:
            continue
        function = parents.function(use)
        scope = facts.scope if function is None else facts.scope_of(function)
        above = parents.of(use)
        if isinstance(above, tree.Assign) and any(one is use for one in above.targets):
            yield "unknown", Site(path, use.site)
            continue
        frame = frame_without_callers(program.ev, facts, scope)
        found = memory_use(program.ev, parents, use, frame)
        joined = (
            may_be_joined and found.kind in ("unknown", "bound") and is_joined(program.ev, parents, found.at, frame)
        )
        yield "reads" if joined else found.kind, Site(path, use.site)
