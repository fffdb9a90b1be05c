"""Values that the main process gives to its workers: are they the same whenever workers start?

Workers see the main process as it was when they started, which is at the beginning of each epoch. So a number of the
main process is a constant to them, unless the program changes it on the way: a loop variable, a counter, an attribute
that a method such as `set_epoch` assigns.
"""

from __future__ import annotations

from typing import Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.worker_seeds.dependence import CONSTANT, Dependence, Term, on

__all__ = ["attribute_of_main", "name_of_main", "says_epoch"]

_EPOCH: Final = function_words("counts_progress")
_TOTAL: Final = function_words("totals")


def says_epoch(name: str) -> bool:
    """Whether a name says that it counts epochs or steps: `epoch`, `global_step`, and not `num_epochs`."""
    return bool(_EPOCH.search(name)) and not _TOTAL.search(name)


def name_of_main(name: str, frame: Frame) -> Dependence:
    """What a name of a frame of the main process is to a worker."""
    return on(Term.EPOCH) if says_epoch(name) or _name_changes(name, frame.scope) else CONSTANT


def _name_changes(name: str, scope: Scope) -> bool:
    bindings = scope.bindings.get(name, ())
    if any(binding.kind in ("element", "augmented") or (-1, "elsewhere") in binding.path for binding in bindings):
        return True
    bound = [binding for binding in bindings if binding.kind in ("assign", "rest", "caught", "opaque", "context")]
    return any(
        branch in scope.loops and not isinstance(binding.node, tree.Const)
        for binding in bound
        for branch, _ in binding.path
    )


def attribute_of_main(attr: str, facts: ModuleFacts | None, *, of_object: bool) -> Dependence:
    """What an attribute of an object of the main process is to a worker.

    `facts` is the module of its class, or the one that uses it; `of_object`: its class is known to be there, so that
    any method that assigns it later is a change. Else only an assignment that is repeated or augmented is one.
    """
    if says_epoch(attr) or (facts is not None and _attribute_changes(attr, facts, of_object)):
        return on(Term.EPOCH)
    return CONSTANT


def _attribute_changes(attr: str, facts: ModuleFacts, of_object: bool) -> bool:
    called_once = method_words("called_once")  # what these assign is not a change
    for scope in facts.walk_scopes():
        for store in scope.stores:
            if not (isinstance(store.target, tree.Attribute) and store.target.attr == attr):
                continue
            if store.augmented or any(branch in scope.loops for branch, _ in store.path):
                return True
            if of_object and scope.self_name is not None and scope.name not in called_once:
                return True
    return False
