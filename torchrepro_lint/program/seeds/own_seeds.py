"""Seeds of generators that a program makes for itself: `random.Random(seed)`, `torch.Generator().manual_seed(seed)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.rng import object_seedings, rng_effects
from torchrepro_lint.program.evaluation.values import ExternalObject, Value
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.switches.intent import Evidence

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["own_seeds"]


def own_seeds(program: Program) -> Iterator[Evidence]:
    """The calls that make such a generator from a seed, or seed one, where the seed is written and a result may hang on
    what is drawn: not on the name of a run, or a port.
    """
    for one, *_ in all_calls(program, object_seedings()):
        written = _seed_of(one)
        if written is None or isinstance(written, tree.Const) or _is_idle(one):
            continue
        values = program.ev.values(written, one.frame)
        if not any(map(_is_generator, values)):  # that one is seeded where it is made
            nothing: frozenset[str] = frozenset()
            yield Evidence(one.name, "seed", None, nothing, one.site, one.call, written, values, one.frame, one.arms)


def _seed_of(one: KnownCall) -> tree.Expr | None:
    parameters = [effect.seed_parameter for effect in rng_effects(one.name) if effect.rng == "receiver"]
    return next((written_argument(one.call, given) for given in parameters if given is not None), None)


def _is_generator(value: Value) -> bool:
    return isinstance(value, ExternalObject) and any(effect.makes is not None for effect in rng_effects(value.name))


def _is_idle(one: KnownCall) -> bool:
    """Whether no result hangs on the generator: it draws letters, or it, what it draws or the function has a name that
    says so.
    """
    scope = one.scope
    held = set(scope.given_to(one.call))
    if isinstance(one.call.func, tree.Attribute):
        held.add(dotted_name(one.call.func.value) or "")
    within = (scope, *(inner for inner in scope.children if isinstance(inner.node, tree.Comprehension)))
    draws = [
        call
        for each in within
        for call, _ in each.calls
        if isinstance(call.func, tree.Attribute) and dotted_name(call.func.value) in held
    ]
    names = [scope.name or "", *held, *(name for call in draws for name in scope.given_to(call))]
    letters = any((dotted_name(arg.value) or "").startswith("string.") for call in draws for arg in call.args)
    return letters or any(function_words("idle_draws").search(name) for name in names)
