"""Loaders that alone draw from torch between a seed and the last pass over them, all in one function.

    def train(net, images, rank):
        torch.manual_seed(rank)
        loader = DataLoader(images, shuffle=True)
        for image in loader:
            ...

A generator of the loader's own, seeded with `torch.initial_seed()`, would give the same kind of order: one that the
seed alone decides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import ClassValue, External, FunctionValue, MethodValue, Value
from torchrepro_lint.program.loaders.worker_runs import effects_of
from torchrepro_lint.program.running.callees import frame_without_callers
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.never_read import uses_of_its_name
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.seeds.torch_seeds import seeds_what_follows

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["is_the_only_draw"]

#: What a file says that may draw from torch's generator where a network or an item of a data set is computed.
_MAY_DRAW: Final = re.compile(
    rb"[Dd]rop(?!_last\b)|\brrelu\b|\bRReLU\b|gumbel|torchvision|transforms\b|augment|"
    rb"\btorch\.(?:rand\w*|normal|bernoulli|multinomial|poisson)\b|"
    rb"\.(?:uniform_|normal_|bernoulli_|random_|exponential_|geometric_|multinomial|rsample|sample)\("
)
#: Calls in which a loader is gone through, or only counted.
_PASSES: Final = frozenset({"enumerate", "tqdm", "trange", "iter", "zip", "len"})


def is_the_only_draw(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether the function of a loader that `call` makes seeds torch above it in any case, goes through the loader
    itself, and neither it nor what it calls draws from torch otherwise: not if a file of its programs has a word for
    what may, such as a dropout.
    """
    return program.once(("the only draw", facts.path, call.site), lambda: _draws_alone(program, facts, scope, call))


def _draws_alone(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    if not isinstance(scope.node, tree.FunctionDef):
        return False
    around = scope.path_at(call.site)
    seeds = [
        one.site.number
        for one in program.evidence_in(facts.path)
        if one.effect == "seed" and "torch" in one.seeds and one.frame.scope is scope and one.site.number < call.site
        if one.path == around[: len(one.path)] and seeds_what_follows(program, one)
    ]
    uses = uses_of_its_name(program.ev, facts, call) if seeds else None
    if not uses or program.imports.any_together(facts.path, _MAY_DRAW):
        return False
    parents = parents_of(program.ev, facts)
    if not all(at is scope and _is_a_pass(parents, use) for use, at in uses):
        return False
    if any(one[0].scope is scope and one[0].call is not call for one in program.loader_sites):
        return False
    last = max(seeds)
    below = [one for one, _ in scope.calls if one.site > last and one is not call]
    frame = frame_without_callers(program.ev, facts, scope)
    return not any(_draws(program, value) for one in below for value in ordered(program.ev.values(one.func, frame)))


def _is_a_pass(parents: Parents, use: tree.Name) -> bool:
    above = parents.of(use)
    if isinstance(above, tree.Arg):
        call = parents.of(above)
        return isinstance(call, tree.Call) and called_name(call.func) in _PASSES
    return isinstance(above, tree.For) and above.iter is use


def _draws(program: Program, value: Value) -> bool:
    """Whether torch's generator is drawn from where a value is called."""
    match value:
        case External(name=name):
            return any(one.kind == "draw" and one.rng == "torch" for one in rng_effects(name))
        case FunctionValue() | MethodValue() | ClassValue():
            events = program.walker.calling(frozenset((value,)))
            return any(one.effect.rng == "torch" for event in events for one in effects_of(event))
    return False
