"""The folders in which a file lets Python look for modules besides: what it puts on `sys.path`.

The expressions are read as their text says, without the evaluation of programs, which needs to know what imports mean:
constant texts, `__file__`, the functions of `os.path` and `pathlib`, and the names that are bound to such. What is
relative lies below the folder that the program is started in, which is taken to be one of those around the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import strings_in
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope

__all__ = ["Added", "folders_added"]

#: How deep names, calls and operators are followed into each other, and how many texts one expression may have.
MAX_FOLDER_DEPTH: Final = 24
MAX_FOLDER_TEXTS: Final = 16
#: Functions and methods that give the same place, in another form.
_SAME: Final = frozenset(
    {"abspath", "realpath", "normpath", "expanduser", "fspath", "str", "Path", "PurePath", "PosixPath", "resolve",
     "absolute", "as_posix", "normcase", "rstrip"}
)  # fmt: skip
_ADDING: Final = frozenset({"insert", "append", "extend"})


@dataclass(frozen=True, slots=True)
class Added:
    """The folders of the project that a file adds to `sys.path`, and whether its text leaves one of them unknown."""

    folders: tuple[Path, ...] = ()
    is_partly_unknown: bool = False


def folders_added(facts: ModuleFacts, root: Path, folders: Set[Path]) -> Added:
    """What a file adds to `sys.path`; `folders` are all of the project, whose root is `root`."""
    found: list[Path] = []
    is_partly_unknown = False
    reader = _Reader(facts)
    starts = _starts(facts.path.parent, root)
    for expression, scope in _added(facts):
        texts = reader.texts(expression, scope)
        if texts is None:
            # A text in the expression that is a folder of the project is likely to be the one that is meant.
            texts = list(strings_in(expression))
            is_partly_unknown = is_partly_unknown or not any(_below(starts, texts, folders))
        # A path of another machine may be that of the project there.
        is_partly_unknown = is_partly_unknown or any(_is_elsewhere(text, root) for text in texts)
        found.extend(one for one in _below(starts, texts, folders) if one not in found)
    return Added(tuple(found), is_partly_unknown)


def _is_elsewhere(text: str, root: Path) -> bool:
    return os.path.isabs(text) and not Path(os.path.normpath(text)).is_relative_to(root)  # noqa: PTH117


def _starts(own: Path, root: Path) -> Sequence[Path]:
    """The folders in which a program of the file may be started: its own, and those around it."""
    around = [folder for folder in own.parents if folder.is_relative_to(root)]
    return (own, root, *(folder for folder in around if folder != root))


def _below(starts: Iterable[Path], texts: Iterable[str], folders: Set[Path]) -> Iterator[Path]:
    for text in texts:
        for base in starts:
            folder = Path(os.path.normpath(base / text))
            if folder in folders:
                yield folder


def _added(facts: ModuleFacts) -> Iterator[tuple[tree.Expr, Scope]]:
    """What a file adds to `sys.path`, each with the scope that it stands in."""
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            match call.func:
                case tree.Attribute(value=value, attr=attr) if attr in _ADDING and call.args and _is_path(value):
                    given = call.args[-1].value
                    yield from ((one, scope) for one in (_items(given) if attr == "extend" else [given]))
                case tree.Attribute(value=tree.Name(id="site"), attr="addsitedir") if call.args:
                    yield call.args[0].value, scope
        for store in scope.stores:
            if _is_path(store.target.value if isinstance(store.target, tree.Subscript) else store.target):
                yield from ((one, scope) for one in _new_items(store.value))


def _is_path(value: tree.Expr) -> bool:
    """Whether an expression is `sys.path`, by its text."""
    return isinstance(value, tree.Attribute) and value.attr == "path" and _is_named(value.value, "sys")


def _is_named(value: tree.Expr, name: str) -> bool:
    return isinstance(value, tree.Name) and value.id == name


def _items(value: tree.Expr) -> Sequence[tree.Expr]:
    return value.items if isinstance(value, tree.Display) else (value,)


def _new_items(value: tree.Expr) -> Iterator[tree.Expr]:
    """What a new list for `sys.path` has besides the present one."""
    match value:
        case tree.Binary(op="+", left=left, right=right):
            yield from _new_items(left)
            yield from _new_items(right)
        case tree.Display(items=items):
            yield from items
        case tree.Subscript(value=inner) if _is_path(inner):
            return
        case _ if not _is_path(value):
            yield value


class _Reader:
    """The texts of the folders that expressions of a file stand for."""

    def __init__(self, facts: ModuleFacts) -> None:
        self.facts = facts

    def texts(self, value: tree.Expr, scope: Scope, depth: int = 0) -> list[str] | None:
        """The texts that an expression may have; None where one is unknown, or where there are too many."""
        found = self._texts(value, scope, depth) if depth < MAX_FOLDER_DEPTH else None
        return found if found is not None and len(found) <= MAX_FOLDER_TEXTS else None

    def _texts(self, value: tree.Expr, scope: Scope, depth: int) -> list[str] | None:
        match value:
            case tree.Const(value=str() as text):
                return [text]
            case tree.Name(id="__file__"):
                return [str(self.facts.path)]
            case tree.Name(id=name):
                return self._of_name(name, scope, depth)
            case tree.Attribute(attr="parent", value=inner):
                return self._each(inner, scope, depth, _parent)
            case tree.Attribute(attr="pardir"):
                return [".."]
            case tree.Attribute(attr="curdir"):
                return ["."]
            case tree.Attribute(attr="sep"):
                return [os.sep]
            case tree.Subscript(value=tree.Attribute(attr="parents", value=inner), index=tree.Const(value=int() as up)):
                return self._each(inner, scope, depth, lambda text: _parent(text, up + 1))
            case tree.Subscript(value=inner, index=tree.Const(value=0)) if _is_path(inner):
                return [str(self.facts.path.parent)]
            case tree.Subscript(value=tree.Attribute(attr="argv"), index=tree.Const(value=0)):
                return [str(self.facts.path)]
            case tree.Subscript(value=inner, index=tree.Const(value=0)) if _called(inner) == "split":
                assert isinstance(inner, tree.Call)
                return self._each(inner.args[-1].value, scope, depth, _parent) if inner.args else None
            case tree.Binary(op="/", left=left, right=right):
                return self._both(left, right, scope, depth, os.path.join)
            case tree.Binary(op="+", left=left, right=right):
                return self._both(left, right, scope, depth, str.__add__)
            case tree.Conditional(body=body, orelse=orelse):
                return self._of_all([(body, scope), (orelse, scope)], depth)
            case tree.Call(args=args) if not any(one.star or one.keyword for one in args):
                return self._of_call(value, [one.value for one in args], scope, depth)
        return None

    def _of_call(self, call: tree.Call, args: Sequence[tree.Expr], scope: Scope, depth: int) -> list[str] | None:
        name = _called(call)
        if name in ("getcwd", "cwd") and not args:
            return ["."]
        if name in ("getfile", "getsourcefile"):
            return [str(self.facts.path)]
        if isinstance(call.func, tree.Attribute) and not args and name in _SAME:
            return self.texts(call.func.value, scope, depth + 1)
        if name == "joinpath" and isinstance(call.func, tree.Attribute):
            args = [call.func.value, *args]
        if name in ("join", "joinpath") and args and not isinstance(_owner(call), tree.Const):
            found = self.texts(args[0], scope, depth + 1)
            for one in args[1:]:
                more = self.texts(one, scope, depth + 1)
                found = [os.path.join(a, b) for a in found for b in more] if found and more else None  # noqa: PTH118
            return found
        if name == "dirname" and len(args) == 1:
            return self._each(args[0], scope, depth, _parent)
        if name in _SAME and len(args) == 1:
            return self.texts(args[0], scope, depth + 1)
        return None

    def _each(self, value: tree.Expr, scope: Scope, depth: int, change: Callable[[str], str]) -> list[str] | None:
        texts = self.texts(value, scope, depth + 1)
        return list(map(change, texts)) if texts is not None else None

    def _both(
        self, left: tree.Expr, right: tree.Expr, scope: Scope, depth: int, joined: Callable[[str, str], str]
    ) -> list[str] | None:
        one, other = self.texts(left, scope, depth + 1), self.texts(right, scope, depth + 1)
        return [joined(a, b) for a in one for b in other] if one is not None and other is not None else None

    def _of_name(self, name: str, scope: Scope, depth: int) -> list[str] | None:
        binder = scope.binder(name)
        if binder is None:
            return None
        return self._of_all([one for each in binder.bindings[name] for one in self._values(each, binder)], depth)

    def _of_all(self, values: Sequence[tuple[tree.Expr | None, Scope]], depth: int) -> list[str] | None:
        """The texts of all values that are told; None where none of them is."""
        found: list[str] = []
        for value, scope in values:
            texts = self.texts(value, scope, depth + 1) if value is not None else None
            found.extend(texts or ())
        return found or None

    def _values(self, binding: Binding, scope: Scope) -> Iterator[tuple[tree.Expr | None, Scope]]:
        """What a name may be bound to: for the parameter of a function what calls in the file pass to it."""
        at = binding.scope or scope
        match binding.kind, binding.node:
            case "element", tree.Display(items=items):
                yield from ((one, at) for one in items)
            case "param", tree.Param(name=name) if isinstance(at.node, tree.FunctionDef):
                place = [one.name for one in at.node.params].index(name)
                yield from self._passed(at.node.name, name, place)
            case "assign", (tree.Const() | tree.Name() | tree.Attribute() | tree.Subscript() | tree.Call()
                            | tree.Binary() | tree.Conditional()) as node if not binding.unpack:  # fmt: skip
                yield node, at
            case _:
                yield None, at

    def _passed(self, function: str, parameter: str, place: int) -> Iterator[tuple[tree.Expr | None, Scope]]:
        for scope in self.facts.walk_scopes():
            for call, _ in scope.calls:
                if _is_named(call.func, function):
                    positional = [one.value for one in call.args if not one.keyword and not one.star]
                    by_name = [one.value for one in call.args if one.keyword == parameter]
                    yield next(iter([*by_name, *positional[place : place + 1]]), None), scope


def _parent(text: str, up: int = 1) -> str:
    return os.path.join(text, *[".."] * up)  # noqa: PTH118


def _called(value: tree.Expr) -> str | None:
    """The last name of what is called."""
    match value:
        case tree.Call(func=tree.Attribute(attr=name) | tree.Name(id=name)):
            return name
    return None


def _owner(call: tree.Call) -> tree.Expr | None:
    return call.func.value if isinstance(call.func, tree.Attribute) else None
