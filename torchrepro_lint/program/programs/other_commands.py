"""What is done in different runs: commands, functions and options of which a run takes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import uncalled
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import NOTHING, FunctionValue, Site, Value, Values
from torchrepro_lint.program.running.alternatives import are_apart, arms_of_name
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.offered_commands import commands_of
from torchrepro_lint.program.running.ways import never_together, ways
from torchrepro_lint.program.worker_seeds.worker_init import project_function
from torchrepro_lint.source.lines import shared_start

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.running.entry_points import EntryPoint
    from torchrepro_lint.program.running.events import Event

__all__ = ["are_of_different_runs"]

#: Functions of a group that run beside each of its commands.
_BESIDE = frozenset({"callback", "result_callback"})


def are_of_different_runs(ev: Evaluator, entry: EntryPoint, one: Event, other: Event) -> bool:
    """Whether no run comes to both of two events of a program: their ways part at two commands of one group, at two
    functions of which a call runs one (alternatives of a name), or at an option of the command line.
    """
    if _never_in_one_run(ev, one, other):
        return True
    way, others = [link.site for link in one.chain], [link.site for link in other.chain]
    shared = shared_start(way, others)
    if not 0 < shared < min(len(way), len(others)):
        return False
    if _are_alternatives(ev, way[shared - 1], way[shared], others[shared]):
        return True
    offered = {site for group in _called(ev, entry, way[shared - 1]) for site in _commands(ev, group, set())}
    return way[shared] in offered and others[shared] in offered


def _never_in_one_run(ev: Evaluator, one: Event, other: Event) -> bool:
    if one.frame is None or other.frame is None:
        return False
    first, second = (ways(ev, at.frame.facts, at.frame.scope, at.site.number) for at in (one, other) if at.frame)
    return never_together(first, second)


def _are_alternatives(ev: Evaluator, site: Site, one: Site, other: Site) -> bool:
    """Whether a call runs one of two functions, whose name is bound to them in different arms of a statement."""
    made = call_at(ev, site)
    if made is None or one == other:
        return False
    values = ev.values(made.call.func, frame_without_callers(ev, made.facts, made.scope))
    runs = [found for value in ordered(values) if (found := project_function(ev, value)) is not None]
    scopes = {Site(run.frame.facts.path, run.node.site): run.frame.facts.scope_of(run.node) for run in runs}
    if one not in scopes or other not in scopes:
        return False
    bound = (arms_of_name(ev, made.facts, made.scope, made.call, scopes[at]) for at in (one, other))
    return are_apart(*bound)


def _called(ev: Evaluator, entry: EntryPoint, site: Site) -> Values:
    """What is called at a place, or by the entry point itself."""
    if entry.called is not None and site == entry.site:
        return ev.name(entry.called, END, ev.module_frame(entry.facts))
    made = call_at(ev, site)
    if made is None:
        return NOTHING
    return ev.values(made.call.func, frame_without_callers(ev, made.facts, made.scope))


def _commands(ev: Evaluator, group: Value, seen: set[Value]) -> Iterator[Site]:
    """The functions that are commands of a group, or of a group below it."""
    seen.add(group)
    for value in ordered(commands_of(ev, group)):
        if isinstance(value, FunctionValue) and isinstance(value.node, tree.FunctionDef):
            if not any(_runs_beside(uncalled(decorator)) for decorator in value.node.decorators):
                yield Site(value.frame.facts.path, value.node.site)
        if value not in seen:
            yield from _commands(ev, value, seen)


def _runs_beside(decorator: tree.Expr) -> bool:
    return isinstance(decorator, tree.Attribute) and decorator.attr in _BESIDE
