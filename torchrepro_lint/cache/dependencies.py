"""What the result of a run depends on, beside the texts of its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchrepro_lint.program.looks import Looks

__all__ = ["Dependencies"]


@dataclass(slots=True)
class Dependencies:
    """What the rules have looked up. `outside`: for the root of each project, the variables that files which are not
    Python were searched for, and what was found. `looks`: what was asked of the texts of each project; None if that is
    not known.
    """

    outside: dict[Path, dict[str, bool | str]] = field(default_factory=dict)
    looks: list[Looks | None] = field(default_factory=list)
