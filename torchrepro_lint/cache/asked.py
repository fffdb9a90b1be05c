"""What the answer of a run rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchrepro_lint.program.looks import Looks

__all__ = ["Asked"]


@dataclass(slots=True)
class Asked:
    """What a run has asked. `outside`: for each project's root the variables that files beside the Python ones were
    searched for, and what was found. `looks`: what was asked of the texts of each project; None where it is not known.
    """

    outside: dict[Path, dict[str, bool | str]] = field(default_factory=dict)
    looks: list[Looks | None] = field(default_factory=list)
