"""What is done with a loader in the end: the loops over it, and the calls that it is passed to. It is followed by its
name, by an attribute, in lists, tuples and dicts, and to the callers of a function that returns it.

loaders = [DataLoader(part, batch_size=8, shuffle=True) for part in parts]
for loader in loaders:
    for images, labels in loader:  # this loop
        ...
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, Union

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.binding_uses import binding_uses
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.callers import visible_calls
from torchrepro_lint.program.running.never_read import uses_of_a_module_name, uses_of_its_name
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["AROUND", "End", "loader_ends", "scope_at"]

#: What gives the items of what it is given, one after the other.
AROUND: Final = frozenset({"enumerate", "tqdm", "zip", "track"})
#: The same for what holds loaders; of a loader they give a list of batches.
_COPYING: Final = frozenset({"list", "tuple", "reversed"})
#: Methods of lists and dicts that give what is in them; `items` gives it as the second of two.
_GIVING: Final = frozenset({"get", "pop"})
_GIVING_ALL: Final = frozenset({"values", "items", "copy"})
#: Methods of a list that put something into it.
_ADDING: Final = frozenset({"append", "insert", "appendleft"})
#: Methods of a progress bar around a loader that only change its looks.
_SHOWING: Final = frozenset({"set_postfix", "set_postfix_str", "set_description", "set_description_str", "refresh"})
#: What gives no batch of a loader.
_ASKED: Final = frozenset({"dataset", "batch_size", "keys"})
#: Expressions that make a list or dict.
_MAKING: Final = (tree.Display, tree.DictDisplay, tree.Call, tree.Comprehension)
#: Through how many functions that return a loader it is followed; one that is returned further may be trained with.
_CALLS_UP: Final = 3
#: In how many lists or dicts, one in the other, a loader is followed.
_HELD: Final = 3

#: A `loop` over the loader; a call that it is `passed` to; a `length` or a data set that is asked for; a name or key
#: that nothing reads; anything else, such as what is out of sight.
_Kind = Literal["loop", "passed", "length", "unread", "other"]


class End(NamedTuple):
    """Where something is done with a loader, in which scope; `node` is the loop or the call, None for the others."""

    kind: _Kind
    facts: ModuleFacts
    scope: Scope
    node: Union[tree.For, tree.Call, None] = None


#: An expression, where it is.
_Place: TypeAlias = tuple["ModuleFacts", "Scope", tree.Expr]


def loader_ends(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> tuple[End, ...]:
    """What is done in the end with the loader that a call in a scope makes, in the whole project."""

    def find() -> tuple[End, ...]:
        walk = _Walk(program)
        walk.up(facts, scope, call, _At())
        return tuple(walk.ends) or (End("unread", facts, scope),)

    return program.once(("ends of a loader", facts.path, call.site), find)


@dataclass(frozen=True, slots=True)
class _At:
    """How far a loader was followed: how many functions may still return it, in how many containers it is, under which
    key of the innermost one, and as which part of the items that a loop takes from what stands here.
    """

    calls_up: int = _CALLS_UP
    held: int = 0
    key: tree.ConstantValue | None = None
    parts: tuple[int, ...] = ()

    @property
    def inside(self) -> _At:
        return _At(self.calls_up, self.held + 1)

    def under(self, key: tree.Expr | None) -> _At:
        """In a dict, under a key."""
        return _At(self.calls_up, self.held + 1, key.value if isinstance(key, tree.Const) else None)

    @property
    def outside(self) -> _At:
        return _At(self.calls_up, self.held - 1)

    def part(self, number: int) -> _At:
        return _At(self.calls_up, self.held, self.key, (*self.parts, number))

    @property
    def is_followed_so_far(self) -> bool:
        return self.calls_up < _CALLS_UP or self.key is not None


@dataclass
class _Walk:
    program: Program
    ends: list[End] = field(default_factory=list)
    _seen: set[tuple[Path, int, _At]] = field(default_factory=set)

    def up(self, facts: ModuleFacts, scope: Scope, node: tree.Expr, at: _At) -> None:
        """Follow what an expression gives: the loader, or what holds it."""
        parents = parents_of(self.program.ev, facts)
        if (facts.path, node.site, at) in self._seen:
            return None
        self._seen.add((facts.path, node.site, at))
        above = parents.of(node)
        match above:
            case tree.Conditional() if above.test is not node:
                return self.up(facts, scope, above, at)
            case tree.Assign():
                return self._bound(facts, scope, node, parents.target_of(node), at)
            case tree.Display(kind="tuple") if (target := parents.target_of(node)) is not None:
                return self._bound(facts, scope, node, target, at)
            case tree.Display(kind="tuple", items=items) if isinstance(parents.of(above), tree.Return):
                index = next(place for place, item in enumerate(items) if item is node)
                return self._returned(facts, scope, index, at)
            case tree.Return():
                return self._returned(facts, scope, None, at)
            case tree.Display(kind="list" | "tuple") if at.held < _HELD:
                return self.up(facts, scope, above, at.inside)
            case tree.DictDisplay(items=pairs) if at.held < _HELD:
                return self.up(facts, scope, above, at.under(next((key for key, one in pairs if one is node), None)))
            case tree.Comprehension(element=element) if element is node and at.held < _HELD:
                return self.up(facts, scope, above, at.inside)
            case tree.Subscript(value=value, index=index) if value is node and at.held:
                return self._taken(facts, scope, above, index, at)
            case tree.Attribute() if above.value is node:
                return self._asked(facts, scope, parents, above, at)
            case tree.Arg(value=value):
                call = parents.of(above)
                if isinstance(call, tree.Call):
                    return self._passed(facts, scope, parents, call, above, at)
            case tree.For(iter=iterated, target=target) if node is iterated:
                if not at.held:
                    return self._end("loop", facts, scope, above)
                return self._each(facts, parents, above, target, at)
            case tree.Clause(iter=iterated, target=target) if node is iterated and at.held:
                around = parents.of(above)
                if around is not None:
                    return self._each(facts, parents, around, target, at)
        return self._end("other", facts, scope)

    def _end(self, kind: _Kind, facts: ModuleFacts, scope: Scope, node: tree.For | tree.Call | None = None) -> None:
        self.ends.append(End(kind, facts, scope, node))

    def _all(self, uses: Iterable[_Place], at: _At) -> bool:
        """Follow each of some uses; whether there is one."""
        some = False
        for facts, scope, use in uses:
            some = True
            self.up(facts, scope, use, at)
        return some

    def _bound(self, facts: ModuleFacts, scope: Scope, node: tree.Expr, target: tree.Expr | None, at: _At) -> None:
        """Follow the uses of the name, attribute or key that is given what an expression gives."""
        match target:
            case tree.Name():
                uses = uses_of_its_name(self.program.ev, facts, node)
                if uses is None:
                    uses = uses_of_a_module_name(self.program, facts, node)
                if uses is None:
                    return self._end("other", facts, scope)
                if not self._all(((facts, inner, use) for use, inner in uses), at):
                    self._end("unread" if at.is_followed_so_far else "other", facts, scope)
            case tree.Attribute(attr=name):
                if not self._all(self._reads_of_attribute(name), at):
                    self._end("other", facts, scope)
            case tree.Subscript(value=holder, index=key) if at.held < _HELD:
                self._put_into(facts, scope, holder, at.under(key))
            case _:
                self._end("other", facts, scope)
        return None

    def _reads_of_attribute(self, name: str) -> Iterator[_Place]:
        """All places of the project where an attribute of that name is read, of whatever object."""
        for path in self.program.project.matching(any_word((name,))):
            facts = self.program.facts(path)
            if facts is None:
                continue
            parents = parents_of(self.program.ev, facts)
            for one in parents.attributes.get(name, ()):
                if not parents.is_bound(one):
                    yield facts, scope_at(facts, parents, one), one

    def _put_into(self, facts: ModuleFacts, scope: Scope, holder: tree.Expr, at: _At) -> None:
        """Follow the other uses of the list or dict that something is put into."""
        match holder:
            case tree.Name(id=name):
                binder = scope.binder(name)
                bindings = binder.bindings.get(name, ()) if binder is not None else ()
                if len(bindings) != 1 or not isinstance(bindings[0].node, _MAKING) or bindings[0].unpack:
                    return self._end("other", facts, scope)
                made = bindings[0].node
                uses = uses_of_its_name(self.program.ev, facts, made)
                if uses is None:
                    uses = uses_of_a_module_name(self.program, facts, made)
                if uses is None:
                    return self._end("other", facts, scope)
                found: list[_Place] = [(facts, inner, use) for use, inner in uses if use is not holder]
            case tree.Attribute(attr=name):
                found = [one for one in self._reads_of_attribute(name) if one[2] is not holder]
            case _:
                return self._end("other", facts, scope)
        ev = self.program.ev
        reads = [one for one in found if not _is_put_into(parents_of(ev, one[0]), one[2])]
        if not self._all(reads, at):
            self._end("unread" if at.is_followed_so_far else "other", facts, scope)
        return None

    def _taken(self, facts: ModuleFacts, scope: Scope, taken: tree.Subscript, index: tree.Expr, at: _At) -> None:
        """Follow what a subscript takes out of a container, unless it is under another key."""
        if isinstance(index, tree.Opaque):  # a slice
            return self.up(facts, scope, taken, at)
        if at.key is not None and isinstance(index, tree.Const) and index.value != at.key:
            return None
        return self.up(facts, scope, taken, at.outside)

    def _asked(self, facts: ModuleFacts, scope: Scope, parents: Parents, asked: tree.Attribute, at: _At) -> None:
        """Follow what an attribute or a method gives of a loader or a container."""
        call = parents.of(asked)
        if asked.attr in _ASKED:
            return self._end("length", facts, scope)
        if asked.attr in _SHOWING:
            return None
        if at.held and isinstance(call, tree.Call) and call.func is asked:
            if asked.attr in _GIVING:
                key = call.args[0].value if call.args else None
                is_another = at.key is not None and isinstance(key, tree.Const) and key.value != at.key
                return None if is_another else self.up(facts, scope, call, at.outside)
            if asked.attr in _GIVING_ALL:
                return self.up(facts, scope, call, at.part(1) if asked.attr == "items" else at)
            if asked.attr in _ADDING:
                return None
        return self._end("other", facts, scope)

    def _passed(
        self, facts: ModuleFacts, scope: Scope, parents: Parents, call: tree.Call, arg: tree.Arg, at: _At
    ) -> None:
        """Follow what a call makes of its argument, or end there."""
        name = called_name(call.func)
        if arg.star:
            return self._end("other", facts, scope)
        if name == "len":
            return self._end("length", facts, scope)
        if name in AROUND or (at.held and name in _COPYING):
            if name == "zip":
                at = at.part(call.args.index(arg))
            return self.up(facts, scope, call, at.part(1) if name == "enumerate" else at)
        if name in _ADDING and isinstance(call.func, tree.Attribute) and at.held < _HELD:
            return self._put_into(facts, scope, call.func.value, at.inside)
        return self._end("passed", facts, scope, call)

    def _each(self, facts: ModuleFacts, parents: Parents, around: Node, target: tree.Expr, at: _At) -> None:
        """Follow what a loop or a comprehension takes out of a container, turn by turn."""
        for part in reversed(at.parts):
            items = target.items if isinstance(target, tree.Display) else ()
            if part >= len(items) or any(isinstance(one, tree.Starred) for one in items):
                return self._end("other", facts, scope_at(facts, parents, around))
            target = items[part]
        if not isinstance(target, tree.Name):
            return self._end("other", facts, scope_at(facts, parents, around))
        for use in parents.reads_in(target.id, around):
            self.up(facts, scope_at(facts, parents, use), use, at.outside)
        return None

    def _returned(self, facts: ModuleFacts, scope: Scope, index: int | None, at: _At) -> None:
        """Follow what the callers of a function do with what it returns, or with one part of that."""
        calls = visible_calls(self.program.ev, facts, scope) if at.calls_up else ()
        if not calls:
            return self._end("other", facts, scope)
        further = _At(at.calls_up - 1, at.held, at.key, at.parts)
        for call, frame in calls:
            if index is None:
                self.up(frame.facts, frame.scope, call, further)
                continue
            uses = _uses_of_part(self.program, frame.facts, frame.scope, call, index)
            if uses is None:
                self._end("other", frame.facts, frame.scope)
            elif not self._all(((frame.facts, inner, use) for use, inner in uses), further):
                self._end("unread", frame.facts, frame.scope)
        return None


def _uses_of_part(
    program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call, index: int
) -> list[tuple[tree.Name, Scope]] | None:
    """Where the name is read that a call gives one part of its result to; None where it cannot be told."""
    parents = parents_of(program.ev, facts)
    match parents.of(call):
        case tree.Assign(targets=(tree.Display(items=targets),)) if index < len(targets):
            target = targets[index]
        case _:
            return None
    if not isinstance(target, tree.Name) or any(isinstance(one, tree.Starred) for one in targets):
        return None
    if scope.node is None and program.imports.importers(facts.path):
        return None
    for binding in scope.bindings.get(target.id, ()):
        if binding.node is call and binding.unpack == (index,):
            return list(binding_uses(parents, facts, scope, binding))
    return None


def _is_put_into(parents: Parents, use: tree.Expr) -> bool:
    """Whether a use of a container puts something under a key of it: `loaders["val"] = other`."""
    above = parents.of(use)
    return isinstance(above, tree.Subscript) and above.value is use and parents.is_bound(above)


def scope_at(facts: ModuleFacts, parents: Parents, node: Node) -> Scope:
    """The scope of the function that a node is in, the module's where it is in none."""
    function = next((one for one in parents.around(node) if isinstance(one, tree.FunctionDef)), None)
    return facts.scope if function is None else facts.scope_of(function)
