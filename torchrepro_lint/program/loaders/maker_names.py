"""Under which names the files of a project have what makes loaders: a class of loaders, or a `functools.partial` of it
that is returned, stored, imported or passed as an argument.

    def maker(batch):
        return partial(DataLoader, batch_size=batch)

    make = maker(4)
    loader = make(images)

Names alone are told here, so that only calls by one of them are evaluated: what they call is asked then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["MakerNames", "maker_names"]

#: A larger expression is a table of data.
MAX_LOOKED_AT = 60
#: A name that more files have is not followed out of the file that binds it.
MAX_FILES = 64
#: Behind the name of a function: what it returns.
_RETURNED: Final = "()"


@dataclass(frozen=True, slots=True)
class MakerNames:
    """For each file in which a loader may be made, the names of what may make it there."""

    _names: Mapping[Path, Set[str]]

    @property
    def files(self) -> Set[Path]:
        """The readable files in which a loader may be made."""
        return self._names.keys()

    def may_be_called(self, path: Path, func: tree.Expr) -> bool:
        """Whether what a call of the file calls may make a loader, by its name: `make(data)`, `maker(4)(data)`,
        `partial(DataLoader, ...)(data)`, `LOADERS[kind](data)`, `DataLoader[int](data)`.
        """
        match func:
            case tree.Subscript(value=tree.Name() | tree.Attribute()):
                return True
            case tree.Call(func=inner):
                name = called_name(inner)
                return name == "partial" or f"{name}{_RETURNED}" in self._names[path]
        return called_name(func) in self._names[path]


def maker_names(ev: Evaluator, classes: Set[str], files: Iterable[Path]) -> MakerNames:
    """What the files call the `classes` of loaders, and what is made from these; `files` are all that mention one."""
    search = _Search(ev, classes)
    for path in sorted(files):
        search.add(path, classes)
    return MakerNames({path: file.loosely(classes) for path, file in search.files.items()})


class _Search:
    """The files that have a maker under some name, and the names that wait to be looked for."""

    def __init__(self, ev: Evaluator, classes: Set[str]) -> None:
        self.files: dict[Path, _File] = {}
        self._ev = ev
        self._classes = classes
        self._unreadable: set[Path] = set()
        self._shared: set[str] = set()
        self._given: set[tuple[str, int | str]] = set()

    def add(self, path: Path, names: Iterable[str]) -> None:
        """Takes it that a file has makers under these names, and follows them to the other files."""
        pending = [(path, set(names))]
        while pending:
            where, found = pending.pop()
            file = self._file(where)
            if file is None:
                continue
            shared, given = file.learn(found)
            for name in shared - self._shared - self._classes:
                self._shared.add(name)
                pending += [(other, {name}) for other in self._with(name.removesuffix(_RETURNED))]
            for callee, place in given - self._given:
                self._given.add((callee, place))
                for other in self._with(callee):
                    known = self._file(other)
                    taking = known.taking(callee, place) if known is not None else set()
                    if taking:
                        pending.append((other, taking))

    def _file(self, path: Path) -> _File | None:
        if path not in self.files and path not in self._unreadable:
            facts = self._ev.project.facts(path)
            if facts is None:
                self._unreadable.add(path)
            else:
                self.files[path] = _File(facts)
        return self.files.get(path)

    def _with(self, word: str) -> Sequence[Path]:
        found = self._ev.project.matching(any_word([word]))
        return found if len(found) <= MAX_FILES else ()


@dataclass(frozen=True, slots=True)
class _Bound:
    """A name that a file binds, and the names in what it is bound to. `by_value`: those of which it has the value
    itself, in a display or by a `partial` perhaps. `is_shared`: other files may have it under this name.
    """

    name: str
    mentioned: Set[str]
    by_value: Set[str]
    is_shared: bool


class _File:
    """What one file binds, returns and passes as arguments, by names; and its names for makers, as they are found."""

    def __init__(self, facts: ModuleFacts) -> None:
        self._names: set[str] = set()
        self._loose: dict[str, list[str]] = {}
        self._bound: dict[str, list[_Bound]] = {}
        for one in _bound(facts):
            for name in one.mentioned:
                self._loose.setdefault(name, []).append(one.name)
            for name in one.by_value:
                self._bound.setdefault(name, []).append(one)
        self._passed: dict[str, list[tuple[str, int | str]]] = {}
        for callee, place, values in _passed(facts):
            for name in values:
                self._passed.setdefault(name, []).append((callee, place))
        self._parameters = dict(_parameters(facts))

    def learn(self, names: Iterable[str]) -> tuple[set[str], set[tuple[str, int | str]]]:
        """Takes these for names of makers: the names that others may have for what they are bound to here, and the
        calls to which they are passed, by the name of what is called, with the position or the keyword.
        """
        shared: set[str] = set()
        given: set[tuple[str, int | str]] = set()
        pending = [name for name in names if name not in self._names]
        while pending:
            name = pending.pop()
            if name in self._names:
                continue
            self._names.add(name)
            given.update(self._passed.get(name, ()))
            for one in self._bound.get(name, ()):
                pending.append(one.name)
                if one.is_shared:
                    shared.add(one.name)
        return shared, given

    def loosely(self, classes: Set[str]) -> frozenset[str]:
        """The names of makers, and what may be made from one in any way: called with it, or looked up in it."""
        found: set[str] = set()
        pending = [*classes, *self._names]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self._loose.get(name, ())
        return frozenset(found)

    def taking(self, callee: str, place: int | str) -> set[str]:
        """The names under which what is called has an argument, where the file defines it."""
        own = self._parameters.get(callee, ())
        return {place}.intersection(own) if isinstance(place, str) else set(own[place : place + 1])


def _bound(facts: ModuleFacts) -> Iterator[_Bound]:
    named_anew: dict[int, dict[str, set[str]]] = {}  # by the import, which may bind thousands of names
    for scope in facts.walk_scopes():
        is_open = not isinstance(scope.node, (tree.FunctionDef, tree.Lambda, tree.Comprehension))
        for bound, bindings in scope.bindings.items():
            for binding in bindings:
                match binding.kind, binding.node:
                    case "import-from", tree.ImportFrom(names=imported):
                        if id(binding.node) not in named_anew:
                            aliases = named_anew[id(binding.node)] = {}
                            for name, alias in imported:
                                if alias is not None:
                                    aliases.setdefault(alias, set()).add(name)
                        originals = named_anew[id(binding.node)].get(bound, set())
                        yield _Bound(bound, originals, originals, is_open)
                        returned = {f"{name}{_RETURNED}" for name in originals}
                        yield _Bound(f"{bound}{_RETURNED}", returned, returned, is_open)
                    case "assign", node if node is not None and not isinstance(node, tree.Param):
                        own = bound.removeprefix("self.")
                        yield _of(own, node, is_open or own != bound)  # type: ignore[arg-type]
                    case "param", tree.Param(default=default) if default is not None:
                        yield _of(bound, default, False)
        for store in scope.stores:
            if isinstance(store.target, tree.Attribute):
                yield _of(store.target.attr, store.value, True)
        if isinstance(scope.node, tree.FunctionDef):
            for returned_at, _ in scope.returns:
                if returned_at.value is not None:
                    yield _of(f"{scope.name}{_RETURNED}", returned_at.value, True)
                    if scope.node.decorators:  # a property
                        yield _of(scope.name, returned_at.value, True)


def _of(name: str, value: tree.Expr, is_shared: bool) -> _Bound:
    return _Bound(name, _mentioned(value), _by_value(value), is_shared)


def _passed(facts: ModuleFacts) -> Iterator[tuple[str, int | str, Set[str]]]:
    """The arguments of the calls by a name, each with the names of which it has the value."""
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            callee = called_name(call.func)
            if callee is None:
                continue
            for position, arg in enumerate(call.args):
                if arg.star:
                    break
                values = _by_value(arg.value)
                if values:
                    yield callee, position if arg.keyword is None else arg.keyword, values


def _parameters(facts: ModuleFacts) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a call by its name gives values to, in order: the parameters of a function, or of the constructor of a
    class; the fields of a class that has none.
    """
    for scope in facts.walk_scopes():
        match scope.node:
            case tree.FunctionDef():
                yield scope.name, _of_function(scope)
            case tree.ClassDef():
                init = next((one for one in scope.children if one.name == "__init__"), None)
                yield scope.name, _of_function(init) if init is not None else tuple(scope.bindings)


def _of_function(scope: Scope) -> tuple[str, ...]:
    assert isinstance(scope.node, tree.FunctionDef)
    own = [param.name for param in scope.node.params if param.kind in ("positional", "keyword")]
    return tuple(own[1:] if scope.self_name is not None else own)


def _by_value(root: tree.Expr) -> set[str]:
    """The names of which an expression has the value, or holds it: not of what it calls or compares, but for a
    `partial`, a look-up and what a function of the project returns.
    """
    return _names(root, through_calls=False)


def _mentioned(root: tree.Expr) -> set[str]:
    """The names in an expression, but for what it calls: `DataLoader(data)` is a loader, and no class of loaders."""
    return _names(root, through_calls=True)


def _names(root: tree.Expr, *, through_calls: bool) -> set[str]:
    found: set[str] = set()
    pending = [root]
    for _ in range(MAX_LOOKED_AT):
        if not pending:
            break
        node = pending.pop()
        match node:
            case tree.Name(id=name):
                found.add(name)
            case tree.Attribute(attr=name):
                found.add(name)
                if through_calls:
                    pending.extend(sub_expressions(node))
            case tree.Call(func=func, args=args):
                name = called_name(func) or ""
                found.add(f"{name}{_RETURNED}")
                if through_calls or name == "get":
                    pending.extend(sub_expressions(func))  # `LOADERS` of `LOADERS.get(kind)`
                if through_calls or name == "partial":
                    pending.extend(arg.value for arg in (args if through_calls else args[:1]))
            case tree.Compare() if not through_calls:
                pass
            case tree.Subscript(value=value) if not through_calls:
                pending.append(value)
            case _:
                pending.extend(sub_expressions(node))
    return found
