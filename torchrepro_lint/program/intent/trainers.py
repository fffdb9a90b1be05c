"""What a Lightning Trainer is used for: with one that only tests, nothing is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.program.core.definitions import definitions
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.intent.intent import Evidence

__all__ = ["is_of_an_evaluation"]

_EVALUATES: Final = method_words("trainer_evaluates")


def is_of_an_evaluation(ev: Evaluator, one: Evidence) -> bool:
    """Whether a switch is given to a Trainer of which only methods that evaluate are called: no backward pass runs
    under it. What is passed on, or kept anywhere but in a name, may train elsewhere.
    """
    if not isinstance(one.node, tree.Call) or canonical(one.name) not in known_calls("makes_a_trainer"):
        return False
    parents = parents_of(ev, one.frame.facts)
    above = parents.of(one.node)
    if isinstance(above, tree.Attribute):  # `Trainer(deterministic=True).test(model)`
        return _evaluates(parents.of(above), above)
    target = parents.target_of(one.node)
    if not isinstance(target, tree.Name):
        return False
    uses = []
    for use in parents.reads_in(target.id, parents.function(one.node)):
        reaching, _ = definitions(ev, target.id, use.site, one.frame)
        if any(definition.binding.node is one.node for definition in reaching):
            uses.append(use)
    return bool(uses) and all(
        isinstance(method := parents.of(use), tree.Attribute) and _evaluates(parents.of(method), method) for use in uses
    )


def _evaluates(call: object, method: tree.Attribute) -> bool:
    return isinstance(call, tree.Call) and call.func is method and method.attr in _EVALUATES
