"""Operations to which no gradient comes back: their result leaves the graph at once, or they work on counts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tensors import graph_words, result_is_floating, returns_tensor
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.ops.module_runs import runs_only_where
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import Waypoint, ways

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_cut_off", "is_part_of_its_counts", "is_put_into_data"]


def is_cut_off(ev: Evaluator, operation: Operation) -> bool:
    """Whether the result goes through `.detach()`, `.data`, `.argmax()` or a comparison before anything else sees it,
    and so does all that is computed of it. Of a module that a function makes for itself: the results of all its calls,
    or its name says what it is for.
    """
    code = _Code(ev, operation.frame)
    if not operation.is_module:
        return code.is_cut(operation.call)
    parents, function = code.parents, operation.frame.scope.node
    match parents.of(operation.call):
        case tree.Assign(targets=(tree.Name(id=name),)) if isinstance(function, tree.FunctionDef):
            if function_words("evaluation").search(name):
                return True
            uses = [node for node in parents.names.get(name, ()) if parents.function(node) is function]
            calls = [parents.of(node) for node in uses if not parents.is_bound(node)]
            return bool(calls) and all(isinstance(call, tree.Call) and code.is_cut(call) for call in calls)
        case tree.Call(func=func) as call if func is operation.call:
            return code.is_cut(call)
    return False


def is_put_into_data(ev: Evaluator, operation: Operation) -> bool:
    """Whether all that is computed of the result becomes the `.data` of a tensor, of which no graph is kept:
    `image.data = blur(image.data)`, where `blur` pads.
    """
    frame, call = operation.frame, operation.call
    becomes_data = partial(_becomes_data, ev)
    if operation.is_module:
        made = call_at(ev, operation.site)
        return made is not None and runs_only_where(ev, made, becomes_data)
    runs = ways(ev, frame.facts, frame.scope, call.site)
    return all(any(map(becomes_data, way)) for way in runs)


def _becomes_data(ev: Evaluator, place: Waypoint) -> bool:
    found = call_at(ev, Site(place.facts.path, place.site))
    if found is None:
        return False
    match parents_of(ev, place.facts).of(found.call):
        case tree.Assign(targets=(tree.Attribute(attr="data"),), value=value):
            return value is found.call
    return False


def is_part_of_its_counts(operation: Operation) -> bool:
    """`repeat_interleave(sizes, sizes[:, 0])`: counts are integers, and so is the tensor that they are a part of."""
    call = operation.call
    nodes = [arg.value for arg in call.args if arg.keyword in (None, "input", "repeats")]
    if operation.is_method and isinstance(call.func, tree.Attribute):
        nodes.insert(0, call.func.value)
    if not operation.name.endswith("repeat_interleave") or len(nodes) < 2:
        return False
    whole, counts = _part_of(nodes[0], operation.frame.scope), _part_of(nodes[1], operation.frame.scope)
    return whole is not None and whole == counts


def _part_of(node: tree.Expr, scope: Scope) -> str | None:
    """The name of the tensor that an expression is cut out of, through one local name."""
    for _ in range(2):
        while isinstance(node, tree.Subscript):
            node = node.value
        if not isinstance(node, tree.Name):
            return None
        bindings, certain = scope.reaching(node.id, node.site)
        only = bindings[0].node if certain and len(bindings) == 1 and not bindings[0].unpack else None
        if not isinstance(only, tree.Subscript):
            return node.id
        node = only
    return None


class _Code:
    """The code of one scope, in which results are followed."""

    def __init__(self, ev: Evaluator, frame: Frame) -> None:
        self._ev = ev
        self._frame = frame
        self.parents = parents_of(ev, frame.facts)

    def is_cut(self, node: tree.Expr, steps: int = 4) -> bool:
        """Whether a result is cut off, through the local names that it gets, of which there may be so many."""
        parents = self.parents
        match parents.of(node):
            case tree.Compare() | tree.Unary(op="~"):
                return True
            case tree.Unary() | tree.Binary() as above:
                return self.is_cut(above, steps)
            case tree.Arg() as above:
                call = parents.of(above)
                return isinstance(call, tree.Call) and self._is_argument_cut(call, steps)
            case tree.Display(kind="list" | "tuple") as above:
                return isinstance(parents.of(above), tree.Arg) and self.is_cut(above, steps)
            case tree.Subscript(value=value) as above if value is node:
                return self.is_cut(above, steps)
            case tree.Attribute(attr=attr) as above:
                if attr in graph_words("cut") or result_is_floating(f"torch.Tensor.{attr}") is False:
                    return True
                called = parents.of(above)
                if not isinstance(called, tree.Call) or called.func is not above:
                    return False
                return (attr in graph_words("kept") or _computes(attr)) and self.is_cut(called, steps)
            case tree.Assign(targets=(tree.Name(id=name),), value=value) if value is node and steps:
                reads = [use for use in parents.names.get(name, ()) if self._reads(use, node)]
                function = parents.function(node)
                return bool(reads) and all(
                    parents.function(use) is function and self.is_cut(use, steps - 1) for use in reads
                )
        return False

    def _is_argument_cut(self, call: tree.Call, steps: int) -> bool:
        name = called_name(call.func)
        if name in graph_words("shown"):
            return True
        return (name in graph_words("joined") or self._computes(call)) and self.is_cut(call, steps)

    def _computes(self, call: tree.Call) -> bool:
        """Whether a call of torch gives a new tensor, and does nothing else."""
        if any(arg.keyword == "out" for arg in call.args):
            return False
        values = self._ev.values(call.func, self._frame)
        names = [canonical(value.name) for value in values if isinstance(value, External)]
        return bool(names) and len(names) == len(values) and all(map(returns_tensor, names))

    def _reads(self, use: tree.Name, value: tree.Expr) -> bool:
        """Whether a name may read what `value` was bound to, be it in a function within."""
        parents, scope = self.parents, self._frame.scope
        function = parents.function(value)
        if parents.is_bound(use) or not (function is None or function in parents.around(use)):
            return False
        inner = parents.function(use) is not function
        bindings, _ = scope.reaching(use.id) if inner else scope.reaching(use.id, use.site)
        return any(binding.node is value for binding in bindings)


def _computes(method: str) -> bool:
    """Whether a method of a tensor gives a new one, and leaves its own as it is."""
    return returns_tensor(f"torch.Tensor.{method}") and not method.endswith("_")
