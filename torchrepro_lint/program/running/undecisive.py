"""Numbers that are drawn first and looked at later, where they decide nothing: `share = random.random()` and then
`if share < self.ratio or not self.training:` in a data set that is not for training. How long a program waits decides
nothing either: `time.sleep(2**attempt + random.random())`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.evaluation.chances import is_drawn_number
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.parents import Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["decides_nothing", "only_waits"]


def only_waits(ev: Evaluator, call: tree.Call, frame: Frame) -> bool:
    """Whether a call does nothing but wait, for as long as its arguments say."""
    if called_name(call.func) not in _waiting_words():
        return False
    functions = ev.values(call.func, frame)
    waits = known_calls("waits")
    return bool(functions) and all(isinstance(one, External) and canonical(one.name) in waits for one in functions)


@cache
def _waiting_words() -> frozenset[str]:
    return last_parts(known_calls("waits"))


def decides_nothing(ev: Evaluator, statement: tree.Stmt, frame: Frame) -> bool:
    """Whether a statement keeps one number that it draws, and all that reads it are waits and conditions proven
    without it.
    """
    match statement:
        case tree.Assign(targets=(tree.Name(id=name) as target,), value=tree.Call() as value):
            if len(frame.scope.bindings.get(name, ())) != 1 or not is_drawn_number(ev, value, frame):
                return False
        case _:
            return False
    parents = parents_of(ev, frame.facts)
    uses = [
        use
        for use in parents.names.get(name, ())
        if use is not target and any(above is frame.scope.node for above in parents.around(use))
    ]
    return bool(uses) and all(_is_idle(ev, parents, use, frame) for use in uses)


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
