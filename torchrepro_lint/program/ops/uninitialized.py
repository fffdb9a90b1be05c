"""Memory that is read before anything is written to it, as far as one function proves it.

A tensor is followed from the call that makes it, through its local name, to the first use that does more than ask for
its form. Where that use reads, and nothing can have come before it, the read is proven. What another function gets, an
alias, a closure or an `out=` may write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ops.fresh_memory import fresh_words, makes_fresh_memory
from torchrepro_lint.program.ops.memory_uses import memory_use
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.unwritten_attributes import read_of_attribute
from torchrepro_lint.program.running.parents import Node, Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["uninitialized_reads"]


def uninitialized_reads(program: Program) -> Iterator[tuple[Operation, Site]]:
    """The calls that give memory as it was found, each with the place that reads it first."""
    for path in program.asked_with(fresh_words()):
        for made in makes_fresh_memory(program, path):
            program.ev.begin_question()
            read = _read(program, made)
            if read is not None:
                yield made, read


def _read(program: Program, made: Operation) -> Site | None:
    parents = parents_of(program.ev, made.frame.facts)
    use = memory_use(program.ev, parents, made.call, made.frame)
    if use.kind == "reads":
        return _site(made, use.at, parents)
    if use.kind == "bound" and isinstance(use.at, tree.Assign):
        match use.at.targets[0]:
            case tree.Name(id=name):
                bindings = made.frame.scope.bindings.get(name, ())
                bound = next((one for one in bindings if one.node is use.at.value and not one.unpack), None)
                return _of_name(program, made, bound, use.at) if bound is not None else None
            case tree.Attribute() as attribute:
                return read_of_attribute(program, made, attribute)
    match made.call.func:
        case tree.Attribute(value=tree.Name(id=name, site=site), attr="resize_" | "resize_as_") if use.kind == "form":
            return _of_name(program, made, made.frame.scope.reaching(name, site)[0][0], use.at)
    return None


def _site(made: Operation, at: Node, parents: Parents) -> Site:
    """Where a read is; a clause has no place of its own in the text."""
    while isinstance(at, (tree.Clause, tree.Case)):
        at = parents.of(at) or made.call
    return Site(made.frame.facts.path, at.site)


def _of_name(program: Program, made: Operation, binding: Binding, statement: Node) -> Site | None:
    """The first read of a local name, from the statement on that makes its memory fresh."""
    scope = made.frame.scope
    if binding.scope is not None or isinstance(scope.node, (tree.ClassDef, tree.Comprehension)):
        return None
    parents = parents_of(program.ev, made.frame.facts)
    uses = _uses(parents, made.frame.facts, scope, binding.name)
    if uses is None:
        return None
    after = [use for use in uses if use.site > made.call.site and parents.statement(use) is not statement]
    for use in after:
        place = _place(parents, use)
        reaching, _ = scope.reaching(binding.name, place)
        if binding not in reaching or parents.is_bound(use):
            continue
        found = memory_use(program.ev, parents, use, made.frame)
        if found.kind == "form":
            continue
        if found.kind == "reads" and _comes_first(
            scope, binding, place, reaching, [one for one in after if one is not use]
        ):
            return _site(made, found.at, parents)
        return None
    return None


def _uses(parents: Parents, facts: ModuleFacts, scope: Scope, name: str) -> list[tree.Name] | None:
    """The mentions of a name of a scope, in order; None where a function inside mentions it too: when that runs, and
    what it does then, is not known."""
    found = []
    for use in sorted(parents.names.get(name, ()), key=lambda one: one.site):
        function = parents.function(use)
        if function is scope.node:
            found.append(use)
            continue
        owner: Scope | None = facts.scope if function is None else facts.scope_of(function)
        while owner is not None and owner is not scope and (name not in owner.bindings or name in owner.declared):
            owner = owner.parent
        if owner is scope:
            return None
    return found


def _place(parents: Parents, use: tree.Name) -> int:
    """From where on a mention sees the name; the target of `+=` sees it before its own statement has bound it."""
    above = parents.of(use)
    return above.site if isinstance(above, tree.AugAssign) and above.target is use else use.site


def _comes_first(
    scope: Scope, binding: Binding, place: int, reaching: Sequence[Binding], others: Sequence[tree.Name]
) -> bool:
    """Whether nothing can have been written before a read that is the first in the text.

    In a loop that does not make the memory anew, what stands later may come earlier: the read must then be there in
    the first round, or be the only use in that loop.
    """
    rebound = [one for one in reaching if one is not binding and not _is_at(one, place)]
    if any(one.order < place for one in rebound):
        return False
    path = scope.path_at(place)
    inside = path[len(binding.path) :] if path[: len(binding.path)] == binding.path else path
    loop = next((depth for depth, (branch, _) in enumerate(inside) if branch in scope.loops), None)
    if loop is None or loop == len(inside) - 1:
        return True
    return not rebound and not any(inside[loop] in scope.path_at(other.site) for other in others)


def _is_at(binding: Binding, place: int) -> bool:
    """Whether the binding is that of the `+=` which is at the place and reads the name itself."""
    return isinstance(binding.node, tree.AugAssign) and binding.node.site == place
