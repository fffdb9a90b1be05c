"""What a use of a tensor does with the contents of its memory: it reads them, asks for the form alone, or carries them.

What is not known to do one of the three may write.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import expand_names, read_toml

__all__ = ["ContentsUse", "attribute_use", "function_use", "joins_tensors", "method_use"]

#: `reads`: every element, before anything is written; `form`: shape, type or device alone; `carries`: gives the same
#: memory under another name or shape, or a copy of it.
ContentsUse = Literal["reads", "form", "carries"]


def attribute_use(name: str) -> ContentsUse | None:
    """What reading the attribute `name` of a tensor does; None: may be anything."""
    return _uses("attributes").get(name)


def method_use(name: str) -> ContentsUse | None:
    """What calling the method `name` of a tensor does with that tensor; None: may be anything."""
    return _uses("methods").get(name)


def function_use(qualname: str) -> ContentsUse | None:
    """What a function, or the method `torch.Tensor.name`, does with tensors among its arguments; None: anything."""
    name = canonical(qualname)
    if name.startswith("torch.Tensor."):
        # A method does with its arguments what it does with its receiver, as far as it reads.
        return "reads" if method_use(name.removeprefix("torch.Tensor.")) == "reads" else None
    return _uses("functions").get(name)


def joins_tensors(qualname: str) -> bool:
    """Whether a function puts the elements of the tensors in a list together."""
    return canonical(qualname) in _joins()


@cache
def _joins() -> frozenset[str]:
    return frozenset(name for text in read_toml("contents.toml")["joins"]["functions"] for name in expand_names(text))


@cache
def _uses(kind: Literal["attributes", "methods", "functions"]) -> dict[str, ContentsUse]:
    data = read_toml("contents.toml")
    uses: tuple[ContentsUse, ...] = ("reads", "form", "carries")
    return {name: use for use in uses for text in data[use].get(kind, ()) for name in expand_names(text)}
