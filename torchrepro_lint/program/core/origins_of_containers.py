"""Where a part of a list, tuple, set or dict comes from, by the expression that makes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.program.core.access import EACH, HELD, Access, key, may_be_at
from torchrepro_lint.program.core.queries import Origin, Origins, Query
from torchrepro_lint.program.evaluation.expressions import comprehension_frames

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["of_container"]


def of_container(ev: Evaluator, query: Query) -> Origins | None:
    """The values that the part of a container may be that a query asks for; None where the expression makes none."""
    first, below = query.access[0], query.below()
    if not first.is_into_container:
        return None
    match query.node:
        case tree.Display(items=parts):
            return Origins(tuple(_of_display(below, parts, first)))
        case tree.DictDisplay(items=pairs):
            return Origins(tuple(_of_dict(below, pairs, first)))
        case tree.Comprehension(key=own_key, element=element):
            wanted = own_key if own_key is not None and first == EACH else element
            frames = comprehension_frames(ev, query.node, query.frame)
            if first.kind == "item" and len(frames) > 1:
                position = first.of if isinstance(first.of, int) else 0
                frames = frames[position : position + 1] if 0 <= position < len(frames) else frames
            is_sure = own_key is None or not first.is_of_one or not _is_of_its_loop(query.node)
            return Origins(tuple(Origin(below.at(wanted, inner), "part", None, is_sure) for inner in frames))
        case tree.Binary(op="+" | "|" | "&" | "^", left=left, right=right):
            return Origins(tuple(Origin(_anywhere(query, one, first), "part") for one in (left, right)))
        case tree.Binary(op="-", left=left):
            return Origins((Origin(query.inside(left), "part"),))
        case tree.Binary(op="*", left=left, right=right):
            made = [one for one in (left, right) if not isinstance(one, tree.Const)]
            return Origins(tuple(Origin(_anywhere(query, one, first), "part") for one in made[:1]))
        case tree.Starred(value=value):
            return Origins((Origin(query.inside(value), "part"),))
    return None


def _is_of_its_loop(node: tree.Comprehension) -> bool:
    """Whether the values of a dict comprehension are of what its loops go through."""
    bound = {part.id for clause in node.clauses for part in walk([clause.target]) if isinstance(part, tree.Name)}
    return any(isinstance(part, tree.Name) and part.id in bound for part in walk([node.element]))


def _anywhere(query: Query, part: tree.Expr, first: Access) -> Query:
    """The query about one part of a sum of lists, in which an item of the sum stands at another position."""
    step = HELD if first.kind == "item" else first
    return query.below().inside(part, step)


def _of_display(below: Query, parts: tuple[tree.Expr, ...], first: Access) -> Iterator[Origin]:
    stars = [index for index, one in enumerate(parts) if isinstance(one, tree.Starred)]
    for index, one in enumerate(parts):
        if isinstance(one, tree.Starred):
            yield Origin(below.inside(one.value, EACH), "part")
        elif first.kind != "item":
            yield Origin(below.inside(one), "part")
        else:
            wanted = first.of if isinstance(first.of, int) else 0
            wanted = wanted + len(parts) if wanted < 0 else wanted
            if index == wanted or (stars and stars[0] < max(index, wanted)):
                yield Origin(below.inside(one), "part")


def _of_dict(below: Query, pairs: tuple[tuple[tree.Expr | None, tree.Expr], ...], first: Access) -> Iterator[Origin]:
    found: list[Origin] = []
    for own_key, value in pairs:
        if own_key is None:
            found.append(Origin(below.inside(value, first), "part"))
        elif first == EACH:
            found.append(Origin(below.inside(own_key), "part"))
        elif not isinstance(own_key, tree.Const) or may_be_at(key(own_key.value), first):
            if isinstance(own_key, tree.Const) and first.kind in ("key", "item"):
                found = []  # the last pair of a key counts
            found.append(Origin(below.inside(value), "part"))
    yield from found
