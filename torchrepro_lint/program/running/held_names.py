"""Under which names a file holds what other names stand for: as an element, a parameter, an attribute, a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions, uncalled
from torchrepro_lint.facts.growing import grown
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.running.call_index import NamedCall

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["Argument", "Decorated", "HeldNames", "Holder", "Mention", "held_names"]


class Holder(NamedTuple):
    """A name under which a value may be held: in the scope that binds it, or, without one, as an attribute. With
    `by_call`, calls of it give the value.
    """

    name: str
    scope: Scope | None
    by_call: bool = False


class Argument(NamedTuple):
    """An argument of a call."""

    call: tree.Call
    arg: tree.Arg


class Decorated(NamedTuple):
    """A function or class, and the scope that binds its name."""

    node: tree.FunctionDef | tree.ClassDef
    scope: Scope


#: Where a mentioned value goes: under another name, into a call, or through what decorates it.
Goal: TypeAlias = Holder | Argument


class Mention(NamedTuple):
    """A name or an attribute in a scope, and where its value goes from there, or, where it is called, its result."""

    scope: Scope
    node: tree.Expr
    is_called: bool
    goal: Goal


@dataclass(slots=True, eq=False)
class HeldNames:
    """What a file says about the names that hold values: by name, where each is mentioned, which calls have a callee
    that it leads to, as itself or by a call, and what has it as its own name under decorators.
    """

    mentions: dict[str, Sequence[Mention]] = field(default_factory=dict)
    called: dict[str, Sequence[tuple[tree.Expr, bool, NamedCall]]] = field(default_factory=dict)
    decorated: dict[str, Sequence[Decorated]] = field(default_factory=dict)

    def note(self, scope: Scope, value: tree.Expr, goal: Goal, *, is_called: bool = False) -> None:
        """Notes that a value goes somewhere, or what a call of it gives."""
        for name, node, within in _names_in(value):
            mention = Mention(scope, node, within or is_called, goal)
            self.mentions[name] = grown(self.mentions.get(name, ()), mention)


def held_names(ev: Evaluator, facts: ModuleFacts) -> HeldNames:
    """What a file says about the names that hold values; found once."""
    return ev.of_text(("held-names", id(facts)), lambda: _index(facts))


def _index(facts: ModuleFacts) -> HeldNames:
    found = HeldNames()
    for scope in facts.walk_scopes():
        _note_calls(found, facts, scope)
        for name, bindings in scope.bindings.items():
            for one in bindings:
                if one.kind == "import-from" and isinstance(one.node, tree.ImportFrom):
                    for original, alias in one.node.names:
                        if alias == name != original:
                            found.note(scope, tree.Name(one.node.site, original), Holder(name, scope))
                elif one.kind in ("assign", "element", "context") and one.node is not None:
                    found.note(scope, one.node, _holder(name, scope))  # type: ignore[arg-type]
        for store in scope.stores:
            target = store.target.value if isinstance(store.target, tree.Subscript) else store.target
            for name, node, _ in _names_in(target):
                found.note(scope, store.value, _holder_of(name, node, scope))
        _note_results(found, scope)
        for child in scope.children:
            _note_definition(found, child, scope)
    return found


def _note_calls(found: HeldNames, facts: ModuleFacts, scope: Scope) -> None:
    for call, path in scope.calls:
        one = NamedCall(facts, scope, call, path)
        for name, node, is_called in _names_in(call.func):
            found.called[name] = grown(found.called.get(name, ()), (node, is_called, one))
        for arg in call.args:
            found.note(scope, arg.value, Argument(call, arg))
            if isinstance(call.func, tree.Attribute):  # what is called may keep it: names.append(function)
                for name, node, _ in _names_in(call.func.value):
                    found.note(scope, arg.value, _holder_of(name, node, scope))


def _note_results(found: HeldNames, scope: Scope) -> None:
    """What a function returns and yields is held by what calls it."""
    node = scope.node
    if isinstance(node, tree.FunctionDef) and scope.parent is not None:
        results = [one.value for one, _ in scope.returns] + [one.value for one in scope.yields]
        for value in results:
            if value is not None:
                found.note(scope, value, _holder(node.name, scope.parent)._replace(by_call=True))
        for param in node.params:
            if param.default is not None:
                found.note(scope.parent, param.default, Holder(param.name, scope))


def _note_definition(found: HeldNames, child: Scope, scope: Scope) -> None:
    node = child.node
    if isinstance(node, (tree.FunctionDef, tree.ClassDef)) and node.decorators:
        found.decorated[node.name] = grown(found.decorated.get(node.name, ()), Decorated(node, scope))
        for decorator in node.decorators:
            found.note(scope, uncalled(decorator), _holder(node.name, scope), is_called=True)


def _holder(name: str, scope: Scope) -> Holder:
    """What a binding of a scope holds: a class keeps its names as attributes."""
    if name.startswith("self.") or isinstance(scope.node, tree.ClassDef):
        return Holder(name.removeprefix("self."), None)
    return Holder(name, scope.binder(name))


def _holder_of(name: str, node: tree.Expr, scope: Scope) -> Holder:
    return Holder(name, scope.binder(name) if isinstance(node, tree.Name) else None)


def _names_in(node: tree.Expr) -> Iterator[tuple[str, tree.Expr, bool]]:
    """The names of which an expression may give the value, or an element or a result of it, and whether it is called
    for that: the last one of a dotted name, and both in `names.get(key)`.
    """
    pending = [(node, False)]
    while pending:
        one, is_called = pending.pop()
        match one:
            case tree.Name(id=name) | tree.Attribute(attr=name):
                yield name, one, is_called
            case tree.Call(func=tree.Name(id="getattr"), args=(_, tree.Arg(value=tree.Const(value=str(name))), *_)):
                yield name, one.args[1].value, is_called
            case tree.Call(func=func, args=args):
                pending += [(func, True), *((arg.value, False) for arg in args)]
                if isinstance(func, tree.Attribute):
                    pending.append((func.value, False))
            case tree.Subscript(value=value, index=index):
                pending.append((value, is_called))
                if isinstance(index, tree.Const) and isinstance(index.value, str) and isinstance(value, tree.Call):
                    yield index.value, index, is_called  # globals()["name"]
            case tree.Const() | tree.Compare() | tree.FormatString():
                pass
            case _:
                pending += [(part, False) for part in sub_expressions(one)]
