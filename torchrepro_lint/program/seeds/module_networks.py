"""Networks that a module makes at its top level when it is imported, of whose first weights nothing is left."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.running.reach import Event

if TYPE_CHECKING:
    from torchrepro_lint.program.programs.entry_path import EntryRun

__all__ = ["is_of_a_module_alone"]


def is_of_a_module_alone(run: EntryRun, event: Event) -> bool:
    """Whether what draws is given to a name of a module that the program imports, and the program never asks for that
    name, or loads weights into what has it.
    """
    imported = [at for at, link in enumerate(event.chain) if link.note.startswith("imports ")]
    if not imported:
        return False
    below = event.chain[imported[-1] + 1 :]
    site = below[0].site if below else event.site
    name = _name_given_at(run, site.path, site.number)
    if name is None:
        return False
    project = run.program.project
    if any(project.holds(path, _loads(name)) for path in sorted(run.files)):
        return True
    facts = run.program.facts(site.path)
    if facts is None or parents_of(run.program.ev, facts).reads(name):
        return False
    return not any(project.holds(path, _asks_for(name)) for path in sorted(run.files) if path != site.path)


def _name_given_at(run: EntryRun, path: Path, number: int) -> str | None:
    """The name that the statement of a module's top level assigns to in which a place is."""
    facts = run.program.facts(path)
    if facts is None:
        return None
    at = bisect_right(facts.body, number, key=lambda one: one.site) - 1
    match facts.body[at] if at >= 0 else None:
        case tree.Assign(targets=(tree.Name(id=name),)):
            return name
    return None


@cache
def _loads(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"\b%s\.load_state_dict\s*\(" % re.escape(name.encode()))


@cache
def _asks_for(name: str) -> re.Pattern[bytes]:
    """The name among what is imported, and as an attribute of a module."""
    word = re.escape(name.encode())
    return re.compile(
        rb"\bimport\b[^#\n]*(?:\b%s\b|\*)|\.%s\b(?!\s+import\b)|^\s*%s\s*,?\s*$" % (word, word, word), re.M
    )
