"""A seed that is the same on every rank, from one in which the rank takes part."""

from __future__ import annotations

import re

import libcst as cst

from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.visibility import is_bound_at

__all__ = ["seed_of_all_ranks"]

_OR_DEFAULT = re.compile(r"(?P<seed>.+) or (?P<default>\d+)")
_PLUS_RANK = re.compile(r"(?P<seed>.+?)\s*\+\s*[\w.]*rank[\w.]*(?:\(\))?", re.IGNORECASE)
_RANK = re.compile(r"rank", re.IGNORECASE)


def seed_of_all_ranks(document: Document, text: str, at: cst.BaseStatement) -> str | None:
    """The seed expression `text` without the rank of the process, as it can be written before the statement `at`; None
    where the rank cannot be taken out.

    What the file assigns to the expression counts: in `seed = args.seed + rank`, `seed` is another one on each rank.
    """
    optional = _OR_DEFAULT.fullmatch(text)
    if optional is not None:
        seed = seed_of_all_ranks(document, optional["seed"], at)
        return f"{seed} or {optional['default']}" if seed is not None else None
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


def _assigned(document: Document, text: str) -> list[cst.BaseExpression | None]:
    """What the file assigns to an expression; None for an addition in place in which a rank takes part."""
    found: list[cst.BaseExpression | None] = []
    for node in document.walk():
        if isinstance(node, cst.Assign) and any(document.text_of(one.target) == text for one in node.targets):
            found.append(node.value)
        elif isinstance(node, cst.AugAssign) and document.text_of(node.target) == text:
            found += [None] if _RANK.search(document.text_of(node.value)) else []
        elif isinstance(node, cst.AnnAssign) and node.value is not None and document.text_of(node.target) == text:
            found.append(node.value)
    return found
