"""Environment variables that a program sets, in its code or in the files around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, Values
from torchrepro_lint.program.running.callers import called_name, contexts
from torchrepro_lint.source.outside import is_named_below

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["Assignment", "Setting", "assignments", "is_set_outside", "settings_of"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One place that sets a variable. `node` is the assignment or the call, `value` the expression written there (None
    where none is, or where it is one of several forms that the tool does not follow).
    """

    frame: Frame
    node: tree.Stmt | tree.Expr
    value: tree.Expr | None
    values: Values

    def text(self) -> str | None:
        """The text that the variable is proven to be set to."""
        only = next(iter(self.values)) if len(self.values) == 1 else None
        return only.value if isinstance(only, Constant) and isinstance(only.value, str) else None


def settings_of(ev: Evaluator, variable: str) -> list[Setting]:
    """The places in the code that set `variable`, or that name it in a way that may set it."""
    found: list[Setting] = []
    for path in ev.project.containing(variable):
        facts = ev.project.facts(path)
        if facts is not None:
            for scope in facts.walk_scopes():
                found.extend(_in_scope(ev, facts, scope, variable))
    return found


@dataclass(frozen=True, slots=True)
class Assignment:
    """`owner[name] = value`, `owner.setdefault(name, value)`, `owner.update(name=value)`, `owner |= {name: value}` and
    the like; `owner` need not be os.environ.
    """

    name: str
    owner: tree.Expr
    node: tree.Stmt | tree.Call
    value: tree.Expr
    path: ArmPath


def assignments(scope: Scope) -> Iterator[Assignment]:
    """The places of a scope that have the form in which a variable is set, under a name that is written there."""
    for store in scope.stores:
        match store.target:
            case tree.Subscript(value=owner, index=tree.Const(value=str() as name)):
                yield Assignment(name, owner, store.statement, store.value, store.path)
            case tree.Attribute() as owner if store.augmented:
                for name, value in _entries(store.value):
                    yield Assignment(name, owner, store.statement, value, store.path)
    for call, path in scope.calls:
        match call:
            case tree.Call(
                func=tree.Attribute(value=owner, attr="setdefault" | "putenv" | "setenv" | "__setitem__"),
                args=(tree.Arg(value=tree.Const(value=str() as name)), tree.Arg(value=value), *_),
            ):
                yield Assignment(name, owner, call, value, path)
            case tree.Call(func=tree.Attribute(value=owner, attr="update"), args=args):
                named = [(arg.keyword, arg.value) for arg in args if arg.keyword is not None]
                for name, value in [*named, *(one for arg in args if not arg.star for one in _entries(arg.value))]:
                    yield Assignment(name, owner, call, value, path)


def _entries(node: tree.Expr) -> Iterator[tuple[str, tree.Expr]]:
    """The entries of a dict that is written there, under keys that are texts."""
    if isinstance(node, tree.DictDisplay):
        for key, value in node.items:
            if isinstance(key, tree.Const) and isinstance(key.value, str):
                yield key.value, value


def _in_scope(ev: Evaluator, facts: ModuleFacts, scope: Scope, variable: str) -> Iterator[Setting]:
    frame: Frame | None = None
    written: set[int] = set()
    for one in assignments(scope):
        if one.name == variable:
            frame = frame or contexts(ev, facts, scope)[0]
            written.add(one.node.site)
            yield Setting(frame, one.node, one.value, ev.values(one.value, frame))
    for store in scope.stores:
        if _is_set_by_a_name(store.target):
            frame = frame or contexts(ev, facts, scope)[0]
            yield Setting(frame, store.statement, None, frozenset())
    for call, _ in scope.calls:
        if call.site in written or called_name(call.func) in ("get", "pop", "getenv"):
            continue
        if any(_names(arg.value, variable) or arg.keyword == variable for arg in call.args):
            frame = frame or contexts(ev, facts, scope)[0]
            yield Setting(frame, call, None, frozenset())


def _is_set_by_a_name(target: tree.Attribute | tree.Subscript) -> bool:
    """`os.environ[key] = value` in a file that names the variable: it may be the key."""
    match target:
        case tree.Subscript(value=owner, index=tree.Name()):
            return (dotted_name(owner) or "").endswith("environ")
    return False


def _names(root: tree.Expr, variable: str) -> bool:
    """Whether the variable is named in an expression, calls inside it aside."""
    pending = [root]
    while pending:
        node = pending.pop()
        match node:
            case tree.Const(value=str() as text) if variable in text:
                return True
            case tree.Call():
                continue
        pending.extend(sub_expressions(node))
    return False


def is_set_outside(program: Program, variable: str) -> bool:
    """Whether a shell script, container file, Makefile, .env or CI file of the project names the variable, or a Python
    file writes it into one: `f.write("export CUBLAS_WORKSPACE_CONFIG=:16:8")`.
    """
    if program.project.matching(_exported(variable)):
        return True
    outside = program.project.outside
    if variable not in outside:
        outside[variable] = is_named_below(program.root, variable.encode())
    return outside[variable] is True


@cache
def _exported(variable: str) -> re.Pattern[bytes]:
    return re.compile(rb"\bexport\s+%s=" % re.escape(variable.encode()))
