"""What the rank of the process adds to the seeds of a worker init function, so that another seed can keep it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from torchrepro_lint.fixes.document import Document, dotted_name

__all__ = ["are_apart", "has_rank", "is_of_one_rank", "names_rank", "rank_terms"]

_RANK = re.compile(r"rank(?!ing)", re.IGNORECASE)


def names_rank(text: str) -> bool:
    """Whether a piece of code names the rank of a process."""
    return _RANK.search(text) is not None


def rank_terms(document: Document, seeds: Sequence[cst.BaseExpression], code: cst.CSTNode) -> str | None:
    """The terms of `seeds` in which the rank takes part, to be added to another seed: ` + num_workers * rank`. Empty
    where `code`, in which they are, does not ask for the rank; None where it takes part in another way.

    A seed may be a variable of the function; a term that reads one cannot be kept, which goes with the old seed.
    """
    asked = {id(node) for node in document.nodes(cst.Name, code) if names_rank(node.value)}
    kept: list[str] = []
    for seed in seeds:
        for term in _summands(_written(document, seed)):
            inside = {id(node) for node in document.nodes(cst.Name, term)} & asked
            if inside and not _is_of_the_function(document, term):
                asked -= inside
                text = document.text[slice(*document.outer_span(term))]
                kept += [text] if text not in kept else []
    if asked or any("\n" in text for text in kept):
        return None
    return "".join(f" + {text}" for text in kept)


def has_rank(document: Document, seed: str, at: cst.CSTNode) -> bool:
    """Whether the rank takes part in a seed that is written at `at`, or in what the function gives to that variable."""
    given = _given(document, seed, at)
    if names_rank(seed) or given is None:
        return names_rank(seed)
    return any(_is_rank(document, term) for term in _summands(given))


def is_of_one_rank(document: Document, rank: str | None, at: cst.CSTNode) -> bool:
    """Whether only one rank comes to a place: `if rank == 0:`, and the arm of an `if` whose other arm makes the sampler
    for several processes.
    """
    inner = at
    for outer in document.ancestors(at):
        match outer:
            case cst.If(
                test=cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(cst.Equal(), cst.Integer())]),
                body=body,
            ) if rank is not None and body is inner and document.text_of(left) == rank:
                return True
            case cst.If(body=body, orelse=orelse) if inner in (body, orelse):
                other = orelse if inner is body else body
                if other is not None and _distributes(document, other) and not _distributes(document, inner):
                    return True
            case cst.FunctionDef() | cst.ClassDef():
                return False
        inner = outer
    return False


def _distributes(document: Document, arm: cst.CSTNode) -> bool:
    """Whether an arm of an `if` gives each process its own part of the data."""
    return any((dotted_name(call.func) or "").endswith("DistributedSampler") for call in document.nodes(cst.Call, arm))


def _is_rank(document: Document, term: cst.BaseExpression) -> bool:
    """Whether a term differs from rank to rank, and not only under a condition."""
    match term:
        case cst.Call(func=func):
            return names_rank(document.text_of(func))
        case cst.Name() | cst.Attribute() | cst.Subscript() | cst.BinaryOperation(operator=cst.Multiply()):
            return names_rank(document.text_of(term))
    return False


def are_apart(terms: str) -> bool:
    """Whether such terms leave room for the workers of each rank: `rank * 1000`. With `rank` alone, which is added to
    a seed that counts the workers up, the second worker of a rank has the seed of the first one of the next.
    """
    return "*" in terms


def _written(document: Document, seed: cst.BaseExpression) -> cst.BaseExpression:
    """What a variable of the function is given, where it is given one thing; else the expression itself."""
    given = _given(document, seed.value, seed) if isinstance(seed, cst.Name) else None
    return given if given is not None else seed


def _given(document: Document, name: str, at: cst.CSTNode) -> cst.BaseExpression | None:
    """The one thing that the function around `at` gives to its variable `name`."""
    bindings = document.scope_of(at).bindings.get(name, [])
    if len(bindings) != 1 or bindings[0].kind != "assign":
        return None
    target = document.parent(bindings[0].node)
    assign = document.parent(target) if isinstance(target, cst.AssignTarget) else None
    return assign.value if isinstance(assign, cst.Assign) else None


def _summands(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The terms that a sum adds; what brings it into the range of seeds, `% 2**32` or `int(...)`, is looked through."""
    match node:
        case cst.BinaryOperation(operator=cst.Add(), left=left, right=right):
            yield from _summands(left)
            yield from _summands(right)
        case cst.BinaryOperation(operator=cst.Modulo() | cst.Subtract(), left=left):
            yield from _summands(left)
        case cst.Call(func=cst.Name(value="int"), args=[cst.Arg(value=value)]):
            yield from _summands(value)
        case _:
            yield node


def _is_of_the_function(document: Document, term: cst.BaseExpression) -> bool:
    """Whether a term reads what the function itself binds, other than its parameters."""
    bindings = document.scope_of(term).bindings
    names = [node.value for node in document.nodes(cst.Name, term)]
    return any(binding.kind != "param" for name in names for binding in bindings.get(name, []))
