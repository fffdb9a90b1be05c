"""Names of a function that hold an iterator whatever gave them a value: it has no length, and no items by number."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, walk
from torchrepro_lint.facts.scopes import ELSEWHERE, Binding, Scope

__all__ = ["iterators_of", "taken_by_number"]

#: Methods of `pathlib.Path` that give generators, and those that give another path.
_OF_PATHS: Final = frozenset({"glob", "iterdir", "rglob", "walk"})
_PATHS_OF_PATHS: Final = frozenset({"absolute", "expanduser", "joinpath", "resolve", "with_name", "with_suffix"})
_PATHS: Final = frozenset({"pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath"})
#: Functions that give iterators without a length; `iter` gives whatever the object makes, torch's loader one with it.
_FUNCTIONS: Final = frozenset({"glob.iglob", "os.fwalk", "os.scandir", "os.walk"})
#: The same for builtins: in Python 2 the latter give lists.
_BUILTINS: Final = frozenset({"enumerate"})
_BUILTINS_OF_3: Final = frozenset({"filter", "map", "zip"})


def iterators_of(scope: Scope, module: Scope, *, is_python_3: bool) -> frozenset[str]:
    """The names of a function's scope all of whose values are iterators without a length."""
    if scope.binder("len") is not None:
        return frozenset()
    kinds = _Kinds(scope, module, is_python_3)
    return frozenset(
        name for name, bindings in scope.bindings.items() if all(kinds.is_iterator_bound(one) for one in bindings)
    )


def taken_by_number(root: tree.Expr, iterators: Set[str]) -> Iterator[int]:
    """The sites at which an expression takes the length, or an item, of one of the names."""
    for node in walk([root]):
        match node:
            case tree.Call(func=tree.Name(id="len"), args=(tree.Arg(value=tree.Name(id=name, site=site)),)):
                if name in iterators:
                    yield site
            case tree.Subscript(value=tree.Name(id=name, site=site)) if name in iterators:
                yield site


class _Kinds:
    """What expressions of one function surely are."""

    def __init__(self, scope: Scope, module: Scope, is_python_3: bool) -> None:
        self.scope = scope
        self.module = module
        self.builtins = _BUILTINS | _BUILTINS_OF_3 if is_python_3 else _BUILTINS

    def is_iterator_bound(self, binding: Binding) -> bool:
        if binding.kind != "assign" or binding.unpack or binding.path is ELSEWHERE or binding.scope is not None:
            return False
        match binding.node:
            case tree.Comprehension(kind="generator"):
                return True
            case tree.Call(func=tree.Name(id=name)):
                return self._gives_iterators(name)
            case tree.Call(func=tree.Attribute(value=owner, attr=attr) as func):
                return self._outside(func) in _FUNCTIONS or (attr in _OF_PATHS and self._is_path(owner))
        return False

    def _gives_iterators(self, name: str) -> bool:
        """Whether a function called by a plain name gives an iterator: a builtin, or a generator of the file."""
        if self.scope.binder(name) is None:
            return name in self.builtins and not self.module.stars
        found = self._bound_once(name)
        match found:
            case Binding(kind="function", node=tree.FunctionDef(is_generator=True, decorators=())):
                return True
            case Binding(kind="import-from"):
                return _imported(found, name) in _FUNCTIONS
        return False

    def _is_path(self, node: tree.Expr, asked: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is a path of `pathlib`, or anything that lacks the methods of one."""
        match node:
            case tree.Call(func=tree.Attribute(value=owner, attr=attr)) if attr in _PATHS_OF_PATHS:
                return self._is_path(owner, asked)
            case tree.Call(func=func):
                return self._outside(func) in _PATHS
            case tree.Attribute(value=owner, attr="parent"):
                return self._is_path(owner, asked)
            case tree.Binary(op="/", left=left):
                return self._is_path(left, asked)
            case tree.Name(id=name):
                if name in asked:  # `root = root / "images"`: what it was decides
                    return True
                binder = self.scope.binder(name)
                bindings = binder.bindings[name] if binder is self.scope or binder is self.module else ()
                return bool(bindings) and all(self._is_path_bound(one, asked | {name}) for one in bindings)
        return False

    def _is_path_bound(self, binding: Binding, asked: frozenset[str]) -> bool:
        if binding.path is ELSEWHERE or binding.scope is not None or binding.unpack:
            return False
        match binding:
            case Binding(kind="param", node=tree.Param(kind="positional" | "keyword", annotation=annotation)):
                return annotation is not None and self._outside(annotation) in _PATHS
            case Binding(kind="assign", node=value):
                return self._is_path(value, asked)  # type: ignore[arg-type]
        return False

    def _bound_once(self, name: str) -> Binding | None:
        """The only binding of a name, at the top level of the file."""
        bindings = self.module.bindings.get(name, ()) if self.scope.binder(name) is self.module else ()
        return bindings[0] if len(bindings) == 1 else None

    def _outside(self, node: tree.Expr) -> str | None:
        """The full name of what an expression stands for, where its first name is imported at the top of the file."""
        first, _, rest = (dotted_name(node) or "").partition(".")
        binding = self._bound_once(first)
        match binding:
            case Binding(kind="import", node=tree.Import(module=module, alias=alias)):
                name = module if alias is not None else first
            case Binding(kind="import-from"):
                name = _imported(binding, first) or ""
            case _:
                return None
        return f"{name}.{rest}" if rest else name


def _imported(binding: Binding, name: str) -> str | None:
    match binding.node:
        case tree.ImportFrom(module=module, level=0, names=names):
            return next((f"{module}.{one}" for one, alias in names if (alias or one) == name), None)
    return None
