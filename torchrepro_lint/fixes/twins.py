"""Twins: one statement that stands twice among the same lines, at which a rule finds the same.

    # train_small.py                                         # train_large.py
    loader = DataLoader(images, shuffle=True)  # fixed       loader = DataLoader(images, shuffle=True)  # cannot be

They are fixed alike or not at all: who compares the copies would take the difference for one that was meant. In one
file that holds as well of a copy in which nothing is found, as where only an evaluation reads its list of files or
nothing calls a function that seeds, and of switches and of workers in any file; and in one file, of listings also where
the names differ in the part of the data: `test_files = os.listdir(test_folder)`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.diagnostics import Applicability, Edit, Finding
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.source.text import split_lines

if TYPE_CHECKING:
    from torchrepro_lint.fixes.files_alike import FilesAlike

__all__ = [
    "COPY_ELSEWHERE",
    "COPY_IS_LEFT",
    "FIXED_OTHERWISE",
    "TWIN_IS_LEFT",
    "files_with_copies",
    "rows_of",
    "unlike_twins",
]

TWIN_IS_LEFT = "a copy of these lines has the same finding, which cannot be fixed: they would differ"
COPY_IS_LEFT = "a copy of these lines in the file needs no fix, and would differ from them: change both"
COPY_ELSEWHERE = "a copy of these lines in another file needs no fix, and would differ from them: change both"
FIXED_OTHERWISE = "a copy of these lines would be seeded with something else: they would differ"

#: How many lines above and below a statement, blank ones aside, show what it is a copy of: those that a diff shows.
LINES_AROUND = 3
#: Which share of their words these lines have in common, at least, where one statement is a copy of the other.
MIN_ALIKE = 0.6
#: From how many words on such lines show it.
MIN_WORDS = 6
#: From how many words on a listing is a copy of one in the same words, wherever that is in the file.
MIN_WORDS_LISTED = 8
_DEF = re.compile(r"\s*(?:async\s+)?def\s")
_SEEDS = re.compile(r"seed|cudnn|deterministic", re.IGNORECASE)
_SEED = re.compile(r"\bmanual_seed\((.*)\)\s*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
#: What a call seeds with, and any other number: two helpers that differ in these are copies of each other.
_WITH = re.compile(r"(?<=seed)(_all)?\([^()]*\)")
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d*)?\b")
#: What is reported of splits and of what they are made from; of two loaders in the same words, one may be managed.
_OF_DATA = ("TRL202", "TRL207", "TRL208", "TRL209")
_LISTING, _LEFT_OUT = "TRL207", "TRL502"
#: Where a copy in the same file counts in which nothing is found.
_OF_ONE_FILE = (*_OF_DATA, _LEFT_OUT)
#: What is reported of lines that scripts of one project copy from each other: loaders, samplers, listings, switches.
_OF_SCRIPTS = ("TRL201", "TRL202", "TRL207", "TRL301")
#: Where a copy in any file counts in which nothing is found, switches and workers of loaders: the order of a loader
#: or a listing of a file that nothing runs, or that only an evaluation does, is seldom compared. Of TRL502 those count
#: in helpers that seed, not in other scripts, of which one may draw from less than another.
_OF_ANY_COPY = ("TRL1", "TRL301")
#: What does not count in a statement: its layout, and comments at the ends of its lines.
_LAYOUT = re.compile(r"#[^\n\r\"']*$|\s+|,(?=\s*[)\]}])", re.MULTILINE)
_COMMENT = re.compile(r"#[^\"']*$")
#: The rows of a statement, and what gives the lines of a file.
_Place: TypeAlias = tuple[Path, int, int]
_Lines: TypeAlias = Callable[[Path], Sequence[str]]


def unlike_twins(
    fixed: Sequence[Finding],
    left: Sequence[Finding],
    text: Callable[[Path], str],
    files: FilesAlike | None = None,
    elsewhere: Sequence[Finding] = (),
) -> list[tuple[Finding, str]]:
    """Those of the findings to be fixed of which a twin is left, or would be fixed with another seed, and why they are
    to be left as well. `text` gives the Python text of a file, `files` those in which a copy may be. Those `elsewhere`
    could be fixed as well, and are only compared.
    """
    pages = _Pages(text)
    asked = set(map(id, fixed))
    fixed = [*fixed, *elsewhere]
    groups: defaultdict[tuple[str, str], tuple[list[Finding], list[Finding]]] = defaultdict(lambda: ([], []))
    codes = {one.code for one in fixed}
    beside = [one for one in left if one.code in codes]  # not what says that a file cannot be read
    for findings, is_left in ((fixed, False), (beside, True)):
        for finding in findings:
            groups[finding.code, pages.statement(finding.location.path, *_rows(finding))][is_left].append(finding)
    known = _rows_known(fixed, beside, pages)
    found: list[tuple[Finding, str]] = []
    for ours, others in groups.values():
        seeds = {id(one): _seeds(one) for one in ours}
        for one in ours:
            if id(one) not in asked:
                continue
            if any(_counts_beside(one, other, files) and pages.are_copies(one, other) for other in others):
                found.append((one, TWIN_IS_LEFT))
            elif any(
                one.location.path != other.location.path
                and seeds[id(one)] != seeds[id(other)]
                and pages.are_copies(one, other)
                for other in ours
            ):  # in one file numbers tell them apart
                found.append((one, FIXED_OTHERWISE))
            elif one.code in _OF_ONE_FILE and pages.has_copy_in(
                one.location.path, one, known, of_any_part=one.code == _LISTING
            ):
                found.append((one, COPY_IS_LEFT))
            elif (
                files is not None
                and (one.code.startswith(_OF_ANY_COPY) or _is_of_a_helper(one, pages))
                and any(
                    pages.has_copy_in(other, one, known)
                    for other in files.holding(one.location.path, pages.first_line(one))
                )
            ):
                found.append((one, COPY_ELSEWHERE))
    return found


def files_with_copies(
    findings: Iterable[Finding], text: Callable[[Path], str], files: FilesAlike, besides: Set[Path]
) -> set[Path]:
    """The other files, `besides` some, in which a copy of what a finding is in would count."""
    pages = _Pages(text)
    return {
        other
        for one in findings
        if one.code in _OF_SCRIPTS or one.code.startswith(_OF_ANY_COPY) or _is_of_a_helper(one, pages)
        for other in files.holding(one.location.path, pages.first_line(one))
        if other not in besides and pages.has_copy_in(other, one, {})
    }


def _is_of_a_helper(one: Finding, pages: _Pages) -> bool:
    """Whether a finding is about a generator that a helper such as `seed_everything` leaves out."""
    return one.code == _LEFT_OUT and pages.is_in_a_helper_that_seeds(one)


def _rows_known(fixed: Sequence[Finding], left: Iterable[Finding], pages: _Pages) -> Mapping[Path, Set[int]]:
    """The rows of each file at which something is found, or which a fix changes."""
    rows: defaultdict[Path, set[int]] = defaultdict(set)
    for finding in (*fixed, *left):
        rows[finding.location.path].update(rows_of(finding))
    for finding in fixed:
        for edit in finding.fix.edits if finding.fix is not None else ():
            rows[edit.path].update(pages.rows(edit))
    return rows


class _Pages:
    """The lines of files, compared."""

    def __init__(self, text: Callable[[Path], str]) -> None:
        self.text = cache(text)
        self.lines = cache(lambda path: split_lines(self.text(path)))
        self._without_parts = cache(lambda path: [_without_parts(line) for line in self.lines(path)])
        self._without_seeds = cache(lambda path: [_without_seeds(line) for line in self.lines(path)])
        self._around = cache(self._words_around)
        self._body = cache(self._function_rows)
        self._ends = cache(lambda path: list(accumulate(map(len, self.lines(path)))))
        self._filled = cache(lambda path, written: [row for row, line in enumerate(written(path), 1) if line.strip()])
        self._heads: dict[tuple[Path, _Lines], Mapping[str, Sequence[int]]] = {}

    def statement(self, path: Path, first: int, last: int, written: _Lines | None = None) -> str:
        """What stands in rows of a file, without its layout."""
        return _LAYOUT.sub("", "".join((written or self.lines)(path)[first - 1 : last]))

    def rows(self, edit: Edit) -> range:
        """The rows of a file that an edit changes."""
        ends = self._ends(edit.path)
        return range(bisect_right(ends, edit.start) + 1, bisect_right(ends, edit.end) + 2)

    def are_copies(self, one: Finding, other: Finding) -> bool:
        if one.location.path == other.location.path and one.location.start == other.location.start:
            return False  # two findings of one place
        return self._are_alike((one.location.path, *_rows(one)), (other.location.path, *_rows(other)))

    def has_copy_in(
        self, other: Path, one: Finding, known: Mapping[Path, Set[int]], *, of_any_part: bool = False
    ) -> bool:
        """Whether a file has a copy of the statement of a finding in other rows than those that are known; with
        `of_any_part` also one for another part of the data. Of helpers that seed also one with another seed.
        """
        path, (first, last) = one.location.path, _rows(one)
        written: _Lines = self._without_parts if of_any_part else self.lines
        if one.code == _LEFT_OUT:
            written = self._without_seeds
        head, wanted = (self.statement(path, first, end, written) for end in (first, last))
        # Two listings in the same words list the same kind of files, whatever stands around them.
        words = _WORD.findall(" ".join(self.lines(path)[first - 1 : last]))
        is_listed_here = one.code == _LISTING and other == path and len(words) >= MIN_WORDS_LISTED
        if (other, written) not in self._heads:
            self._heads[other, written] = _by_head(written(other), known.get(other, frozenset()))
        beside = ((row, row + last - first) for row in self._heads[other, written].get(head, ()))
        return any(
            self.statement(other, *rows, written) == wanted
            and (is_listed_here or self._are_alike((path, first, last), (other, *rows), written))
            and not (one.code == _LEFT_OUT and self._has_what_is_inserted(one, other, rows))
            and not (one.code == _LEFT_OUT and other == path and self._seed_otherwise(path, (first, last), rows))
            for rows in beside
        )

    def _has_what_is_inserted(self, one: Finding, other: Path, rows: tuple[int, int]) -> bool:
        """Whether the function around rows of a file has the seeds that the fix of a finding sets."""
        inserted = (line.strip() for edit in one.fix.edits for line in edit.content.splitlines()) if one.fix else ()
        seeds = {_without_seeds(line) for line in inserted if _SEEDS.search(line)}
        return seeds <= self._seeds_around(other, rows).keys()

    def _seed_otherwise(self, path: Path, *places: tuple[int, int]) -> bool:
        """Whether the functions around two places of a file seed other generators, or one of them is no function."""
        here, there = (self._seeds_around(path, rows) for rows in places)
        return not here or here != there

    def _seeds_around(self, path: Path, rows: tuple[int, int]) -> Counter[str]:
        """The lines that seed something in the function around rows of a file, without what they seed with."""
        body = self._body(path, *rows, self.lines)
        lines = self._without_seeds(path)[body.start - 1 : body.stop - 1] if body is not None else ()
        return Counter(line.strip() for line in lines if _SEEDS.search(line))

    def first_line(self, one: Finding) -> str:
        """What stands on the first row of the statement of a finding, without a comment; of a seed up to what it is."""
        line = _COMMENT.sub("", self.lines(one.location.path)[_rows(one)[0] - 1]).strip()
        return line.partition("(")[0] if one.code == _LEFT_OUT else line

    def _are_alike(self, one: _Place, other: _Place, written: _Lines | None = None) -> bool:
        """Whether the lines around two statements have enough words in common; or those of them that are in the
        functions around both, since what stands above and below a function has no part in it.
        """
        written = written or self.lines
        if _have_enough_in_common(*(self._around(*at, written) for at in (one, other))):
            return True
        bodies = [self._body(*at, written) for at in (one, other)]
        return all(bodies) and _have_enough_in_common(
            *(self._around(*at, written, body) for at, body in zip((one, other), bodies, strict=True))
        )

    def _words_around(
        self, path: Path, first: int, last: int, written: _Lines, within: range | None = None
    ) -> Counter[str]:
        lines, filled = written(path), self._filled(path, written)
        before, after = bisect_left(filled, first), bisect_right(filled, last)
        rows = (*filled[max(0, before - LINES_AROUND) : before], *filled[after : after + LINES_AROUND])
        if within is not None and self.only_seeds(path, within):
            rows = (*filled[:before], *filled[after:])
        return Counter(_WORD.findall(" ".join(lines[row - 1] for row in rows if within is None or row in within)))

    def _function_rows(self, path: Path, first: int, last: int, written: _Lines) -> range | None:
        """The rows of the body of the function around a statement; None for one at the top of a file."""
        lines, filled = written(path), self._filled(path, written)
        depth, at = _depth(lines[first - 1]), bisect_left(filled, first) - 1
        while at >= 0 and depth > 0:
            line = lines[filled[at] - 1]
            if _depth(line) < depth and not line.lstrip().startswith(")"):
                depth = _depth(line)
                if _DEF.match(line):
                    break
            at -= 1
        else:
            return None
        end = next((row for row in filled[bisect_right(filled, last) :] if _depth(lines[row - 1]) <= depth), None)
        return range(filled[at] + 1, end if end is not None else len(lines) + 1)

    def only_seeds(self, path: Path, rows: range) -> bool:
        """Whether at least half of the lines of a function seed something or switch to determinism."""
        filled = [line for row in rows if (line := self.lines(path)[row - 1].strip()) and not line.startswith("#")]
        return 2 * sum(_SEEDS.search(line) is not None for line in filled) >= len(filled)

    def is_in_a_helper_that_seeds(self, one: Finding) -> bool:
        """Whether a finding is in a function that does little but seed."""
        path, (first, last) = one.location.path, _rows(one)
        body = self._body(path, first, last, self.lines)
        return body is not None and self.only_seeds(path, body)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _have_enough_in_common(here: Counter[str], there: Counter[str]) -> bool:
    if min(here.total(), there.total()) < MIN_WORDS:
        return False
    return 2 * (here & there).total() >= MIN_ALIKE * (here.total() + there.total())


def _by_head(lines: Sequence[str], known: Set[int]) -> Mapping[str, Sequence[int]]:
    """The rows but for those that are known, by what stands there without its layout."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, line in enumerate(lines, start=1):
        if row not in known:
            rows[_LAYOUT.sub("", line)].append(row)
    return rows


@cache
def _parts() -> re.Pattern[str]:
    words = "|".join(function_words(table).pattern for table in ("means_training", "means_evaluation"))
    return re.compile(rf"(?<![a-z])(?:{words})_|(?:_|(?<![a-z]))(?:{words})(?![a-z])", re.IGNORECASE)


def _without_parts(line: str) -> str:
    """A line without the words of its names that say for which part of the data it is."""
    return _parts().sub("", line)


def _without_seeds(line: str) -> str:
    """A line without its numbers, and without what a call seeds with."""
    return _NUMBER.sub("0", _WITH.sub(r"\1()", line))


def _counts_beside(one: Finding, other: Finding, files: FilesAlike | None) -> bool:
    """Whether a finding that is left is told apart from one that is fixed: not one whose fix is unsafe in another file,
    but for those that scripts have of each other, in files that are kept.
    """
    is_unsafe = other.fix is not None and other.fix.applicability is not Applicability.SAFE
    path = other.location.path
    if not is_unsafe or one.location.path == path:
        return True
    return one.code in _OF_SCRIPTS and files is not None and files.is_kept(path)


def rows_of(finding: Finding) -> range:
    """The rows of the statement that a finding is in."""
    first, last = _rows(finding)
    return range(first, last + 1)


def _rows(finding: Finding) -> tuple[int, int]:
    return finding.statement_rows or (finding.location.start.row, finding.location.end.row)


def _seeds(finding: Finding) -> frozenset[str]:
    """What the fix of a finding seeds with."""
    edits = finding.fix.edits if finding.fix is not None else ()
    return frozenset(seed for edit in edits for seed in _SEED.findall(edit.content))
