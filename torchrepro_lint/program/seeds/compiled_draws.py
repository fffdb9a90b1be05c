"""Random numbers of networks that an option compiles: compiled code draws others than the same code run eagerly.

Inductor generates random numbers by a kernel of its own, from a seed that it draws from torch's generator, unless
`torch._inductor.config.fallback_random` is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import words_in
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.values import Instance, MethodValue, Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.ops.dropout_rates import surely_drops
from torchrepro_lint.program.programs.entry_path import EntryRun, entry_runs
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["CompiledDraw", "compiled_draws"]

#: What makes compiled code draw as eager code does, or says that it is not compared with that.
_FALLS_BACK: Final = re.compile(rb"fallback_random|align_random_eager")
#: What a test asks that the machine decides, and not who runs the program.
_OF_THE_MACHINE: Final = frozenset({"hasattr", "version", "__version__", "device", "cuda", "is_available", "platform"})


@dataclass(frozen=True, slots=True)
class CompiledDraw:
    """A call that compiles a network where an option says so, torch's seed, and what the network draws: dropout that
    the program runs, or (`is_own`) numbers that its own `forward` draws.
    """

    compile: Site
    seed: Evidence
    draw: Event
    is_own: bool


def compiled_draws(program: Program) -> Iterator[CompiledDraw]:
    """One for each place that compiles, in the order of files and text."""
    for group in asked_calls(program, frozenset({"torch.compile"})):
        one = next((call for call in group if _is_chosen(program, call)), None)
        if one is None:
            continue
        for run in entry_runs(program):
            if one.facts.path not in run.files:
                continue
            seed = next((by for by in run.seedings if "torch" in by.seeds and is_for_the_run(program, by)), None)
            if seed is None or not run.trains or run.finds(_FALLS_BACK):
                continue
            dropout = _dropout(run)
            draw = dropout or _drawn_by(program, run, one)
            if draw is not None:
                yield CompiledDraw(one.site, seed, draw, dropout is None)
                break


def _dropout(run: EntryRun) -> Event | None:
    return next((event for event in run.events if event.name and surely_drops(event)), None)


def _drawn_by(program: Program, run: EntryRun, one: KnownCall) -> Event | None:
    """The first call of a function of torch that draws, in the `forward` of what is compiled or what that calls."""
    if not one.call.args or one.call.args[0].star:
        return None
    inside: set[tree.FunctionDef | tree.Lambda] = set()
    for value in program.ev.values(one.call.args[0].value, one.frame):
        forward = attributes.attribute(program.ev, value, "forward") if isinstance(value, Instance) else ()
        inside.update(method.function.node for method in forward if isinstance(method, MethodValue))
    return next((event for event in run.events if _draws(event) and _passes(event, inside)), None)


def _draws(event: Event) -> bool:
    """Whether a function of torch draws from its global generator."""
    if event.call is None or not event.name.startswith("torch.") or event.name.startswith("torch.nn."):
        return False
    if any(arg.keyword == "generator" for arg in event.call.args):
        return False
    return any(one.kind == "draw" and one.rng == "torch" for one in rng_effects(event.name))


def _passes(event: Event, inside: set[tree.FunctionDef | tree.Lambda]) -> bool:
    """Whether something happens in one of these functions, or in what it calls."""
    frames = (event.frame, *(link.frame for link in event.chain))
    return any(frame is not None and frame.scope.node in inside for frame in frames)


def _is_chosen(program: Program, one: KnownCall) -> bool:
    """Whether an option decides if the call runs: `if args.compile:`, `compile(net) if args.compile else net`."""
    for around in parents_of(program.ev, one.facts).around(one.call):
        match around:
            case tree.If(test=test) | tree.Conditional(test=test):
                if _OF_THE_MACHINE.isdisjoint(words_in([test])) and program.ev.truth(test, one.frame) is None:
                    return True
            case tree.FunctionDef():
                return False
    return False
