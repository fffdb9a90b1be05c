"""Calls by the name of a seeding helper of which nothing is known: what they seed is open, and that they do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.values import ClassValue, External, FunctionValue, MemberOf, MethodValue
from torchrepro_lint.program.running.callers import called_name, contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["calls_foreign_seeding"]

_SEED_WORD: Final = re.compile(r"seed|determinis|reproduc|randomness", re.IGNORECASE)
_MAY_SEED: Final = re.compile(_SEED_WORD.pattern.encode(), re.IGNORECASE)
_NOT_SEEDING: Final = re.compile(
    r"get_\w*seed\w*|initial_seed|\w*seed_?worker\w*|\w*worker_?(init|seed)\w*|parse_seed|add_seed\w*|seeds|get_deterministic\w*"
)


def calls_foreign_seeding(program: Program, path: Path) -> bool:
    """Whether a file calls something by the name of a seeding helper that is neither the project's own nor known."""
    return program.ev.remembered(("foreign-seeding", path), lambda: _find(program, path), False)


def _find(program: Program, path: Path) -> bool:
    if not program.project.holds(path, _MAY_SEED):
        return False
    facts = program.facts(path)
    if facts is None:
        return True
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            name = called_name(call.func) or ""
            if not _SEED_WORD.search(name) or _NOT_SEEDING.fullmatch(name):
                continue
            values = program.ev.values(call.func, contexts(program.ev, facts, scope)[0])
            for value in values or (None,):
                match value:
                    case FunctionValue() | MethodValue() | ClassValue():
                        continue
                    case External(name=outside):
                        if (
                            seeding_call(outside) is None
                            and not rng_effects(outside)
                            and not outside.startswith("torch.")
                        ):
                            return True
                    case MemberOf() if seeding_call(member_name(value) or "") is not None:
                        continue
                    case _:
                        if name not in ("seed", "manual_seed"):
                            return True
    return False
