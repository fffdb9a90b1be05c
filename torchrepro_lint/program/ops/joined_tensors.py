"""Whether a tensor is read because it is put together with others: `torch.cat([self.token, x])`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.contents import joins_tensors
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import External
from torchrepro_lint.program.running.parents import Node, Parents

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["is_joined"]


def is_joined(ev: Evaluator, parents: Parents, at: Node, frame: Frame) -> bool:
    """Whether a tensor is in the list of those that are put together, or what has the same memory as it:
    `torch.cat([self.token, x])`, `torch.cat([self.token.expand(n, -1), x])`. The list, and the tensor, may have a name
    that stands for nothing else: `parts = [self.token, x]`, `parts.append(self.token)`.
    """
    if isinstance(at, tree.Assign):
        return _are_joined(ev, parents, at, frame)
    display = at if isinstance(at, tree.Display) else parents.of(at)
    around = parents.of(display) if isinstance(display, tree.Display) else None
    if isinstance(around, tree.Assign):
        return _are_joined(ev, parents, around, frame)
    if isinstance(around, tree.Arg):
        return _joins(ev, parents.of(around), frame)
    if isinstance(at, tree.Arg) and (name := _appended_to(parents.of(at))) is not None:
        return _all_are_joined(ev, parents, name, frame)
    return False


def _joins(ev: Evaluator, call: Node | None, frame: Frame) -> bool:
    """Whether a call puts the tensors of a list together, whatever it is."""
    if not isinstance(call, tree.Call):
        return False
    values = ev.values(call.func, frame)
    return bool(values) and all(isinstance(one, External) and joins_tensors(one.name) for one in values)


def _are_joined(ev: Evaluator, parents: Parents, bound: tree.Assign, frame: Frame) -> bool:
    """Whether what a statement gives a local name is put together with others, wherever that name stands."""
    match bound.targets:
        case (tree.Name() as name,):
            return _all_are_joined(ev, parents, name, frame)
    return False


def _all_are_joined(ev: Evaluator, parents: Parents, name: tree.Name, frame: Frame) -> bool:
    """Whether the uses of a local name are put together, made longer or asked how many they are, and nothing else."""
    function = parents.function(name)
    uses = [one for one in parents.names.get(name.id, ()) if not parents.is_bound(one)]
    if function is None or not uses or any(parents.function(one) is not function for one in uses):
        return False
    others = [one for one in uses if not _makes_longer(parents, one)]
    return bool(others) and all(_is_put_together(ev, parents, one, frame) for one in others)


def _makes_longer(parents: Parents, use: tree.Name) -> bool:
    """Whether a list is added to: `parts.append(x)`."""
    attribute = parents.of(use)
    return isinstance(attribute, tree.Attribute) and _appended_to(parents.of(attribute)) is use


def _appended_to(call: Node | None) -> tree.Name | None:
    """The name of the list to which a call adds."""
    match call:
        case tree.Call(func=tree.Attribute(value=tree.Name() as name, attr="append")):
            return name
    return None


def _is_put_together(ev: Evaluator, parents: Parents, use: tree.Name, frame: Frame) -> bool:
    """Whether a use is what a call puts together, or one of the tensors in the list that it is given."""
    above = parents.of(use)
    inner = parents.of(above) if isinstance(above, tree.Display) else above
    return isinstance(inner, tree.Arg) and _joins(ev, parents.of(inner), frame)
