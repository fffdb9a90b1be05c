"""What one expression says by itself: its dotted name, its parts, what stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchrepro_lint.facts import tree

__all__ = [
    "call_sites",
    "dotted_name",
    "held_by",
    "last_site",
    "parts_of_comprehension",
    "strings_in",
    "sub_expressions",
    "walk",
]


def dotted_name(node: tree.Expr) -> str | None:
    """`a.b.c` for a chain of names; None for anything else."""
    match node:
        case tree.Name(id=name):
            return name
        case tree.Attribute(value=value, attr=attr):
            inner = dotted_name(value)
            return f"{inner}.{attr}" if inner is not None else None
    return None


def held_by(node: tree.Expr) -> tuple[str | None, tuple[tree.Expr, ...]]:
    """The dotted name that holds `a.b[c][d]`, and the indexes by which it is reached; None for what has no name."""
    indexes: list[tree.Expr] = []
    while isinstance(node, tree.Subscript):
        indexes.append(node.index)
        node = node.value
    return dotted_name(node), tuple(reversed(indexes))


def sub_expressions(node: tree.Expr) -> Iterator[tree.Expr]:
    """The direct parts of an expression, without those that live in a scope of their own."""
    match node:
        case tree.Attribute(value=value) | tree.Starred(value=value) | tree.Await(value=value):
            yield value
        case tree.Call(func=func, args=args):
            yield func
            for arg in args:
                yield arg.value
        case tree.Subscript(value=value, index=index):
            yield value
            yield index
        case tree.Display(items=items):
            yield from items
        case tree.DictDisplay(items=pairs):
            for key, value in pairs:
                if key is not None:
                    yield key
                yield value
        case tree.Unary(operand=operand):
            yield operand
        case tree.Binary(left=left, right=right) | tree.Boolean(left=left, right=right):
            yield left
            yield right
        case tree.Compare(left=left, comparators=comparators):
            yield left
            yield from comparators
        case tree.Conditional(test=test, body=body, orelse=orelse):
            yield test
            yield body
            yield orelse
        case tree.Yield(value=value):
            if value is not None:
                yield value
        case tree.Walrus(target=target, value=value):
            yield target
            yield value
        case tree.FormatString(values=values):
            yield from values
        case tree.Opaque(parts=parts):
            yield from parts


def parts_of_comprehension(node: tree.Comprehension) -> Iterator[tree.Expr]:
    """The direct parts of a comprehension; all but the first iterable live in a scope of its own."""
    yield node.element
    if node.key is not None:
        yield node.key
    for clause in node.clauses:
        yield clause.target
        yield clause.iter
        yield from clause.conditions


def walk(roots: Iterable[tree.Expr]) -> Iterator[tree.Expr]:
    """All expressions below `roots`, they themselves included; not those of inner scopes."""
    pending = list(roots)
    while pending:
        node = pending.pop()
        yield node
        pending.extend(sub_expressions(node))


def strings_in(root: tree.Expr) -> Iterator[str]:
    """The string constants in an expression, without those in scopes of their own."""
    return (node.value for node in walk([root]) if isinstance(node, tree.Const) and isinstance(node.value, str))


def call_sites(root: tree.Expr) -> Iterator[int]:
    """The sites of the calls in an expression, without those in scopes of their own."""
    return (node.site for node in walk([root]) if isinstance(node, tree.Call))


def last_site(root: tree.Expr) -> int:
    """The greatest site in an expression, inner scopes included."""
    last = root.site
    pending: list[tree.Expr] = [root]
    while pending:
        node = pending.pop()
        last = max(last, node.site)
        match node:
            case tree.Lambda(body=body):
                pending.append(body)
            case tree.Comprehension():
                pending.extend(parts_of_comprehension(node))
            case _:
                pending.extend(sub_expressions(node))
    return last
