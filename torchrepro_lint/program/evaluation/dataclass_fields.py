"""Fields of dataclasses: what the `__init__` would set that nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    Instance,
    Values,
    union,
    unknown,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["dataclass_field"]


def dataclass_field(ev: Evaluator, instance: Instance, attr: str) -> Values | None:
    """The value of a dataclass field, as the generated `__init__` would set it."""
    fields: list[tuple[str, tree.Expr | None, Frame]] = []
    for base in reversed(classes.mro(ev, instance.cls)):
        if not isinstance(base, ClassValue):
            continue
        if not any(classes.decorator_name(d) in ("dataclass", "define", "attrs", "s") for d in base.node.decorators):
            continue
        frame = ev.class_frame(base)
        for statement in base.node.body:
            match statement:
                case tree.Assign(targets=(tree.Name(id=name),), value=default, annotation=annotation) if annotation:
                    fields = [field for field in fields if field[0] != name] + [(name, default, frame)]
    for index, (name, default, frame) in enumerate(fields):
        if name != attr:
            continue
        given = instance.arguments
        if given is None:
            return unknown()
        keyword = given.keyword(attr)
        if keyword is not None and keyword[1]:
            return keyword[0]
        if index < len(given.positional):
            return given.positional[index]
        fallback = _default_of_field(ev, default, frame) if default is not None else unknown()
        if given.open_positional or given.open_keywords:
            return union(fallback, unknown())
        return union(fallback, keyword[0]) if keyword is not None else fallback
    return None


def _default_of_field(ev: Evaluator, default: tree.Expr, frame: Frame) -> Values:
    match default:
        case tree.Call(args=args) if any(arg.keyword in ("default", "default_factory", "factory") for arg in args):
            for arg in args:
                if arg.keyword == "default":
                    return ev.values(arg.value, frame)
                if arg.keyword in ("default_factory", "factory"):
                    return ev.call_all(ev.values(arg.value, frame), Arguments(), ev.site(arg, frame))
    return ev.values(default, frame)
