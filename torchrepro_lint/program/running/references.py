"""Where a function is mentioned without being called: handed to something that calls it (`spawn(worker, ...)`).

What a DataLoader is handed for its workers is left out: it runs in their processes, not in the program's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions
from torchrepro_lint.facts.growing import grown
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import FunctionValue, MethodValue, Value
from torchrepro_lint.program.running.callers import MAX_CONTEXTS, contexts, frame_without_callers, may_be
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.properties import reads_of_property
from torchrepro_lint.program.running.worker_names import is_for_workers

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["known_places_of_use", "places_of_use"]

MAX_REFERENCES = 16
MAX_FILES = 256


#: A mention, behind the file and the scope in which it is.
Reference: TypeAlias = tuple[ModuleFacts, Scope, tree.Expr]


def places_of_use(ev: Evaluator, facts: ModuleFacts, scope: Scope, most: int = MAX_CONTEXTS) -> tuple[Reference, ...]:
    """The places that may make the function of `scope` run: its calls, `most` at most, the reads of a property, else
    the mentions of what is not called.
    """
    return _uses(ev, facts, scope, most)[0]


def known_places_of_use(
    ev: Evaluator, facts: ModuleFacts, scope: Scope, most: int
) -> tuple[tuple[Reference, ...], bool]:
    """As many of them, and whether these are all."""
    found, is_whole = _uses(ev, facts, scope, most + 1)
    return found[:most], is_whole and len(found) <= most


def _uses(ev: Evaluator, facts: ModuleFacts, scope: Scope, most: int) -> tuple[tuple[Reference, ...], bool]:
    calls = calling_places(ev, facts, scope, most)
    called = tuple((one.facts, one.scope, one.call) for one in calls)
    if called:
        return called, True
    reads = reads_of_property(ev, facts, scope)
    return reads if reads[0] else _mentioned(ev, facts, scope)


def _mentioned(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> tuple[tuple[Reference, ...], bool]:
    """The places where the function of `scope` is an argument or a value, and whether these are all."""

    def find() -> tuple[tuple[Reference, ...], bool]:
        found = tuple(_references(ev, facts, scope))
        places = tuple(one for one in found if one is not None)
        return places[:MAX_REFERENCES], len(places) == len(found) <= MAX_REFERENCES

    nothing: tuple[tuple[Reference, ...], bool] = ((), True)
    return ev.remembered(("references", id(scope)), find, nothing, ((), False))


def _references(ev: Evaluator, facts: ModuleFacts, scope: Scope) -> Iterator[Reference | None]:
    """One more than are kept, and None where files are left out."""
    node = scope.node
    assert isinstance(node, tree.FunctionDef)
    if is_for_workers(node):
        return
    own = facts.path in ev.project.mentioning(node.name)
    others = (path for path in ev.project.containing(node.name) if path != facts.path)
    count = 0
    for number, path in enumerate(chain([facts.path] if own else [], others)):
        if number == MAX_FILES:
            yield None
            return
        user = ev.project.facts(path)
        if user is None:
            continue
        for place, mentions in _mentions_by_name(ev, user).get(node.name, ()):
            alone = frame_without_callers(ev, user, place)
            for mention in mentions:
                if not may_be(ev, mention, alone, lambda value: _is_of(value, node)):
                    continue
                if any(_is_of(value, node) for value in ev.values(mention, contexts(ev, user, place)[0])):
                    yield user, place, mention
                    count += 1
                    if count > MAX_REFERENCES:
                        return


_Mentions: TypeAlias = dict[str, Sequence[tuple[Scope, Sequence[tree.Expr]]]]


def _mentions_by_name(ev: Evaluator, facts: ModuleFacts) -> _Mentions:
    return ev.of_text(("mentions-by-name", id(facts)), lambda: _index_mentions(facts))


def _index_mentions(facts: ModuleFacts) -> _Mentions:
    """For each name the scopes of a file that mention it, with the mentions."""
    index: _Mentions = {}
    for scope in facts.walk_scopes():
        own: dict[str, Sequence[tree.Expr]] = {}
        for name, mention in _mentions(scope):
            own[name] = grown(own.get(name, ()), mention)
        for name, mentions in own.items():
            index[name] = grown(index.get(name, ()), (scope, mentions))
    return index


def _mentions(scope: Scope) -> Iterator[tuple[str, tree.Expr]]:
    """The names that are in a scope as an argument or a bound value, also at the end of a dotted one."""
    roots: list[tree.Expr] = [
        arg.value for call, _ in scope.calls for arg in call.args if arg.keyword != "worker_init_fn"
    ]
    for bindings in scope.bindings.values():
        roots.extend(b.node for b in bindings if b.kind == "assign" and b.node is not None)  # type: ignore[misc]
    roots.extend(store.value for store in scope.stores)
    seen: set[int] = set()
    while roots:
        expression = roots.pop()
        match expression:
            case tree.Name(id=name) | tree.Attribute(attr=name):
                if expression.site not in seen:
                    seen.add(expression.site)
                    yield name, expression
                roots.extend(sub_expressions(expression))
            case tree.Call():
                pass  # its arguments are in the list of calls, and what it calls is called
            case _:
                roots.extend(sub_expressions(expression))


def _is_of(value: Value, node: tree.FunctionDef) -> bool:
    match value:
        case FunctionValue(node=found) | MethodValue(function=FunctionValue(node=found)):
            return found is node
    return False
