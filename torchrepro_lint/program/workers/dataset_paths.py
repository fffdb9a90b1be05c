"""By which attributes worker code gets from the dataset of a loader to an object that it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.arguments import external_argument
from torchrepro_lint.program.evaluation.classes import mro
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ClassValue, ExternalObject, Instance, Value, Values

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["dataset_paths"]

_MAX_STEPS: Final = 3
#: Datasets of torch that hold another as `dataset`, with the parameters of their construction.
_WRAPPERS: Final = {"torch.utils.data.Subset": ("dataset", "indices")}


def dataset_paths(ev: Evaluator, dataset: Values, is_wanted: Callable[[Value], bool]) -> frozenset[str]:
    """The chains of attributes (`transform.rng`) that lead to wanted objects, whichever of its values the dataset is.

    An attribute counts if it is proven to hold a wanted object and nothing else.
    """
    found = [frozenset(_below(ev, value, is_wanted, 1)) for value in ordered(dataset)]
    return frozenset.intersection(*found) if found else frozenset()


def _below(ev: Evaluator, holder: Value, is_wanted: Callable[[Value], bool], steps: int) -> Iterator[str]:
    for name, values in _members(ev, holder):
        if values and all(is_wanted(value) for value in values):
            yield name
        elif values and steps < _MAX_STEPS and all(isinstance(value, (Instance, ExternalObject)) for value in values):
            for rest in frozenset.intersection(
                *(frozenset(_below(ev, value, is_wanted, steps + 1)) for value in ordered(values))
            ):
                yield f"{name}.{rest}"


def _members(ev: Evaluator, holder: Value) -> Iterator[tuple[str, Values]]:
    """The attributes of an object, with what they can be."""
    if isinstance(holder, Instance):
        for name in sorted(_attribute_names(ev, holder)):
            yield name, ev.attribute(holder, name)
    elif isinstance(holder, ExternalObject) and holder.name in _WRAPPERS and holder.arguments is not None:
        given, _ = external_argument(holder.arguments, _WRAPPERS[holder.name], "dataset")
        yield "dataset", given


def _attribute_names(ev: Evaluator, instance: Instance) -> set[str]:
    names: set[str] = set()
    for base in mro(ev, instance.cls):
        if not isinstance(base, ClassValue):
            continue
        scope = ev.class_frame(base).scope
        names |= {name for name, bindings in scope.bindings.items() if any(one.kind == "assign" for one in bindings)}
        for method in scope.children:
            if isinstance(method.node, tree.FunctionDef):
                names |= {key.removeprefix("self.") for key in method.bindings if key.startswith("self.")}
    return names
