"""What is put into a list, set or dict after it is made: `append`, `update`, `names[key] = value`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.scopes import Store, Touch
from torchrepro_lint.program.core.access import EACH, HELD, Access, AccessPath, items, key, may_be_at
from torchrepro_lint.program.core.queries import CallSite, Origin, Query
from torchrepro_lint.program.core.returns import frames_of
from torchrepro_lint.program.evaluation.classes import is_static
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.handed_lists import passings
from torchrepro_lint.program.running.written_arguments import receiving_parameter

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["put_into"]

#: Methods that put their last argument into what they are called on, and those that put in all that it holds.
_ADDS: Final = frozenset({"append", "add", "insert", "appendleft", "put", "push"})
_ADDS_ALL: Final = frozenset({"extend", "extendleft", "update", "union_update"})


def put_into(ev: Evaluator, query: Query, name: str, frame: Frame) -> Iterator[Origin]:
    """What the code of a frame's scope puts into the container under a dotted name, where the query asks for it."""
    for touch in frame.scope.touches(name):
        if ev.decide(touch.path, frame) is False:
            continue
        rest = _rest(query.access, touch.within)
        if rest:
            yield from _put(query, touch, frame, rest)
    yield from _put_by_functions(ev, query, name, frame)


def _put_by_functions(ev: Evaluator, query: Query, name: str, frame: Frame) -> Iterator[Origin]:
    """What functions of the project put into a container that is passed to them."""
    for passing in passings(ev, frame.scope, name):
        call = passing.call
        if ev.decide(passing.path, frame) is False:
            continue
        for inner in frames_of(ev, call, frame):
            node = inner.scope.node
            if isinstance(node, tree.FunctionDef) and not any(one.scope is inner.scope for one in query.calls):
                skipped = 1 if inner.scope.self_name is not None and not is_static(node) else 0
                param = receiving_parameter(node, call, call.args[passing.number], skipped=skipped)
                if param is not None:
                    yield from put_into(ev, query.entering(CallSite(inner.scope, call, frame)), param, inner)


def _rest(access: AccessPath, within: tuple[tree.Expr, ...]) -> AccessPath:
    """What is left of an access path that leads through the indexes `within`; nothing where it leads elsewhere."""
    for index in within:
        if not access or not may_be_at(_step(index), access[0]):
            return ()
        access = access[1:]
    return access if access and access[0].is_into_container else ()


def _step(index: tree.Expr) -> Access:
    return key(index.value) if isinstance(index, tree.Const) else HELD


def _put(query: Query, touch: Touch, frame: Frame, rest: AccessPath) -> Iterator[Origin]:
    first, below = rest[0], rest[1:]

    def one(node: tree.Expr, *access: Access) -> Origin:
        return Origin(query.asking(below).at(node, frame, *access), "binding")

    match touch.made:
        case Store(target=tree.Subscript(index=index), value=value, unpack=unpack, augmented=augmented):
            if first == EACH:
                yield one(index)  # iterating over a dict gives its keys, over a list what is stored
            if may_be_at(_step(index), first) and not augmented:
                is_sure = isinstance(index, tree.Const) or not first.is_of_one or not _is_of_a_loop(value, frame)
                yield one(value, *items(unpack))._replace(is_sure=is_sure)
        case tree.Call(args=args) if args:
            given = args[-1].value
            if touch.method in _ADDS:
                yield one(given)
            elif touch.method in _ADDS_ALL:
                for arg in args:
                    if arg.keyword is None:
                        yield one(arg.value, first)
                    elif may_be_at(Access("key", arg.keyword), first):
                        yield one(arg.value)
            elif touch.method == "setdefault" and len(args) == 2:
                if first == EACH:
                    yield one(args[0].value)
                elif may_be_at(_step(args[0].value), first):
                    yield one(given)


def _is_of_a_loop(value: tree.Expr, frame: Frame) -> bool:
    """Whether what a loop stores under a key that is not known is another thing for each key."""
    names = {part.id for part in walk([value]) if isinstance(part, tree.Name)}
    return any(one.kind == "element" for name in names for one in frame.scope.bindings.get(name, ()))
