"""What was seen on a GPU of the fixtures of a rule, and of small trainings that it is about, for the rule's page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from torchrepro_lint.console import counted
from torchrepro_lint.knowledge.gpu_evidence import GpuClaim, GpuTraining, gpu_claims, gpu_trainings

__all__ = ["gpu_evidence"]

_WIDTH = 116


def gpu_evidence(
    code: str, claims: Sequence[GpuClaim] | None = None, trainings: Sequence[GpuTraining] | None = None
) -> str:
    """A section "Seen on a GPU" for the rule with this code; empty where nothing was run there for it."""
    held = [one for one in (gpu_claims() if claims is None else claims) if one.rule == code]
    trained = [one for one in (gpu_trainings() if trainings is None else trainings) if code in one.rules.split()]
    places = dict.fromkeys([*map(_place, held), *map(_place, trained)])
    if not places:
        return ""
    lines = ["Seen on a GPU"]
    for place in places:
        device, torch, cuda, date = place
        lines.append(f"    On {device} with torch {torch}, CUDA {cuda}, {date}:")
        here = [one for one in held if _place(one) == place]
        if here:
            programs = counted(len({one.fixture for one in here}), "fixture")
            lines += _wrapped(f"{counted(len(here), 'claim')} of {programs} held")
        for one in trained:
            if _place(one) == place:
                outcome = f"cannot be trained ({one.alert})" if one.alert else one.result
                lines += _wrapped(f"training `{one.network}` with {one.variant}: {outcome}")
    return "\n".join(lines)


def _place(one: GpuClaim | GpuTraining) -> tuple[str, str, str, str]:
    return one.device, one.torch, one.cuda, one.date


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 12, break_on_hyphens=False, break_long_words=False
    )
