"""Indirect calls of a function: through a parameter, an element, an attribute or a result that holds it.

The names that may hold a function are followed from where it is mentioned; which calls of them are of the function,
their callee's value says. A function is also handed to code outside the project: who calls it there is not known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import uncalled
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.passing import calls_that_keep
from torchrepro_lint.program.evaluation.classes import is_static
from torchrepro_lint.program.evaluation.values import Instance, Value
from torchrepro_lint.program.running.call_index import NamedCall, called_name, calls_of
from torchrepro_lint.program.running.decorator_uses import is_function
from torchrepro_lint.program.running.held_names import Decorated, HeldNames, Holder, Mention, held_names
from torchrepro_lint.program.running.named_definitions import NamedDefinition, definitions_named, init_of
from torchrepro_lint.program.running.started_uses import starting_words
from torchrepro_lint.program.running.written_arguments import receiving_parameter

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["IndirectCalls", "any_calls_of", "calls_function", "indirect_calls"]

#: Under how many names a function is followed.
MAX_HOLDERS = 48
#: In how many files a name is looked for.
MAX_FILES = 16
#: How many calls are looked at.
MAX_CANDIDATES = 64


class IndirectCalls(NamedTuple):
    """The calls that may be of a function by the names that may hold it. It `escapes` where others may call it too."""

    calls: tuple[NamedCall, ...] = ()
    escapes: bool = False


def indirect_calls(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> IndirectCalls:
    """The calls of what may hold the function of a scope; found once."""
    key = ("indirect-calls", id(scope))
    return ev.remembered(key, lambda: _Search(ev, facts, scope).found(), IndirectCalls(), IndirectCalls((), True))


def any_calls_of(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[NamedCall]:
    """The calls that may be of a function, by its own name or by one that may hold it."""
    seen = set()
    for one in calls_of(ev, facts, scope):
        seen.add(id(one.call))
        yield one
    yield from (one for one in indirect_calls(ev, facts, scope).calls if id(one.call) not in seen)


def calls_function(ev: Evaluator, scope: Scope, value: Value) -> bool:
    """Whether a call of a value is one of the function of a scope, which may be the `__call__` of an object."""
    if isinstance(value, Instance) and scope.name == "__call__":
        return any(is_function(method, scope) for method in ev.attribute(value, "__call__"))
    return is_function(value, scope)


class _Search:
    """The search for the names that may hold one function."""

    def __init__(self, ev: Evaluator, facts: ModuleFacts, scope: Scope) -> None:
        assert isinstance(scope.node, tree.FunctionDef) and scope.parent is not None
        self._ev = ev
        self._tests = ev.project.tests if facts.path not in ev.project.tests else frozenset[Path]()
        self._escapes = False
        self._calls: dict[int, NamedCall] = {}
        self._own = _bound_as(scope)
        self._pending = deque([(facts, self._own)])  # the nearest first: how many are followed is limited
        self._seen = {self._own}

    def found(self) -> IndirectCalls:
        while self._pending:
            home, holder = self._pending.popleft()
            for user in self._files(home, holder):
                names = held_names(self._ev, user)
                self._note_calls(user, home, holder, names)
                for mention in names.mentions.get(holder.name, ()):
                    if mention.is_called <= holder.by_call and _is_of(mention.scope, mention.node, user, home, holder):
                        self._follow(user, mention, holder.by_call and not mention.is_called)
                for decorated in names.decorated.get(holder.name, ()):
                    if user is home and _holder_of(decorated) == holder:
                        self._follow_decorators(user, decorated)
            if len(self._seen) > MAX_HOLDERS or len(self._calls) > MAX_CANDIDATES:
                return IndirectCalls(tuple(islice(self._calls.values(), MAX_CANDIDATES)), True)
        return IndirectCalls(tuple(self._calls.values()), self._escapes)

    def _files(self, home: ModuleFacts, holder: Holder) -> Iterator[ModuleFacts]:
        """The files in which a name may be that of a holder."""
        yield home
        if holder.scope is not None and holder.scope.parent is not None:
            return
        project = self._ev.project
        paths = [path for path in project.containing(holder.name) if path != home.path]
        if holder.scope is not None and paths:  # whoever has a global name of a module names that, or its package
            near = project.naming(home.path, package=home.path.parent / "__init__.py" in paths)
            paths = [path for path in paths if path in near]
        self._escapes = self._escapes or len(paths) > MAX_FILES
        for path in paths[:MAX_FILES]:
            facts = self._ev.project.facts(path) if path not in self._tests else None
            if facts is not None:
                yield facts

    def _note_calls(self, user: ModuleFacts, home: ModuleFacts, holder: Holder, names: HeldNames) -> None:
        for node, is_called, one in names.called.get(holder.name, ()):
            # What is called by the function's own name is no indirect call.
            if is_called is holder.by_call and not (holder == self._own and one.call.func is node):
                if _is_of(one.scope, node, user, home, holder):
                    self._calls.setdefault(id(one.call), one)

    def _hold(self, facts: ModuleFacts, holder: Holder) -> None:
        if holder not in self._seen:
            self._seen.add(holder)
            self._pending.append((facts, holder))

    def _follow(self, user: ModuleFacts, mention: Mention, by_call: bool) -> None:
        if isinstance(mention.goal, Holder):
            self._hold(user, mention.goal if mention.goal.by_call else mention.goal._replace(by_call=by_call))
            return
        call, arg = mention.goal
        entered = definitions_named(self._ev, user, mention.scope, call.func)
        if not entered or _is_of_unknown_object(call.func):
            is_seen = called_name(call.func) in _names_that_keep() or _is_seen_calling(call.func)
            self._escapes = self._escapes or not is_seen
        for one in entered:
            self._enter(one, call, arg, by_call)

    def _enter(self, entered: NamedDefinition, call: tree.Call, arg: tree.Arg, by_call: bool) -> None:
        """Follows an argument into the function or the class that is called."""
        node, around = entered.scope.node, entered.scope.parent
        if isinstance(node, tree.ClassDef):
            init = init_of(self._ev, entered)
            if init is not None:
                self._enter(init, call, arg, by_call)
            else:  # the fields of a dataclass
                names = [arg.keyword] if arg.keyword is not None else list(entered.scope.bindings)
                for field in names[:MAX_HOLDERS]:
                    self._hold(entered.facts, Holder(field, None, by_call))
        elif isinstance(node, tree.FunctionDef):
            is_method = around is not None and isinstance(around.node, tree.ClassDef) and not is_static(node)
            name = receiving_parameter(node, call, arg, skipped=1 if is_method else 0)
            for one in [name] if name is not None else [param.name for param in node.params][:MAX_HOLDERS]:
                self._hold(entered.facts, Holder(one, entered.scope, by_call))

    def _follow_decorators(self, user: ModuleFacts, decorated: Decorated) -> None:
        """Follows a function into what decorates it; `@decorator(x)` is what `decorator` returns."""
        for decorator in decorated.node.decorators:
            for one in definitions_named(self._ev, user, decorated.scope, uncalled(decorator)):
                scopes = one.scope.children if isinstance(decorator, tree.Call) else [one.scope]
                for scope in scopes:
                    if isinstance(scope.node, tree.FunctionDef):
                        for param in scope.node.params[:1]:
                            self._hold(one.facts, Holder(param.name, scope))


def _bound_as(scope: Scope) -> Holder:
    """The name by which a function is had: a `__call__` by that of its class."""
    assert isinstance(scope.node, tree.FunctionDef) and scope.parent is not None
    of_class = isinstance(scope.parent.node, tree.ClassDef)
    if of_class and scope.node.name == "__call__" and scope.parent.parent is not None:
        return Holder(scope.parent.name, scope.parent.parent, True)
    return Holder(scope.node.name, None if of_class else scope.parent)


def _holder_of(decorated: Decorated) -> Holder:
    is_attribute = isinstance(decorated.scope.node, tree.ClassDef)
    return Holder(decorated.node.name, None if is_attribute else decorated.scope)


def _is_of(scope: Scope, node: tree.Expr, user: ModuleFacts, home: ModuleFacts, holder: Holder) -> bool:
    """Whether a name in a scope of the file `user` may be that of a holder in the file `home`."""
    if not isinstance(node, tree.Name):
        return holder.scope is None or user is not home or not isinstance(node, tree.Attribute)
    binder = scope.binder(node.id)
    if holder.scope is None:
        return binder is not None and isinstance(binder.node, tree.ClassDef)
    if user is home:
        return binder is holder.scope
    return binder is not None and any(one.kind == "import-from" for one in binder.bindings.get(node.id, ()))


def _is_of_unknown_object(func: tree.Expr) -> bool:
    """Whether what is called is an attribute of something that may be no object of the project."""
    return isinstance(func, tree.Attribute) and not (isinstance(func.value, tree.Name) and func.value.id == "self")


def _is_seen_calling(func: tree.Expr) -> bool:
    """Whether started_uses.py says with what a function is called that is given to this; `map` is also a method of many
    libraries.
    """
    name = called_name(func)
    return name in starting_words() and (name != "map" or isinstance(func, tree.Name))


@cache
def _names_that_keep() -> frozenset[str]:
    """The last names of what keeps a function that it is given, and does not call it."""
    return last_parts(calls_that_keep()) | method_words("keeps_beside_others")
