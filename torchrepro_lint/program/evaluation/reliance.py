"""What of a frame an expression relies on: most parameters of a function have no part in most of its expressions.

An expression is asked in the frame without the parameters that cannot matter to it, and so once for all calls that
differ in others alone. A name relies on what is bound to it, on what changes that, and on the tests around both; an
expression on its names, through all assignments. A function or lambda that is made here knows the whole frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import parts_of_comprehension, sub_expressions
from torchrepro_lint.facts.scopes import Binding, Scope, Store, Touch
from torchrepro_lint.program.evaluation.changes import changes_by_root
from torchrepro_lint.program.evaluation.narrowing import kinds_asked

__all__ = ["Reliance", "Reliances"]

#: The parameters that matter, scope by scope from the expression's own outwards; of what lies further out, all do.
Reliance: TypeAlias = tuple[frozenset[str], ...]

#: A name, and how many scopes further out than the present one it is looked up first.
_Use: TypeAlias = tuple[int, str]

#: Expressions of more parts, and what relies on more names, are taken to rely on everything.
_MAX_PARTS: Final = 60
_MAX_NAMES: Final = 60

_SUPER: Final = "super"


class Reliances:
    """What expressions rely on, found once for each."""

    def __init__(self) -> None:
        self._by_expression: dict[tree.Expr, tuple[Scope, Reliance]] = {}
        self._by_uses: dict[tuple[Scope, tuple[_Use, ...]], Reliance] = {}
        # Equal ones are kept once: those of most expressions of a project are among few.
        self._equal: dict[Reliance, Reliance] = {}
        self._by_name: dict[tuple[Scope, str], tuple[_Use, ...] | None] = {}
        self._changes: dict[Scope, dict[str, list[Touch]]] = {}
        self._kinds: dict[Scope, dict[str, list[tree.Expr]]] = {}

    def of(self, node: tree.Expr, scope: Scope) -> Reliance:
        """What an expression relies on when it is evaluated in `scope`."""
        known = self._by_expression.get(node)
        if known is None or known[0] is not scope:
            known = self._by_expression[node] = scope, self._of_uses(_uses([node], scope), scope)
        return known[1]

    def _of_uses(self, uses: tuple[_Use, ...] | None, scope: Scope) -> Reliance:
        if uses is None:
            return ()
        key = scope, uses
        if key not in self._by_uses:
            found = self._find(uses, scope)
            self._by_uses[key] = self._equal.setdefault(found, found)
        return self._by_uses[key]

    def _find(self, uses: tuple[_Use, ...], scope: Scope) -> Reliance:
        scopes = list(_outwards(scope))
        relied_on: list[set[str]] = [set() for _ in scopes]
        whole = len(scopes)  # the place of the scope from which on outwards everything matters
        pending = list(uses)
        while pending:
            first, name = pending.pop()
            if name == _SUPER:  # relies on the method's first parameter, and knows the class around it
                method = next((at for at in range(first, whole) if scopes[at].self_name is not None), None)
                if method is not None:
                    whole = method + 1
                    pending.append((method, scopes[method].self_name or ""))
                continue
            # Where no binding of a scope reaches, the name is looked up further out.
            for at in range(first, whole):
                if name in relied_on[at] or name not in scopes[at].bindings:
                    continue
                relied_on[at].add(name)
                more = self._of_name(scopes[at], name)
                if more is None or len(relied_on[at]) > _MAX_NAMES:
                    whole = at
                    break
                pending.extend((at + further, other) for further, other in more)
        return _of_parameters(scopes[:whole], relied_on)

    def _of_name(self, scope: Scope, name: str) -> tuple[_Use, ...] | None:
        """What the values rely on that a scope binds to a name; None for the whole frame."""
        key = scope, name
        if key not in self._by_name:
            self._by_name[key] = self._find_of_name(scope, name)
        return self._by_name[key]

    def _find_of_name(self, scope: Scope, name: str) -> tuple[_Use, ...] | None:
        bindings = scope.bindings[name]
        if len(bindings) > _MAX_NAMES or any(one.kind in ("function", "class") for one in bindings):
            return None
        changes = self._changes_of(scope).get(name, ())
        parts = [part for one in bindings if one.scope in (None, scope) for part in _bound(one)]
        parts += [part for one in changes for part in _put_in(one)]
        parts += self._kinds_of(scope).get(name, ())
        branches = {branch for one in (*bindings, *changes) for branch, _ in one.path}
        parts += [part for branch in branches for part in _decisive(scope.branches.get(branch))]
        uses = _uses(parts, scope)
        # Defaults are evaluated around the function, and so is the first iterable of a comprehension.
        around = [one.node.default for one in bindings if isinstance(one.node, tree.Param) and one.node.default]
        if isinstance(scope.node, tree.Comprehension):
            around.append(scope.node.clauses[0].iter)
        outer = _uses(around, scope.parent) if scope.parent is not None else ()
        if uses is None or outer is None:
            return None
        return (*uses, *((further + 1, other) for further, other in outer))

    def _changes_of(self, scope: Scope) -> dict[str, list[Touch]]:
        if scope not in self._changes:
            self._changes[scope] = changes_by_root(scope)
        return self._changes[scope]

    def _kinds_of(self, scope: Scope) -> dict[str, list[tree.Expr]]:
        if scope not in self._kinds:
            self._kinds[scope] = kinds_asked(scope)
        return self._kinds[scope]


def _of_parameters(scopes: list[Scope], names: list[set[str]]) -> Reliance:
    """What is left of the names where the parameters alone count, without the outer scopes in which all are left."""
    parameters = [_parameters(scope) for scope in scopes]
    relied_on = [frozenset(all_ & some) for all_, some in zip(parameters, names, strict=False)]
    while relied_on and len(relied_on[-1]) == len(parameters[len(relied_on) - 1]):
        relied_on.pop()
    return tuple(relied_on)


def _parameters(scope: Scope) -> set[str]:
    """The names that a frame of the scope can say something of."""
    match scope.node:
        case tree.FunctionDef(params=params) | tree.Lambda(params=params):
            return {param.name for param in params}
        case tree.Comprehension():
            return set(scope.bindings)
    return set()


def _outwards(scope: Scope) -> Iterator[Scope]:
    current: Scope | None = scope
    while current is not None:
        yield current
        current = current.parent


def _bound(binding: Binding) -> Iterator[tree.Expr]:
    """The expressions of which a binding is made."""
    match binding.node:
        case tree.AugAssign(target=target, value=value):
            yield value
            if isinstance(target, tree.Attribute):
                yield target
        case tree.Import() | tree.ImportFrom() | tree.Param() | tree.FunctionDef() | tree.ClassDef() | None:
            return
        case node if binding.kind in ("assign", "element", "context"):
            yield node  # type: ignore[misc]


def _put_in(change: Touch) -> Iterator[tree.Expr]:
    """The expressions of what is put into a list or dict, and where."""
    yield from change.within
    match change.made:
        case tree.Call(args=args):
            yield from (arg.value for arg in args)
        case Store(target=target, value=value):
            yield value
            if isinstance(target, tree.Subscript):
                yield target.index


def _decisive(statement: tree.Stmt | None) -> Iterator[tree.Expr]:
    """The expressions that decide which arm of a statement runs."""
    match statement:
        case tree.If(test=test):
            yield test
        case tree.Match(subject=subject, cases=cases):
            yield subject
            for case in cases:
                yield from case.literals or ()
                if case.guard is not None:
                    yield case.guard


def _uses(parts: Iterable[tree.Expr], scope: Scope) -> tuple[_Use, ...] | None:
    """The names in expressions of a scope; None where there are too many, or a function is made of the frame."""
    names: set[str] = set()
    pending = list(parts)
    self_name = scope.self_name
    for _ in range(_MAX_PARTS):
        if not pending:
            return tuple((0, name) for name in sorted(names))
        node = pending.pop()
        match node:
            case tree.Name(id=name):
                names.add(name)
            case tree.Attribute(value=tree.Name(id=owner), attr=attr):
                names.add(owner)
                if owner == self_name:
                    names.add(f"self.{attr}")  # what the method has just assigned
            case tree.Lambda():
                return None
            case tree.Comprehension():
                pending.extend(parts_of_comprehension(node))
            case _:
                pending.extend(sub_expressions(node))
    return None
