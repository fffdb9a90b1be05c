"""Draws beside a training: of what is shown, as captions that are printed after an epoch or the colours of a plot, and
those of an evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_in_a_plot", "is_only_shown", "is_outside_the_training"]


def is_in_a_plot(program: Program, site: Site) -> bool:
    """Whether a place is in a function that shows something, by its name, and gives, keeps and saves nothing."""
    place = place_of(program.ev, site)
    scope = place.scope if place is not None else None
    while scope is not None and isinstance(scope.node, tree.Comprehension):
        scope = scope.parent
    if scope is None or function_words("shows_results").search(scope.name) is None:
        return False
    keeps = any(isinstance(store.target, tree.Attribute) for store in scope.stores)
    gives = any(one.value is not None for one, _ in scope.returns) or scope.yields or scope.declared
    words = (called_name(call.func) or "" for call, _ in scope.calls)
    return not (keeps or gives) and not any(map(function_words("saves_numbers").search, words))


def is_only_shown(program: Program, event: Event) -> bool:
    """Whether a draw is made in a function that shows something, by its name or that of its module or of a function on
    the way to it, or it only chooses what is printed or logged in loops.
    """
    if event.frame is None or event.call is None:
        return False
    scope, shows = event.frame.scope, function_words("shows_results")
    names = [last_part(link.note.removeprefix("calls ")) for link in event.chain]
    if any(shows.search(name) for name in (*names, scope.name)):
        return True
    if scope.parent is not None and function_words("modules_of_plots").fullmatch(event.frame.facts.path.stem):
        return True
    parents = parents_of(program.ev, event.frame.facts)
    target = parents.target_of(event.call)
    if not isinstance(target, tree.Name) or scope.parent is None:
        return False
    uses = [use for use in parents.reads(target.id) if parents.function(use) is scope.node]
    return bool(uses) and all(_is_told(parents, use) for use in uses)


def is_outside_the_training(program: Program, event: Event) -> bool:
    """Whether a draw decides nothing of a training: it is made in a function that evaluates, by its name or that of its
    file or of a function on the way to it, or shuffles a list that is sorted below.
    """
    if event.frame is None or event.call is None:
        return False
    scope = event.frame.scope
    names = [last_part(link.note.removeprefix("calls ")) for link in event.chain]
    names += [scope.name, event.frame.facts.path.stem]
    if any(function_words("evaluates").search(name) for name in names):
        return True
    match event.call.args:
        case (tree.Arg(value=tree.Name(id=shuffled)),) if called_name(event.call.func) == "shuffle":
            return any(_sorts(call, shuffled) for call, _ in scope.calls if call.site > event.call.site)
    return False


def _sorts(call: tree.Call, name: str) -> bool:
    """Whether a call is `sorted(name)` or `name.sort()`."""
    match call:
        case tree.Call(func=tree.Name(id="sorted"), args=(tree.Arg(value=tree.Name(id=given)), *_)):
            return given == name
        case tree.Call(func=tree.Attribute(value=tree.Name(id=given), attr="sort")):
            return given == name
    return False


def _is_told(parents: Parents, use: tree.Name) -> bool:
    """Whether a name is what a loop goes over that does nothing but print or log."""
    statement = parents.statement(use)
    if not isinstance(statement, tree.For):
        return False
    return any(part is use for part in walk([statement.iter])) and all(map(_tells, statement.body))


def _tells(statement: object) -> bool:
    """Whether a statement is a call that prints or logs."""
    match statement:
        case tree.ExprStmt(value=tree.Call(func=func)):
            return function_words("only_tells").fullmatch(called_name(func) or "") is not None
    return False
