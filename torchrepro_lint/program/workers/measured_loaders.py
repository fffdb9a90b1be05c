"""Loaders with which nothing is trained: their data are only put through a network, or counted. And those with which
something is, whatever they are called.

loader = DataLoader(train_set, batch_size=64, num_workers=2)
model.eval()
for images, _ in loader:
    features.append(model(images))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.epochs import is_step
from torchrepro_lint.program.running.never_read import uses_of_its_name
from torchrepro_lint.program.running.parents import Node, Parents, parents_of
from torchrepro_lint.program.running.written_arguments import receiving_parameter
from torchrepro_lint.program.workers.loader_uses import AROUND, End, loader_ends, scope_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from pathlib import Path

    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["is_only_measured", "is_trained_with"]

#: Switches a network to evaluation, or its gradients off.
_EVALUATING: Final = frozenset({"eval", "no_grad", "inference_mode"})


def is_only_measured(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether each use of the loader that a call in `scope` makes is in sight, also in the callers of a function that
    returns it, and all that go through it measure: they are in a function that evaluates or computes no gradients,
    and nothing that they call may take a step, by its name. One that callers get and never read is none to train with,
    nor is one under the key of a dict that nothing reads: `loaders["source_te"] = DataLoader(...)`.
    """
    answers = [_is_a_measurement(program, end) for end in loader_ends(program, facts, scope, call)]
    return all(answer is not False for answer in answers) and any(answers)


def is_trained_with(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether an optimizer takes steps in a loop over the loader that a call in `scope` makes: in its own file by its
    name, or in a function of that which the loader is passed to; or wherever it is followed to, in lists and dicts and
    out of functions that return it. In both of these it steps with each batch that it is given.
    """
    if any(
        _takes_steps(end.scope, end.node, always=True)
        for end in loader_ends(program, facts, scope, call)
        if isinstance(end.node, tree.For)
    ):
        return True
    parents = parents_of(program.ev, facts)
    uses = uses_of_its_name(program.ev, facts, call)
    target = parents.target_of(call)
    if uses is None and isinstance(target, tree.Name) and target.id in facts.scope.bindings:
        reads = ((use, scope_at(facts, parents, use)) for use in parents.reads(target.id))
        uses = [(use, scope) for use, scope in reads if scope.binder(target.id) in (None, facts.scope)]
    return any(_is_stepped_with(parents, facts, use, scope) for use, scope in uses or ())


def _is_stepped_with(parents: Parents, facts: ModuleFacts, use: Node, scope: Scope, *, passed: bool = False) -> bool:
    """Whether the loop around a use of a loader takes steps, or with a loader that is not `passed` yet, the function
    that it is an argument of. That function may get loaders of an evaluation too, and then steps in some calls alone.
    """
    node, argument = use, None
    while (above := parents.of(node)) is not None:
        match above:
            case tree.Arg():
                node, argument = above, above
            case tree.Call(func=func) if called_name(func) in AROUND:
                node = above
            case tree.Call(func=tree.Name(id=name)) if argument is not None and not passed:
                inner = next((one for one in facts.scope.children if one.name == name), None)
                if inner is None or not isinstance(inner.node, tree.FunctionDef):
                    return False
                parameter = receiving_parameter(inner.node, above, argument, skipped=0)
                reads = parents.reads_in(parameter, inner.node) if parameter is not None else ()
                return any(_is_stepped_with(parents, facts, one, inner, passed=True) for one in reads)
            case tree.For(iter=iterated) if node is iterated:
                return _takes_steps(scope, above, always=passed)
            case _:
                return False
    return False


def _takes_steps(scope: Scope, loop: tree.For, *, always: bool) -> bool:
    """Whether a loop has a step of an optimizer in it; with `always`, in each turn that runs to its end."""
    return any(
        is_step(one) and called_name(one.func) != "backward"
        for one, path in scope.calls
        if (path[-1:] == ((loop.site, "body"),) if always else (loop.site, "body") in path)
    )


def _is_a_measurement(program: Program, end: End) -> bool | None:
    """Whether what is done with a loader measures; None where its length alone is asked for."""
    match end:
        case End("length"):
            return None
        case End("unread"):
            return True
        case End("loop", facts, scope, tree.For() as loop):
            return _measures(program, facts, scope, loop)
        case End("passed", facts, _, tree.Call(func=func)):
            return _is_measuring(program, facts, called_name(func))
    return False


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
    """Whether a function switches a network to evaluation, or off its gradients, which a batch that a loop gives it is
    detached from, or is, by its name, one that does.
    """
    for call, _ in scope.calls:
        match call:
            case tree.Call(func=tree.Attribute(value=tree.Name(id=batch), attr="detach")):
                if any(binding.kind == "element" for binding in scope.bindings.get(batch, ())):
                    return True
            case tree.Call(func=tree.Name(id="eval")):  # the builtin function
                continue
            case _ if called_name(call.func) in _EVALUATING:
                return True
    if isinstance(scope.node, tree.FunctionDef):
        for one in scope.node.decorators:
            if called_name(one.func if isinstance(one, tree.Call) else one) in _EVALUATING:
                return True
    return _says_so(scope.name)


def _measures(program: Program, facts: ModuleFacts, scope: Scope, loop: tree.For) -> bool:
    """Whether a loop over batches is part of an evaluation, and neither trains nor gives the batches to what may."""
    return _evaluates(scope) and not _trains(program, facts, scope, loop)


def _trains(program: Program, facts: ModuleFacts, scope: Scope, loop: tree.For) -> bool:
    """Whether a loop over batches takes steps, gives the batches on, or calls what may take steps, by the names."""
    parents = parents_of(program.ev, facts)
    if any(any(part is loop for part in parents.around(one)) for one in scope.yields):
        return True
    training = _training_functions(program, facts.path)
    return any(
        _may_step(call, training)
        for call, path in scope.calls
        if any(branch == loop.site and arm == "body" for branch, arm in path)
    )


def _may_step(call: tree.Call, training: Set[str]) -> bool:
    name = called_name(call.func)
    if is_step(call) or name in training or name in method_words("training_steps", "runs"):
        return True
    if name == "train":  # of a module: `model.train()` has no argument, or a mode
        return len(call.args) > 1
    return name is not None and function_words("takes_a_step").search(name) is not None


def _functions(program: Program, path: Path) -> Mapping[str, Sequence[Scope]]:
    """The functions that a program defines, by their names."""
    files = program.imports.together(path)

    def find() -> Mapping[str, Sequence[Scope]]:
        found: dict[str, list[Scope]] = {}
        for facts in _facts(program, files):
            for scope in facts.walk_scopes():
                if _is_function(scope):
                    found.setdefault(scope.name, []).append(scope)
        return found

    return program.once(("functions by name", files), find)


def _training_functions(program: Program, path: Path) -> frozenset[str]:
    """The names of the functions and methods of a program that take a step, or call what has the name of such a one."""
    files = program.imports.together(path)
    return program.once(("training functions", files), lambda: _find_training_functions(program, files))


def _find_training_functions(program: Program, files: frozenset[Path]) -> frozenset[str]:
    found: set[str] = set()
    tables: list[Mapping[str, Set[str]]] = []
    for facts in _facts(program, files):
        steps, callers = _steps_and_callers(program.ev, facts)
        found |= steps
        tables.append(callers)
    waiting = list(found)
    while waiting:
        called = waiting.pop()
        for callers in tables:
            new = callers.get(called, frozenset()) - found
            found |= new
            waiting.extend(new)
    return frozenset(found)


def _steps_and_callers(ev: Evaluator, facts: ModuleFacts) -> tuple[Set[str], Mapping[str, Set[str]]]:
    """The names of the functions of a file that take a step themselves, and for each name those of the functions of the
    file that call what has it.
    """

    def find() -> tuple[Set[str], Mapping[str, Set[str]]]:
        steps: set[str] = set()
        callers: dict[str, set[str]] = {}
        for scope in filter(_is_function, facts.walk_scopes()):
            for call, _ in scope.calls:
                if scope.name not in steps and _may_step(call, frozenset()):
                    steps.add(scope.name)
                name = called_name(call.func)
                if name is not None:
                    callers.setdefault(name, set()).add(scope.name)
        return steps, callers

    return ev.of_text(("steps and callers", id(facts)), find)


def _is_function(scope: Scope) -> bool:
    return isinstance(scope.node, tree.FunctionDef)


def _facts(program: Program, files: frozenset[Path]) -> Iterator[ModuleFacts]:
    for one in program.imports.ordered(files):
        facts = program.facts(one)
        if facts is not None:
            yield facts
