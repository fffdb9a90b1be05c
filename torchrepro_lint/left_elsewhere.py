"""Fixes that are safe by themselves, and unsafe beside what the project keeps elsewhere: the first of several loaders
would get a generator, and the next one goes on to draw its order from torch's global generator, in the same file or in
another script. Whoever merges the fix takes the project for done.

So a fix of an order is safe where no other order is left, after all safe fixes, and nothing else that makes runs of its
program differ; that of a split, where no other split is; that of workers, of a listing or of a switch, where the same
rule finds no other place that no safe fix mends; and that of a seed, where no other program leaves out the same
generator, be it reported or not.
That is asked of all projects of a repository that a run is about, and again of the texts that each round of fixes has.
What is left of workers may in the same file be a loader of an evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.diagnostics import Finding, Location, Severity
from torchrepro_lint.knowledge.rng import WRITTEN_SEEDS
from torchrepro_lint.suppression import NO_GENERATOR, OF_WORKERS, merged

if TYPE_CHECKING:
    from torchrepro_lint.program.seeds.programs_in_part import SeededInPart
    from torchrepro_lint.rules.orders import Drawn, What

__all__ = [
    "Checks",
    "are_of_one_kind",
    "beside_a_rejected_fix",
    "compared_with",
    "unsafe_beside_others",
    "without_safe_parts",
]

_NO_GENERATOR_OF_A_SAMPLER: Final = "TRL202"
#: The rules whose fixes give an order, or a split, a generator of its own.
OF_ORDERS: Final = frozenset({NO_GENERATOR, _NO_GENERATOR_OF_A_SAMPLER, *OF_WORKERS})
_LISTING, _WORKERS = "TRL207", "TRL101"
#: The rules of which all loaders of a project are mended or none.
_OF_LOADERS: Final = frozenset({_WORKERS, "TRL102", "TRL103", "TRL104", "TRL105"})
_SEARCH: Final = "TRL510"
_LEFT_OUT: Final = "TRL502"
_SWITCH: Final = "TRL301"
#: Those of which all places are that are reported by default: listings, cuDNN's switches, generators without a seed or
#: left out of one, and searches; of these also the ones in programs that seed nothing.
_OF_PLACES: Final = frozenset({_LISTING, _SWITCH, "TRL302", "TRL203", _LEFT_OUT, _SEARCH})
_SPLIT: Final[What] = "random split"
#: What makes two runs with one seed differ. The order of a loader that repeats already is not worth a change beside it.
_RUNS_DIFFER: Final = frozenset(
    {_WORKERS, "TRL203", _LISTING, "TRL208", "TRL213", "TRL214", _SWITCH, "TRL302", "TRL402", _LEFT_OUT}
)
#: Of these what counts beside an order that an option moves as well: a generator that the program draws from and never
#: seeds makes all runs differ, not only those with other options.
_EACH_RUN_DIFFERS: Final = frozenset({_LEFT_OUT})
#: What else a program may have beside which a fix is half of a mend, by the code of its rule, and how that is said.
_BESIDE: Final = {
    NO_GENERATOR: (_RUNS_DIFFER, "two runs with one seed differ as it is"),
    _LEFT_OUT: (frozenset({"TRL503", "TRL504"}), "two runs differ as it is"),
}
#: Which share of their words two loaders have in common, at least, where the one that was put aside counts as well.
MIN_COMMON: Final = 0.6


@dataclass(frozen=True, slots=True)
class Checks:
    """What is known of the loaders of a project: the findings before comments and settings were asked, and after it;
    the places that draw from the global generator, and those that list a folder and keep the order; the loaders of
    whose workers nothing is known; the programs that seed some generators and draw from others, each with its place;
    the files that are kept like the rest of the project; which findings are left to the strict profile; and whether a
    program has two files.
    """

    found: Sequence[Finding]
    told: Sequence[Finding]
    drawn: Sequence[Drawn]
    listed: Sequence[Location]
    workers: Sequence[Location]
    in_part: Sequence[tuple[Location, SeededInPart]]
    kept: Set[Path]
    is_left_to_strict: Callable[[Finding], bool]
    are_together: Callable[[Path, Path], bool]


def compared_with(findings: Iterable[Finding]) -> frozenset[str]:
    """The rules of which a finding elsewhere may make a safe fix of these unsafe; none where none may."""
    safe = frozenset(one.code for one in findings if one.is_fixed_safely)
    of_loaders = OF_ORDERS | _OF_LOADERS
    return (frozenset() if safe.isdisjoint(of_loaders) else of_loaders) | (safe & _OF_PLACES)


def gives_a_generator(finding: Finding) -> bool:
    """Whether the fix of a finding gives an order, a split or the seeds of workers a generator."""
    return finding.code in OF_ORDERS and finding.fix is not None and "generator" in finding.fix.message


def without_safe_parts(findings: Iterable[Finding], made_unsafe: Mapping[Hashable, Finding]) -> list[Finding]:
    """The findings, where those of `unsafe_beside_others` have an unsafe fix."""
    return [made_unsafe.get(_key(one), one) if one.is_fixed_safely else one for one in findings]


def unsafe_beside_others(
    checks: Sequence[Checks], fixed: Sequence[Finding], root: Path
) -> tuple[dict[Hashable, Finding], list[Finding]]:
    """The findings with a safe fix that is unsafe beside what is left of its kind in the projects, one or several of
    one repository, of which the `checks` tell; and beside each of these in turn. And those of the findings that are
    `fixed` in these projects beside which one is left in the end. Reasons name a place by where it lies below `root`.
    """
    found: dict[Hashable, Finding] = {}
    while more := _beside_others([one for each in checks for one in each.told], checks, root):
        found.update((_key(one), one) for one in more)
        checks = [replace(one, told=without_safe_parts(one.told, found)) for one in checks]
    return found, _beside_others(fixed, checks, root)


def _beside_others(findings: Sequence[Finding], checks: Sequence[Checks], root: Path) -> list[Finding]:
    left = {
        by_default: [one for each in checks for one in _left(each, by_default=by_default)]
        for by_default in (False, True)
    }
    drawn = {one.location: one for each in checks for one in each.drawn}
    of_one_kind = [
        one
        for each in checks
        for one in each.told
        if one.location.path in each.kept and _is_left_of_its_kind(one, is_left_out=each.is_left_to_strict(one))
    ]
    listed = [one for each in checks for one in _listed(each)]
    silenced = {one.location for each in checks for one in each.told if one.code in OF_WORKERS}
    unknown = [one for each in checks for one in each.workers if one not in silenced]
    in_part = [one for each in checks for one in _in_part(each)]
    found = []
    for one in (one for one in findings if one.is_fixed_safely):
        reason = _why_unsafe(one, left[not one.is_for_strict_alone], drawn.get(one.location), of_one_kind, root)
        if reason is None and one.code == NO_GENERATOR:
            beside = next((each for own in checks for each in _beside_in_its_file(one, own)), None)
            if beside is not None:
                reason = f"another shuffling loader of the file ({_said_of(beside, root)}) keeps torch's global RNG"
        other = next((each for each in listed if each != one.location), None) if one.code == _LISTING else None
        if reason is None and other is not None:
            reason = f"no safe fix sorts another listing ({_said_of(other, root)})"
        workers = next((each for each in unknown if each != one.location), None) if one.code == _WORKERS else None
        if reason is None and workers is not None:
            reason = f"nothing tells what the workers of another loader run ({_said_of(workers, root)})"
        if reason is None and one.code == _LEFT_OUT:
            seeded = _seeded_by(one)
            beside = next((at for at, rngs in in_part if at != one.location and not rngs.isdisjoint(seeded)), None)
            if beside is not None:
                reason = f"another program leaves out the same ({_said_of(beside, root)}), and no safe fix mends it"
        if reason is None and one.code in _BESIDE:
            codes, said = _BESIDE[one.code]
            if one.code == NO_GENERATOR and not one.repeats:
                codes = codes & _EACH_RUN_DIFFERS
            stays = next((each for own in checks for each in _left_in_its_program(one, own, codes)), None)
            if stays is not None:
                reason = f"{said} ({stays.code}, {_said_of(stays.location, root)}), and no safe fix mends that"
        if reason is not None:
            found.append(_unsafe(one, reason))
    return found


def _left_in_its_program(finding: Finding, checks: Checks, codes: Set[str]) -> Iterator[Finding]:
    """What these rules report by default in a program of a finding, and no safe fix mends."""
    path = finding.location.path
    for one in checks.told:
        if one.code in codes and not one.is_for_strict_alone and not one.is_fixed_safely:
            if checks.are_together(path, one.location.path):
                yield one


def _beside_in_its_file(finding: Finding, checks: Checks) -> Iterator[Location]:
    """The other training loaders in the file of a fixed one that keep the global generator, since nothing shows that an
    option moves their order: who reads the fix sees them a few lines further on.
    """
    for one in checks.told:
        if one.code == NO_GENERATOR and one.repeats and one.left_to_strict is None:
            is_left_out = not finding.is_for_strict_alone and checks.is_left_to_strict(one)
            is_mended = one.is_fixed_safely and not is_left_out
            if one.location.path == finding.location.path and one.location != finding.location and not is_mended:
                yield one.location


def _in_part(checks: Checks) -> Iterator[tuple[Location, frozenset[str]]]:
    """The programs that after all safe fixes seed some generators and draw from others, each with the latter; but for
    those of which a comment or the settings say that they are to.
    """
    told = [one for one in checks.told if one.code == _LEFT_OUT]
    mended = [one for one in told if one.is_fixed_safely and not checks.is_left_to_strict(one)]
    silenced = {one.location for one in checks.found if one.code == _LEFT_OUT} - {one.location for one in told}
    for at, program in checks.in_part:
        if any(one.path in program.files for one in silenced):
            continue
        fixes = (_seeded_by(one) for one in mended if one.location.path in program.files)
        if left := program.rngs.difference(*fixes):
            yield at, left


def _seeded_by(finding: Finding) -> frozenset[str]:
    """The generators that the fix of a finding seeds."""
    text = "".join(edit.content for edit in finding.fix.edits) if finding.fix is not None else ""
    return frozenset(rng for rng, pattern in WRITTEN_SEEDS.items() if pattern.search(text))


def _listed(checks: Checks) -> list[Location]:
    """The listings that keep the order of the machine after all safe fixes, but for those that a comment or the
    settings say are to.
    """
    told = [one for one in checks.told if one.code == _LISTING]
    edits = {
        edit
        for one in told
        if one.fix is not None and one.is_fixed_safely and not checks.is_left_to_strict(one)
        for edit in one.fix.edits
    }
    # What one fix sorts besides has a finding of its own, which is left to the strict profile.
    sorted_too = {one.location for one in told if one.fix is not None and edits.issuperset(one.fix.edits)}
    silenced = {one.location for one in checks.found if one.code == _LISTING} - {one.location for one in told}
    return [one for one in checks.listed if one not in sorted_too and one not in silenced]


def _key(finding: Finding) -> Hashable:
    return finding.code, finding.location, finding.message


def _is_left_of_its_kind(finding: Finding, *, is_left_out: bool) -> bool:
    """Whether a place stays as it is of which the rule mends all or none: of loaders, of searches and of switches in
    programs that ask for determinism also one of the strict profile. What counts is the same in each profile, so that
    none makes fewer fixes than another that reports less: `is_left_out` says whether this one leaves out the finding.
    """
    if finding.is_fixed_safely and not is_left_out:
        return False
    if finding.code in _OF_LOADERS or (finding.code == _SEARCH and finding.left_to_strict):
        return True
    if finding.code == _SWITCH and finding.is_for_strict_alone:
        return finding.severity is Severity.ERROR
    return finding.code in _OF_PLACES and not finding.is_for_strict_alone


def _why_unsafe(
    finding: Finding, left: Sequence[Drawn], own: Drawn | None, of_one_kind: Sequence[Finding], root: Path
) -> str | None:
    if gives_a_generator(finding):
        is_split = own.what == _SPLIT if own is not None else _is_of_a_split(finding)
        for one in left:
            if (one.what == _SPLIT) == is_split and one.location != finding.location and _counts_beside(own, one):
                return f"another {one.what} ({_said_of(one.location, root)}) keeps torch's global RNG"
    if finding.code == NO_GENERATOR:
        path = finding.location.path
        workers = next((one for one in of_one_kind if one.code in OF_WORKERS and one.location.path == path), None)
        if workers is not None:
            return f"no safe fix seeds what the workers of a loader draw ({_said_of(workers.location, root)})"
    for other in of_one_kind:
        # Workers of an evaluation, and what nothing runs, are compared with those of their own file alone.
        is_near = other.left_to_strict is None or other.location.path == finding.location.path
        is_near = is_near or other.code in (_SEARCH, _SWITCH)
        if other.code == finding.code and other.location != finding.location and is_near:
            return f"no safe fix mends another one of the project ({_said_of(other.location, root)})"
    return None


def are_of_one_kind(one: Finding, other: Finding) -> bool:
    """Whether two findings have safe fixes of which the first is to be made with the second alone."""
    if not (one.is_fixed_safely and other.is_fixed_safely):
        return False
    if gives_a_generator(one) and gives_a_generator(other):
        return _is_of_a_split(one) == _is_of_a_split(other)
    return one.code == other.code and one.code in _OF_LOADERS | _OF_PLACES


def _is_of_a_split(finding: Finding) -> bool:
    return "the split is drawn" in finding.message or "has a different split" in finding.message


def beside_a_rejected_fix(other: Finding, root: Path) -> str:
    """Why a fix is rejected beside another one that was tried and rejected."""
    return f"another place ({_said_of(other.location, root)}) would be left as it is: see to both"


def _said_of(location: Location, root: Path) -> str:
    """A place as a reason names it."""
    path = location.path.relative_to(root) if location.path.is_relative_to(root) else location.path
    return f"{path.as_posix()}:{location.start.row}"


def _unsafe(finding: Finding, reason: str) -> Finding:
    assert finding.fix is not None
    return replace(finding, fix=finding.fix.made_unsafe(reason))


def _counts_beside(own: Drawn | None, other: Drawn) -> bool:
    """Whether a place that is left counts beside a fixed one: in a file that was put aside, one in the same words."""
    if not other.is_aside:
        return True
    if own is None:
        return False
    return 2 * (own.words & other.words).total() >= MIN_COMMON * (own.words.total() + other.words.total())


def _left(checks: Checks, *, by_default: bool) -> list[Drawn]:
    """The places that go on to draw from the global generator after all safe fixes, but for those that a comment or the
    settings say are to; `by_default`: beside what the default profile reports, whatever the profile is.
    """
    from torchrepro_lint.rules.orders import Drawn

    told = [one for one in checks.told if one.code in OF_ORDERS]
    # What another finding speaks for is fixed after that.
    spoken_for = {one.location for one in told if one.code in OF_WORKERS}
    later = [one for one in checks.found if one.code == NO_GENERATOR and one.location in spoken_for]
    mended = {
        one.location
        for one in (*told, *later)
        if one.is_fixed_safely and gives_a_generator(one) and not checks.is_left_to_strict(one)
    }
    mended -= {one.location for one in told if one.code in OF_WORKERS and not one.is_fixed_safely}
    silenced = {one.location for one in merged(checks.found) if one.code in OF_ORDERS} - {one.location for one in told}
    # An order that repeats, whatever is chosen for a run, may stay as it is; but see `_beside_in_its_file`.
    mended |= {one.location for one in told if one.repeats and (by_default or checks.is_left_to_strict(one))}
    left = [one for one in checks.drawn if one.location not in mended and one.location not in silenced]
    known = mended | {one.location for one in checks.drawn}
    reported = (
        Drawn(one.location, _what(one), False, Counter())
        for one in told
        if one.code in (NO_GENERATOR, _NO_GENERATOR_OF_A_SAMPLER)
        and one.location not in known
        and one.location.path in checks.kept
        and not (one.is_for_strict_alone if by_default else checks.is_left_to_strict(one))
    )
    return [*left, *reported]


def _what(finding: Finding) -> What:
    """What draws the order or the split that a finding is about."""
    if finding.code == NO_GENERATOR:
        return "shuffling loader"
    return _SPLIT if _is_of_a_split(finding) else "random sampler"
