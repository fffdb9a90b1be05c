"""A seed that is the same on every rank, from one in which the rank takes part."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import zip_longest

import libcst as cst

from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.visibility import is_bound_at

__all__ = ["seed_of_all_ranks"]

_OR_DEFAULT = re.compile(r"(?P<seed>.+) or (?P<default>\d+)")
_PLUS_RANK = re.compile(r"(?P<seed>.+?)\s*\+\s*[\w.]*rank[\w.]*(?:\(\))?", re.IGNORECASE)
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*")
_RANK = re.compile(r"rank", re.IGNORECASE)


def seed_of_all_ranks(
    document: Document, text: str, at: cst.BaseStatement, by_rank: Collection[str] = ()
) -> str | None:
    """The seed expression `text` without the rank of the process, as it can be written before the statement `at`; None
    where the rank cannot be taken out. The names `by_rank` hold another number on each rank.

    What the file assigns to the expression counts: in `seed = args.seed + rank`, `seed` is another one on each rank.
    """
    optional = _OR_DEFAULT.fullmatch(text)
    if optional is not None:
        seed = seed_of_all_ranks(document, optional["seed"], at, by_rank)
        return f"{seed} or {optional['default']}" if seed is not None else None
    seed = _outside_the_rank(document, text, at)
    if seed is None or not set(by_rank).isdisjoint(_DOTTED.findall(seed)) or _has_rank(document, seed, set()):
        return None
    return seed


def _outside_the_rank(document: Document, text: str, at: cst.BaseStatement) -> str | None:
    """The seed expression without a rank that it, or what is assigned to it, names."""
    plain = _without_rank(text)
    if plain is None:
        return None
    values = [value for value in _assigned(document, plain) if value is None or _RANK.search(document.text_of(value))]
    if not values:
        return plain
    (value, *others) = values
    if value is None or others:
        return None
    seed = _without_rank(document.text_of(value))
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", seed or "")
    # `args.seed = args.seed + rank`: there is no name left for the seed before.
    return seed if seed and seed != plain and all(is_bound_at(document, name, at) for name in names) else None


def _without_rank(text: str) -> str | None:
    if not _RANK.search(text):
        return text
    match = _PLUS_RANK.fullmatch(text)
    return match["seed"] if match is not None and not _RANK.search(match["seed"]) else None


def _has_rank(document: Document, text: str, seen: set[str]) -> bool:
    """Whether a rank takes part in an expression, or in what the file assigns to the names in it, and to those in that:
    `offset = 10 * rank`, `seed = args.seed + offset`.
    """
    if _RANK.search(text):
        return True
    names = set(_DOTTED.findall(text)) - seen
    seen |= names
    return any(
        value is None or _has_rank(document, document.text_of(value), seen)
        for name in sorted(names)
        for value in _assigned(document, name)
    )


def _assigned(document: Document, text: str) -> list[cst.BaseExpression | None]:
    """What the file assigns to an expression; None for an addition in place in which a rank takes part."""
    found: list[cst.BaseExpression | None] = []
    for node in document.walk():
        if isinstance(node, cst.Assign):
            found += [value for one in node.targets for value in _given(document, one.target, node.value, text)]
        elif isinstance(node, cst.AugAssign) and document.text_of(node.target) == text:
            found += [None] if _has_rank(document, document.text_of(node.value), {text}) else []
        elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)) and node.value is not None:
            found += [node.value] if document.text_of(node.target) == text else []
    return found


def _given(
    document: Document, target: cst.BaseExpression, value: cst.BaseExpression, text: str
) -> Iterator[cst.BaseExpression]:
    """What an assignment gives to an expression, also as one of several: `seed, place = value, "cpu"`."""
    if document.text_of(target) == text:
        yield value
    elif isinstance(target, (cst.Tuple, cst.List)):
        values = value.elements if isinstance(value, (cst.Tuple, cst.List)) else ()
        for one, other in zip_longest(target.elements, values if len(values) == len(target.elements) else ()):
            yield from _given(document, one.value, other.value if other is not None else value, text)
