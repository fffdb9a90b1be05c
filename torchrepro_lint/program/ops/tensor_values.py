"""What the evaluation of values shows of tensors, and of the networks that give them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tensors import returns_tensor
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.values import ClassValue, External, ExternalObject, Instance, Value, Values
from torchrepro_lint.program.ops.tensor_results import SOME, Tensor, parameter

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["by_values", "external_names", "is_network", "is_network_class"]


def is_network_class(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a class of the project is a torch.nn.Module, by its bases; one from elsewhere counts by its name."""
    for base in attributes.external_bases(ev, cls):
        last = last_part(base)
        if base.startswith("torch.nn.") or last.endswith(("Module", "Model")):
            return True
    return False


def is_network(ev: Evaluator, value: Value) -> bool:
    """Whether a value is a network: an object of a torch.nn.Module, or what a library of networks gives."""
    match value:
        case ExternalObject(name=name) if name.startswith("torch.nn."):
            return last_part(name)[:1].isupper() and not returns_tensor(name)
        case ExternalObject(name=name):
            return function_words("gives_a_network").search(canonical(name)) is not None
        case Instance(cls=cls):
            return is_network_class(ev, cls)
    return False


def by_values(values: Values) -> Tensor | None:
    """A tensor that the evaluation of values has shown already."""
    for value in values:
        if isinstance(value, ExternalObject) and returns_tensor(value.name):
            if value.name.endswith("Parameter"):
                return parameter(value.arguments)
            return replace(SOME, grad=False) if value.name.endswith(".Buffer") else SOME
    return None


def external_names(values: Values) -> list[str]:
    """The qualified names of what is from outside the project."""
    return sorted(canonical(value.name) for value in values if isinstance(value, External))
