"""Alternatives of one name: `if backend == "a": from a import main`, `else: from b import main`, and `main()`.

What one of them runs never runs together with what another one runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.program.evaluation.names import binding_values
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue, MethodValue, ModuleValue, Value
from torchrepro_lint.program.running.callers import frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Arms", "arms_of_name", "are_apart"]

#: The arms of `if`, `match` and `try` statements of some files: (file, branching statement) and the arm.
Arms: TypeAlias = tuple[tuple[Path, int, str], ...]

MAX_STEPS: Final = 4


def arms_of_name(ev: Evaluator, facts: ModuleFacts, scope: Scope, use: tree.Expr, function: Scope) -> Arms:
    """The arms in which a name is bound to what leads from `use` to `function`; none where it may be any of several."""
    return tuple(_arms(ev, facts, scope, use, function, MAX_STEPS))


def are_apart(first: Arms, second: Arms) -> bool:
    """Whether two names are bound in different arms of one statement."""
    taken = {(path, branch): arm for path, branch, arm in first}
    return any(taken.get((path, branch), arm) != arm for path, branch, arm in second)


def _arms(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, use: tree.Expr, function: Scope, steps: int
) -> Iterator[tuple[Path, int, str]]:
    attributes: list[str] = []
    while isinstance(use, tree.Attribute | tree.Call):
        attributes += [use.attr] if isinstance(use, tree.Attribute) else []
        use = use.value if isinstance(use, tree.Attribute) else use.func
    if isinstance(use, tree.Name):
        owner = _owner(scope, use.id)
        if owner is not None:
            yield from _of_bindings(ev, facts, owner, use.id, attributes, function, steps)


def _of_bindings(
    ev: Evaluator, facts: ModuleFacts, owner: Scope, name: str, attributes: list[str], function: Scope, steps: int
) -> Iterator[tuple[Path, int, str]]:
    bindings = owner.bindings[name]
    if len(bindings) > 1:
        if not any(binding.path for binding in bindings):
            return
        frame = frame_without_callers(ev, facts, owner)
        bindings = tuple(
            one
            for one in bindings
            if any(_leads_to(ev, value, attributes, function) for value in binding_values(ev, one, frame))
        )
    if len(bindings) != 1:
        return
    (binding,) = bindings
    for branch, arm in binding.path:
        if isinstance(owner.branches.get(branch), tree.If | tree.Match | tree.Try):
            yield facts.path, branch, arm
    if steps:
        yield from _further(ev, facts, owner, binding, attributes, function, steps - 1)


def _further(
    ev: Evaluator,
    facts: ModuleFacts,
    owner: Scope,
    binding: Binding,
    attributes: list[str],
    function: Scope,
    steps: int,
) -> Iterator[tuple[Path, int, str]]:
    """The arms of what an import imports, and of the class or function of whose result a name is."""
    match binding.kind, binding.node:
        case "assign", tree.Call(func=func) if not binding.unpack:
            yield from _arms(ev, facts, owner, func, function, steps)
        case "import-from", tree.ImportFrom(level=level, module=module, names=names):
            path = ev.project.resolve_from(facts.path, level, module)
            source = ev.project.facts(path) if path is not None else None
            name = next(one for one, alias in names if (alias or one) == binding.name)
            if source is not None and name in source.scope.bindings:
                yield from _of_bindings(ev, source, source.scope, name, attributes, function, steps)


def _owner(scope: Scope, name: str) -> Scope | None:
    """The scope that binds a name which is read in another."""
    current: Scope | None = scope
    while current is not None and (
        name not in current.bindings or (current is not scope and isinstance(current.node, tree.ClassDef))
    ):
        current = current.parent
    return current


def _leads_to(ev: Evaluator, value: Value, attributes: list[str], function: Scope) -> bool:
    match value:
        case FunctionValue(node=node) | MethodValue(function=FunctionValue(node=node)):
            return node is function.node
        case ClassValue():
            return any(_leads_to(ev, one, [], function) for one in ev.attribute(value, function.name))
        case ModuleValue() if attributes:
            return any(_leads_to(ev, one, attributes[:-1], function) for one in ev.attribute(value, attributes[-1]))
    return False
