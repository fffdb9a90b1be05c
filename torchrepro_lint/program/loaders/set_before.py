"""What is assigned to an attribute of a data set right before its loader is made: `dataset.transform = plain`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Scope, Store
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.program.evaluation.arguments import merged
from torchrepro_lint.program.evaluation.values import Arguments, Instance, values_of
from torchrepro_lint.program.running.written_arguments import written_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.loaders.loaders import Loader

__all__ = ["with_what_is_set_before"]


def with_what_is_set_before(ev: Evaluator, loader: Loader) -> Loader:
    """The loader with a data set that has, for each attribute which the statements around the loader's assign above it,
    the value of the last such statement, and not what its class or other code assigns.

    That no other code assigns to it before the workers start is not asked.
    """
    name = loader.known.keywords.get("dataset")
    if name is None:
        return loader
    written = written_argument(loader.call, Parameter(name, 0))
    stores = dict(_stores_above(loader.scope, loader.call, written.id)) if isinstance(written, tree.Name) else {}
    match [*loader.value("dataset")]:
        case [Instance() as dataset] if stores:
            set_last = tuple((attr, ev.values(store.value, loader.frame)) for attr, store in sorted(stores.items()))
            given = values_of(Instance(dataset.cls, dataset.arguments, dataset.site, set_last))
            return replace(loader, arguments=merged(loader.arguments, Arguments((), ((name, given, True),))))
    return loader


def _stores_above(scope: Scope, call: tree.Call, name: str) -> Iterator[tuple[str, Store]]:
    """The assignments to attributes of a name that surely run before the call, and after the name gets its value, by
    the attribute; a later one wins.
    """
    around = scope.path_at(call.site)
    bindings, certain = scope.reaching(name, call.site)
    if not certain or len(bindings) != 1:
        return
    for store in scope.stores:
        target = store.target
        if (
            isinstance(target, tree.Attribute)
            and isinstance(target.value, tree.Name)
            and target.value.id == name
            and not store.augmented
            and not store.unpack
            and bindings[0].order < store.statement.site < call.site
            and store.path == around
        ):
            yield target.attr, store
