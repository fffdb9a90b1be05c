"""Operations that work on data alone: on what a loop takes from its loader, or a module that is called on such."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.tensors import graph_words
from torchrepro_lint.program.ops.frozen import is_frozen
from torchrepro_lint.program.ops.module_runs import calls_of_object
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.tensors import tensor
from torchrepro_lint.program.running.callers import all_calls, frame_without_callers
from torchrepro_lint.program.running.calling_places import making_places
from torchrepro_lint.program.running.classes_around import class_of_method
from torchrepro_lint.program.running.epochs import takes_steps
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["works_on_data"]

_DEPTH = 6
#: How many places that make objects of a class are looked at.
_MOST_OBJECTS: Final = 4
_ASKS_FOR_GRADIENTS: Final = re.compile(rb"\brequires_grad")


def works_on_data(ev: Evaluator, operation: Operation) -> bool:
    """Whether all that the operation takes is data, so that no gradient goes back through it; of a module, all that its
    calls take.
    """
    frame, call = operation.frame, operation.call
    if operation.is_module:
        calls = calls_of_object(ev, frame.facts, frame.scope, call) if _is_alone(ev, frame.facts, call) else None
        return bool(calls) and all(
            _takes_data(ev, frame.facts, _scope_around(ev, frame.facts, one), one) for one in calls or ()
        )
    return _takes_data(ev, frame.facts, frame.scope, call, operation.is_method)


def _is_alone(ev: Evaluator, facts: ModuleFacts, made: tree.Call) -> bool:
    """Whether a module goes by a name itself: what it takes as a part of another, that has made of its own input."""
    parents = parents_of(ev, facts)
    node: tree.Expr = made
    while isinstance(above := parents.of(node), (tree.Attribute, tree.Call)):
        node = above
    return isinstance(above, tree.Assign)


def _scope_around(ev: Evaluator, facts: ModuleFacts, node: tree.Expr) -> Scope:
    function = parents_of(ev, facts).function(node)
    return facts.scope if function is None else facts.scope_of(function)


def _takes_data(ev: Evaluator, facts: ModuleFacts, scope: Scope, call: tree.Call, is_method: bool = False) -> bool:
    nodes = [arg.value for arg in call.args]
    if is_method and isinstance(call.func, tree.Attribute):
        nodes.insert(0, call.func.value)
    frame = frame_without_callers(ev, facts, scope)
    found = [(_is_of_a_batch(ev, facts, scope, node, _DEPTH), tensor(ev, node, frame)) for node in nodes]
    return bool(found) and all(
        is_data or (one is None and place > 0) or (one is not None and one.grad is False)
        for place, (is_data, one) in enumerate(found)
    )


def _is_of_a_batch(ev: Evaluator, facts: ModuleFacts, scope: Scope, node: tree.Expr, depth: int) -> bool:
    """Whether a tensor is what the loop over the batches takes from its loader, in another form: the loop itself takes
    the steps of the training. Or it is by its name what a network is given as its input.
    """
    match node:
        case tree.Subscript(value=tree.Name(id=name), index=tree.Const(value=str() as key)) if _is_input(scope, key):
            bindings, certain = scope.reaching(name, node.site)
            return certain and bool(bindings) and all(one.kind == "param" for one in bindings)
        case tree.Name(id=name) if depth:
            bindings, certain = scope.reaching(name, node.site)
            return certain and bool(bindings) and all(_is_taken(ev, facts, scope, one, depth) for one in bindings)
        case tree.Call(func=tree.Attribute(value=receiver, attr=attr)) if attr in graph_words("kept"):
            return _is_of_a_batch(ev, facts, scope, receiver, depth)
        case tree.Call(func=func, args=(first, *_)) if _is_frozen_part(ev, facts, scope, func):
            return _is_of_a_batch(ev, facts, scope, first.value, depth) or _is_given_to(scope, first.value)
        case tree.Binary(left=left, right=tree.Const()):
            return _is_of_a_batch(ev, facts, scope, left, depth)
        case tree.Subscript(value=whole):
            return _is_of_a_batch(ev, facts, scope, whole, depth)
    return False


def _is_frozen_part(ev: Evaluator, facts: ModuleFacts, scope: Scope, func: tree.Expr) -> bool:
    """Whether a network with other layers calls a part of it whose parameters are frozen, and is no loss."""
    cls = scope.parent.node if scope.parent is not None else None
    if not isinstance(cls, tree.ClassDef) or function_words("given_predictions").search(cls.name):
        return False
    return _attribute_of(func, scope.self_name) is not None and _has_layers(scope) and is_frozen(ev, facts, scope, func)


def _is_given_to(scope: Scope, node: tree.Expr) -> bool:
    """Whether an expression is what `forward` is given first, under whatever name."""
    if scope.name != "forward" or not isinstance(node, tree.Name) or not isinstance(scope.node, tree.FunctionDef):
        return False
    bindings, certain = scope.reaching(node.id, node.site)
    first = scope.node.params[1:2]
    return certain and all(binding.kind == "param" for binding in bindings) and [node.id] == [p.name for p in first]


def _is_taken(ev: Evaluator, facts: ModuleFacts, scope: Scope, binding: Binding, depth: int) -> bool:
    match binding.kind, binding.node:
        case "assign", tree.Display(items=items) if len(binding.unpack) == 1 and binding.unpack[0] < len(items):
            return _is_of_a_batch(ev, facts, scope, items[binding.unpack[0]], depth - 1)
        case "assign", node if node is not None and not binding.unpack:
            return _is_of_a_batch(ev, facts, scope, node, depth - 1)  # type: ignore[arg-type]
        case "param", _:
            is_input = _is_input(scope, binding.name)
            parameter = parameter_of(scope, binding.name)
            return (
                is_input
                or _is_handed_a_batch(ev, facts, scope, parameter, depth - 1)
                or _is_called_on_a_batch(ev, facts, scope, parameter, depth - 1)
            )
        case "element", node if node is not None:
            loop = parents_of(ev, facts).of(node)
            return isinstance(loop, tree.For) and loop.iter is node and takes_steps(scope, loop.site)
    return False


def _is_handed_a_batch(ev: Evaluator, facts: ModuleFacts, scope: Scope, parameter: Parameter, depth: int) -> bool:
    """Whether all calls of a function that are seen hand data to a parameter."""
    handed = [(written_argument(call, parameter), at) for call, at in all_calls(ev, facts, scope)]
    return bool(handed) and all(
        given is not None and _is_of_a_batch(ev, at.facts, at.scope, given, depth) for given, at in handed
    )


def _is_called_on_a_batch(ev: Evaluator, facts: ModuleFacts, scope: Scope, parameter: Parameter, depth: int) -> bool:
    """Whether each object of a class is only called on data, where its file asks for no gradient of that: `net(images)`
    in the loop over the batches. What it is given is not what another layer has made.
    """
    cls = class_of_method(ev, facts, scope) if scope.name == "forward" else None
    places = list(making_places(ev, cls, _MOST_OBJECTS + 1)) if cls is not None else []
    if not 0 < len(places) <= _MOST_OBJECTS:
        return False
    for place in places:
        calls = calls_of_object(ev, place.facts, place.scope, place.call)
        if not calls or ev.project.holds(place.facts.path, _ASKS_FOR_GRADIENTS):
            return False
        for call in calls:
            given = written_argument(call, parameter)
            around = _scope_around(ev, place.facts, call)
            if given is None or not _is_of_a_batch(ev, place.facts, around, given, depth):
                return False
    return True


def _is_input(scope: Scope, name: str) -> bool:
    """Whether a parameter of `forward`, or a key of one, is called as the input of a network is, in a class that is not
    given what another network made. A layer may call so what the layer before it made: a network has several.
    """
    cls = scope.parent.node if scope.parent is not None else None
    if scope.name != "forward" or not isinstance(cls, tree.ClassDef):
        return False
    if function_words("given_predictions").search(cls.name):
        return False
    if function_words("positions").fullmatch(name):
        return True
    return function_words("network_inputs").fullmatch(name) is not None and _has_layers(scope)


def _has_layers(scope: Scope) -> bool:
    """Whether a method calls several attributes of its object."""
    called = {
        attr for call, _ in scope.calls for attr in (_attribute_of(call.func, scope.self_name),) if attr is not None
    }
    return len(called) > 1


def _attribute_of(node: tree.Expr, owner: str | None) -> str | None:
    match node:
        case tree.Attribute(value=tree.Name(id=name), attr=attr) if name == owner:
            return attr
    return None
