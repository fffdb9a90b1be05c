"""Calls by the name of a seeding helper of which nothing is known: what they seed is open, and that they do."""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.rng import rng_effects
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.values import ClassValue, External, FunctionValue, MemberOf, MethodValue
from torchrepro_lint.program.running.callers import called_name, contexts

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["calls_foreign_seeding"]


def calls_foreign_seeding(program: Program, files: frozenset[Path]) -> bool:
    """Whether one of the files calls something by the name of a seeding helper that is neither the project's own nor
    known.
    """
    return any(
        program.ev.remembered(("foreign-seeding", path), partial(_find, program, path), False)
        for path in program.imports.ordered(files)
    )


@cache
def _in_a_file() -> re.Pattern[bytes]:
    return re.compile(function_words("may_seed").pattern.encode(), re.IGNORECASE)


def _find(program: Program, path: Path) -> bool:
    may_seed, gives_a_seed = function_words("may_seed"), function_words("gives_a_seed")
    if not program.project.holds(path, _in_a_file()):
        return False
    facts = program.facts(path)
    if facts is None:
        return True
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            name = called_name(call.func) or ""
            if not may_seed.search(name) or gives_a_seed.fullmatch(name):
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
