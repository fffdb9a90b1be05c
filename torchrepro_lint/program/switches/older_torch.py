"""Switches that are called again, without an argument that the torch of the moment may not have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk, words_in
from torchrepro_lint.knowledge.switches import call_switches
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.fallbacks import stands_in_for
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.source.target import TargetTorch

__all__ = ["is_for_older_torch", "is_gone", "is_hidden"]

#: The first torch without the old name of `use_deterministic_algorithms`; the text of files that call that as well.
_GONE: Final = "1.10"
_NEWER_SWITCHES: Final = re.compile(rb"use_deterministic_algorithms|set_deterministic_debug_mode")
#: What catches that a module lacks a name.
_CATCHES: Final = frozenset({"AttributeError", "Exception", "BaseException"})


def is_for_older_torch(ev: Evaluator, one: Evidence, target: TargetTorch) -> bool:
    """Whether a switch is called only where torch refuses `warn_only`, and the target has a torch that takes it; or by
    a name that the target's torch no longer has.
    """
    call = one.node
    if isinstance(call, tree.Call) and is_gone(ev, call, one.frame.facts, one.frame.scope, target):
        return True
    if not isinstance(call, tree.Call) or not any(arm.startswith("except") for _, arm in one.path):
        return False
    return any(
        stands_in_for(parents_of(ev, one.frame.facts), call, switch.parameter.name)
        for switch in call_switches(one.name)
        if switch.parameter is not None and switch.since is not None and target.admits_from(switch.since)
    )


def is_gone(ev: Evaluator, call: tree.Call, facts: ModuleFacts, scope: Scope, target: TargetTorch) -> bool:
    """Whether a call of `torch.set_deterministic` switches nothing in the target's torch, which has no such name."""
    if called_name(call.func) != "set_deterministic":
        return False
    return not target.admits_below(_GONE) or is_hidden(ev, call, facts, scope, target)


def is_hidden(ev: Evaluator, call: tree.Call, facts: ModuleFacts, scope: Scope, target: TargetTorch) -> bool:
    """Whether nobody is told that the call switches nothing, since it is guarded (`try`, `hasattr`, `suppress`), and
    the file calls nothing that newer releases have in its place.
    """
    if called_name(call.func) != "set_deterministic" or not target.admits_from(_GONE):
        return False
    if ev.project.holds(facts.path, _NEWER_SWITCHES):
        return False
    return _is_guarded(call, scope) or any(
        isinstance(around, tree.With) and any(map(_suppresses, around.items))
        for around in parents_of(ev, facts).around(call)
    )


def _suppresses(item: tuple[tree.Expr, tree.Expr | None]) -> bool:
    match item[0]:
        case tree.Call(func=func, args=args):
            return called_name(func) == "suppress" and not _CATCHES.isdisjoint(words_in([arg.value for arg in args]))
    return False


def _is_guarded(call: tree.Call, scope: Scope) -> bool:
    for branch, _ in scope.path_at(call.site):
        match scope.branches.get(branch):
            case tree.Try(handlers=handlers) if any(
                one.type is None or not _CATCHES.isdisjoint(words_in([one.type])) for one in handlers
            ):
                return True
            case tree.If(test=test) if any(
                isinstance(node, tree.Call) and called_name(node.func) == "hasattr" for node in walk([test])
            ):
                return True
    return False
