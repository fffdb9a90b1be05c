"""Seeds of generators that a program makes for itself: `random.Random(seed)`, `torch.Generator().manual_seed(seed)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Path, Scope
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.rng import entropy_words, object_seedings, rng_effects
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ExternalObject, Value
from torchrepro_lint.program.intent.entropy_calls import outside
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.running.callers import called_name, contexts, frame_without_callers
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.word_index import any_word, part_of_word

if TYPE_CHECKING:
    from torchrepro_lint.program.modules import Project
    from torchrepro_lint.program.program import Program

__all__ = ["own_seeds"]


@cache
def _makers() -> re.Pattern[bytes]:
    """What files say that make generators; most that seed have none of their own."""
    return any_word({"Generator", *last_parts(name for name in object_seedings() if "seed" not in name)})


_SEEDED: Final = part_of_word("seed|random|generator|rng")


def _any_given(project: Project) -> bool:
    """Whether a seed or a generator gets a number from the clock, the system or a hash anywhere: few have any."""
    outside_numbers = frozenset(project.matching(any_word(entropy_words())))
    return bool(project.matching(_given(), filter(outside_numbers.__contains__, project.matching(_SEEDED))))


@cache
def _given() -> re.Pattern[bytes]:
    """A line on which that happens."""
    words = "|".join(sorted(entropy_words())).encode()
    return re.compile(rb"(?i:seed|random_?state|generator|rng|Random\()[^\n]{0,80}?(?<!\w)(?:%s)\(" % words)


@cache
def _seed_parameters() -> dict[str, tuple[Parameter, ...]]:
    """The parameters that take the seed, by what comes last in the names of the calls."""
    found: dict[str, tuple[Parameter, ...]] = {}
    for name in sorted(object_seedings()):
        given = [effect.seed_parameter for effect in rng_effects(name) if effect.seed_parameter is not None]
        last = name.rpartition(".")[2]
        found[last] = (*found.get(last, ()), *given)
    return found


def own_seeds(program: Program) -> Iterator[Evidence]:
    """The calls that make such a generator from a seed, or seed one, where the seed is written and a result may hang on
    what is drawn: not on the name of a run, or a port.
    """
    for path in program.project.matching(_makers()) if _any_given(program.project) else ():
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            for call, arms in scope.calls:
                # Almost all are told by what is written, without asking what it means.
                written = _seed_of(call)
                if facts is not None and written is not None and not _is_idle(scope, call):
                    program.ev.begin_question()
                    yield from _seeding(program, facts, scope, call, arms, written)


def _seed_of(call: tree.Call) -> tree.Expr | None:
    """The seed that is written, if it is no constant."""
    for parameter in _seed_parameters().get(called_name(call.func) or "", ()):
        written = written_argument(call, parameter)
        if written is not None:
            return None if isinstance(written, tree.Const) else written
    return None


def _seeding(
    program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call, arms: Path, written: tree.Expr
) -> Iterator[Evidence]:
    ev = program.ev
    found = (outside(value) for value in ordered(ev.values(call.func, frame_without_callers(ev, facts, scope))))
    name = next((one for one in map(canonical, filter(None, found)) if one in object_seedings()), None)
    for frame in contexts(ev, facts, scope) if name is not None else ():  # whether a hash is of a text, callers may say
        values = ev.values(written, frame)
        # A generator that is made of another one is seeded where that one is.
        if name is not None and ev.may_run(call.site, arms, frame) and not any(map(_is_generator, values)):
            nothing: frozenset[str] = frozenset()
            yield Evidence(name, "seed", None, nothing, ev.site(call, frame), call, written, values, frame, arms)


def _is_generator(value: Value) -> bool:
    return isinstance(value, ExternalObject) and any(effect.makes is not None for effect in rng_effects(value.name))


def _is_idle(scope: Scope, made: tree.Call) -> bool:
    """Whether no result hangs on the generator: it draws letters, or it, what it draws or the function has a name that
    says so.
    """
    held = set(scope.given_to(made))
    if isinstance(made.func, tree.Attribute):
        held.add(dotted_name(made.func.value) or "")
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
