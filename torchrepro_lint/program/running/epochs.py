"""Which loops run over epochs, which places run once per epoch, and what changes from one epoch to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import sub_expressions
from torchrepro_lint.program.running.guards import walk
from torchrepro_lint.program.running.handed_over import call_at, handed_over
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import Way
from torchrepro_lint.program.workers.dependence import CONSTANT
from torchrepro_lint.program.workers.main_process import attribute_of_main, says_epoch

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["EpochRun", "epoch_runs", "is_epoch_loop", "says_evaluation", "varies_within"]

_EPOCH: Final = re.compile(r"epoch|(?<![a-z])ep(?![a-z])", re.IGNORECASE)
_LOADER: Final = re.compile(r"loader|batches", re.IGNORECASE)
_EVALUATION: Final = re.compile(
    r"(?<![a-z])(?:val|valid|validation|validate|test|testing|eval|evaluate|evaluation|dev|infer|inference)(?![a-z])",
    re.IGNORECASE,
)
#: Calls that give the same in every epoch where their arguments are the same.
_STEADY: Final = frozenset({"int", "str", "float", "abs", "len", "get_rank", "get_world_size", "getattr", "max", "min"})


@dataclass(frozen=True, slots=True)
class EpochRun:
    """A way by which a place runs once per epoch: `way[index]` stands in the body of the epoch loop `loop`."""

    way: Way
    index: int
    loop: tree.For | tree.While


def says_evaluation(name: str) -> bool:
    """Whether a name is that of data, or of a function, for validation or test: `val_loader`, `evaluate`."""
    return bool(_EVALUATION.search(name))


def is_epoch_loop(loop: tree.For | tree.While) -> bool:
    """Whether a loop runs over epochs: it says so, or runs so many times over a loader in its body."""
    if isinstance(loop, tree.While):
        return _says_epoch(loop.test)
    if _says_epoch(loop.target) or (_says_epoch(loop.iter) and not _says_loader(loop.iter)):
        return True
    return _is_range(loop.iter) and any(_runs_over_loader(statement) for statement in loop.body)


def _says_epoch(node: tree.Expr) -> bool:
    return any(_EPOCH.search(name) for name in _names(node))


def _says_loader(node: tree.Expr) -> bool:
    return any(_LOADER.search(name) for name in _names(node))


def _is_range(node: tree.Expr) -> bool:
    match node:
        case tree.Call(func=tree.Name(id="range" | "trange") | tree.Attribute(attr="trange")):
            return True
        case tree.Call(func=tree.Name(id="tqdm") | tree.Attribute(attr="tqdm"), args=(first, *_)):
            return _is_range(first.value)
    return False


def _runs_over_loader(statement: tree.Stmt) -> bool:
    return isinstance(statement, tree.For) and _says_loader(statement.iter)


def _names(root: tree.Expr) -> Iterator[str]:
    for node in walk([root]):
        match node:
            case tree.Name(id=name) | tree.Attribute(attr=name):
                yield name
            case tree.Const(value=str() as text):
                yield text


def epoch_runs(ev: Evaluator, ways: tuple[Way, ...]) -> Iterator[EpochRun]:
    """The ways among `ways` that lead through an epoch loop: the innermost one of each."""
    for way in ways:
        run = _run(ev, way)
        if run is not None:
            yield run


def _run(ev: Evaluator, way: Way) -> EpochRun | None:
    for index, stand in enumerate(way):
        if index and (says_evaluation(way[index - 1].scope.name) or says_evaluation(way[index - 1].facts.path.stem)):
            return None  # an evaluation in every epoch is meant to be the same
        loops = parents_of(ev, stand.facts).loops
        for branch, arm in reversed(stand.path):
            loop = loops.get(branch)
            if loop is not None and arm == "body" and is_epoch_loop(loop):
                return EpochRun(way, index, loop)
    return None


# --- what changes ---------------------------------------------------------------------------------------------


def varies_within(ev: Evaluator, run: EpochRun, node: tree.Expr) -> bool:
    """Whether an expression at the beginning of the way may have another value in each turn of the epoch loop."""
    return _varies(ev, run, 0, node, set())


def _varies(ev: Evaluator, run: EpochRun, index: int, node: tree.Expr, seen: set[int]) -> bool:
    if id(node) in seen:
        return False
    seen.add(id(node))
    stand = run.way[index]
    match node:
        case tree.Const():
            return False
        case tree.Name(id=name):
            return _name_varies(ev, run, index, name, seen)
        case tree.Attribute(attr=attr):
            return says_epoch(attr) or attribute_of_main(attr, stand.facts, of_object=False) != CONSTANT
        case tree.Call(func=func):
            called = func.id if isinstance(func, tree.Name) else func.attr if isinstance(func, tree.Attribute) else ""
            if called not in _STEADY:
                return True
            return any(_varies(ev, run, index, arg.value, seen) for arg in node.args)
        case tree.Lambda() | tree.Comprehension() | tree.Await() | tree.Yield():
            return True
    return any(_varies(ev, run, index, part, seen) for part in sub_expressions(node))


def _name_varies(ev: Evaluator, run: EpochRun, index: int, name: str, seen: set[int]) -> bool:
    if says_epoch(name):
        return True
    stand = run.way[index]
    owner = stand.scope.binder(name)
    if owner is None:
        return False
    if owner is not stand.scope:
        return any(b.kind in ("element", "augmented") or (-1, "elsewhere") in b.path for b in owner.bindings[name])
    for binding in owner.bindings[name]:
        match binding.kind:
            case "element" | "augmented" | "context" | "opaque":
                return True
            case "assign":
                if _varies(ev, run, index, binding.node, seen):  # type: ignore[arg-type]
                    return True
            case "param":
                if index < run.index and _argument_varies(ev, run, index, name, seen):
                    return True
    return False


def _argument_varies(ev: Evaluator, run: EpochRun, index: int, name: str, seen: set[int]) -> bool:
    """Whether the call that runs the function hands something that varies to its parameter `name`."""
    call = call_at(run.way[index + 1])
    known, given = handed_over(call, run.way[index].scope, name) if call is not None else (False, None)
    return not known or (given is not None and _varies(ev, run, index + 1, given, seen))
