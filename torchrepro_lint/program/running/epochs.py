"""Which loops run over epochs, and which take the steps of a training, by their own text."""

from __future__ import annotations

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk, words_in
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import NameTable, function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.made_once import is_made_once

__all__ = [
    "is_endless",
    "is_epoch_loop",
    "is_range",
    "is_step",
    "runs_for_one",
    "says_epochs",
    "says_evaluation",
    "stepped_optimizer",
    "steps_what_it_is_given",
    "takes_steps",
]


def says_evaluation(name: str) -> bool:
    """Whether a name is that of data, or of a function, for validation or test: `val_loader`, `evaluate`."""
    return bool(function_words("says_evaluation").search(name))


def is_epoch_loop(loop: tree.For | tree.While, scope: Scope) -> bool:
    """Whether a loop in `scope` runs over epochs: it says so, or runs again and again over a loader in its body, or
    through what is called an epoch there, by the names or by what stands behind them.
    """
    if isinstance(loop, tree.While):
        return _says_epoch(loop.test) or _runs_an_epoch(loop, scope)
    if _runs_for_epochs(loop):
        return False
    return says_epochs(loop, scope) or (is_range(scope.behind(loop.iter)) and _runs_an_epoch(loop, scope))


def _runs_an_epoch(loop: tree.For | tree.While, scope: Scope) -> bool:
    """Whether a turn of a loop goes over a loader, or calls `train_epoch` or the like, each by its name."""
    if any(_runs_over_loader(statement, scope) for statement in loop.body):
        return True
    return any(
        next((at for at in reversed(path) if at[0] in scope.loops), None) == (loop.site, "body")
        and (name := called_name(call.func)) is not None
        and function_words("runs_an_epoch").search(name) is not None
        and not says_evaluation(name)
        for call, path in scope.calls
    )


def says_epochs(loop: tree.For, scope: Scope) -> bool:
    """Whether what a loop in `scope` counts, or how far it counts, is said to be epochs: `for e in range(n_epochs)`."""
    if _runs_for_epochs(loop):
        return False
    says = _says_epoch(loop.iter) or _says_epoch(scope.behind(loop.iter))
    return _says_epoch(loop.target) or (says and not _says_loader(loop.iter, scope))


def _runs_for_epochs(loop: tree.For) -> bool:
    """`for epochs in (10, 20)`: each turn is a training of so many."""
    return _says("numbers_of_epochs", loop.target)


def _says_epoch(node: tree.Expr) -> bool:
    return _says("counts_epochs", node)


def _says_loader(node: tree.Expr, scope: Scope) -> bool:
    """Whether an expression, or what stands behind a name in it, names a loader: `epoch_iterator = tqdm(loader)`."""
    parts = [node, *(scope.behind(part) for part in walk([node]) if isinstance(part, tree.Name))]
    return _says("gives_batches", *parts)


def _says(what: NameTable, *nodes: tree.Expr) -> bool:
    return any(function_words(what).search(name) for name in words_in(nodes))


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
    for call, path in scope.calls:
        if is_step(call):
            loops = [at for at, _ in path if at in scope.loops]
            if loops and loops[-1] == branch:
                return True
    return False


def is_step(call: tree.Call) -> bool:
    """Whether a call is a part of a step of a training: `loss.backward()`, `optimizer.step()`."""
    name = called_name(call.func)
    return name in method_words("training_steps") | method_words("training_steps", "hooks") or (
        stepped_optimizer(call) is not None
    )


def stepped_optimizer(call: tree.Call) -> str | None:
    """The name of the optimizer of which a call takes a step."""
    if isinstance(call.func, tree.Attribute) and call.func.attr == "step":
        name = called_name(call.func.value)
        if name is not None and function_words("optimizer").search(name) is not None:
            return name
    return None


def steps_what_it_is_given(scope: Scope) -> bool:
    """Whether a function takes steps of an optimizer that it does not make: of its object, or of a parameter."""
    made = {name for name, bindings in scope.bindings.items() if any(one.kind == "assign" for one in bindings)}
    made |= {store.target.attr for store in scope.stores if isinstance(store.target, tree.Attribute)}
    stepped = (stepped_optimizer(call) for call, _ in scope.calls)
    return any(name is not None and name not in made for name in stepped)
