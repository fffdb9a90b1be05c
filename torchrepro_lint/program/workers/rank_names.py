"""Whether the rank of the process takes part in an expression: here, in a variable, or in what callers pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
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


def names_rank(name: str) -> bool:
    """Whether a name is that of a rank, or of a number that stands for one."""
    return function_words("rank").search(name) is not None


def depends_on_rank(ev: Evaluator, node: tree.Expr, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether a rank is named in an expression, in what its names are bound to, or in what callers pass for them."""
    return rank_in(ev, node, facts, scope) is not None


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

    With `programs`, only the calls that one of these modules makes run count.
    """
    for part in walk([node]):
        match part:
            case tree.Name(id=word) | tree.Attribute(attr=word) if names_rank(word):
                return Site(facts.path, part.site)
            case tree.Name(id=word) if depth < MAX_DEPTH:
                for given, home, at in _given_to(ev, word, facts, scope, programs):
                    found = rank_in(ev, given, home, at, programs=programs, depth=depth + 1)
                    if found is not None:
                        return found
    return None


def _given_to(
    ev: Evaluator, name: str, facts: ModuleFacts, scope: Scope, programs: Set[Path] | None
) -> Iterator[tuple[tree.Expr, ModuleFacts, Scope]]:
    """What a name is bound to, added to it, or passed for it, each with where it is written."""
    home = scope.binder(name)
    for binding in home.bindings[name] if home is not None else ():
        match binding.kind, binding.node:
            case "assign" | "augmented", tree.AugAssign(value=value):
                yield value, facts, home  # type: ignore[misc]
            case "assign", node if node is not None and not isinstance(node, tree.Param):
                yield node, facts, home  # type: ignore[misc]
            case "param", tree.Param():
                yield from passed_for(ev, name, facts, home, programs=programs)  # type: ignore[arg-type]


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
