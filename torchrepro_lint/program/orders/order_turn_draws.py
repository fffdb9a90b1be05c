"""Random draws in the turns of a loop: in `for folder in os.listdir(root): ...; random.shuffle(files)` each folder
takes the next numbers of one generator, so the order of the folders decides how the files of each are shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ordering import ordering_names, ordering_words
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.orders.order_carriers import Carrier, Sink, sink
from torchrepro_lint.program.orders.order_places import scope_around
from torchrepro_lint.program.orders.order_turns import Turns, names_in
from torchrepro_lint.program.running.blocks import expressions_in
from torchrepro_lint.program.running.callers import called_name, frame_without_callers
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["through_draws"]

#: Modules whose functions all draw from one generator.
_GLOBAL: Final = frozenset({"random", "numpy.random"})


def through_draws(program: Program, carrier: Carrier, loop: tree.For, turns: Turns) -> Iterator[Sink]:
    """The draws of a loop from what a turn has made of its element, each from a global generator."""
    simple = [one for one in own_statements(loop.body) if isinstance(one, (tree.Assign, tree.ExprStmt))]
    draws = [
        node
        for statement in simple
        for node in walk(expressions_in((statement,)))
        if isinstance(node, tree.Call) and node.args and called_name(node.func) in ordering_words("draws_by_position")
    ]
    if not draws:
        return
    made = _made_of_the_element(simple, turns)
    for call in draws:
        drawn = call.args[0].value
        if (turns.have_element(drawn) or not made.isdisjoint(names_in(drawn))) and _is_global(program, carrier, call):
            yield sink(carrier, "split", call, "draws in each turn from one stream of random numbers")


def _made_of_the_element(statements: list[tree.Assign | tree.ExprStmt], turns: Turns) -> set[str]:
    """The names to which the turns give something in which the element is, directly or by another such name."""
    made: set[str] = set()
    for statement in statements:
        if isinstance(statement, tree.Assign) and statement.value is not None:
            if turns.have_element(statement.value) or not made.isdisjoint(names_in(statement.value)):
                made.update(target.id for target in statement.targets if isinstance(target, tree.Name))
    return made


def _is_global(program: Program, carrier: Carrier, call: tree.Call) -> bool:
    frame = frame_without_callers(program.ev, carrier.facts, scope_around(program, carrier.facts, call))
    names = [canonical(one.name) for one in program.ev.values(call.func, frame) if isinstance(one, External)]
    return any(name in ordering_names("draws_by_position") and name.rpartition(".")[0] in _GLOBAL for name in names)
