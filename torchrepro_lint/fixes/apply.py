"""Putting edits into a text, and choosing which fixes may go in together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TypeAlias

from torchrepro_lint.diagnostics import Edit, Fix
from torchrepro_lint.source.text import split_lines

__all__ = ["NAMES_OF_RANKS", "apply_edits", "in_order", "merge_edits", "select_compatible", "touched_rows"]

_DEFINITION = re.compile(r"^def (\w+)", re.MULTILINE)
_VARIABLE = re.compile(r"""\benviron\.setdefault\(["'](\w+)""")
_GENERATOR = re.compile(r"^([ \t]*)(\w+) = [\w.]*Generator\(", re.MULTILINE)
#: What a variable with the rank of the process may be called.
NAMES_OF_RANKS = ("rank", "global_rank", "process_rank")
_RANK = re.compile(rf"^[ \t]+({'|'.join(NAMES_OF_RANKS)}) = ", re.MULTILINE)
_Insertions: TypeAlias = dict[tuple[Path, int], list[str]]


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """The edits by file and place. Insertions at one place stay in the order in which they are given: it counts."""
    return sorted(edits, key=lambda edit: (edit.path, edit.start, edit.end))


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text of one file with `edits` made in it. Insertions at one offset keep the order in which they are given.

    Raises ValueError when edits overlap, lie outside the text, or belong to different files.
    """
    ordered = in_order(edits)
    if len({edit.path for edit in ordered}) > 1:
        raise ValueError("edits of different files")
    parts: list[str] = []
    done = 0
    for edit in ordered:
        if not 0 <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit.start}:{edit.end} lies outside a text of {len(text)} characters")
        if edit.start < done:
            raise ValueError(f"edit {edit.start}:{edit.end} overlaps the one before it")
        parts.append(text[done : edit.start])
        parts.append(edit.content)
        done = edit.end
    parts.append(text[done:])
    return "".join(parts)


def select_compatible(fixes: Sequence[Fix]) -> list[Fix]:
    """The fixes that can be made in one round, in order of position: of two that conflict, the first wins.

    An edit that several fixes have in common (the same `import random` at the same place) is not a conflict; it is made
    once. Different insertions at one offset go together only where those of one fix are among those of the other, in
    the same order, so that the result does not depend on the order in which the fixes are made.
    """
    chosen: list[Fix] = []
    waiting = _waiting(fixes)
    taken: set[Edit] = set()
    defined: set[tuple[Path, str]] = set()
    insertions: _Insertions = {}
    for fix in sorted(fixes, key=_place):
        own = _insertions(fix.edits)
        if id(fix) in waiting or not _fits(fix, taken, defined, own, insertions):
            continue
        chosen.append(fix)
        taken.update(fix.edits)
        for edit in fix.edits:
            defined |= _definitions(edit) | _variables(edit) | _generators(edit, of_the_module=True) | _ranks(edit)
        for place, contents in own.items():
            if len(contents) > len(insertions.get(place, ())):
                insertions[place] = contents
    return chosen


def merge_edits(fixes: Iterable[Fix]) -> dict[Path, list[Edit]]:
    """The edits of fixes that `select_compatible` chose, by file, each shared edit once."""
    fixes = list(fixes)
    # Of the fixes with insertions at one offset one has them all: that with the most says in which order they come.
    insertions: dict[tuple[Path, int], list[Edit]] = {}
    for fix in fixes:
        for place, contents in _insertions(fix.edits).items():
            own = [Edit(*place, place[1], content) for content in contents]
            insertions[place] = max(insertions.get(place, []), own, key=len)
    by_path: dict[Path, dict[Edit, None]] = {}
    for edit in chain(*insertions.values(), *(fix.edits for fix in fixes)):
        by_path.setdefault(edit.path, {})[edit] = None
    return {path: sorted(edits, key=_range) for path, edits in sorted(by_path.items())}


def _place(fix: Fix) -> tuple[str, int, int]:
    return min(((str(edit.path), edit.start, edit.end) for edit in fix.edits), default=("", 0, 0))


def _range(edit: Edit) -> tuple[int, int]:
    return (edit.start, edit.end)


def _insertions(edits: Sequence[Edit]) -> _Insertions:
    own = [edit for edit in edits if edit.start == edit.end]
    own.sort(key=lambda edit: (edit.path, edit.start))
    return {
        place: list(dict.fromkeys(edit.content for edit in group))
        for place, group in groupby(own, key=lambda edit: (edit.path, edit.start))
    }


def _waiting(fixes: Sequence[Fix]) -> set[int]:
    """The ids of the fixes that would define what another file, from which it could be imported, is about to be given;
    and of those that make the same generator as one of them, so that a call gets both arguments in their usual order.

    Two files of which each could import from the other do not wait for each other: the first of them is given it.
    """
    defined = {id(fix): {place for edit in fix.edits for place in _definitions(edit)} for fix in fixes}
    planned = set().union(*defined.values())

    def may_wait(fix: Fix, others: set[tuple[Path, str]]) -> bool:
        return any((path, name) in others for path in fix.after for _, name in defined[id(fix)])

    waiting: set[int] = set()
    going: set[tuple[Path, str]] = set()
    for fix in sorted(fixes, key=lambda one: (may_wait(one, planned), _place(one))):
        if may_wait(fix, going):
            waiting.add(id(fix))
        else:
            going |= defined[id(fix)]
    shared = {edit for fix in fixes if id(fix) in waiting for edit in fix.edits if _generators(edit)}
    return waiting | {id(fix) for fix in fixes if not shared.isdisjoint(fix.edits)}


def _fits(
    fix: Fix, taken: set[Edit], defined: set[tuple[Path, str]], own: _Insertions, insertions: _Insertions
) -> bool:
    for edit in fix.edits:
        if edit in taken:
            continue
        if any(edit.path == other.path and _overlap(edit, other) for other in taken):
            return False
        # Two definitions of one name at different places: the second fix finds and uses the first in the next round.
        if not defined.isdisjoint(_definitions(edit) | _variables(edit) | _generators(edit) | _ranks(edit)):
            return False
    for place, contents in own.items():
        fewer, more = sorted((contents, insertions.get(place, [])), key=len)
        left = iter(more)
        if not all(content in left for content in fewer):
            return False
    return True


def _definitions(edit: Edit) -> set[tuple[Path, str]]:
    return {(edit.path, name) for name in _DEFINITION.findall(edit.content)}


def _variables(edit: Edit) -> set[tuple[Path, str]]:
    """The variables of the environment that an edit sets."""
    return {(edit.path, name) for name in _VARIABLE.findall(edit.content)}


def _generators(edit: Edit, *, of_the_module: bool = False) -> set[tuple[Path, str]]:
    """The names to which an edit gives a generator; with `of_the_module`, in the lines that are not indented."""
    found = _GENERATOR.findall(edit.content)
    return {(edit.path, name) for indentation, name in found if not (of_the_module and indentation)}


def _ranks(edit: Edit) -> set[tuple[Path, str]]:
    """The names to which an edit gives the rank of the process, for the generators below it as well."""
    return {(edit.path, name) for name in _RANK.findall(edit.content)} if edit.start == edit.end else set()


def _overlap(edit: Edit, other: Edit) -> bool:
    if edit.start == edit.end and other.start == other.end:
        return False  # two insertions: their order is looked at apart
    return edit.start < other.end and other.start < edit.end


def touched_rows(text: str, edits: Sequence[Edit]) -> set[int]:
    """The rows of a new text that edits, given by their offsets in the old one, have written."""
    rows: set[int] = set()
    shift = 0
    for edit in in_order(edits):
        start = edit.start + shift
        end = start + len(edit.content)
        first = len(split_lines(text[:start] + "|"))
        rows.update(range(first, first + len(split_lines(text[start:end] + "|"))))
        shift += len(edit.content) - (edit.end - edit.start)
    return rows
