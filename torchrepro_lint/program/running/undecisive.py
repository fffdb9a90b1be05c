"""Numbers that are drawn first and looked at later, where they decide nothing: `share = random.random()` and then
`if share < self.ratio or not self.training:` in a data set that is not for training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.evaluation.chances import is_drawn_number
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.running.parents import Parents, parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["decides_nothing"]


def decides_nothing(ev: Evaluator, statement: tree.Stmt, frame: Frame) -> bool:
    """Whether a statement keeps one number that it draws, and all that reads it are conditions proven without it."""
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
    """Whether a use is in a condition whose outcome is proven, or where nothing runs."""
    if parents.function(use) is not frame.scope.node:
        return False
    inner: object = use
    for above in parents.around(use):
        if isinstance(above, (tree.If, tree.Conditional)):
            if above.test is inner:
                return ev.truth(above.test, frame) is not None
            break
        if not isinstance(above, (tree.Compare, tree.Boolean, tree.Unary)):
            break
        inner = above
    return ev.decide(frame.scope.path_at(use.site), frame) is False
