"""Dicts that a loop fills: going through one gives its keys in the order in which they were put in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.program.orders.order_carriers import Carrier, Step, Stored
from torchrepro_lint.program.orders.order_places import own_bindings, scope_around
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["through_filled", "through_put", "varied_names"]

_MADE_EMPTY: Final = frozenset({"dict", "OrderedDict"})
#: Dicts that get a key when it is first looked up.
_WITH_DEFAULTS: Final = frozenset({"defaultdict", "Counter"})
_FILLS: Final = frozenset({"append", "extend", "insert", "add", "update"})


def through_filled(program: Program, carrier: Carrier, loop: tree.For, statement: tree.Stmt) -> Iterator[Step]:
    """From a statement in a loop that puts a key into a dict that is empty before: `groups[key].append(name)`."""
    yield from through_put(program, carrier, statement, varied_names(loop), loop)


def through_put(
    program: Program, carrier: Carrier, statement: tree.Stmt, varied: set[str], at: tree.Stmt
) -> Iterator[Step]:
    """The same for a statement that puts in a key of these names, each time another, into what is empty before `at`."""
    put = _put(statement)
    if put is None:
        return
    owner, key, by_default = put
    if not varied & {part.id for part in walk([key]) if isinstance(part, tree.Name)}:
        return
    scope = scope_around(program, carrier.facts, at)
    made = [one.node for one in _bindings(scope, owner, at) if one.kind == "assign" and not one.unpack]
    if any(_is_empty(one, by_default=by_default) for one in made):
        yield Stored(carrier.as_keys(), owner)


def _put(statement: tree.Stmt) -> tuple[tree.Expr, tree.Expr, bool] | None:
    """The dict and the key that a statement puts in; True where it has to be a dict with defaults for that."""
    match statement:
        case tree.Assign(targets=(tree.Subscript(value=owner, index=key),)):
            return owner, key, False
        case tree.AugAssign(target=tree.Subscript(value=owner, index=key)):
            return owner, key, True
        case tree.ExprStmt(value=tree.Call(func=tree.Attribute(value=owner, attr="setdefault"), args=(key, *_))):
            return owner, key.value, False
        case tree.ExprStmt(value=tree.Call(func=tree.Attribute(value=held, attr=attr))) if attr in _FILLS:
            match held:
                case tree.Subscript(value=owner, index=key):
                    return owner, key, True
                case tree.Call(func=tree.Attribute(value=owner, attr="setdefault"), args=(first, *_)):
                    return owner, first.value, False
    return None


def varied_names(loop: tree.For) -> set[str]:
    """The names that each turn of a loop gives another value."""
    targets: list[tree.Expr] = [loop.target]
    for statement in own_statements(loop.body):
        if isinstance(statement, tree.Assign):
            targets.extend(statement.targets)
    return {part.id for target in targets for part in walk([target]) if isinstance(part, tree.Name)}


def _bindings(scope: Scope, owner: tree.Expr, at: tree.Stmt) -> Iterable[Binding]:
    """What gives a value to the name or the attribute of `self` that is before a statement."""
    match owner:
        case tree.Name(id=name):
            return scope.reaching(name, at.site)[0]
    return own_bindings(scope, owner)


def _is_empty(node: object, *, by_default: bool) -> bool:
    """Whether a dict is made with nothing in it."""
    match node:
        case tree.DictDisplay(items=()):
            return not by_default
        case tree.Call(func=func, args=args):
            name = called_name(func)
            return name in _WITH_DEFAULTS or (name in _MADE_EMPTY and not args and not by_default)
    return False
