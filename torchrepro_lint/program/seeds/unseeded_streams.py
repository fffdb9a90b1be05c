"""Shuffles and samples of libraries that take their seed from the system, whatever the program seeds, unless they are
given one: the stream of a data set, a buffer that is shuffled, points of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.rng import rng_effects, seeding_themselves, switched_to_entropy
from torchrepro_lint.program.intent.intent import fetches_items
from torchrepro_lint.program.loaders.worker_runs import condition_holds
from torchrepro_lint.program.running.known_calls import KnownCall, all_names, asked_calls
from torchrepro_lint.program.running.parents import parents_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["UnseededStream", "unseeded_streams"]


@dataclass(frozen=True, slots=True, eq=False)
class UnseededStream:
    """A call that draws from a generator of its own, which nothing seeds; `parameter` is what would seed it, or the
    option that decides whether anything does.
    """

    call: KnownCall
    parameter: Parameter


def unseeded_streams(program: Program) -> Iterator[UnseededStream]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    found: list[UnseededStream] = []
    for group in asked_calls(program, seeding_themselves()):
        missing = [_missing(call) for call in group]
        first = missing[0]
        if first is None or None in missing or program.ev.exhausted or program.ev.lacks:
            continue
        call = group[0]
        if not all_names(program, call) <= seeding_themselves():
            continue  # a data set that may be streamed, or not
        if fetches_items(call.scope) or isinstance(parents_of(program.ev, call.facts).of(call.call), tree.ExprStmt):
            continue  # what is drawn in workers has rules of its own, and what is dropped decides nothing
        found.append(UnseededStream(call, first))
    for group in asked_calls(program, switched_to_entropy()):
        turned_on = [_turned_on(call) for call in group]
        first = turned_on[0]
        if first is None or None in turned_on or program.ev.exhausted or program.ev.lacks:
            continue
        if all_names(program, group[0]) <= switched_to_entropy() and not fetches_items(group[0].scope):
            found.append(UnseededStream(group[0], first))
    yield from sorted(found, key=lambda one: (str(one.call.facts.path), one.call.call.site))


def _turned_on(call: KnownCall) -> Parameter | None:
    """The option by which the call takes a seed from the system, where it is proven to be on."""
    for effect in rng_effects(call.name):
        if effect.entropy_option is not None and all(condition_holds(one, call.arguments) for one in effect.when):
            return effect.entropy_option
    return None


def _missing(call: KnownCall) -> Parameter | None:
    """The argument that would seed the call, where it is proven to be missing and the call may draw."""
    for effect in rng_effects(call.name):
        parameter = effect.generator_parameter
        if effect.kind != "draw" or parameter is None:
            continue
        verdicts = [(one, condition_holds(one, call.arguments)) for one in effect.when]
        if any(holds is False for _, holds in verdicts):
            continue
        if all(holds for one, holds in verdicts if one.test == "missing-or-none"):
            return parameter
    return None
