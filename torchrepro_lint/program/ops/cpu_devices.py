"""Programs in which every device that is spoken of is the CPU: `device = torch.device("cpu")`, `x.device`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.names import binding_values
from torchrepro_lint.program.evaluation.torch_devices import device_name
from torchrepro_lint.program.evaluation.values import Constant, External, ExternalObject, SequenceValue, Value, Values
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import contexts, frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["names_the_cpu_alone"]

_DEVICE: Final = function_words("says_device")


def names_the_cpu_alone(ev: Evaluator, facts: ModuleFacts) -> bool:
    """Whether all names for a device in a file, and all devices that it makes or hands over, are proven to be the CPU,
    or the device of something else.
    """
    for scope in facts.walk_scopes():
        named = [one for name, found in scope.bindings.items() if _DEVICE.search(name) for one in found]
        if not all(_is_the_cpu(ev, facts, scope, binding) for binding in named):
            return False
        alone = frame_without_callers(ev, facts, scope)
        for call, _ in scope.calls:
            given = [arg.value for arg in call.args if arg.keyword is not None and _DEVICE.search(arg.keyword)]
            if called_name(call.func) == "device":
                given += [arg.value for arg in call.args]
            if not all(_is_named(node) or _are_cpu(ev.values(node, alone)) for node in given):
                return False
            moved_to = call.args[:1] if isinstance(call.func, tree.Attribute) and call.func.attr == "to" else ()
            if not all(_is_named(arg.value) or _is_no_other(ev.values(arg.value, alone)) for arg in moved_to):
                return False
    return True


def _is_named(node: tree.Expr) -> bool:
    """Whether an expression is a name, which its bindings speak for, or the device of something."""
    return (isinstance(node, tree.Name) and _DEVICE.search(node.id) is not None) or _is_of_another(node)


def _is_of_another(node: object) -> bool:
    return isinstance(node, tree.Attribute) and node.attr == "device"


def _is_the_cpu(ev: Evaluator, facts: ModuleFacts, scope: Scope, binding: Binding) -> bool:
    if binding.kind in ("function", "class"):
        return True  # what it gives is bound, or handed over, elsewhere
    if _is_of_another(binding.node) and not binding.unpack:
        return True
    frames = contexts(ev, facts, scope)
    return all(_are_cpu(binding_values(ev, binding, frame)) for frame in frames)


def _are_cpu(values: Values) -> bool:
    return bool(values) and all(map(_is_cpu, values))


def _is_no_other(values: Values) -> bool:
    """Whether what a tensor or a model is moved to is the CPU, or no device: a type, or another tensor."""
    return bool(values) and all(
        isinstance(value, External) or (isinstance(value, ExternalObject) and value.name != "torch.device")
        for value in values
        if not _is_cpu(value)
    )


def _is_cpu(value: Value) -> bool:
    match value:
        case Constant(value=str() as name):
            return name.startswith("cpu")
        case Constant(value=None):
            return True
        case SequenceValue():
            return _are_cpu(value.elements())
    return _are_cpu(device_name(value))
