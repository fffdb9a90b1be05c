"""The uses of a name, in its scope and in those inside, that may have what one binding gives it."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.program.running.parents import Parents

__all__ = ["binding_uses"]


def binding_uses(
    parents: Parents, facts: ModuleFacts, scope: Scope, binding: Binding
) -> Iterator[tuple[tree.Name, Scope]]:
    """Each with the scope in whose code it is. A function inside may run at any time, and see any binding."""
    for use in parents.reads_in(binding.name, scope.node):
        at = _scope_at(parents, facts, use)
        if at.binder(binding.name) is not scope:
            continue
        is_later = _runs_at_once(at, scope) is not scope
        if is_later or any(one is binding for one in scope.reaching(binding.name, use.site)[0]):
            yield use, at


def _runs_at_once(at: Scope, scope: Scope) -> Scope:
    """The scope of which a comprehension is part, as far as `scope`: it runs where it stands."""
    while at is not scope and isinstance(at.node, tree.Comprehension) and at.parent is not None:
        at = at.parent
    return at


def _scope_at(parents: Parents, facts: ModuleFacts, use: tree.Name) -> Scope:
    for above in parents.around(use):
        if isinstance(above, tree.FunctionDef | tree.ClassDef | tree.Lambda | tree.Comprehension):
            return facts.scope_of(above)
    return facts.scope
