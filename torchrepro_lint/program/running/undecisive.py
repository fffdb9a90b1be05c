"""What is drawn first and looked at later, where it decides nothing: `share = random.random()` and then
`if share < self.ratio or not self.training:` in a data set that is not for training, or the seed of an augmentation
that is off there. How long a program waits decides nothing either: `time.sleep(2**attempt + random.random())`. Nor does
a choice of one: `random.choice((512,))`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.calls import CallTable, known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External, SequenceValue
from torchrepro_lint.program.running.binding_uses import binding_uses
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.parents import Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["chooses_the_only_one", "decides_nothing", "only_waits"]

#: What the limits of a draw are computed with.
_MEASURES = ("len", "int", "min", "max", "abs", "round")


def only_waits(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    """Whether a call does nothing but wait, for as long as its arguments say."""
    return _is_of(ev, call, frame, "waits")


def chooses_the_only_one(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    """Whether a call chooses from a tuple or list that is known to have a single item."""
    if not call.args or call.args[0].star or not _is_of(ev, call, frame, "chooses"):
        return False
    given = ev.values(call.args[0].value, frame)
    return bool(given) and all(
        isinstance(one, SequenceValue) and one.items is not None and len(one.items) == 1 for one in given
    )


def _is_of(ev: Evaluator, call: tree.Call, frame: Frame, table: CallTable) -> bool:
    """Whether a call is surely one of a table of known calls."""
    if called_name(call.func) not in _last_words(table):
        return False
    functions, names = ev.values(call.func, frame), known_calls(table)
    return bool(functions) and all(isinstance(one, External) and canonical(one.name) in names for one in functions)


@cache
def _last_words(table: CallTable) -> frozenset[str]:
    return last_parts(known_calls(table))


def decides_nothing(ev: Evaluator, statement: tree.Stmt, frame: Frame) -> bool:
    """Whether a statement keeps what it draws, and all that reads it are waits, code that is proven not to run, and
    conditions proven without it.
    """
    match statement:
        case tree.Assign(targets=(tree.Name(id=name),), value=tree.Call() as value):
            binding = next((one for one in frame.scope.bindings.get(name, ()) if one.node is value), None)
            if binding is None or not _only_draws(ev, value, frame):
                return False
        case _:
            return False
    parents = parents_of(ev, frame.facts)
    uses = [use for use, _ in binding_uses(parents, frame.facts, frame.scope, binding)]
    return bool(uses) and all(_is_idle(ev, parents, use, frame) for use in uses)


def _only_draws(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    """Whether a call of a library's function draws, and neither it nor its arguments do anything else."""
    match call:
        case tree.Call(func=tree.Attribute(value=tree.Call() as inner, attr="item"), args=()):
            return _only_draws(ev, inner, frame)
    arguments = walk([argument.value for argument in call.args])
    if any(isinstance(node, tree.Call) and called_name(node.func) not in _MEASURES for node in arguments):
        return False
    functions = ev.values(call.func, frame)
    return bool(functions) and all(isinstance(one, External) and _draws(one.name) for one in functions)


def _draws(name: str) -> bool:
    effects = rng_effects(name)
    return bool(effects) and all(effect.kind == "draw" and effect.moment == "call" for effect in effects)


def _is_idle(ev: Evaluator, parents: Parents, use: tree.Name, frame: Frame) -> bool:
    """Whether a use is in a condition whose outcome is proven, or where nothing runs but a wait."""
    if parents.function(use) is not frame.scope.node:
        return False
    inner: object = use
    for above in parents.around(use):
        if isinstance(above, (tree.If, tree.Conditional)):
            if above.test is inner:
                return ev.truth(above.test, frame) is not None
            break
        if isinstance(above, tree.Call) and only_waits(ev, above, frame):
            return True
        if not isinstance(above, (tree.Arg, tree.Binary, tree.Compare, tree.Boolean, tree.Unary)):
            break
        inner = above
    return ev.decide(frame.scope.path_at(use.site), frame) is False
