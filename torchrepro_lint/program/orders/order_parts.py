"""Loops that send each element, in its turn, to a part of a data set: by its position, or by a number drawn for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import strings_in, walk, words_in
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.orders import order_callees
from torchrepro_lint.program.orders.order_carriers import Carrier, Sink, sink
from torchrepro_lint.program.orders.order_pieces import parts_named, says_part, shows
from torchrepro_lint.program.running.blocks import simple_expressions_in
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.statements import own_statements

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["through_parts"]

_GENERATORS: Final = frozenset({"python", "numpy", "torch", "receiver"})
_SEEDS: Final = function_words("seeds_each_turn")
_Test = Callable[[tree.Expr], bool]


def through_parts(
    program: Program, carrier: Carrier, loop: tree.For, has_position: _Test, has_element: _Test
) -> Iterator[Sink]:
    """The end of a way in a loop where a draw, or the position, decides which part an element goes to."""
    if len(parts_named(words_in(simple_expressions_in(loop.body)))) < 2 or _is_seeded(loop.body):
        return
    drawn: set[str] = set()
    for statement in own_statements(loop.body):
        match statement:
            case tree.Assign(targets=(tree.Name(id=name),), value=value) if value is not None:
                if _draws(program, carrier, value):
                    drawn.add(name)
                    if _chooses(value):
                        yield sink(carrier, "split", statement, "draws which part each is put in")
            case tree.If(test=test, body=body, orelse=orelse) if _sends(body, orelse, has_element):
                if drawn.intersection(words_in([test])) or _draws(program, carrier, test):
                    yield sink(carrier, "split", statement, "draws which part each is put in")
                elif has_position(test):
                    yield sink(carrier, "split", statement, "puts each in a part by its position")


def _sends(body: tree.Block, orelse: tree.Block, has_element: _Test) -> bool:
    """Whether the arms of an `if` do something with the element for a part of a data set, `train.append(name)`, or say
    which part it is for.
    """
    if any(
        isinstance(part, tree.Call)
        and not shows(part)
        and any(map(says_part, words_in([part])))
        and any(has_element(arg.value) for arg in part.args)
        for part in walk(simple_expressions_in((*body, *orelse)))
    ):
        return True
    return bool(_given_parts(body) & _given_parts(orelse))


def _given_parts(block: tree.Block) -> set[str]:
    """The names to which a block gives the name of a part: `folder = "train"`."""
    return {
        target.id
        for statement in own_statements(block)
        if isinstance(statement, tree.Assign) and statement.value is not None
        for target in statement.targets
        if isinstance(target, tree.Name) and any(map(says_part, words_in([statement.value])))
    }


def _chooses(value: tree.Expr) -> bool:
    """Whether the names of several parts stand in an expression: `random.choices(["train", "val"])`."""
    return len({text for text in strings_in(value) if says_part(text)}) > 1


def _is_seeded(block: tree.Block) -> bool:
    """Whether each turn seeds, or makes a generator with a seed: what it draws then hangs on the element."""
    calls = [part for part in walk(simple_expressions_in(block)) if isinstance(part, tree.Call)]
    return any(_SEEDS.search(called_name(call.func) or "") and call.args for call in calls)


def _draws(program: Program, carrier: Carrier, node: tree.Expr) -> bool:
    """Whether an expression draws from a generator."""
    return any(
        effect.kind == "draw" and effect.rng in _GENERATORS
        for part in walk([node])
        if isinstance(part, tree.Call)
        for name in order_callees.names_called(program, order_callees.called(program, carrier, part))
        for effect in rng_effects(name)
    )
