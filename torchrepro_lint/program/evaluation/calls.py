"""What calls give: returns, objects, and the calls of well-known functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation import builtin_calls, classes
from torchrepro_lint.program.evaluation.arguments import bound_frame, evaluate_arguments, external_argument, merged
from torchrepro_lint.program.evaluation.enumerations import member_called
from torchrepro_lint.program.evaluation.frames import Frame, enclosing_frame, of_plain_arguments
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    ClassValue,
    Constant,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    Partial,
    SequenceValue,
    Site,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["bound_frame", "evaluate_arguments", "external_argument", "merged", "result"]

#: How many calls of one function a question looks into with all their arguments. Of further calls only the arguments
#: that are constants are known: a project of thirty models calls the function that makes its data sets hundreds of
#: times, but in three modes.
MAX_FRAMES: Final = 12
#: How many sets of such constants it looks into. Of calls beyond them no argument is known.
MAX_PLAIN_FRAMES: Final = 200


#: Bases of classes that make plain dicts.
_TYPED_DICTS: Final = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})


def result(ev: Evaluator, function: Value, arguments: Arguments, site: Site | None) -> Values:
    """What calling `function` with `arguments` can give. `site` is where the call is."""
    match function:
        case FunctionValue():
            return _returned(ev, function, bound_frame(ev, function, arguments))
        case MethodValue(function=inner):
            return _returned(ev, inner, classes.method_frame(ev, function, arguments))
        case ClassValue():
            return _made(ev, function, arguments, site)
        case Partial():
            return ev.call_all(function.function, merged(function.arguments, arguments), site)
        case Instance():
            called = ev.attribute(function, "__call__") or ev.attribute(function, "forward")
            return ev.call_all(called, arguments, site) if called else unknown()
        case External():
            return builtin_calls.external_result(ev, function, arguments, site)
        case ExternalObject():
            return builtin_calls.object_result(ev, function, arguments, site)
        case MemberOf():
            return builtin_calls.member_result(ev, function, arguments, site)
    return unknown()


def _made(ev: Evaluator, cls: ClassValue, arguments: Arguments, site: Site | None) -> Values:
    created = classes.find_method(ev, cls, "__new__")
    if created is not None:
        made = union(
            *(
                ev.call(value, Arguments((values_of(cls), *arguments.positional), arguments.keywords), site)
                for value in created[1]
            )
        )
        kept = frozenset(value for value in made if isinstance(value, (Instance, ClassValue, FunctionValue)))
        return union(kept, values_of(Instance(cls, arguments, site)))
    if not _TYPED_DICTS.isdisjoint(classes.external_bases(ev, cls)):
        return builtin_calls.external_result(ev, External("builtins.dict"), arguments, site)
    return member_called(ev, cls, arguments) or values_of(Instance(cls, arguments, site))


def _returned(ev: Evaluator, function: FunctionValue, frame: Frame) -> Values:
    if frame.depth > 24:
        return unknown()
    return ev.remembered(("returns", frame), lambda: _returns_within_limits(ev, function, frame), NOTHING, unknown())


def _returns_within_limits(ev: Evaluator, function: FunctionValue, frame: Frame) -> Values:
    with ev.inside(("returns", frame.scope)) as is_shallow:
        if not is_shallow:
            return _returns_of_any(ev, function, frame)
        if ev.may_enter(frame.scope, MAX_FRAMES):
            return _returns(ev, function, frame)
        plain = of_plain_arguments(ev, frame)
        if plain == frame:  # this very question
            return _returns_of_plain(ev, function, frame)
        return ev.remembered(("returns", plain), lambda: _returns_of_plain(ev, function, plain), NOTHING, unknown())


def _returns_of_plain(ev: Evaluator, function: FunctionValue, frame: Frame) -> Values:
    """What a call returns if only its plain arguments are known."""
    if ev.may_enter(("plain", frame.scope), MAX_PLAIN_FRAMES):
        return _returns(ev, function, frame)
    return _returns_of_any(ev, function, frame)


def _returns_of_any(ev: Evaluator, function: FunctionValue, frame: Frame) -> Values:
    """What a call returns if none of its arguments is known."""
    whole = enclosing_frame(ev, frame.facts, frame.scope)
    return ev.remembered(("returns", whole), lambda: _returns(ev, function, whole), NOTHING, unknown())


def _returns(ev: Evaluator, function: FunctionValue, frame: Frame) -> Values:
    node = function.node
    if isinstance(node, tree.Lambda):
        return ev.values(node.body, frame)
    if node.is_generator:
        items = _yielded_one_by_one(ev, frame)
        return values_of(SequenceValue("generator", items, NOTHING if items is not None else _yielded(ev, frame)))
    parts: list[Values] = []
    for statement, path in frame.scope.returns:
        runs = ev.decide(path, frame)
        if runs is False:
            continue
        parts.append(ev.values(statement.value, frame) if statement.value is not None else values_of(Constant(None)))
        if runs is True and not any(branch in frame.scope.loops for branch, _ in path):
            if not any(arm.startswith("except") for _, arm in path):
                break
    return union(*parts) if parts else values_of(Constant(None))


def _yielded_one_by_one(ev: Evaluator, frame: Frame) -> tuple[Values, ...] | None:
    """What a generator yields, in order, where it surely yields that and nothing else."""
    scope = frame.scope
    if scope.returns or any(one.value is None or one.delegates or scope.path_at(one.site) for one in scope.yields):
        return None
    return tuple([ev.values(one.value, frame) for one in scope.yields if one.value is not None])


def _yielded(ev: Evaluator, frame: Frame) -> Values:
    parts = []
    for node in frame.scope.yields:
        if node.value is not None:
            values = ev.values(node.value, frame)
            parts.append(ev.elements(values) if node.delegates else values)
    return union(*parts) if parts else NOTHING
