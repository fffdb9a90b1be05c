"""Which loops run over epochs, and which places run once per epoch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk, words_in
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.made_once import comes_after_kept, is_made_once
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.ways import Way

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = [
    "EpochRun",
    "epoch_runs",
    "is_endless",
    "is_epoch_loop",
    "is_range",
    "runs_for_one",
    "says_epochs",
    "says_evaluation",
    "takes_steps",
]

_EPOCH: Final = re.compile(r"epoch|(?<![a-z])ep(?![a-z])", re.IGNORECASE)
_NUMBER: Final = re.compile(r"epochs", re.IGNORECASE)
_LOADER: Final = re.compile(r"loader|batches", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EpochRun:
    """A way by which a place runs once per epoch: `way[index]` is in the body of the epoch loop `loop`."""

    way: Way
    index: int
    loop: tree.For | tree.While


def says_evaluation(name: str) -> bool:
    """Whether a name is that of data, or of a function, for validation or test: `val_loader`, `evaluate`."""
    return bool(function_words("says_evaluation").search(name))


def is_epoch_loop(loop: tree.For | tree.While, scope: Scope) -> bool:
    """Whether a loop in `scope` runs over epochs: it says so, or runs again and again over a loader in its body, by the
    names there or by what stands behind them.
    """
    if isinstance(loop, tree.While):
        return _says_epoch(loop.test) or any(_runs_over_loader(statement, scope) for statement in loop.body)
    if _runs_for_epochs(loop):
        return False
    return says_epochs(loop, scope) or (
        is_range(scope.behind(loop.iter)) and any(_runs_over_loader(statement, scope) for statement in loop.body)
    )


def says_epochs(loop: tree.For, scope: Scope) -> bool:
    """Whether what a loop in `scope` counts, or how far it counts, is said to be epochs: `for e in range(n_epochs)`."""
    if _runs_for_epochs(loop):
        return False
    says = _says_epoch(loop.iter) or _says_epoch(scope.behind(loop.iter))
    return _says_epoch(loop.target) or (says and not _says_loader(loop.iter, scope))


def _runs_for_epochs(loop: tree.For) -> bool:
    """`for epochs in (10, 20)`: each turn is a training of so many."""
    return any(_NUMBER.search(name) for name in words_in([loop.target]))


def _says_epoch(node: tree.Expr) -> bool:
    return any(_EPOCH.search(name) for name in words_in([node]))


def _says_loader(node: tree.Expr, scope: Scope) -> bool:
    """Whether an expression, or what stands behind a name in it, names a loader: `epoch_iterator = tqdm(loader)`."""
    parts = [node, *(scope.behind(part) for part in walk([node]) if isinstance(part, tree.Name))]
    return any(_LOADER.search(name) for name in words_in(parts))


def is_endless(loop: tree.For | tree.While) -> bool:
    """`while True:`, which ends by a `break`, by an exception or with the process."""
    return isinstance(loop, tree.While) and isinstance(loop.test, tree.Const) and bool(loop.test.value)


def is_range(node: tree.Expr) -> bool:
    """`range(...)`, also behind a progress bar."""
    match node:
        case tree.Call(func=tree.Name(id="range" | "trange") | tree.Attribute(attr="trange")):
            return True
        case tree.Call(func=tree.Name(id="tqdm") | tree.Attribute(attr="tqdm"), args=(first, *_)):
            return is_range(first.value)
    return False


def _runs_over_loader(statement: tree.Stmt, scope: Scope) -> bool:
    return isinstance(statement, tree.For) and _says_loader(statement.iter, scope)


def epoch_runs(ev: Evaluator, ways: tuple[Way, ...]) -> Iterator[EpochRun]:
    """The ways among `ways` that lead through an epoch loop: the innermost one of each."""
    for way in ways:
        run = _run(ev, way)
        if run is not None:
            yield run


def _run(ev: Evaluator, way: Way) -> EpochRun | None:
    for index, waypoint in enumerate(way):
        if index and (says_evaluation(way[index - 1].scope.name) or says_evaluation(way[index - 1].facts.path.stem)):
            return None  # an evaluation in every epoch is meant to be the same
        loops = parents_of(ev, waypoint.facts).loops
        for branch, arm in reversed(waypoint.path):
            if runs_for_one(waypoint.scope, branch, arm):
                return None
            loop = loops.get(branch)
            if loop is not None and arm == "body" and is_epoch_loop(loop, waypoint.scope):
                return EpochRun(way, index, loop)
        if comes_after_kept(waypoint.scope, waypoint.site):
            return None
    return None


def runs_for_one(scope: Scope, branch: int, arm: str) -> bool:
    """Whether an arm makes what is not there yet, and that not for each epoch, or is for one epoch: `if epoch == 0`."""
    match scope.branches.get(branch):
        case tree.If(test=tree.Compare(left=tree.Name() as counter, ops=("==",))) if _says_epoch(counter):
            return arm == "then"
        case tree.If(test=test) if _says_epoch(test):
            return False
    return is_made_once(scope, branch, arm)


def takes_steps(scope: Scope, branch: int) -> bool:
    """Whether the loop is the innermost one around a step of an optimizer."""
    steps = method_words("training_steps") | method_words("training_steps", "hooks")
    for call, path in scope.calls:
        if called_name(call.func) in steps:
            loops = [at for at, _ in path if at in scope.loops]
            if loops and loops[-1] == branch:
                return True
    return False
