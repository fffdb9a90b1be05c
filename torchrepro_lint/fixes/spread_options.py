"""The keywords that the options of a loader's call (`**kwargs`) may hold already, so that a fix must not write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.documents import function_of
from torchrepro_lint.program.evaluation.values import DictValue
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.programs.for_others import is_for_others
from torchrepro_lint.program.running.callers import contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["keywords_in_spread"]


def keywords_in_spread(program: Program, loader: Loader) -> frozenset[str]:
    """The keywords that a `**kwargs` written in the call may bring, from any caller: the edit is made for them all."""
    spread = [arg.value for arg in loader.call.args if arg.star == "**"]
    if any(_is_given_to_loaders(program, loader, node) or _is_of_others(program, loader, node) for node in spread):
        return frozenset(("worker_init_fn", "generator"))
    frames = {loader.frame, *contexts(program.ev, loader.facts, loader.scope)} if spread else ()
    held: set[str] = set()
    for value in (value for frame in frames for node in spread for value in program.ev.values(node, frame)):
        for name in ("worker_init_fn", "generator"):
            if not isinstance(value, DictValue) or value.open or value.get(name) is not None:
                held.add(name)
    return frozenset(held)


def _is_of_others(program: Program, loader: Loader, spread: tree.Expr) -> bool:
    """Whether a `**kwargs` is what the users of a package give to a public function of it."""
    function = function_of(loader.scope)
    if function is None or not isinstance(function.node, tree.FunctionDef) or not isinstance(spread, tree.Name):
        return False
    names = [param.name for param in function.node.params if param.kind == "double-star"]
    return spread.id in names and not function.node.name.startswith("_") and is_for_others(program, loader.facts.path)


def _is_given_to_loaders(program: Program, loader: Loader, spread: tree.Expr) -> bool:
    """Whether a `**kwargs` is what those that make a loader of the project's own class give to its `__init__`: they may
    get the keywords as well, and one of the two would be too many.
    """
    function = function_of(loader.scope)
    around = function.parent.node if function is not None and function.parent is not None else None
    if function is None or not isinstance(function.node, tree.FunctionDef) or function.node.name != "__init__":
        return False
    names = [param.name for param in function.node.params if param.kind == "double-star"]
    if not isinstance(spread, tree.Name) or spread.id not in names:
        return False
    return any(
        other.cls is not None and other.cls.node is around and other.is_handed_on_to for other in program.loaders
    )
