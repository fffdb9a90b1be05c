"""The answer of a repair: for people round by round with the whole diff, and as plain values for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchrepro_lint.console import printable
from torchrepro_lint.diagnostics import Fix
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.verify.repair.result import Ending, Refused, Repair, Round
from torchrepro_lint.verify.script.findings import Link
from torchrepro_lint.verify.script.output import wording
from torchrepro_lint.verify.script.output.json_output import as_json
from torchrepro_lint.verify.script.output.notes import notes
from torchrepro_lint.verify.script.output.text import divergence_lines, printed_lines
from torchrepro_lint.verify.script.result import Outcome


def text(repair: Repair, colours: Colours) -> str:
    """The answer for people."""
    blocks = ["\n".join(_round(number, one, colours)) for number, one in enumerate(repair.rounds, start=1)]
    blocks.append("\n".join(_ending(repair, colours)))
    if repair.changes:
        blocks.append("\n".join(_painted(line, colours) for line in diff(repair)))
    remarks = list(remarks_on(repair))
    if remarks:
        blocks.append("\n".join(f"note: {printable(remark)}" for remark in remarks))
    return "\n\n".join(blocks)


def verdict(repair: Repair) -> str:
    """One sentence on what came of it."""
    last, what = repair.last.plain, wording.command(repair.last.plain.command)
    fixes = "1 fix" if len(repair.made) == 1 else f"{len(repair.made)} fixes"
    runs = f"{len(last.runs)} runs of {what}"
    if repair.ending is Ending.COULD_NOT_RUN:
        return wording.verdict(last)
    if repair.ending is Ending.NOTHING:
        return f"nothing to repair: {wording.verdict(last)}"
    if repair.ending is Ending.REPAIRED:
        return f"repaired: after {fixes}, {wording.verdict(last)}"
    some = f"after {fixes}, " if repair.made else ""
    if last.outcome is Outcome.AGREED:
        names = ", ".join(one.question.perturbation or "" for one in repair.left)
        return f"not repaired: {some}{runs} agree, and the result still depends on {names}"
    return f"not repaired: {some}{runs} still differ, and there is no fix for why"


def remarks_on(repair: Repair) -> Iterator[str]:
    """What else is worth knowing."""
    if repair.checks:
        yield f"checked by running the script before and after each fix: {'; '.join(repair.checks)}"
    yield from (f"not checked: {words}" for words in repair.unchecked)
    yield from repair.refusals
    if repair.written:
        yield "the fixes change which random numbers are drawn: earlier results will not come back"
    elif repair.changes and not repair.refusals:
        yield "nothing was written: --write writes the fixes"
    told = "; --scratch runs the script in a scratch folder"
    yield from (remark.removesuffix(told) for remark in notes(repair.last.plain))


def diff(repair: Repair) -> Iterator[str]:
    """The lines of the whole difference, without their endings."""
    texts = Texts()
    for change in repair.changes:
        yield from (line.rstrip("\r\n") for line in change.diff(texts.name(change.source.path)))


def made(one: Round) -> str:
    """The fix of a round in words."""
    assert one.fix is not None
    return f"{_name(one.link)}: {one.fix.message} ({one.fix.applicability.value})"


def refusal(one: Refused) -> str:
    """Why a fix was not made, in words."""
    what = "no fix for" if one.fix is None else "refused the fix of" if one.link is not None else "refused"
    return f"{what} {_name(one.link)}: {one.why}" if one.link is not None or one.fix is not None else one.why


def _name(link: Link | None) -> str:
    if link is None:
        return "the lines that seed the program"
    finding = link.finding
    return f"{finding.code} in {finding.location.path.name}:{finding.location.start.row}"


def _round(number: int, one: Round, colours: Colours) -> Iterator[str]:
    head, colon, rest = wording.verdict(one.question).partition(":")
    yield f"{colours.strong(f'round {number}:')} {colours.fragile(head)}{colon}{printable(rest)}"
    yield from divergence_lines(one.question, one.finding, colours, Texts(one.texts))
    yield from (f"{colours.note('not fixed:')} {printable(refusal(refused))}" for refused in one.refused)
    if one.fix is not None:
        yield f"{colours.good('fixed:')} {printable(made(one))}"
    elif not one.refused:
        yield f"{colours.note('not fixed:')} the linter finds nothing there that explains it"


def _ending(repair: Repair, colours: Colours) -> Iterator[str]:
    good = repair.ending in (Ending.REPAIRED, Ending.NOTHING)
    head, colon, rest = verdict(repair).partition(":")
    yield f"{(colours.good if good else colours.bad)(head)}{colon}{printable(rest)}"
    if repair.ending is Ending.COULD_NOT_RUN:
        yield from printed_lines(repair.last.plain)


def _painted(line: str, colours: Colours) -> str:
    shown = "\t".join(map(printable, line.split("\t")))
    if line.startswith(("+++", "---")):
        return colours.strong(shown)
    paint = {"+": colours.good, "-": colours.gone, "@": colours.note}.get(line[:1])
    return paint(shown) if paint else shown


def json_of(repair: Repair) -> dict[str, Any]:
    """The answer as plain values."""
    return {
        "outcome": repair.ending.value,
        "verdict": verdict(repair),
        "rounds": [
            {
                "difference": as_json(one.question, one.finding),
                "fix": _fix(one.link, one.fix),
                "refused": [{"fix": _fix(refused.link, refused.fix), "reason": refused.why} for refused in one.refused],
            }
            for one in repair.rounds
        ],
        "last": as_json(repair.last.plain, None),
        "checks": list(repair.checks),
        "unchecked": list(repair.unchecked),
        "files": [str(change.source.path) for change in repair.changes],
        "diff": "\n".join(diff(repair)),
        "written": repair.written,
        "not_written": list(repair.refusals),
    }


def _fix(link: Link | None, fix: Fix | None) -> dict[str, Any] | None:
    if link is None and fix is None:
        return None
    finding = link.finding if link is not None else None
    return {
        "code": finding.code if finding is not None else None,
        "filename": str(finding.location.path) if finding is not None else None,
        "row": finding.location.start.row if finding is not None else None,
        "message": fix.message if fix is not None else None,
        "applicability": fix.applicability.value if fix is not None else None,
    }
