"""What one expression says by itself: its dotted name, its parts, what stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchrepro_lint.facts import tree

__all__ = [
    "call_sites",
    "conjuncts",
    "dotted_name",
    "held_by",
    "inside_first",
    "is_none_literal",
    "last_site",
    "parts_of_comprehension",
    "strings_in",
    "sub_expressions",
    "uncalled",
    "walk",
    "words_in",
    "written_alike",
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


def uncalled(node: tree.Expr) -> tree.Expr:
    """`f` for `f(x)` and for `f`: decorators and the like are written with a call or without one."""
    return node.func if isinstance(node, tree.Call) else node


def held_by(node: tree.Expr) -> tuple[str | None, tuple[tree.Expr, ...]]:
    """The dotted name that holds `a.b[c][d]`, and the indexes by which it is reached; None for what has no name."""
    indexes: list[tree.Expr] = []
    while isinstance(node, tree.Subscript):
        indexes.append(node.index)
        node = node.value
    return dotted_name(node), tuple(reversed(indexes))


def is_none_literal(node: tree.Expr) -> bool:
    """Whether an expression is `None` as it is written."""
    return isinstance(node, tree.Const) and node.value is None


def sub_expressions(node: tree.Expr) -> tuple[tree.Expr, ...]:
    """The direct parts of an expression, without those that live in a scope of their own."""
    match node:  # the frequent ones first
        case tree.Name() | tree.Const():
            return ()
        case tree.Attribute(value=value):
            return (value,)
        case tree.Call(func=func, args=args):
            return (func, *[arg.value for arg in args])
        case tree.Subscript(value=value, index=index):
            return (value, index)
        case tree.Display(items=items):
            return items
        case tree.Binary(left=left, right=right) | tree.Boolean(left=left, right=right):
            return (left, right)
        case tree.Opaque(parts=parts):
            return parts
        case tree.FormatString(values=values):
            return values
        case tree.Compare(left=left, comparators=comparators):
            return (left, *comparators)
        case tree.DictDisplay(items=pairs):
            return tuple([part for pair in pairs for part in pair if part is not None])
        case tree.Unary(operand=operand):
            return (operand,)
        case tree.Conditional(test=test, body=body, orelse=orelse):
            return (test, body, orelse)
        case tree.Starred(value=value) | tree.Await(value=value):
            return (value,)
        case tree.Walrus(target=target, value=value):
            return (target, value)
        case tree.Yield(value=given):
            return (given,) if given is not None else ()
        case tree.Lambda() | tree.Comprehension():
            return ()


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


def inside_first(root: tree.Expr) -> Iterator[tree.Expr]:
    """All expressions below a root in the order in which they are worked out: parts come before what they are parts of;
    not those of inner scopes.
    """
    pending = [(root, False)]
    while pending:
        node, is_opened = pending.pop()
        if is_opened:
            yield node
            continue
        pending.append((node, True))
        pending.extend((part, False) for part in reversed(sub_expressions(node)))


def strings_in(root: tree.Expr) -> Iterator[str]:
    """The string constants in an expression, without those in scopes of their own."""
    return (node.value for node in walk([root]) if isinstance(node, tree.Const) and isinstance(node.value, str))


def words_in(roots: Iterable[tree.Expr]) -> Iterator[str]:
    """The names, attributes and texts in the expressions, without those in scopes of their own."""
    for node in walk(roots):
        match node:
            case tree.Name(id=word) | tree.Attribute(attr=word) | tree.Const(value=str() as word):
                yield word


def conjuncts(test: tree.Expr) -> Iterator[tree.Expr]:
    """The parts of `a and b`, all of which hold where it does."""
    if isinstance(test, tree.Boolean) and test.op == "and":
        yield from conjuncts(test.left)
        yield from conjuncts(test.right)
    else:
        yield test


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


def written_alike(one: tree.Expr, other: tree.Expr) -> bool:
    """Whether two expressions are the same text and call nothing, so that side by side they have the same value."""
    match one, other:
        case tree.Name(id=name), tree.Name(id=other_name):
            return name == other_name
        case tree.Const(value=value), tree.Const(value=other_value):
            return type(value) is type(other_value) and value == other_value
        case tree.Attribute(value=owner, attr=attr), tree.Attribute(value=other_owner, attr=other_attr):
            return attr == other_attr and written_alike(owner, other_owner)
        case tree.Subscript(value=whole, index=index), tree.Subscript(value=other_whole, index=other_index):
            return written_alike(whole, other_whole) and written_alike(index, other_index)
        case tree.Unary(op=op, operand=operand), tree.Unary(op=other_op, operand=other_operand):
            return op == other_op and written_alike(operand, other_operand)
        case tree.Binary(op=op, left=left, right=right), tree.Binary(op=other_op, left=other_left, right=other_right):
            return op == other_op and written_alike(left, other_left) and written_alike(right, other_right)
        case tree.Display(items=items), tree.Display(items=others):
            return len(items) == len(others) and all(map(written_alike, items, others))
    return False
