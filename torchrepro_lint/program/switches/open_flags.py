"""Where a program may ask torch for deterministic algorithms, by a value that is known only when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.knowledge.switches import call_switches
from torchrepro_lint.program.intent.intent import running_modules
from torchrepro_lint.program.loaders.worker_runs import condition_holds
from torchrepro_lint.program.running.known_calls import KnownCall, all_calls

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["with_open_flag"]

_FLAGS: Final = frozenset({"torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode"})
_OFF: Final = "algorithms-off"


def with_open_flag(program: Program) -> frozenset[Path]:
    """The modules whose run reaches `torch.set_deterministic_debug_mode(mode)`, say, of which nothing proves that it
    switches the flag off: there an operation may run under it.
    """
    nothing: frozenset[Path] = frozenset()
    return program.ev.of_project("open-flags", lambda: _find(program), nothing)


def _find(program: Program) -> frozenset[Path]:
    found: set[Path] = set()
    for group in all_calls(program, _FLAGS):
        if any(not _switches_off(call) for call in group):
            found |= running_modules(program.ev, group[0].facts, group[0].scope)
    return frozenset(found)


def _switches_off(call: KnownCall) -> bool:
    return any(
        switch.effect == _OFF and all(condition_holds(condition, call.arguments) is True for condition in switch.when)
        for switch in call_switches(call.name)
    )
