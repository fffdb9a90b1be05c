"""How objects of project classes are made: the `__init__`s that run, and what reaches library bases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.program.evaluation import classes
from torchrepro_lint.program.evaluation.arguments import bound_frame
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import (
    Arguments,
    ClassValue,
    External,
    FunctionValue,
    Instance,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["BaseInit", "base_arguments", "base_inits", "init_frames"]


@dataclass(frozen=True, slots=True)
class BaseInit:
    """An external base that is initialised: its name, the arguments that reach it, and the call in the `__init__` of a
    project class that hands them on; no call where the construction itself initialises it.
    """

    name: str
    arguments: Arguments
    call: tree.Call | None = None
    frame: Frame | None = None


def init_frames(ev: Evaluator, instance: Instance) -> tuple[tuple[ClassValue, Frame], ...]:
    """The frames of the `__init__`s that run when the instance is made, the most derived first."""
    return ev.remembered(("init", instance), lambda: _init_chain(ev, instance)[0], ())


def base_arguments(ev: Evaluator, instance: Instance) -> tuple[tuple[str, Arguments], ...]:
    """The external bases that are initialised, each with the arguments that reach it."""
    return tuple((one.name, one.arguments) for one in base_inits(ev, instance))


def base_inits(ev: Evaluator, instance: Instance) -> tuple[BaseInit, ...]:
    """The external bases that are initialised, each once for every call that does it."""
    return ev.remembered(("base-inits", instance), lambda: _init_chain(ev, instance)[1], ())


def _init_chain(ev: Evaluator, instance: Instance) -> tuple[tuple[tuple[ClassValue, Frame], ...], tuple[BaseInit, ...]]:
    frames: list[tuple[ClassValue, Frame]] = []
    external: list[BaseInit] = []
    given = instance.arguments or Arguments((), (), True, True)
    made: tuple[tree.Call | None, Frame | None] = (None, None)
    pending = [(classes.mro(ev, instance.cls), given, made)]
    seen: set[int] = set()
    while pending and len(seen) < 12:
        order, arguments, made = pending.pop(0)
        target = _first_init(ev, order)
        if target is None:
            continue
        owner, init = target
        if isinstance(owner, External):
            if owner.name != "builtins.object":
                external.append(BaseInit(owner.name, arguments, *made))
            continue
        assert init is not None
        if id(init.node) in seen:
            continue
        seen.add(id(init.node))
        with_self = Arguments(
            (values_of(instance), *arguments.positional),
            arguments.keywords,
            arguments.open_positional,
            arguments.open_keywords,
        )
        frame = bound_frame(ev, init, with_self)
        frames.append((owner, frame))
        for call, path in frame.scope.calls:
            following = _init_call(ev, call, instance, owner)
            if following is not None and ev.decide(path, frame) is not False:
                args = call.args if following[1] else call.args[1:]
                pending.append((following[0], ev.arguments(args, frame), (call, frame)))
    return tuple(frames), tuple(external)


def _first_init(
    ev: Evaluator, order: tuple[ClassValue | External, ...]
) -> tuple[ClassValue | External, FunctionValue | None] | None:
    for base in order:
        if isinstance(base, External):
            # Such bases have no arguments of interest, but more bases may follow them.
            if base.name in plain_classes():
                continue
            return base, None
        for value in classes.class_attribute(ev, base, "__init__"):
            if isinstance(value, FunctionValue):
                return base, value
    return None


def _init_call(
    ev: Evaluator, call: tree.Call, instance: Instance, owner: ClassValue
) -> tuple[tuple[ClassValue | External, ...], bool] | None:
    """For `super().__init__(...)`: the classes after `owner`, True; for `Base.__init__(self, ...)`: its own, False."""
    match call.func:
        case tree.Attribute(value=tree.Call(func=tree.Name(id="super")), attr="__init__"):
            order = classes.mro(ev, instance.cls)
            return classes.after(order, owner), True
        case tree.Attribute(value=base, attr="__init__") if call.args:
            frame = ev.class_frame(owner)
            for value in classes.sorted_bases(ev.values(base, frame)):
                if isinstance(value, ClassValue):
                    return classes.mro(ev, value), False
                return (value,), False
    return None
