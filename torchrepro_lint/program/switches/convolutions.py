"""Whether a program trains a network that holds a convolution, as far as its code shows: cuDNN's benchmark mode chooses
among the algorithms of convolutions, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.intent.intent_at import programs_of_ways
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.mentions import LOADING, SCRIPT
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.running.reached_names import (
    Definition,
    names_without_module,
    outside_names,
    reached_from,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.running.ways import Way

__all__ = ["may_train_convolutions"]

_TESTS_TYPES: Final = frozenset({"isinstance", "issubclass"})


def may_train_convolutions(program: Program, places: tuple[Way, ...]) -> bool:
    """Whether one of the programs that run the places to which `places` lead is shown to train, and to build a network
    that holds a convolution; also where no layer is in sight at all, since its network is then somewhere else.
    """
    running = programs_of_ways(program, places) - program.tests
    starts = {one.path for one in entry_points(program)} & running
    return any(_trains_one(program, reached_from(program, path)) for path in sorted(starts or running))


def _trains_one(program: Program, reached: frozenset[Definition]) -> bool:
    named: dict[str, list[Definition]] = {}
    for name, who in outside_names(program, reached):
        named.setdefault(name, []).append(who)
    loose = names_without_module(program, reached)
    holds = function_words("convolves").fullmatch
    if not any(holds(name) or function_words("is_a_network").fullmatch(name) for name in named):
        return True  # the network is out of sight
    if loose.isdisjoint(_BACKWARD) and not any(map(function_words("trains_networks").fullmatch, named)):
        return False
    if any(holds(f"torch.nn.{name}") for name in loose if name[:1].isupper()):
        return True  # by a text, or by a star import
    return any(
        holds(canonical(name)) is not None and any(_is_built(program, one, name) for one in users)
        for name, users in sorted(named.items())
    )


#: The methods by which gradients are computed.
_BACKWARD: Final = frozenset({"backward", "manual_backward"})


def _is_built(program: Program, user: Definition, name: str) -> bool:
    """Whether a definition calls or passes on what it names, other than to ask for a type, in code that may run."""
    path, who = user
    facts = program.facts(path)
    if facts is None:
        return False
    parents = parents_of(program.ev, facts)
    owner = LOADING if who == SCRIPT else who
    return any(
        _owner(parents, node) == owner
        and not _asks_for_a_type(parents, node)
        and _may_run(program, facts, parents, node)
        for node in _uses(parents, facts, name)
    )


def _uses(parents: Parents, facts: ModuleFacts, dotted: str) -> Iterator[tree.Expr]:
    """The uses of what has a dotted name outside, by its last part or by the name that an import gives it."""
    yield from parents.attributes.get(last_part(dotted), ())
    yield from parents.names.get(last_part(dotted), ())
    for scope in facts.walk_scopes():
        for name, bindings in scope.bindings.items():
            if any(dotted in _imported_as(one.node, name) for one in bindings):
                yield from parents.names.get(name, ())


def _imported_as(statement: object, name: str) -> Iterator[str]:
    """What an import gives a name of its own."""
    match statement:
        case tree.Import(module=module, alias=str() as alias) if alias == name:
            yield module
        case tree.ImportFrom(module=module, names=names):
            yield from (f"{module}.{original}" for original, alias in names if alias == name)


def _owner(parents: Parents, node: Node) -> str:
    """The definition at the top level around a node."""
    definitions = [one for one in parents.around(node) if isinstance(one, (tree.FunctionDef, tree.ClassDef))]
    return definitions[-1].name if definitions else LOADING


def _asks_for_a_type(parents: Parents, node: Node) -> bool:
    """Whether a class is only compared with, or says what something is: `isinstance(m, nn.Conv2d)`, an annotation."""
    inner: Node = node
    for above in parents.around(node):
        match above:
            case tree.Call(func=func):
                return func is not inner and called_name(func) in _TESTS_TYPES
            case tree.Compare() | tree.Param():
                return True
            case tree.Assign(annotation=annotation):
                return annotation is inner
            case tree.FunctionDef(returns=returns):
                return returns is inner
        inner = above
    return False


def _may_run(program: Program, facts: ModuleFacts, parents: Parents, node: tree.Expr) -> bool:
    """Whether some visible caller runs a place, so that no guard rules it out for all of them."""
    ev = program.ev
    function = parents.function(node)
    if isinstance(function, tree.Lambda):
        return True
    scope = facts.scope if function is None else facts.scope_of(function)
    path = scope.path_at(node.site)
    if not path:
        return True
    ev.begin_question()
    return any(ev.may_run(node.site, path, frame) for frame in contexts(ev, facts, scope))
