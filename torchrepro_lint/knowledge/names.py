"""One name for one thing: folds private homes, old homes and re-exports of a library into its public name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.tables import read_toml

__all__ = ["canonical", "usual_module"]


@dataclass(frozen=True, slots=True)
class _Rules:
    """`exact`: whole names. `prefix`: what a name begins with, at a dot. `flatten`: packages whose deeper
    modules re-export every class at a shallower place: `a.b.Class` of a flattened `a` is `a.Class`. `usual`: names
    that mean one module everywhere."""

    exact: Mapping[str, str]
    prefix: Mapping[str, str]
    flatten: Mapping[str, str]
    usual: Mapping[str, str]


@cache
def _rules() -> _Rules:
    data = read_toml("names.toml")
    return _Rules(data["exact"], data["prefix"], data["flatten"], data["usual"])


def usual_module(name: str) -> str | None:
    """The module that a name means in every program that reads it: `np` is NumPy."""
    return _rules().usual.get(name)


@cache
def canonical(qualname: str) -> str:
    """The public spelling of `qualname`; the name itself where no rule is about it.

    >>> canonical("torch.utils.data.dataloader.DataLoader")
    'torch.utils.data.DataLoader'

    A member of a class that has moved follows it. `canonical(canonical(name)) == canonical(name)`.
    """
    for _ in range(8):
        rewritten = _once(qualname)
        if rewritten == qualname:
            break
        qualname = rewritten
    return qualname


def _once(qualname: str) -> str:
    rules = _rules()
    end = len(qualname)
    while end > 0:  # the longest rule wins; for the same length an exact one
        head, tail = qualname[:end], qualname[end:]
        if (target := rules.exact.get(head)) is not None:
            return target + tail
        if tail and (target := rules.prefix.get(head)) is not None:
            return target + tail
        if tail and (target := rules.flatten.get(head)) is not None:
            return _flattened(head, target, tail)
        end = qualname.rfind(".", 0, end)
    return qualname


def _flattened(head: str, target: str, tail: str) -> str:
    """Drop the module parts (they begin with a small letter) that are before a class in `tail`."""
    parts = tail[1:].split(".")
    for at, part in enumerate(parts):
        if part[:1].isupper():
            return ".".join([target, *parts[at:]])
    return head + tail
