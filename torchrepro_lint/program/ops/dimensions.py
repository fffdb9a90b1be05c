"""How many dimensions a tensor has at least, by what gives it: a convolution, `permute(0, 2, 1)`, a whole network.

Where several things may give it, the fewest count. What a function is handed counts by one of the visible calls: there
is a run, then, in which it has as many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import END, Binding
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tensors import fewest_dimensions, keeps_dimensions, loses_dimensions, places_dimensions
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.inner_tests import options_of
from torchrepro_lint.program.evaluation.values import (
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Value,
)
from torchrepro_lint.program.ops.criterion_runs import runs_in_own_file
from torchrepro_lint.program.running.call_index import called_name, is_imported
from torchrepro_lint.program.running.callers import frame_without_callers, instances_of, visible_calls
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["dimensions"]

_CALLS: Final = 6
_MADE_OF_SIZES: Final = frozenset({"zeros", "ones", "empty", "full", "rand", "randn", "randint"})


def dimensions(ev: Evaluator, node: tree.Expr, frame: Frame) -> int:
    """How many dimensions the tensor has at least that `node` is; 0 where that is not known."""
    return _Dimensions(ev).of(node, frame)


@dataclass(frozen=True, slots=True)
class _Dimensions:
    ev: Evaluator

    def of(self, node: tree.Expr, frame: Frame) -> int:
        return self.ev.remembered(("dimensions", node, frame), lambda: self._of(node, frame), 0)

    def _of(self, node: tree.Expr, frame: Frame) -> int:
        match node:
            case tree.Name():
                return self._of_name(node, frame)
            case tree.Call():
                return self._of_call(node, frame)
            case tree.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
                return max(self.of(left, frame), self.of(right, frame))  # the smaller is broadcast
            case tree.Conditional():
                return min(self.of(option, frame) for option in options_of(self.ev, node, frame))
        return 0

    def _of_name(self, node: tree.Name, frame: Frame) -> int:
        current: Frame | None = frame
        place = node.site
        while current is not None:
            bindings, _ = current.scope.reaching(node.id, place, lambda path, at=current: self.ev.decide(path, at))  # type: ignore[misc]
            if bindings:
                return min(self._bound(binding, current) for binding in bindings)
            if not isinstance(current.scope.node, tree.Comprehension):
                place = END
            current = current.parent
        return 0

    def _bound(self, binding: Binding, frame: Frame) -> int:
        match binding.kind, binding.node:
            case "assign", made if made is not None and not binding.unpack:
                return self.of(made, frame)  # type: ignore[arg-type]
            case "param", tree.Param(name=name):
                parameter = parameter_of(frame.scope, name)
                calls = islice(chain(visible_calls(self.ev, frame.facts, frame.scope), self._runs(frame)), _CALLS)
                handed = ((written_argument(call, parameter), there) for call, there in calls)
                return max((self.of(one, there) for one, there in handed if one is not None), default=0)
        return 0

    def _runs(self, frame: Frame) -> Iterator[tuple[tree.Call, Frame]]:
        """The calls of the losses whose `forward` a frame is of, in the files that make them."""
        scope = frame.scope
        owner = class_of_method(self.ev, frame.facts, scope) if scope.name == "forward" else None
        if owner is not None:
            for one in instances_of(self.ev, owner):
                if one.site is not None:
                    yield from runs_in_own_file(self.ev, one.site)

    def _of_call(self, node: tree.Call, frame: Frame) -> int:
        first = node.args[0].value if node.args and not node.args[0].star else None
        match node.func:
            # What these are methods of need not be known, and its values tell it dearly.
            case tree.Attribute(value=receiver, attr=attr) if _may_be_tensor(receiver, frame):
                if attr in ("view", "reshape") and len(node.args) > 1 and not any(arg.star for arg in node.args):
                    return len(node.args)
                if places_dimensions(attr):
                    return max(_placed(node), self.of(receiver, frame) if attr != "permute" else 0)
                if attr == "unsqueeze":
                    before = self.of(receiver, frame)
                    return before + 1 if before else 0
                if keeps_dimensions(attr):
                    return self.of(receiver, frame)
                if loses_dimensions(attr):
                    return 0
        if (sizes := _sizes(node)) is not None:
            return len(sizes.items)
        if self._is_layer_that_keeps(node.func, frame):
            return self.of(first, frame) if first is not None else 0
        known = [self._given_by(value, first, frame) for value in self.ev.values(node.func, frame)]
        return min((one or 0 for one in known), default=0)

    def _is_layer_that_keeps(self, func: tree.Expr, frame: Frame) -> bool:
        """Whether all that the file gives to `self.classifier` are layers that keep dimensions, by their names: what a
        network's attribute is, its values tell dearly.
        """
        match func:
            case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == frame.scope.self_name:
                facts = frame.facts
                made = self.ev.of_text(("layers", id(facts)), lambda: _layers(facts)).get(attr, ())
                return bool(made) and all(map(keeps_dimensions, made))
        return False

    def _given_by(self, value: Value, first: tree.Expr | None, frame: Frame) -> int | None:
        """What a call of a function or of a network gives; None where nothing is known about it."""
        match value:
            case External(name=name) | ExternalObject(name=name) if fewest_dimensions(name):
                return fewest_dimensions(name)
            case ExternalObject(name=name, arguments=arguments) if canonical(name) in known_calls("module_holders"):
                held = arguments.positional if arguments is not None and not arguments.open_positional else ()
                for parts in reversed(held):
                    given = [self._given_by(part, first, frame) for part in parts]
                    if not given or None in given:
                        return None
                    if not all(_keeps(part) for part in parts):
                        return min(one for one in given if one is not None)
                return None
            case External(name=name) | ExternalObject(name=name) if keeps_dimensions(last_part(name)):
                return self.of(first, frame) if first is not None else None
            case Instance():
                forward = attributes.attribute(self.ev, value, "forward")
                given = [self._given_by(one, first, frame) for one in forward if isinstance(one, MethodValue)]
                return min((one for one in given if one is not None), default=None) if None not in given else None
            case MethodValue(function=function):
                return self._returned(function)
            case FunctionValue():
                return self._returned(value)
        return None

    def _returned(self, function: FunctionValue) -> int | None:
        if not isinstance(function.node, tree.FunctionDef):
            return None
        scope = function.frame.facts.scope_of(function.node)
        inside = frame_without_callers(self.ev, function.frame.facts, scope)
        found = [self.of(one.value, inside) if one.value is not None else 0 for one, _ in scope.returns]
        return min(found, default=None)


def _sizes(call: tree.Call) -> tree.Display | None:
    """The sizes in a call that makes a tensor of these, by its name: `torch.zeros((2, 3))`, `randint(9, (2, 3))`."""
    if not isinstance(call.func, tree.Attribute) or called_name(call.func) not in _MADE_OF_SIZES:
        return None
    given = [arg.value for arg in call.args if not arg.star and arg.keyword in (None, "size")]
    return next((one for one in given if isinstance(one, tree.Display) and _is_counted(one)), None)


def _is_counted(sizes: tree.Display) -> bool:
    return bool(sizes.items) and not any(isinstance(item, tree.Starred) for item in sizes.items)


def _may_be_tensor(receiver: tree.Expr, frame: Frame) -> bool:
    """Whether a method is of a name of the function's own or of what a call gives, and not of a module or of `self`."""
    while isinstance(receiver, (tree.Attribute, tree.Subscript)):
        receiver = receiver.value
    if isinstance(receiver, tree.Name):
        return receiver.id != frame.scope.self_name and not is_imported(frame.facts, receiver)
    return isinstance(receiver, (tree.Call, tree.Binary))


def _layers(facts: ModuleFacts) -> dict[str, set[str]]:
    """What the functions of a file give to each attribute of an object, by the last name of what is called for it."""
    found: dict[str, set[str]] = {}
    for scope in facts.walk_scopes():
        for store in scope.stores:
            match store.target:
                case tree.Attribute(value=tree.Name(id=owner), attr=attr) if owner == scope.self_name:
                    called = called_name(store.value.func) if isinstance(store.value, tree.Call) else None
                    found.setdefault(attr, set()).add(called or "")
    return found


def _keeps(value: Value) -> bool:
    return isinstance(value, ExternalObject) and keeps_dimensions(last_part(value.name))


def _placed(call: tree.Call) -> int:
    """How many dimensions `permute(0, 2, 1)` and `transpose(1, 2)` tell of."""
    sizes = [arg.value for arg in call.args]
    if len(sizes) == 1 and isinstance(sizes[0], tree.Display):
        sizes = list(sizes[0].items)
    if not isinstance(call.func, tree.Attribute) or any(arg.star for arg in call.args):
        return 0
    if call.func.attr == "permute":
        return len(sizes) if len(sizes) > 1 else 0
    numbers = [size.value for size in sizes if isinstance(size, tree.Const) and type(size.value) is int]
    return max(numbers, default=-1) + 1
