"""Dropout of networks that an option compiles: compiled code draws other numbers than the same code run eagerly.

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
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.ops.dropout_rates import surely_drops
from torchrepro_lint.program.running.entry_path import EntryRun, entry_runs
from torchrepro_lint.program.running.known_calls import KnownCall, asked_calls
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run
from torchrepro_lint.program.switches.intent import Evidence

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["CompiledDraw", "compiled_draws"]

#: What makes compiled code draw as eager code does, or says that it is not compared with that.
_FALLS_BACK: Final = re.compile(rb"fallback_random|align_random_eager")
#: What a test asks that the machine decides, and not who runs the program.
_OF_THE_MACHINE: Final = frozenset({"hasattr", "version", "__version__", "device", "cuda", "is_available", "platform"})


@dataclass(frozen=True, slots=True)
class CompiledDraw:
    """A call that compiles a network where an option says so, torch's seed, and dropout that the program runs."""

    compile: Site
    seed: Evidence
    draw: Event


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
            if seed is None or not run.trains or run.finds(_FALLS_BACK) or (draw := _dropout(run)) is None:
                continue
            yield CompiledDraw(one.site, seed, draw)
            break


def _dropout(run: EntryRun) -> Event | None:
    return next((event for event in run.events if event.name and surely_drops(event)), None)


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
