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
from torchrepro_lint.program.running.parents import Node, Parents, children, parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.figure_draws import is_for_a_figure

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

#: What gives all items of its first argument in their order.
_WHOLE = frozenset({"enumerate", "tqdm"})

__all__ = ["is_in_a_plot", "is_only_shown", "is_outside_the_training", "orders_seeded_runs"]


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
    the way to it, or it only chooses what is printed or logged in loops, or places samples in a figure.
    """
    if event.frame is None or event.call is None:
        return False
    if is_for_a_figure(program.ev, event):
        return True
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


def orders_seeded_runs(program: Program, event: Event, seed: Event) -> bool:
    """Whether a shuffle only orders a list that a loop goes through to its end, each turn of which seeds first: in
    which order the runs come changes none of them.
    """
    if event.frame is None or event.call is None or last_part(event.name) != "shuffle" or len(event.call.args) != 1:
        return False
    listed, scope = event.call.args[0].value, event.frame.scope
    if not isinstance(listed, tree.Name) or scope.binder(listed.id) is not scope:
        return False
    parents = parents_of(program.ev, event.frame.facts)
    # What a function reads of a module may be read at any time.
    readers = {id(one.node): one for one in event.frame.facts.walk_scopes() if one.binder(listed.id) is scope}
    reads = [use for use in parents.reads(listed.id) if use is not listed and id(parents.function(use)) in readers]
    own = [use for use in reads if parents.function(use) is scope.node]
    reads = [use for use in reads if use not in own or use.site > event.call.site]
    loop = _loop_over(parents, reads[0]) if len(reads) == 1 else None
    if loop is None or any(_leaves(statement) for statement in loop.body):
        return False
    inside = (scope.path_at(site.number) for site in seed.sites if site.path == event.site.path)
    return any(path[-1:] == ((loop.site, "body"),) for path in inside)


def _loop_over(parents: Parents, use: tree.Name) -> tree.For | None:
    """The loop that goes through what a name stands for, all of it."""
    above = parents.of(use)
    if isinstance(above, tree.Arg):
        above = parents.of(above)
        above = parents.of(above) if isinstance(above, tree.Call) and called_name(above.func) in _WHOLE else None
    return above if isinstance(above, tree.For) else None


def _leaves(node: Node) -> bool:
    """Whether a part of a loop may end it before its last turn."""
    if isinstance(node, tree.Return) or (isinstance(node, tree.Jump) and node.kind == "break"):
        return True
    return not isinstance(node, tree.FunctionDef | tree.ClassDef) and any(map(_leaves, children(node)))


def is_outside_the_training(program: Program, event: Event) -> bool:
    """Whether a draw decides nothing of a training: it is made in a function that evaluates, by its name or that of its
    file or of a function on the way to it, shuffles a list that is sorted below, or chooses what a loop goes over that
    does nothing but print or log.
    """
    if event.frame is None or event.call is None:
        return False
    scope = event.frame.scope
    names = [last_part(link.note.removeprefix("calls ")) for link in event.chain]
    names += [scope.name, event.frame.facts.path.stem]
    if any(function_words("evaluates").search(name) for name in names):
        return True
    if _is_told(parents_of(program.ev, event.frame.facts), event.call):
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


def _is_told(parents: Parents, use: tree.Name | tree.Call) -> bool:
    """Whether a name, or what a call gives, is what a loop goes over that does nothing but print or log."""
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
