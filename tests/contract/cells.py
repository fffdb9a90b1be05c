"""Cells of the contract: a program of one shape with the fault of one rule, before and after its fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contract.invariants import INVARIANTS, OF_DRAWS, Runs
from contract.programs import FAULTS, NO_DRAW, Shape, fault_of, files, without
from contract.runs import Runner, ranks

from torchrepro_lint.diagnostics import Applicability, Finding
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.settings import SettingsOverride

__all__ = ["Cell", "Fixed", "Held", "also_asked", "evaluate", "fixes"]

# Whatever the programs use must not decide which rules speak: some are about old versions of torch.
_TARGET = ">=1.7"


@dataclass(frozen=True)
class Held:
    """How a program runs: the output of a run that failed, or whether each invariant holds."""

    failure: str | None
    invariants: Mapping[str, bool]


@dataclass(frozen=True)
class Fixed:
    """What a fix makes of the program: its texts, what it leaves as `code: why`, the files that a second run of the
    fix changes again, and how it runs.
    """

    texts: Mapping[str, str]
    left: tuple[str, ...]
    changed_again: tuple[str, ...]
    held: Held | None = None


#: What the strict profile alone reports where torch is seeded and no option moves the order: the contract is about it, too.
_ALSO = ("TRL201",)


@dataclass(frozen=True)
class Cell:
    """A program before its fixes and after. `held` before is None where its fix leaves nothing, and only `failure`,
    the output of one run if that failed, is known.
    """

    texts: Mapping[str, str]
    codes: frozenset[str]
    failure: str | None
    held: Held | None
    safe: Fixed
    unsafe: Fixed


def evaluate(shape: Shape, rule: str, folder: Path, runner: Runner) -> Cell:
    """Fix the program, and run it as often as the answers need."""
    texts = files(shape, rule)
    codes, safe, unsafe = fixes(texts, folder, rule, also_asked(shape, rule))

    def held(some: Mapping[str, str]) -> Held:
        outputs = runner.outputs(shape, some)
        return Held(outputs, {}) if isinstance(outputs, str) else _held(shape, rule, outputs)

    before = held(texts) if any(one.left and one.texts != texts for one in (safe, unsafe)) else None
    failure = before.failure if before is not None else runner.failure(shape, texts)
    safe, unsafe = (
        Fixed(one.texts, one.left, one.changed_again, None if one.texts == texts else held(one.texts))
        for one in (safe, unsafe)
    )
    return Cell(texts, codes, failure, before, safe, unsafe)


def also_asked(shape: Shape, rule: str) -> tuple[str, ...]:
    """The rules of which the findings of the strict profile are asked for in a cell."""
    own = (rule,) if FAULTS[rule].get("profile") == "strict" else ()
    return (*(_ALSO if shape.seed else ()), *own)


def _held(shape: Shape, rule: str, outputs: Sequence[str]) -> Held:
    runs = Runs(shape, *map(ranks, outputs))
    asked = {*INVARIANTS} - {*without(shape, rule)}
    if "split follows the seed" not in FAULTS[rule].get("proves", ()):
        asked.discard("split follows the seed")
    if fault_of(shape, rule)["draw"] == NO_DRAW:
        asked -= OF_DRAWS
    if shape.seed:
        asked.discard("runs differ without a seed")
    return Held(None, {name: ask(runs) for name, ask in INVARIANTS.items() if name in asked})


def fixes(
    texts: Mapping[str, str], folder: Path, rule: str, also: tuple[str, ...] = ()
) -> tuple[frozenset[str], Fixed, Fixed]:
    """The codes that are found, and what comes of the safe fixes and of all; they are the same if all are safe. They
    are asked for the torch that the fault of `rule` is about; `also` are rules of which the findings of the strict
    profile are asked for.
    """
    target = FAULTS[rule].get("target", _TARGET)
    texts = {"torchrepro-lint.toml": f'target-torch = "{target}"\n', **texts}
    findings, safe = _fixed(texts, folder / "safe", also, unsafe=False)
    codes = frozenset(finding.code for finding in findings)
    if all(finding.fix is None or finding.fix.applicability is Applicability.SAFE for finding in findings):
        return codes, safe, safe
    return codes, safe, _fixed(texts, folder / "unsafe", also, unsafe=True)[1]


def _fixed(texts: Mapping[str, str], root: Path, also: tuple[str, ...], *, unsafe: bool) -> tuple[list[Finding], Fixed]:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    settings: SettingsOverride = {"unsafe_fixes": unsafe, "extend_select": also}
    report = fix([root], settings)
    again = fix([root], settings, write=False)
    findings = [*report.fixed, *report.report.findings]
    return findings, Fixed(
        texts={path: (root / path).read_text(encoding="utf-8") for path in texts if not path.endswith(".toml")},
        left=tuple(sorted({f"{finding.code}: {_why_left(finding)}" for finding in report.report.findings})),
        changed_again=tuple(change.source.path.name for change in again.changes),
    )


def _why_left(finding: Finding) -> str:
    if finding.fix_declined is not None:
        return finding.fix_declined
    return "no fix" if finding.fix is None else finding.fix.applicability.value
