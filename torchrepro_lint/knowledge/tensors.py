"""What gives a tensor: functions and classes of torch, methods and attributes of tensors."""

from __future__ import annotations

from functools import cache
from typing import Literal

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import expand_names, read_toml

__all__ = [
    "GraphWords",
    "Trait",
    "dtype_is_floating",
    "fewest_dimensions",
    "gives_tensors",
    "gives_trait",
    "graph_words",
    "is_tensor_attribute",
    "keeps_dimension",
    "keeps_dimensions",
    "loses_dimensions",
    "keeps_trait",
    "made_on_cpu",
    "places_dimensions",
    "result_is_floating",
    "returns_tensor",
    "takes_no_weights",
    "tensor_methods",
]

#: What may be known about the numbers in a tensor: none comes twice, along a dimension or at all; all are whole. And of
#: its form: there is one place along a dimension.
Trait = Literal["distinct", "apart", "whole", "single"]

#: What becomes of the graph of a result.
GraphWords = Literal["cut", "kept", "joined", "shown"]


def returns_tensor(qualname: str) -> bool:
    """Whether a call of `qualname` gives a tensor; methods are spelled `torch.Tensor.sum`.

    A call that may give a tensor or a named tuple of tensors (`torch.max`) counts; one that always gives a tuple
    or a list (`torch.sort`) does not.
    """
    return canonical(qualname) in _makers()


def gives_tensors(qualname: str) -> bool:
    """Whether a call of `qualname` can give several tensors: `torch.sort`, `torch.Tensor.chunk`."""
    name = canonical(qualname)
    return name in _names("several", "names") or name.replace("torch.Tensor.", "torch.") in _names("several", "names")


def made_on_cpu(qualname: str) -> bool:
    """Whether `qualname` makes a new tensor, which lies on the CPU unless something else is asked for."""
    return canonical(qualname) in _names("new", "names")


def takes_no_weights(qualname: str) -> bool:
    """Whether a function of torch takes no learned weights beside its input."""
    name = canonical(qualname)
    return not name.startswith("torch.nn.") or name in _names("without_weights", "names")


def result_is_floating(qualname: str) -> bool | None:
    """Whether a call of `qualname` gives floating-point elements; None where it depends on what it is given."""
    name = canonical(qualname)
    if name in _names("types", "floating"):
        return True
    return False if name in _names("types", "integer") else None


def dtype_is_floating(qualname: str) -> bool | None:
    """Whether the dtype `qualname` is a floating-point one; None where it is none that is known."""
    name = canonical(qualname)
    if name in _names("types", "dtypes_floating"):
        return True
    return False if name in _names("types", "dtypes_integer") else None


def is_tensor_attribute(name: str) -> bool:
    """Whether the attribute `name` is a tensor: of a tensor (`T`, `grad`), or of what a network gives (`logits`)."""
    return name in _attributes()


def gives_trait(name: str, trait: Trait) -> bool:
    """Whether what the function or method of the last name `name` gives has the trait, whatever it is given."""
    return name in _names(trait, "made")


def keeps_trait(name: str, trait: Trait) -> bool:
    """Whether what the method `name` gives has the trait where what it is called on has."""
    return name in _names(trait, "kept")


def keeps_dimension(name: str) -> bool:
    """Whether the function or method of the last name `name` leaves one place of a dimension with `keepdim=True`."""
    return name in _names("single", "reduced")


def fewest_dimensions(qualname: str) -> int:
    """How many dimensions a function, or a module of a class, gives at least; 0 where it is not known."""
    name = canonical(qualname)
    tables = ((4, "of_four"), (3, "of_three"), (2, "of_two"))
    return next((count for count, table in tables if name in _names("dimensions", table)), 0)


def keeps_dimensions(name: str) -> bool:
    """Whether the function, method or module class of the last name `name` gives as many dimensions as it is given."""
    return name in _names("dimensions", "kept")


def places_dimensions(name: str) -> bool:
    """Whether the method of the name `name` puts dimensions in an order: `permute`, `transpose`."""
    return name in _names("dimensions", "placed")


def loses_dimensions(name: str) -> bool:
    """Whether a tensor's method of the name `name` may leave fewer dimensions than there were."""
    return name in _names("dimensions", "lost")


def graph_words(key: GraphWords) -> frozenset[str]:
    """The last names of what does so with the graph of a result; what `key` says is told in tensors.toml."""
    return _names("graph", key)


@cache
def tensor_methods() -> frozenset[str]:
    """Methods of tensors that give a tensor, without the class."""
    return frozenset(read_toml("tensors.toml")["methods"])


@cache
def _attributes() -> frozenset[str]:
    data = read_toml("tensors.toml")
    return frozenset((*data["attributes"], *data["outputs"]))


@cache
def _makers() -> frozenset[str]:
    data = read_toml("tensors.toml")
    found = {f"{module}.{name}" for module, names in data["functions"].items() for name in names}
    found.update(f"torch.{name}" for name in data["classes"])
    found.update(f"torch.Tensor.{name}" for name in data["methods"])
    return frozenset(found)


@cache
def _names(table: str, key: str) -> frozenset[str]:
    return frozenset(name for text in read_toml("tensors.toml")[table][key] for name in expand_names(text))
