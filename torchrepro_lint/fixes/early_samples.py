"""Samples that are drawn before anything seeds torch: a generator makes an order repeat whose items do not.

data = make_toy_data(64)  # torch.randn
loader = DataLoader(data, shuffle=True)
torch.manual_seed(args.seed)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.program.evaluation.values import ClassValue, FunctionValue
from torchrepro_lint.program.loaders.worker_runs import effects_of
from torchrepro_lint.program.programs.idle_draws import is_idle
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.seeds.torch_seeds import torch_seed_at

if TYPE_CHECKING:
    from pathlib import Path

    from torchrepro_lint.program.evaluation.values import Value
    from torchrepro_lint.program.loaders.loaders import Loader
    from torchrepro_lint.program.program import Program

__all__ = ["are_drawn_unseeded", "restores_the_state"]

#: Where a checkpoint gives torch the state that it had: `torch.set_rng_state(checkpoint["rng"])`.
_RESTORED = re.compile(rb"(?<!cuda\.)\bset_rng_state\(\s*[\w.]+\s*(?:\[|\.get\()")


def are_drawn_unseeded(program: Program, loader: Loader) -> bool:
    """Whether torch may not be seeded yet where a loader is made, and a function or class of the project that makes its
    samples, in sight of the call, draws random numbers.
    """
    dataset = written_argument(loader.call, Parameter("dataset", 0))
    if dataset is None or torch_seed_at(program, loader.site).always:
        return False
    parts = list(walk([dataset]))
    given = [loader.scope.behind(part) for part in parts if isinstance(part, tree.Name)]
    calls = [one for one in (*parts, *walk(given)) if isinstance(one, tree.Call)]
    frame = frame_without_callers(program.ev, loader.facts, loader.scope)
    return any(_draws(program, value) for one in calls for value in program.ev.values(one.func, frame))


def _draws(program: Program, value: Value) -> bool:
    if not isinstance(value, FunctionValue | ClassValue):
        return False
    events = program.walker.calling(frozenset({value}))
    return any(
        effect.effect.kind == "draw" and effect.effect.moment == "call"
        for event in events
        if not is_idle(program.ev, event)
        for effect in effects_of(event)
    )


def restores_the_state(program: Program, path: Path) -> bool:
    """Whether a program that a file is part of keeps torch's state in its checkpoints: a resumed run goes on with its
    order, and would begin anew with that of a generator whose state nothing keeps.
    """
    return program.imports.any_together(path, _RESTORED)
