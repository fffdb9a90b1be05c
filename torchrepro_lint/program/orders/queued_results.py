"""Results that workers put into one queue, and that come out of it in the order in which the workers are done.

workers = [Process(target=work, args=(part, results)) for part in parts]  # `work` calls `results.put(...)`
found = [results.get() for _ in workers]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ordering import ordering_names, ordering_words
from torchrepro_lint.program.core.backward import BackwardSet
from torchrepro_lint.program.core.queries import Query
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.classes import external_bases
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    Constant,
    External,
    FunctionValue,
    MemberOf,
    MethodValue,
    Partial,
    Site,
    Value,
)
from torchrepro_lint.program.running.call_index import NamedCall, called_name, calls_in
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.known_calls import KnownCall
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.evaluation.frames import Frame
    from torchrepro_lint.program.program import Program

__all__ = ["QueuedResult", "queued_results"]

#: What takes the next result out of a queue: a call without a key, which a dict would be given.
_TAKES: Final = re.compile(rb"\.get(?:_nowait)?\(\s*(?:\)|block|timeout|True|False)")
_LOOPS: Final = (tree.For, tree.While, tree.Comprehension)
_PUTS: Final = any_word(("put", "put_nowait"))
_FUNCTIONS: Final = (tree.FunctionDef, tree.ClassDef, tree.Lambda)
_Loop = tree.For | tree.While | tree.Comprehension


@dataclass(frozen=True, slots=True, eq=False)
class QueuedResult:
    """A call that takes the next result out of a queue that several workers fill, and the loop that it is in."""

    call: KnownCall
    loop: _Loop


def queued_results(program: Program) -> Sequence[QueuedResult]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    return program.once("results of queues", lambda: list(_queued_results(program)))


def _queued_results(program: Program) -> Iterator[QueuedResult]:
    if not program.project.matching(any_word(ordering_words("queues"))):
        return
    for path in program.asked_with(_TAKES):
        facts = program.facts(path)
        found = [*calls_in(program.ev, facts, "get"), *calls_in(program.ev, facts, "get_nowait")] if facts else []
        for one in sorted(found, key=lambda one: one.call.site):
            if _is_method(one.call) and not any(_is_a_key(arg) for arg in one.call.args):
                program.ev.begin_question()
                if (result := _of_call(program, one)) is not None:
                    yield result


def _is_method(call: tree.Call) -> bool:
    return isinstance(call.func, tree.Attribute)


def _is_a_key(arg: tree.Arg) -> bool:
    return arg.keyword is None and not (isinstance(arg.value, tree.Const) and isinstance(arg.value.value, (bool, int)))


def _of_call(program: Program, one: NamedCall) -> QueuedResult | None:
    loop = _innermost_loop(parents_of(program.ev, one.facts), one.call)
    if loop is None:
        return None
    for frame in contexts(program.ev, one.facts, one.scope):
        if not program.ev.may_run(one.call.site, one.path, frame):
            continue
        made = sorted(_made(program, one, frame), key=lambda queue: (str(queue.site.path), queue.site.number))
        if made and all(_is_filled_by_several(program, one, queue.site) for queue in made):
            arguments = program.ev.arguments(one.call.args, frame)
            return QueuedResult(
                KnownCall(f"{made[0].name}.{called_name(one.call.func)}", one.call, frame, one.path, arguments), loop
            )
    return None


@dataclass(frozen=True, slots=True)
class _Made:
    """A call that makes a queue."""

    name: str
    site: Site


class _Queues(BackwardSet[_Made]):
    """Where a queue is made."""

    def source(self, query: Query) -> frozenset[_Made] | None:
        """The call that makes a queue."""
        if isinstance(query.node, tree.Call) and called_name(query.node.func) in ordering_words("queues"):
            for value in self.ev.values(query.node.func, query.frame):
                if (name := _name(value)) is not None and name in _queues():
                    return frozenset({_Made(name, Site(query.frame.facts.path, query.node.site))})
        return None


def _made(program: Program, one: NamedCall, frame: Frame) -> frozenset[_Made]:
    """Where the queues are made that a method may be called on."""
    assert isinstance(one.call.func, tree.Attribute)
    return _Queues(program.ev).of(one.call.func.value, frame) or frozenset()


@cache
def _queues() -> frozenset[str]:
    return frozenset(map(canonical, ordering_names("queues")))


def _name(value: Value) -> str | None:
    if isinstance(value, External):
        return canonical(value.name)
    return member_name(value) if isinstance(value, MemberOf) else None


# --- what fills a queue -------------------------------------------------------------------------------------------


def _is_filled_by_several(program: Program, taken: NamedCall, made: Site) -> bool:
    """Whether several workers put results into the queue that is made at a place. None of them takes them out again:
    that is a queue of jobs, or of what may be used by one at a time.
    """
    starts = [one for path in sorted({made.path, taken.facts.path}) for one in _starts(program, path)]
    functions = {function for one in starts for function in one.functions}
    fills, may_fill = _fills(program, made, functions)
    around = [one for one in parents_of(program.ev, taken.facts).around(taken.call) if isinstance(one, _FUNCTIONS)]
    if any(one is function for one in around for function in fills | may_fill):
        return False
    filling: list[_Start] = []
    for one in starts:
        given = _given(program, one.one)
        if made in given or (not given and not fills.isdisjoint(one.functions)):
            if not (fills | may_fill).isdisjoint(one.functions):
                filling.append(one)
    return any(_is_repeated(program, one, taken, made) for one in filling) or _are_beside(filling)


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """A call that makes a worker, and the functions that may run in it."""

    one: NamedCall
    functions: frozenset[tree.FunctionDef]


def _starts(program: Program, path: Path) -> Sequence[_Start]:
    return program.once(("starts of workers", path), lambda: list(_find_starts(program, path)))


def _find_starts(program: Program, path: Path) -> Iterator[_Start]:
    facts = program.facts(path)
    names = frozenset(map(canonical, ordering_names("queues", "workers")))
    for scope in facts.walk_scopes() if facts is not None else ():
        for call, arms in scope.calls:
            assert facts is not None
            program.ev.begin_question()
            functions: set[tree.FunctionDef] = set()
            for frame in contexts(program.ev, facts, scope):
                called = program.ev.values(call.func, frame)
                if any(_name(value) in names for value in called):
                    given = (value for arg in call.args for value in program.ev.values(arg.value, frame))
                    functions.update(function for value in given for function in _functions(value))
                for value in called:
                    if isinstance(value, ClassValue) and not names.isdisjoint(
                        map(canonical, external_bases(program.ev, value))
                    ):
                        functions.update(_methods(value))
            if functions:
                yield _Start(NamedCall(facts, scope, call, arms), frozenset(functions))


def _functions(value: Value) -> Iterator[tree.FunctionDef]:
    match value:
        case (
            FunctionValue(node=tree.FunctionDef() as node)
            | MethodValue(function=FunctionValue(node=tree.FunctionDef() as node))
        ):
            yield node
        case Partial(function=functions):
            for one in functions:
                yield from _functions(one)


def _methods(cls: ClassValue) -> Iterator[tree.FunctionDef]:
    for statement in cls.node.body:
        if isinstance(statement, tree.FunctionDef) and statement.name != "__init__":
            yield statement


def _fills(
    program: Program, made: Site, functions: set[tree.FunctionDef]
) -> tuple[set[tree.FunctionDef], set[tree.FunctionDef]]:
    """Those of some functions that put something into the queue, other than a sign that they are done; and those that
    put it into a parameter of which nothing is known.
    """
    found: set[tree.FunctionDef] = set()
    unknown: set[tree.FunctionDef] = set()
    for path in program.project.matching(_PUTS):
        facts = program.facts(path)
        puts = [one for word in ("put", "put_nowait") for one in calls_in(program.ev, facts, word)] if facts else []
        for one in puts:
            function = parents_of(program.ev, one.facts).function(one.call)
            if not isinstance(function, tree.FunctionDef) or function not in functions or not _puts_a_result(one.call):
                continue
            queues = [_made(program, one, frame) for frame in contexts(program.ev, one.facts, one.scope)]
            if any(queue.site == made for several in queues for queue in several):
                found.add(function)
            elif not any(queues) and _is_a_parameter(one.call, function):
                unknown.add(function)
    return found, unknown


def _puts_a_result(call: tree.Call) -> bool:
    return _is_method(call) and bool(call.args) and not isinstance(call.args[0].value, tree.Const)


def _is_a_parameter(call: tree.Call, function: tree.FunctionDef) -> bool:
    match call.func:
        case tree.Attribute(value=tree.Name(id=name)):
            return any(param.name == name for param in function.params)
    return False


def _given(program: Program, start: NamedCall) -> set[Site]:
    """The queues that a worker is given, by the places where they are made."""
    parts = [
        part for part in walk(arg.value for arg in start.call.args) if isinstance(part, (tree.Name, tree.Attribute))
    ]
    return {
        queue.site
        for frame in contexts(program.ev, start.facts, start.scope)
        for part in parts
        for queue in _Queues(program.ev).of(part, frame) or ()
    }


def _is_repeated(program: Program, start: _Start, taken: NamedCall, made: Site) -> bool:
    """Whether a loop makes several workers for one queue, without waiting for one before it makes the next."""
    facts, _, call, _ = start.one
    parents = parents_of(program.ev, facts)
    if facts.path == made.path and any(isinstance(one, tree.Comprehension) for one in _around(parents, made.number)):
        return False
    loops = [one for one in _around(parents, call.site) if isinstance(one, _LOOPS)]
    outer: set[int] = set()
    for site in [made.number] * (facts.path == made.path) + [taken.call.site] * (facts.path == taken.facts.path):
        outer.update(one.site for one in _around(parents, site) if isinstance(one, _LOOPS))
    return any(
        loop.site not in outer and not _is_of_one(program, start.one, loop) and not _waits_for_each(parents, call, loop)
        for loop in loops
    )


def _around(parents: Parents, site: int) -> Iterator[Node]:
    """What is around a place, up to the function that it is in."""
    for above in parents.around(tree.Name(site, "")):
        if isinstance(above, _FUNCTIONS):
            return
        yield above


def _is_of_one(program: Program, one: NamedCall, loop: _Loop) -> bool:
    """Whether a loop surely has one turn: `for number in range(1)`."""
    iterated = [loop.iter] if isinstance(loop, tree.For) else []
    if isinstance(loop, tree.Comprehension):
        iterated = [clause.iter for clause in loop.clauses]
    for node in iterated:
        match node:
            case tree.Call(func=tree.Name(id="range"), args=(tree.Arg(value=number),)):
                counts = [
                    value
                    for frame in contexts(program.ev, one.facts, one.scope)
                    for value in program.ev.values(number, frame)
                ]
                if counts and all(isinstance(value, Constant) and value.value == 1 for value in counts):
                    return True
    return False


def _waits_for_each(parents: Parents, call: tree.Call, loop: _Loop) -> bool:
    """Whether a loop waits for each worker before it makes the next."""
    name = parents.target_name(call)
    return bool(name) and any(
        isinstance(above := parents.of(use), tree.Attribute) and above.attr == "join"
        for use in parents.names_in(name, loop)
    )


def _are_beside(starts: Sequence[_Start]) -> bool:
    """Whether a function makes two workers, one after the other."""
    scopes = [id(start.one.scope) for start in starts]
    return len(set(scopes)) < len(scopes)


def _innermost_loop(parents: Parents, call: tree.Call) -> _Loop | None:
    """The loop each turn of which takes one out; none where only what the loop goes through is taken out."""
    node: Node = call
    for above in _around(parents, call.site):
        match above:
            case tree.For(iter=iterated) if iterated is node:
                return None
            case tree.For() | tree.While() | tree.Comprehension():
                return above
        node = above
    return None
