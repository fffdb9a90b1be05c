"""Loaders with which nothing is trained: their data are only put through a network, or counted.

loader = DataLoader(train_set, batch_size=64, num_workers=2)
model.eval()
for images, _ in loader:
    features.append(model(images))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ordering.epoch_loops import loops_over
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.epochs import is_step
from torchrepro_lint.program.running.never_read import uses_of_its_name
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.running.written_arguments import written_argument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from pathlib import Path

    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["is_only_measured"]

#: What gives the items of what it is given, one after the other.
_AROUND: Final = frozenset({"enumerate", "tqdm", "zip", "track"})
#: Switches a network to evaluation, or its gradients off.
_EVALUATING: Final = frozenset({"eval", "no_grad", "inference_mode"})


def is_only_measured(program: Program, facts: ModuleFacts, call: tree.Call) -> bool:
    """Whether each use of the loader that a call makes is in sight, one at least goes through it, and all that do so
    measure: they are in a function or a block that evaluates or computes no gradients, or look at one batch, and
    nothing that they call may take a step, by its name.
    """
    uses = uses_of_its_name(program.ev, facts, call)
    if not uses:
        return False
    parents = parents_of(program.ev, facts)
    answers = [_is_a_measurement(program, facts, parents, call, use, scope) for use, scope in uses]
    return any(answers) and all(answer is not False for answer in answers)


def _is_a_measurement(
    program: Program, facts: ModuleFacts, parents: Parents, made: tree.Call, use: tree.Name, scope: Scope
) -> bool | None:
    """Whether a use of a loader measures; None for a use of its length alone."""
    node: Node = use
    while (above := parents.of(node)) is not None:
        match above:
            case tree.Arg():
                node = above
            case tree.Call(func=func) if called_name(func) == "len":
                return None
            case tree.Call(func=func) if called_name(func) in _AROUND:
                node = above
            case tree.Call(func=func) if func is not node:
                return _is_measuring(program, facts, called_name(func))
            case tree.For(iter=iterated) if node is iterated:
                return _measures(program, facts, scope, above)
            case tree.Return() | tree.Display() if _is_in_order(made):
                return _is_measured_elsewhere(program, facts, made)
            case _:
                return False
    return False


def _is_in_order(call: tree.Call) -> bool:
    """Whether a call says that its loader does not shuffle: what it gives differs by what its workers draw alone."""
    written = written_argument(call, Parameter("shuffle"))
    return isinstance(written, tree.Const) and written.value is False


def _is_measured_elsewhere(program: Program, facts: ModuleFacts, call: tree.Call) -> bool:
    """Whether all loops over a loader that are in sight, in the callers of the function that returns it, measure."""
    loops = loops_over(program, Site(facts.path, call.site))
    return bool(loops) and all(_measures(program, one, scope, loop) for one, scope, loop in loops)


def _is_measuring(program: Program, facts: ModuleFacts, name: str | None) -> bool:
    """Whether a function that a loader is given to measures with it, by its name or by what it calls."""
    if name is None:
        return False
    if _says_so(name):
        return True
    functions = _functions(program, facts.path).get(name, ())
    return bool(functions) and name not in _training_functions(program, facts.path) and all(map(_evaluates, functions))


def _says_so(name: str) -> bool:
    return any(words.search(name) for words in (function_words("evaluates"), function_words("measures")))


def _evaluates(scope: Scope) -> bool:
    """Whether a function switches a network to evaluation, or off its gradients, or is, by its name, one that does."""
    if any(called_name(call.func) in _EVALUATING for call, _ in scope.calls):
        return True
    if isinstance(scope.node, tree.FunctionDef):
        for one in scope.node.decorators:
            if called_name(one.func if isinstance(one, tree.Call) else one) in _EVALUATING:
                return True
    return _says_so(scope.name)


def _measures(program: Program, facts: ModuleFacts, scope: Scope, loop: tree.For | tree.Call) -> bool:
    """Whether a loop over batches is part of an evaluation, and neither trains nor gives the batches to what may."""
    return isinstance(loop, tree.For) and _evaluates(scope) and not _trains(program, facts, scope, loop)


def _trains(program: Program, facts: ModuleFacts, scope: Scope, loop: tree.For) -> bool:
    """Whether a loop over batches takes steps, gives the batches on, or calls what may take steps, by the names."""
    if any(any(part is loop for part in _around(program, facts, one)) for one in scope.yields):
        return True
    training = _training_functions(program, facts.path)
    return any(
        _may_step(call, training)
        for call, path in scope.calls
        if any(branch == loop.site and arm == "body" for branch, arm in path)
    )


def _around(program: Program, facts: ModuleFacts, node: Node) -> Iterator[Node]:
    return iter(parents_of(program.ev, facts).around(node))


def _may_step(call: tree.Call, training: Set[str]) -> bool:
    name = called_name(call.func)
    if is_step(call) or name in training or name in method_words("training_steps", "runs"):
        return True
    if name == "train":  # of a module: `model.train()` has no argument, or a mode
        return len(call.args) > 1
    return name is not None and function_words("takes_a_step").search(name) is not None


def _functions(program: Program, path: Path) -> Mapping[str, Sequence[Scope]]:
    """The functions that a program defines, by their names."""

    def find() -> Mapping[str, Sequence[Scope]]:
        found: dict[str, list[Scope]] = {}
        for scope in _scopes(program, path):
            if _is_function(scope):
                found.setdefault(scope.name, []).append(scope)
        return found

    return program.once(("functions by name", path), find)


def _training_functions(program: Program, path: Path) -> frozenset[str]:
    """The names of the functions and methods of a program that take a step, or call what has the name of such a one."""
    return program.once(("training functions", path), lambda: _find_training_functions(program, path))


def _find_training_functions(program: Program, path: Path) -> frozenset[str]:
    scopes = [scope for scope in _scopes(program, path) if _is_function(scope)]
    found: set[str] = set()
    callers: dict[str, set[str]] = {}
    for scope in scopes:
        if any(_may_step(call, frozenset()) for call, _ in scope.calls):
            found.add(scope.name)
        for call, _ in scope.calls:
            name = called_name(call.func)
            if name is not None:
                callers.setdefault(name, set()).add(scope.name)
    waiting = list(found)
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            if caller not in found:
                found.add(caller)
                waiting.append(caller)
    return frozenset(found)


def _is_function(scope: Scope) -> bool:
    return isinstance(scope.node, tree.FunctionDef)


def _scopes(program: Program, path: Path) -> Iterator[Scope]:
    for one in program.imports.ordered(program.imports.together(path)):
        facts = program.facts(one)
        if facts is not None:
            yield from facts.walk_scopes()
