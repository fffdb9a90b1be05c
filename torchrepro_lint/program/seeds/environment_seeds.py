"""Environments of reinforcement learning, and their spaces of actions, that nothing seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls, asked_calls
from torchrepro_lint.program.running.named_uses import is_left_over
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.unused_methods import is_in_a_method_of_tests
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.seeds.asked_form import Thing, asks_form_alone
from torchrepro_lint.program.seeds.demonstrations import is_demonstrated, is_only_demonstrated
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.program import Program

__all__ = ["UnseededEnvironment", "unseeded_environments"]

_RESETS: Final = re.compile(rb"\.reset\(")
_LIBRARIES: Final = any_word(("gym", "gymnasium"))
_SAMPLES: Final = any_word(("action_space",))
_ENVIRONMENT: Final = Parameter("env", 1)
_LEARNS: Final = re.compile(rb"\.learn\(")
#: What seeds an algorithm, and its environment with it, later; a function of that name seeds what is no environment's.
_SEEDS_THE_MODEL: Final = re.compile(rb"\.set_random_seed\(")
#: What is asked of an environment that is made to look at it.
_DESCRIBES: Final = frozenset(
    {"observation_space", "action_space", "spec", "metadata", "close", "reward_range", "unwrapped"}
)


@dataclass(frozen=True, slots=True)
class UnseededEnvironment:
    """The call that makes an environment, that samples an action, or that gives one to an algorithm which seeds it with
    a seed of its own, in a program that seeds no such thing. `name`: what is called, by its last name, or the space
    that is sampled, as it is written.
    """

    site: Site
    kind: Literal["environment", "space", "algorithm"]
    name: str = ""
    is_shown: bool = False


def unseeded_environments(program: Program) -> Iterator[UnseededEnvironment]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    found = [*_environments(program), *_spaces(program), *_algorithms(program)]
    yield from sorted(found, key=lambda one: (str(one.site.path), one.site.number))


def _environments(program: Program) -> Iterator[UnseededEnvironment]:
    for group in asked_calls(program, known_calls("makes_environments")):
        one = group[0]
        path = one.facts.path
        if _may_be_seeded(program, path, "seeds_environments") or not program.imports.any_together(path, _RESETS):
            continue
        if program.imports.any_together(path, program_words("defines_environments")):
            continue  # what is made may be one of these
        if _passes_a_seed(one) or _is_looked_at_alone(program, one) or is_left_over(program, one.facts, one.scope):
            continue
        shown = is_only_demonstrated(program, one.facts, one.scope, one.call)
        yield UnseededEnvironment(one.site, "environment", is_shown=shown)


def _algorithms(program: Program) -> Iterator[UnseededEnvironment]:
    """The algorithms that get an environment and no seed: all that the program seeds itself does not reach it."""
    together, names = program.imports.any_together, known_calls("seeds_its_environment")
    if any(_passes_a_seed(one) for group in all_calls(program, names) for one in group):
        return  # the others are those of a search or a trial
    for group in asked_calls(program, names):
        one = group[0]
        path = one.facts.path
        if written_argument(one.call, _ENVIRONMENT) is None or not together(path, _LEARNS):
            continue
        if together(path, program_words("seeds_environments")) or together(path, _SEEDS_THE_MODEL):
            continue
        if together(path, program_words("defines_environments")) or is_left_over(program, one.facts, one.scope):
            continue
        yield UnseededEnvironment(one.site, "algorithm", last_part(one.name))


def _spaces(program: Program) -> Iterator[UnseededEnvironment]:
    """The calls `env.action_space.sample()`, in programs that use an environment of Gym."""
    for path in program.asked_with(_SAMPLES):
        facts = program.facts(path)
        if facts is None or not program.imports.any_together(path, _LIBRARIES):
            continue
        if _may_be_seeded(program, path, "seeds_spaces"):
            continue
        yield from _samplings(program, facts)


def _samplings(program: Program, facts: ModuleFacts) -> Iterator[UnseededEnvironment]:
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            match call.func:
                case tree.Attribute(attr="sample", value=tree.Attribute(attr="action_space") as space) if not call.args:
                    made = Thing(call, facts, scope)
                    is_used = not (is_left_over(program, facts, scope) or is_in_a_method_of_tests(program, scope))
                    if is_used and not asks_form_alone(program, made):
                        shown = is_demonstrated(program, facts, scope, call)
                        yield UnseededEnvironment(Site(facts.path, call.site), "space", dotted_name(space) or "", shown)


def _may_be_seeded(program: Program, path: Path, words: Literal["seeds_environments", "seeds_spaces"]) -> bool:
    """Whether a program that runs a file may seed its environments: by a call, or by a framework."""
    together = program.imports.any_together
    return together(path, program_words(words)) or together(path, program_words("runs_environments"))


def _passes_a_seed(one: KnownCall) -> bool:
    return any(arg.star or (arg.keyword or "").endswith("seed") for arg in one.call.args)


def _is_looked_at_alone(program: Program, one: KnownCall) -> bool:
    """Whether an environment is made to ask for its spaces, and never runs."""
    parents = parents_of(program.ev, one.facts)
    above = parents.of(one.call)
    if isinstance(above, tree.Attribute):
        return above.attr in _DESCRIBES
    target = parents.target_of(one.call)
    if not isinstance(target, tree.Name):
        return False
    uses = [use for use in parents.names_in(target.id, parents.function(one.call)) if use is not target]
    return all(isinstance(of := parents.of(use), tree.Attribute) and of.attr in _DESCRIBES for use in uses)
