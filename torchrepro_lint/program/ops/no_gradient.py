"""Operations to which no gradient comes back: their result leaves the graph at once, or they work on counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.tensors import graph_words, result_is_floating
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.parents import Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_cut_off", "is_part_of_its_counts"]


def is_cut_off(ev: Evaluator, operation: Operation) -> bool:
    """Whether the result goes through `.detach()`, `.data`, `.argmax()` or a comparison before anything else sees it.
    Of a module that a function makes for itself: the results of all its calls, or its name says what it is for.
    """
    parents, scope = parents_of(ev, operation.frame.facts), operation.frame.scope
    if not operation.is_module:
        return _is_cut(parents, operation.call, scope)
    match parents.of(operation.call):
        case tree.Assign(targets=(tree.Name(id=name),)) if isinstance(operation.frame.scope.node, tree.FunctionDef):
            if function_words("evaluation").search(name):
                return True
            function = operation.frame.scope.node
            uses = [node for node in parents.names.get(name, ()) if parents.function(node) is function]
            calls = [parents.of(node) for node in uses if not parents.is_bound(node)]
            return bool(calls) and all(isinstance(call, tree.Call) and _is_cut(parents, call, scope) for call in calls)
        case tree.Call(func=func) as call if func is operation.call:
            return _is_cut(parents, call, scope)
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


def _is_cut(parents: Parents, node: tree.Expr, scope: Scope, steps: int = 4) -> bool:
    """Whether a result is cut off, through the local names that it gets, of which there may be so many."""
    match parents.of(node):
        case tree.Compare() | tree.Unary(op="~"):
            return True
        case tree.Arg() as above:
            call = parents.of(above)
            name = called_name(call.func) if isinstance(call, tree.Call) else None
            if name in graph_words("shown"):
                return True
            return name in graph_words("joined") and _is_cut(parents, call, scope, steps)  # type: ignore[arg-type]
        case tree.Display(kind="list" | "tuple") as above:
            return isinstance(parents.of(above), tree.Arg) and _is_cut(parents, above, scope, steps)
        case tree.Subscript(value=value) as above if value is node:
            return _is_cut(parents, above, scope, steps)
        case tree.Attribute(attr=attr) as above:
            called = parents.of(above)
            if attr in graph_words("cut") or result_is_floating(f"torch.Tensor.{attr}") is False:
                return True
            is_called = isinstance(called, tree.Call) and called.func is above
            return is_called and attr in graph_words("kept") and _is_cut(parents, called, scope, steps)  # type: ignore[arg-type]
        case tree.Assign(targets=(tree.Name(id=name),), value=value) if value is node and steps:
            reads = [use for use in parents.names.get(name, ()) if _reads(parents, use, node, scope)]
            function = parents.function(node)
            return bool(reads) and all(
                parents.function(use) is function and _is_cut(parents, use, scope, steps - 1) for use in reads
            )
    return False


def _reads(parents: Parents, use: tree.Name, value: tree.Expr, scope: Scope) -> bool:
    """Whether a name may read what `value` was bound to in `scope`, be it in a function within."""
    function = parents.function(value)
    if parents.is_bound(use) or not (function is None or function in parents.around(use)):
        return False
    inner = parents.function(use) is not function
    bindings, _ = scope.reaching(use.id) if inner else scope.reaching(use.id, use.site)
    return any(binding.node is value for binding in bindings)
