"""Comments beside a seed that say why it is set so: for other numbers in every run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchrepro_lint.source.cells import is_notebook

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.values import Site
    from torchrepro_lint.program.program import Program

__all__ = ["says_why"]

#: What a comment says that wants other numbers.
_WANTS_OTHERS: Final = re.compile(
    r"\b(?:differ\w*|fresh|unique\w*|another|var(?:y|ies|ied)|avoid\w*|each|every|entropy|restor\w*|un-?seed\w*"
    r"|re-?randomi[sz]e\w*|randomi[sz]e\w*|non-?determin\w*|(?:not|n't|never)\b.{0,30}\b(?:same|repeat\w*|identical\w*))\b",
    re.IGNORECASE,
)
_WANTS_THE_SAME: Final = re.compile(r"\breproduc|\brepeatab|(?<!non-)(?<!non)(?<!in)\bdetermin", re.IGNORECASE)
_MOST_LINES: Final = 4


def says_why(program: Program, site: Site) -> bool:
    """Whether the comment behind a statement, or those right above it, say that other numbers are wanted."""
    text = _comments_at(program, site)
    return _WANTS_OTHERS.search(text) is not None and _WANTS_THE_SAME.search(text) is None


def _comments_at(program: Program, site: Site) -> str:
    source = program.project.source(site.path)
    if source is None or is_notebook(site.path):
        return ""
    place = program.location(site)
    lines = source.text.splitlines()
    said = [lines[row - 1].partition("#")[2] for row in range(place.start.row, place.end.row + 1) if row <= len(lines)]
    for row in range(place.start.row - 1, max(place.start.row - 1 - _MOST_LINES, 0), -1):
        line = lines[row - 1].strip()
        if not line.startswith("#"):
            break
        said.append(line)
    return " ".join(said)
