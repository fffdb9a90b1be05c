"""Classes that a configuration chooses by name: `getattr(datasets, name)`, `eval("datasets." + name)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation import names
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    MAX_MEMBERS,
    NOTHING,
    ClassValue,
    Constant,
    ModuleValue,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["evaluated_text", "some_class"]

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def some_class(ev: Evaluator, owner: Value) -> Values:
    """What `getattr(owner, name)` can be for a name that is not known: any class of a module, or something else.

    The classes of a module are those that it defines, those of a package what its `__init__.py` imports as well.
    """
    if not isinstance(owner, ModuleValue) or owner.facts is None:
        return unknown()
    return union(ev.remembered(("classes", owner), lambda: values_of(*_classes(ev, owner)), NOTHING), unknown())


def _classes(ev: Evaluator, module: ModuleValue) -> Iterator[Value]:
    assert module.facts is not None
    kinds = {"class", "import-from"} if module.folder != module.path else {"class"}
    scope = module.facts.scope
    offered = [
        name
        for name, bindings in scope.bindings.items()
        if not name.startswith("_") and any(binding.kind in kinds for binding in bindings)
    ]
    if len(offered) > MAX_MEMBERS:
        return
    for name in offered:
        yield from (value for value in ev.attribute(module, name) if isinstance(value, ClassValue))
    for statement in scope.stars if "import-from" in kinds else ():
        for source in names.star_sources(ev, statement, ev.module_frame(module.facts)):
            yield from (value for value in some_class(ev, source) if isinstance(value, ClassValue))


def evaluated_text(ev: Evaluator, node: tree.Call, frame: Frame) -> Values:
    """What `eval(text)` gives where the text is a dotted name, or a dotted name and one that is not known."""
    if not node.args:
        return unknown()
    text = node.args[0].value
    parts = []
    for value in ev.values(text, frame):
        if isinstance(value, Constant) and isinstance(value.value, str):
            parts.append(_dotted(ev, value.value.strip(), node, frame))
        else:
            parts.append(_beginning(ev, text, node, frame))
    return union(*parts) or unknown()


def _beginning(ev: Evaluator, text: tree.Expr, node: tree.Call, frame: Frame) -> Values:
    match text:
        case tree.Binary(op="+", left=tree.Const(value=str() as beginning)) if beginning.endswith("."):
            owners = _dotted(ev, beginning[:-1].strip(), node, frame)
            return union(*(some_class(ev, owner) for owner in owners))
    return unknown()


def _dotted(ev: Evaluator, text: str, node: tree.Call, frame: Frame) -> Values:
    if not _DOTTED.fullmatch(text):
        return unknown()
    first, *rest = text.split(".")
    found = ev.name(first, node.site, frame)
    for attr in rest:
        found = ev.instances_attribute(found, attr)
    return found
