"""Code that binds names of a module without an assignment to them: `exec`, and what is put into `globals()`.

nanoGPT's `exec(open("configurator.py").read())` overrides the numbers that are assigned before it. A name that such
code may bind may be anything afterwards. Of code whose names are not known it is taken that it binds names of plain
values only: what a file imports or defines is hardly ever replaced so.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding
from torchrepro_lint.facts.scopes import Path as ArmPath
from torchrepro_lint.knowledge.callables import described_packages
from torchrepro_lint.program.evaluation.frames import Frame

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_unseen", "may_be_bound_since"]

_NAMESPACES = frozenset({"globals", "vars", "locals"})
_SETTERS = frozenset({"update", "setdefault", "__setitem__"})
_OF_VALUES = frozenset({"assign", "augmented", "element", "context"})
_WORD = re.compile(r"[A-Za-z_]\w*")
_AT_ANY_TIME = -1


class Rebinding(NamedTuple):
    """A statement of a module's code that may bind some of its names, or any of them if `names` is None.

    `site` is its place in the module's own code; in a function it may run at any time.
    """

    site: int
    path: ArmPath
    names: frozenset[str] | None


def may_be_bound_since(ev: Evaluator, binding: Binding, site: int, frame: Frame) -> bool:
    """Whether a global name may have got another value between one of its bindings and its use at `site`."""
    if frame.scope.parent is not None:
        return False
    facts = frame.facts
    for one in ev.of_text(("rebindings", id(facts)), lambda: tuple(_rebindings(facts))):
        if one.site != _AT_ANY_TIME and not binding.order <= one.site < site:
            continue
        concerned = binding.name in one.names if one.names is not None else binding.kind in _OF_VALUES
        if concerned and (one.site == _AT_ANY_TIME or ev.decide(one.path, frame) is not False):
            return True
    return False


def is_unseen(module: str) -> bool:
    """Whether nothing tells what a module outside the project defines: it is neither of Python nor of a library that is
    described, of which it is known that they hold no settings of a program.
    """
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names and top not in described_packages()


def _rebindings(facts: ModuleFacts) -> Iterator[Rebinding]:
    for scope in facts.walk_scopes():
        is_module = scope.parent is None
        for call, path in scope.calls:
            for names in _bound_by(call, is_module):
                yield Rebinding(call.site if is_module else _AT_ANY_TIME, path, names)
        for store in scope.stores:
            if isinstance(store.target, tree.Subscript) and _is_namespace(store.target.value, is_module):
                if is_module and _is_bound_by_text(store.target):
                    continue
                site = store.statement.site if is_module else _AT_ANY_TIME
                yield Rebinding(site, store.path, _text(store.target.index))


def _is_bound_by_text(target: tree.Subscript) -> bool:
    """Whether the text says which name it is: `globals()["name"] = value` is a binding like any other."""
    match target:
        case tree.Subscript(value=tree.Call(func=tree.Name(id="globals"), args=()), index=tree.Const(value=str())):
            return True
    return False


def _bound_by(call: tree.Call, is_module: bool) -> Iterator[frozenset[str] | None]:
    """The names of the module that a call may bind."""
    match call:
        case tree.Call(func=tree.Name(id="exec"), args=(source, *namespaces)):
            given = namespaces[0].value if namespaces else None
            if (given is None and is_module) or (given is not None and _is_namespace(given, is_module)):
                words = source.value.value if isinstance(source.value, tree.Const) else None
                yield frozenset(_WORD.findall(words)) if isinstance(words, str) else None
        case tree.Call(func=tree.Attribute(value=owner, attr=attr), args=args) if attr in _SETTERS:
            if _is_namespace(owner, is_module):
                yield _updated(args) if attr == "update" else (_text(args[0].value) if args else frozenset())
        case tree.Call(func=tree.Name(id="setattr"), args=(owner, name, *_)) if _is_this_module(owner.value):
            yield _text(name.value)


def _updated(args: tuple[tree.Arg, ...]) -> frozenset[str] | None:
    """The keys that `.update(...)` gives; None where they are not written."""
    names: set[str] = set()
    for arg in args:
        if arg.keyword is not None:
            names.add(arg.keyword)
            continue
        if not isinstance(arg.value, tree.DictDisplay):
            return None
        for key, _ in arg.value.items:
            if not (isinstance(key, tree.Const) and isinstance(key.value, str)):
                return None
            names.add(key.value)
    return frozenset(names)


def _text(node: tree.Expr) -> frozenset[str] | None:
    return frozenset((node.value,)) if isinstance(node, tree.Const) and isinstance(node.value, str) else None


def _is_namespace(node: tree.Expr, is_module: bool) -> bool:
    """Whether an expression is the dict of the module's names: `globals()`, in its own code also `locals()`."""
    match node:
        case tree.Call(func=tree.Name(id=name), args=()) if name in _NAMESPACES:
            return is_module or name == "globals"
        case tree.Call(func=tree.Name(id="vars"), args=(tree.Arg(value=of),)):
            return _is_this_module(of)
        case tree.Attribute(value=of, attr="__dict__"):
            return _is_this_module(of)
    return False


def _is_this_module(node: tree.Expr) -> bool:
    """`sys.modules[__name__]`."""
    match node:
        case tree.Subscript(value=modules, index=tree.Name(id="__name__")):
            return dotted_name(modules) == "sys.modules"
    return False
