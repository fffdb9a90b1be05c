"""Distributed programs: where they start, and whether the rank takes part in a seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.program.evaluation.values import (
    External,
    ExternalObject,
    FunctionValue,
    MethodValue,
    Partial,
    Site,
    Values,
)
from torchrepro_lint.program.running.callers import called_name, contexts, visible_calls
from torchrepro_lint.program.running.guards import walk
from torchrepro_lint.program.switches.intent import running_modules

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.workers.loaders import Loader

__all__ = ["depends_on_rank", "distributed_start", "functions_name_rank", "generator_seeds"]

_STARTS: Final = frozenset(
    {
        "torch.distributed.init_process_group", "torch.nn.parallel.DistributedDataParallel",
        "torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler",
        "torch.distributed.fsdp.FullyShardedDataParallel",
    }
)  # fmt: skip
_START_NAMES: Final = frozenset(name.rpartition(".")[2] for name in _STARTS)
_RANK: Final = re.compile(r"rank(?!ing|ed)|process_index|proc_id|node_id|gpu_id|device_id", re.IGNORECASE)
_MAX_DEPTH = 4


def distributed_start(program: Program, loader: Loader) -> Site | None:
    """A place in the loader's program that makes it one of several processes; None where none is seen."""
    home = running_modules(program.ev, loader.facts, loader.scope) or frozenset((loader.facts.path,))
    above = program.runs_with(home) | program.imports.above(loader.facts.path)
    nothing: tuple[tuple[Site, frozenset[Path]], ...] = ()
    starts = program.ev.remembered(("distributed-starts",), lambda: tuple(_find_starts(program)), nothing)
    return next((site for site, roots in starts if roots & above), None)


def _find_starts(program: Program) -> Iterator[tuple[Site, frozenset[Path]]]:
    ev = program.ev
    names = b"|".join(sorted(name.encode() for name in _START_NAMES))
    pattern = re.compile(rb"(?<!\w)(?:" + names + rb")(?!\w)")
    for path in program.project.matching(pattern):
        facts = program.facts(path)
        if facts is None:
            continue
        for scope in facts.walk_scopes():
            for call, arms in scope.calls:
                if called_name(call.func) not in _START_NAMES:
                    continue
                for frame in contexts(ev, facts, scope)[:1]:
                    functions = ev.values(call.func, frame)
                    starts = any(isinstance(value, External) and value.name in _STARTS for value in functions)
                    if starts and ev.decide(arms, frame) is not False:
                        yield ev.site(call, frame), running_modules(ev, facts, scope)


def depends_on_rank(ev: Evaluator, node: tree.Expr, facts: ModuleFacts, scope: Scope, depth: int = 0) -> bool:
    """Whether a rank is named in an expression, in what its names are bound to, or in what callers pass for them."""
    for part in walk([node]):
        match part:
            case tree.Attribute(attr=word) if _RANK.search(word):
                return True
            case tree.Name(id=word):
                if _RANK.search(word) or (depth < _MAX_DEPTH and _bound_to_rank(ev, word, facts, scope, depth)):
                    return True
    return False


def _bound_to_rank(ev: Evaluator, name: str, facts: ModuleFacts, scope: Scope, depth: int) -> bool:
    home: Scope | None = scope
    while home is not None and name not in home.bindings:
        home = home.parent
    if home is None:
        return False
    for binding in home.bindings[name]:
        match binding.kind, binding.node:
            case "assign" | "augmented", tree.AugAssign(value=value):
                if depends_on_rank(ev, value, facts, home, depth + 1):
                    return True
            case "assign", node if node is not None and not isinstance(node, tree.Param):
                if depends_on_rank(ev, node, facts, home, depth + 1):  # type: ignore[arg-type]
                    return True
            case "param", tree.Param():
                if _passed_rank(ev, name, facts, home, depth):
                    return True
    return False


def _passed_rank(ev: Evaluator, name: str, facts: ModuleFacts, scope: Scope, depth: int) -> bool:
    if not isinstance(scope.node, tree.FunctionDef):
        return False
    names = [param.name for param in scope.node.params if param.kind == "positional"]
    if scope.self_name is not None:
        names = names[1:]
    for call, frame in visible_calls(ev, facts, scope):
        for index, arg in enumerate(call.args):
            given = arg.keyword or (names[index] if index < len(names) and not arg.star else None)
            if given == name and depends_on_rank(ev, arg.value, frame.facts, frame.scope, depth + 1):
                return True
    return False


def functions_name_rank(ev: Evaluator, values: Values) -> bool:
    """Whether any of the functions names a rank, in its body, its defaults or what a partial gives it."""
    for value in values:
        if isinstance(value, Partial):
            given = [name for name, _, _ in value.arguments.keywords]
            if any(_RANK.search(name) for name in given) or functions_name_rank(ev, value.function):
                return True
        function = value.function if isinstance(value, MethodValue) else value
        if isinstance(function, FunctionValue):
            scope = ev.function_scope(function)
            for call, _ in scope.calls:
                if any(depends_on_rank(ev, part, function.frame.facts, scope) for part in (call.func, *_given(call))):
                    return True
            if any(_RANK.search(param.name) for param in function.node.params):
                return True
    return False


def _given(call: tree.Call) -> list[tree.Expr]:
    return [arg.value for arg in call.args]


def generator_seeds(program: Program, loader: Loader) -> list[tuple[tree.Expr, ModuleFacts, Scope, Site]]:
    """What the generator that the loader is given is seeded with: the expressions, and where they stand."""
    ev = program.ev
    given, _ = loader.given("generator")
    sites = {value.site for value in given if isinstance(value, ExternalObject) and value.name == "torch.Generator"}
    found = []
    for path in sorted({site.path for site in sites if site is not None} | {loader.facts.path}):
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            for call, _ in scope.calls:
                match call:
                    case tree.Call(func=tree.Attribute(value=owner, attr="manual_seed"), args=(arg, *_)):
                        for frame in contexts(ev, facts, scope)[:1]:  # type: ignore[arg-type]
                            owners = ev.values(owner, frame)
                            if any(isinstance(value, ExternalObject) and value.site in sites for value in owners):
                                found.append((arg.value, frame.facts, scope, ev.site(call, frame)))
    return found
