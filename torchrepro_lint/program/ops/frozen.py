"""Networks whose parameters are frozen: no gradient flows back through one that is only given data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import Constant, FunctionValue
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.parents import Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_frozen"]

#: Methods of a network that give its parameters, or all of its parts.
_PARAMETERS: Final = frozenset({"parameters", "named_parameters", "modules", "children"})
_SWITCH: Final = "requires_grad_"
_FLAG: Final = "requires_grad"


_Switched: TypeAlias = dict[tuple[int, str], list[bool]]


def is_frozen(ev: Evaluator, facts: ModuleFacts, scope: Scope, network: tree.Expr) -> bool:
    """Whether the file freezes a network wherever it runs, by the last name of it (`self.body`), and never thaws it:
    `self.body.requires_grad_(False)`, a loop over its parameters, or a function that does so with what it is given.
    """
    name = called_name(network)
    frozen: _Switched = ev.remembered(("frozen", id(facts)), lambda: _switched(ev, facts), {})
    found = [one for home in {_home(scope, network), 0} for one in frozen.get((home, name or ""), ())]
    return bool(found) and not any(found)


def _home(scope: Scope, network: tree.Expr) -> int:
    """The class of whose objects a network is an attribute; 0 for what is named otherwise."""
    match network:
        case tree.Attribute(value=tree.Name(id=owner)) if owner == scope.self_name:
            return id(scope.parent)
    return 0


def _switched(ev: Evaluator, facts: ModuleFacts) -> _Switched:
    """What a file sets for the parameters of networks, by their last names: True where they may learn. An attribute of
    `self` is one of its class alone.
    """
    found: _Switched = {}
    parents = parents_of(ev, facts)
    for scope in facts.walk_scopes():
        for network, node, learns in _in_scope(ev, facts, scope, parents):
            name = called_name(network)
            if name is not None:
                found.setdefault((_home(scope, network), name), []).append(
                    learns or not _always_runs(ev, facts, scope, node)
                )
    return found


def _in_scope(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, parents: Parents
) -> Iterator[tuple[tree.Expr, tree.Expr, bool]]:
    """The networks of which a scope switches the parameters, each with the place, and whether they may learn then."""
    yield from _of_its_own(ev, facts, scope, parents)
    alone = frame_without_callers(ev, facts, scope)
    for call, _ in scope.calls:
        match call.args:
            case (tree.Arg(value=tree.Attribute() | tree.Name() as network),):
                if any(_freezes_what_it_is_given(ev, value) for value in ev.values(call.func, alone)):
                    yield network, call, False


def _of_its_own(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, parents: Parents
) -> Iterator[tuple[tree.Expr, tree.Expr, bool]]:
    """Those of `_in_scope` that it does not leave to a function."""
    for call, _ in scope.calls:
        match call.func:
            case tree.Attribute(value=receiver, attr=attr) if attr == _SWITCH:
                learns = not call.args or not _is_false(ev, scope, facts, call.args[0].value)
                yield from ((network, call, learns) for network in _networks(receiver, call, scope, parents))
    for store in scope.stores:
        match store.target:
            case tree.Attribute(value=receiver, attr=attr) if attr == _FLAG:
                learns = not _is_false(ev, scope, facts, store.value)
                yield from ((one, store.target, learns) for one in _networks(receiver, store.target, scope, parents))


def _networks(node: tree.Expr, at: tree.Expr, scope: Scope, parents: Parents) -> Iterator[tree.Expr]:
    """The network that is switched as a whole, what the same chain is bound to, or whose parameters a loop names."""
    if isinstance(node, tree.Name):
        for binding in scope.bindings.get(node.id, ()):
            match binding.kind, binding.node:
                case "element", tree.Call(func=tree.Attribute(value=network, attr=attr)) if attr in _PARAMETERS:
                    yield network
                    return
    if isinstance(node, tree.Name | tree.Attribute):
        yield node
    above: object = at
    while isinstance(above, tree.Attribute | tree.Call):
        above = parents.of(above)
    if isinstance(above, tree.Assign):
        yield from above.targets


def _is_false(ev: Evaluator, scope: Scope, facts: ModuleFacts, node: tree.Expr) -> bool:
    values = ev.values(node, frame_without_callers(ev, facts, scope))
    return bool(values) and all(isinstance(value, Constant) and value.value is False for value in values)


def _freezes_what_it_is_given(ev: Evaluator, value: object) -> bool:
    if not isinstance(value, FunctionValue) or not isinstance(value.node, tree.FunctionDef):
        return False
    facts = value.frame.facts
    scope = facts.scope_of(value.node)
    given = {param.name for param in value.node.params}
    switched = list(_of_its_own(ev, facts, scope, parents_of(ev, facts)))
    return bool(switched) and all(called_name(network) in given and not learns for network, _, learns in switched)


def _always_runs(ev: Evaluator, facts: ModuleFacts, scope: Scope, node: tree.Expr) -> bool:
    """Whether nothing but loops is around the place in its function, and that is a constructor or is called."""
    if any(isinstance(scope.branches.get(branch), tree.If | tree.Match) for branch, _ in scope.path_at(node.site)):
        return False
    if not isinstance(scope.node, tree.FunctionDef) or scope.name == "__init__":
        return True
    return bool(calling_places(ev, facts, scope))
