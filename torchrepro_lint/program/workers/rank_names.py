"""Whether the rank of the process takes part in an expression: here, in a variable, or in what callers pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.calling_places import calling_places
from torchrepro_lint.program.running.written_arguments import parameter_of, written_argument
from torchrepro_lint.program.switches.intent import running_modules

if TYPE_CHECKING:
    from collections.abc import Set
    from pathlib import Path

    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["MAX_DEPTH", "depends_on_rank", "names_rank", "passed_for", "rank_in"]

#: How many variables and calls an expression is followed through.
MAX_DEPTH: Final = 4
#: How many uses of variables it is followed through where the rank must not be missed.
MAX_NAMES: Final = 100
#: Methods that take a number to another device.
_MOVES: Final = frozenset({"to", "cuda"})


def names_rank(name: str) -> bool:
    """Whether a name is that of a rank, or of a number that stands for one."""
    return function_words("rank").search(name) is not None


def depends_on_rank(ev: Evaluator, node: tree.Expr, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a rank is named in an expression, in what its names are bound to, or in what callers pass for them, or
    may be, as there is more of that than is looked at.
    """
    pending, seen = [(node, facts, scope)], set[int]()
    while pending:
        node, facts, scope = pending.pop(0)
        for part in _parts(node):
            match part:
                case tree.Name(id=word) | tree.Attribute(attr=word) if names_rank(word):
                    return True
                case tree.Name() if id(part) not in seen:
                    seen.add(id(part))
                    pending += _given_to(ev, part, facts, scope, None)
        if len(seen) > MAX_NAMES:
            return True
    return False


def rank_in(
    ev: Evaluator,
    node: tree.Expr,
    facts: ModuleFacts,
    scope: Scope,
    *,
    programs: Set[Path] | None = None,
    depth: int = 0,
) -> Site | None:
    """Where a rank is named in an expression, in what its names are bound to, or in what callers pass for them.

    With `programs`, only the calls that one of these modules makes run count. What is further away than `MAX_DEPTH`
    variables and calls is not found.
    """
    for part in _parts(node):
        match part:
            case tree.Name(id=word) | tree.Attribute(attr=word) if names_rank(word):
                return Site(facts.path, part.site)
            case tree.Name() if depth < MAX_DEPTH:
                for given, home, at in _given_to(ev, part, facts, scope, programs):
                    found = rank_in(ev, given, home, at, programs=programs, depth=depth + 1)
                    if found is not None:
                        return found
    return None


def _parts(node: tree.Expr) -> Iterator[tree.Expr]:
    """The expressions from which a number is computed, without those that say only on which device it lies."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        match part:
            case tree.Call(func=tree.Attribute(value=receiver, attr=attr)) if attr in _MOVES:
                pending.append(receiver)
            case tree.Call(func=func, args=args):
                pending += [func, *(arg.value for arg in args if arg.keyword != "device")]
            case _:
                pending.extend(sub_expressions(part))


def _given_to(
    ev: Evaluator, use: tree.Name, facts: ModuleFacts, scope: Scope, programs: Set[Path] | None
) -> Iterator[tuple[tree.Expr, ModuleFacts, Scope]]:
    """What a name may hold where it is used, what has been added to that, or what callers pass for it, each with where
    it is written.
    """
    home = scope.binder(use.id)
    if home is None:
        return
    for binding in _reaching(home, use) if home is scope else home.bindings[use.id]:
        match binding.kind, binding.node:
            case "assign" | "augmented", tree.AugAssign(value=value):
                yield value, facts, home
            case "assign", tree.Display(items=items) if len(binding.unpack) == 1 and binding.unpack[0] < len(items):
                yield items[binding.unpack[0]], facts, home
            case "assign", node if node is not None and not isinstance(node, tree.Param):
                yield node, facts, home  # type: ignore[misc]
            case "param", tree.Param():
                yield from passed_for(ev, use.id, facts, home, programs=programs)


def _reaching(home: Scope, use: tree.Name) -> Iterator[Binding]:
    """The bindings that a name may have where it is used, with those that `+=` goes on from."""
    seen: set[int] = set()
    pending = list(home.reaching(use.id, use.site)[0])
    while pending:
        binding = pending.pop()
        if id(binding) not in seen:
            seen.add(id(binding))
            yield binding
            if isinstance(binding.node, tree.AugAssign):
                pending += home.reaching(use.id, binding.order)[0]


def passed_for(
    ev: Evaluator, name: str, facts: ModuleFacts, scope: Scope, *, programs: Set[Path] | None = None
) -> Iterator[tuple[tree.Expr, ModuleFacts, Scope]]:
    """What the visible calls, or with `programs` those that one of these modules makes run, pass for a parameter of a
    function, each with where it is written.
    """
    parameter = parameter_of(scope, name)
    for one in calling_places(ev, facts, scope) if isinstance(scope.node, tree.FunctionDef) else ():
        written = written_argument(one.call, parameter)
        if written is None:
            continue
        if programs is None or not programs.isdisjoint(running_modules(ev, one.facts, one.scope)):
            yield written, one.facts, one.scope
