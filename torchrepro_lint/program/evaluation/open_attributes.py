"""Attributes that a class sets by names that its text does not show: `setattr(self, name, value)` in a loop or a
comprehension over the keyword arguments or over `locals()`, `self.__dict__.update(options)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.construction import init_frames
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.text_parts import text_around
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    ClassValue,
    DictValue,
    Instance,
    Values,
    union,
    unknown,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["set_by_names", "set_by_text", "sets_any_attribute"]


def sets_any_attribute(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a method of a class, or of its bases, sets attributes so."""
    return any(_has_open_setattr(ev, base) for base in classes.mro(ev, cls) if isinstance(base, ClassValue))


def _has_open_setattr(ev: Evaluator, cls: ClassValue) -> bool:
    return ev.remembered(("sets-any-attribute", id(cls.node)), lambda: _finds_open_setattr(ev, cls), False)


def _finds_open_setattr(ev: Evaluator, cls: ClassValue) -> bool:
    return any(
        _is_open(call, method.self_name)
        for method in ev.class_frame(cls).scope.children
        for part in _parts_of(method)
        for call, _ in part.calls
    )


def _parts_of(method: Scope) -> Iterator[Scope]:
    """The scope of a method, and those of the comprehensions in it."""
    yield method
    yield from (one for one in method.children if isinstance(one.node, tree.Comprehension))


def _is_open(call: tree.Call, self_name: str | None) -> bool:
    match call:
        case tree.Call(func=tree.Name(id="setattr"), args=(tree.Arg(value=tree.Name(id=own)), name, _)):
            return own == self_name and not isinstance(name.value, tree.Const)
        case tree.Call(
            func=tree.Attribute(value=tree.Attribute(value=tree.Name(id=owner), attr="__dict__"), attr="update")
        ):
            return owner == self_name
        case tree.Call(func=tree.Attribute(value=tree.Call(func=tree.Name(id="vars"), args=(arg,)), attr="update")):
            return isinstance(arg.value, tree.Name) and arg.value.id == self_name
    return False


def set_by_names(ev: Evaluator, instance: Instance, attr: str) -> Values:
    """What the constructor sets an attribute to in this way: what the dicts that it goes through have for its name."""
    if not sets_any_attribute(ev, instance.cls):
        return NOTHING
    parts = [_in_frame(ev, frame, attr) for _, frame in init_frames(ev, instance)]
    return union(*parts) if parts else NOTHING


def set_by_text(ev: Evaluator, instance: Instance, beginning: str, ending: str) -> Values:
    """What the constructor sets attributes to whose names are put together and begin and end so:
    `setattr(self, f"block{i}", block)`, `self.add_module(f"block{i}", block)`.
    """
    parts = []
    for _, frame in init_frames(ev, instance):
        for call, _ in frame.scope.calls:
            match call:
                case (
                    tree.Call(func=tree.Name(id="setattr"), args=(tree.Arg(value=tree.Name(id=owner)), name, given))
                    | tree.Call(
                        func=tree.Attribute(value=tree.Name(id=owner), attr="add_module" | "register_module"),
                        args=(name, given),
                    )
                ) if owner == frame.scope.self_name and text_around(name.value) == (beginning, ending):
                    parts.append(ev.values(given.value, frame))
    return union(*parts) if parts else NOTHING


def _in_frame(ev: Evaluator, frame: Frame, attr: str) -> Values:
    parts: list[Values] = []
    for scope in _parts_of(frame.scope):
        for call, path in scope.calls:
            if not _is_open(call, frame.scope.self_name):
                continue
            if scope is frame.scope and ev.decide(path, frame) is False:
                continue
            parts += _set_by(ev, frame, scope, call, attr)
    return union(*parts) if parts else NOTHING


def _set_by(ev: Evaluator, frame: Frame, scope: Scope, call: tree.Call, attr: str) -> Iterator[Values]:
    """What one such call, in a part of the constructor, may set an attribute to."""
    sources: list[tree.Expr] = []
    if isinstance(call.func, tree.Attribute):
        yield from (ev.values(arg.value, frame) for arg in call.args if arg.keyword == attr)
        sources += [arg.value for arg in call.args if (arg.keyword is None and not arg.star) or arg.star == "**"]
    elif (source := _gone_through(scope, call)) is not None:
        sources.append(source)
    for source in sources:
        if _is_own_table(source):
            if frame.scope.bindings.get(attr):
                yield ev.name(attr, source.site, frame)
            continue
        for value in ev.values(source, frame):
            entry = value.get(attr) if isinstance(value, DictValue) else None
            if entry is not None:
                yield entry[0]
            if not isinstance(value, DictValue) or value.open:
                yield value.rest or unknown() if isinstance(value, DictValue) else unknown()


def _is_own_table(node: tree.Expr) -> bool:
    """Whether an expression is the table of the names of its function, or a copy: `locals()`, `vars()`."""
    match node:
        case tree.Call(func=tree.Name(id="locals" | "vars"), args=()):
            return True
        case tree.Call(func=tree.Attribute(value=inner, attr="copy"), args=()):
            return _is_own_table(inner)
        case tree.Call(func=tree.Name(id="dict"), args=(arg,)):
            return _is_own_table(arg.value)
    return False


def _gone_through(scope: Scope, call: tree.Call) -> tree.Expr | None:
    """`options` where a loop over `options.items()` sets each of its entries: `setattr(self, name, value)`."""
    _, name, value = call.args
    if not isinstance(name.value, tree.Name) or not isinstance(value.value, tree.Name):
        return None
    names, _ = scope.reaching(name.value.id, call.site)
    values, _ = scope.reaching(value.value.id, call.site)
    if len(names) != 1 or len(values) != 1 or names[0].node is not values[0].node:
        return None
    if (names[0].kind, names[0].unpack, values[0].unpack) != ("element", (0,), (1,)):
        return None
    match names[0].node:
        case tree.Call(func=tree.Attribute(value=source, attr="items"), args=()):
            return source
        case tree.Call(
            func=tree.Name(id="list"),
            args=(tree.Arg(value=tree.Call(func=tree.Attribute(value=source, attr="items"), args=())),),
        ):
            return source
    return None
