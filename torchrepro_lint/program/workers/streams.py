"""Streams that every worker reads in full: what an `IterableDataset` iterates over, and whether it takes its part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part, last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.calls import known_calls, known_packages
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.calls import bound_frame
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    Arguments,
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    SequenceValue,
    Site,
    Value,
    Values,
)
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.running.blocks import expressions_in, loops_in
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.workers.dataset_reseeding import reaches_dataset

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["WholeStream", "is_stream", "whole_streams"]

ITERABLE_DATASET: Final = "torch.utils.data.IterableDataset"
#: What asks which worker it runs in, or comes from something that did.
_SHARDING_WORD: Final = function_words("shards")
_APPLIES: Final = frozenset({"map", "filter"})
_MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class WholeStream:
    """An iterable dataset that gives every worker the whole of something stored, and the way to its loop."""

    dataset: Instance
    chain: tuple[Link, ...]


def whole_streams(program: Program, loader: Loader) -> Iterator[WholeStream]:
    """The datasets of a loader that every worker reads in full."""
    values = [v for v in loader.value("dataset") if isinstance(v, Instance) and is_stream(program.ev, v)]
    if not values or reaches_dataset(program, loader):
        return
    for value in ordered(values):
        events = program.walker.fetching(frozenset((value,)))
        if any(event.name in known_calls("asks_for_the_worker") for event in events):
            continue
        reader = _Reader(program.ev)
        if not reader.of_object(value, 0) or reader.shards:
            continue
        draws = any(event.name and "random" in event.name for event in events)
        if reader.endless and draws:
            continue  # an endless stream in a random order has no samples that come once
        yield WholeStream(value, tuple(reader.chain))


def is_stream(ev: Evaluator, value: Instance) -> bool:
    """Whether an object is an `IterableDataset`."""
    return ITERABLE_DATASET in attributes.external_bases(ev, value.cls)


class _Reader:
    """Follows `__iter__`: whether it runs over something stored. What it cannot follow is not proven to be."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.chain: list[Link] = []
        self.shards = False
        self.endless = False

    def of_object(self, value: Instance, depth: int) -> bool:
        """Whether iterating over the object runs over something stored."""
        self.shards = self.shards or _speaks_of_workers(self.ev, value.cls)
        methods = self.ev.attribute(value, "__iter__")
        if not methods:
            # Python's old protocol of iteration: items are fetched by index. So does a map-style dataset.
            return bool(self.ev.attribute(value, "__getitem__"))
        return bool(methods) and all(self._of_function(method, Arguments(), depth) for method in methods)

    def _of_function(self, function: Value, arguments: Arguments, depth: int) -> bool:
        if depth > _MAX_DEPTH:
            self.shards = True  # as it may, further in
            return False
        match function:
            case MethodValue(function=inner):
                frame = attributes.method_frame(self.ev, function, arguments)
            case FunctionValue() as inner:
                frame = bound_frame(self.ev, inner, arguments)
            case _:
                return False
        node = inner.node
        if not isinstance(node, tree.FunctionDef):
            return False
        self.shards = self.shards or _mentions_workers(_all_expressions(frame.scope))
        owner = frame.scope.parent.name if frame.scope.parent is not None else ""
        self.chain.append(Link(Site(frame.facts.path, node.site), f"{owner}.{node.name}" if owner else node.name))
        found = self._of_generator(node, frame, depth) if node.is_generator else self._of_returns(frame, depth)
        if not found:
            self.chain.pop()
        return found

    def _of_generator(self, node: tree.FunctionDef, frame: Frame, depth: int) -> bool:
        loops = {loop.site: loop for loop in loops_in(node.body)}
        for given in frame.scope.yields:
            path = frame.scope.path_at(given.site)
            if not self.ev.may_run(given.site, path, frame):
                continue
            around = [loops[branch] for branch, _ in path if branch in loops]
            self.endless = self.endless or any(isinstance(loop, tree.While) for loop in around)
            sources = [loop.iter for loop in around if isinstance(loop, tree.For)]
            taken = [one for loop in around if isinstance(loop, tree.While) for one in _taken_in(loop, frame.scope)]
            if given.delegates and given.value is not None:
                sources.append(given.value)
            # All of them are looked at: a loop over a list of streams is right where the streams shard.
            verdicts = [self._is_stored(source, frame, depth) for source in sources]
            # What a library gives may take its part itself, however little is known of it.
            verdicts.extend(self._is_stored(source, frame, depth) or None for source in taken)
            if None not in verdicts and True in verdicts:
                source = [*sources, *taken][verdicts.index(True)]
                self.chain.append(Link(self.ev.site(source, frame), "every worker iterates over all of it"))
                return True
        return False

    def _of_returns(self, frame: Frame, depth: int) -> bool:
        for statement, path in frame.scope.returns:
            if statement.value is None or not self.ev.may_run(statement.site, path, frame):
                continue
            value = statement.value
            if isinstance(value, tree.Comprehension):
                value = value.clauses[0].iter
            if self._is_stored(value, frame, depth):
                self.chain.append(Link(self.ev.site(value, frame), "every worker iterates over all of it"))
                return True
        return False

    def _is_stored(self, node: tree.Expr, frame: Frame, depth: int) -> bool | None:
        """Whether what is iterated is data that was there before, or numbers made up; None where it is unknown."""
        match node:
            case tree.Call(func=func, args=args):
                return self._is_stored_call(node, func, args, frame, depth)
            case tree.Subscript(value=value):
                return self._is_stored(value, frame, depth)
            case tree.Comprehension(clauses=clauses):
                return self._is_stored(clauses[0].iter, frame, depth)
            case tree.Display():
                return False  # a few names or numbers written on the spot
            case tree.Name(id=name):
                bound = [binding.node for binding in frame.scope.reaching(name, node.site)[0]]
                if bound and all(_is_range(one) for one in bound):
                    verdicts = {self._is_stored(one, frame, depth) for one in bound if isinstance(one, tree.Call)}
                    return verdicts.pop() if len(verdicts) == 1 else None
                if any(_is_empty(one) for one in bound) and self._gathers_from_elsewhere(frame):
                    return None
        return self._hold_data(self.ev.values(node, frame), depth)

    def _is_number(self, node: tree.Expr, frame: Frame) -> bool:
        """Whether an attribute is proven to be a plain number: `self.size`, which is four."""
        values = self.ev.values(node, frame) if isinstance(node, tree.Attribute) else frozenset()
        return bool(values) and all(isinstance(one, Constant) and type(one.value) is int for one in values)

    def _gathers_from_elsewhere(self, frame: Frame) -> bool:
        """Whether a function goes through something of which nothing is known: what it puts in a list is from there."""
        node = frame.scope.node
        loops = loops_in(node.body) if isinstance(node, tree.FunctionDef) else ()
        return any(isinstance(loop, tree.For) and self._is_foreign(loop.iter, frame) for loop in loops)

    def _is_foreign(self, node: tree.Expr, frame: Frame) -> bool:
        match node:
            case tree.Call(func=func, args=args):
                names = [value.name for value in self.ev.values(func, frame) if isinstance(value, External)]
                if names and all(last_part(name) in method_words("gives_elements") for name in names):
                    return any(self._is_foreign(arg.value, frame) for arg in args if _is_iterated(arg))
        values = self.ev.values(node, frame)
        return not values or UNKNOWN in values

    def _is_stored_call(
        self, node: tree.Call, func: tree.Expr, args: tuple[tree.Arg, ...], frame: Frame, depth: int
    ) -> bool | None:
        functions = self.ev.values(func, frame)
        names = {value.name for value in functions if isinstance(value, External)}
        if names == {"builtins.range"}:
            parts = walk(arg.value for arg in args)
            return any(_is_length(part) and not self._is_number(part, frame) for part in parts)
        if names and len(names) == len(functions):
            last = last_parts(names)
            if last <= method_words("gives_elements"):
                given = args[1:] if last <= _APPLIES else args
                return _any(self._is_stored(arg.value, frame, depth) for arg in given if _is_iterated(arg))
        if functions and all(
            isinstance(value, MemberOf) and isinstance(value.receiver, (Constant, DictValue, SequenceValue))
            for value in functions
        ):
            return True  # `text.splitlines()`, `table.items()`
        followed = [value for value in functions if isinstance(value, (FunctionValue, MethodValue))]
        if followed and len(followed) == len(functions):
            arguments = self.ev.arguments(args, frame)
            if all(self._of_function(value, arguments, depth + 1) for value in followed):
                return True
        return self._hold_data(self.ev.values(node, frame), depth)

    def _hold_data(self, values: Values, depth: int) -> bool | None:
        verdicts = {self._holds_data(value, depth) for value in values}
        return verdicts.pop() if len(verdicts) == 1 else None

    def _holds_data(self, value: Value, depth: int) -> bool | None:
        match value:
            case SequenceValue(kind=kind):
                for element in value.elements():
                    if isinstance(element, Instance):
                        self.of_object(element, depth + 1)
                return kind != "generator" or None
            case DictValue() | Constant(value=str() | bytes()):
                return True
            case Instance():
                return self.of_object(value, depth + 1) or None
            case ExternalObject(name=name):
                return _package_holds_data(name)
            case MemberOf():
                full = member_name(value)
                return _package_holds_data(full) if full is not None else None
        return None


def _taken_in(loop: tree.While, scope: Scope) -> Iterator[tree.Expr]:
    """What a loop takes piece by piece: `next(lines)`, `islice(lines, 8)`."""
    for node in walk((loop.test, *expressions_in(loop.body))):
        match node:
            case tree.Call(func=func, args=(tree.Arg(value=tree.Name() as taken), *_)) if _takes_next(func):
                yield scope.behind(taken)


def _takes_next(func: tree.Expr) -> bool:
    key = "methods" if isinstance(func, tree.Attribute) else "names"
    return called_name(func) in method_words("takes_next", key)


def _package_holds_data(name: str) -> bool | None:
    """Whether what a library's call gives is plain data; False where it is not known to be, None where it may shard."""
    if name.startswith("torch.utils.data.") or name.partition(".")[0] in known_packages("knows_of_workers"):
        return None
    return name.partition(".")[0] in known_packages("stored_data")


def _any(verdicts: Iterable[bool | None]) -> bool | None:
    seen = set(verdicts)
    return None if None in seen else True in seen


def _is_iterated(arg: tree.Arg) -> bool:
    """Whether an argument of `enumerate`, `map`, `islice` and their like may be what is iterated."""
    return arg.keyword is None and not isinstance(arg.value, (tree.Const, tree.Lambda))


def _is_range(node: object) -> bool:
    return isinstance(node, tree.Call) and isinstance(node.func, tree.Name) and node.func.id == "range"


def _is_empty(node: object) -> bool:
    """Whether a list is made that is filled later: `[]`, `list()`, `deque(maxlen=8)`."""
    match node:
        case tree.Display(items=items):
            return not items
        case tree.Call(func=tree.Name(id="list" | "deque"), args=args):
            return all(arg.keyword is not None for arg in args)
    return False


def _is_length(node: tree.Expr) -> bool:
    match node:
        case tree.Call(func=tree.Name(id=name)):
            return name in method_words("lengths")
        case tree.Attribute(attr=attr):
            return attr in method_words("lengths", "attributes")
    return False


# --- words ----------------------------------------------------------------------------------------------------


def _speaks_of_workers(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether any method of the class or its bases names a worker or a shard."""
    for base in attributes.mro(ev, cls):
        if isinstance(base, ClassValue):
            for scope in ev.class_frame(base).scope.children:
                if _mentions_workers(_all_expressions(scope)):
                    return True
    return False


def _mentions_workers(roots: Iterable[tree.Expr]) -> bool:
    for node in walk(roots):
        match node:
            case tree.Name(id=word) | tree.Attribute(attr=word):
                if _SHARDING_WORD.search(word):
                    return True
            case tree.Call(args=args):
                if any(arg.keyword is not None and _SHARDING_WORD.search(arg.keyword) for arg in args):
                    return True
    return False


def _all_expressions(scope: Scope) -> Iterator[tree.Expr]:
    if isinstance(scope.node, tree.FunctionDef):
        yield from expressions_in(scope.node.body)
        for param in scope.node.params:
            if _SHARDING_WORD.search(param.name):
                yield tree.Name(param.site, param.name)
