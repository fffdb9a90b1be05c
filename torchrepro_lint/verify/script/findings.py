"""The linter's word on the place where two runs differ: a proven finding there, or the rule about such faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.diagnostics import Finding, TorchReproLintError
from torchrepro_lint.engine import check
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.searches import searches
from torchrepro_lint.rules import all_rules
from torchrepro_lint.settings import EVERY_RULE
from torchrepro_lint.source.project import Projects
from torchrepro_lint.verify.script.cause import UNEXPLAINED, Cause, is_dropout_in_evaluation
from torchrepro_lint.verify.script.compare import Comparison
from torchrepro_lint.verify.script.entries import MAIN, Entry, Place
from torchrepro_lint.verify.script.perturbations import CAUSE_WHERE_NOTHING_IS_DRAWN, EVAL, PERTURBATIONS, RESUME
from torchrepro_lint.verify.script.result import Outcome, Result
from torchrepro_lint.verify.script.time_limit import time_limit

PATIENCE = 120.0  # seconds that the linter may take: the answer is known by then, and waits
_SEEDED_FOR_WORKERS = ("torch", "numpy", "random")  # torch seeds them from the loader's generator
_ORDERS = ("TRL207", "TRL208", "TRL209", "TRL206")  # what may lie at a line where a cause is not known
DEAD_SEED = "TRL305"  # a seed for a generator that nothing keeps is meant for the global one
_DEAD_SEEDS_OF = {
    "random": "`random.",
    "numpy": "`numpy.random.",
    "torch": "`torch.Generator",
}  # how their messages name what was meant
_HELD = ("torch.Generator", "numpy.random.Generator", "numpy.random.RandomState", "random.Random")
_WEIGHTED = ("aten.multinomial",)  # what WeightedRandomSampler draws by
_SHUFFLES = "aten.randperm"
_OF_ORDERS = (*_WEIGHTED, _SHUFFLES)
_OF_VALIDATION = "TRL509"  # the samples of an evaluation are drawn
_OF_LOADERS = "torch/utils/data/sampler.py"  # the library's file through which a loader draws its order
_SPLITS_OF_NUMPY = ("numpy.random.permutation", "numpy.random.shuffle")


@dataclass(frozen=True, slots=True)
class Link:
    """`finding` explains the cause; `proven` where it is at one of its lines or its chain passes one, and otherwise
    it is of the same kind and in one of its files.
    """

    finding: Finding
    proven: bool


def rules_for(result: Result) -> tuple[str, ...]:
    """The codes of the rules about faults of this kind, the likeliest first. Where something was varied, no other rule
    than those about it is at fault: none is, where a sum depends on the number of threads.
    """
    cause = result.cause
    by_cause = () if cause is None else _rules_for_cause(cause)
    if result.perturbation == RESUME:
        # Weights that are only evaluated, and differ where those that are trained agree: an average of them.
        averaged = result.comparison is not None and _first_kind(result.comparison) == "weights"
        lost = (("TRL210", bool(result.lost_states)), ("TRL211", bool(result.lost_settings) or averaged))
        by_cause = tuple(code for code, is_lost in lost if is_lost)
    elif result.perturbation is not None and (cause is None or cause.why != "hash"):
        rules = PERTURBATIONS[result.perturbation].rules
        if cause is not None and cause.varied in CAUSE_WHERE_NOTHING_IS_DRAWN:
            return ()
        if cause is not None and cause.in_worker and cause.at[0].detail.get("rng") in _HELD:
            return ("TRL107",)
        if cause is not None and is_dropout_in_evaluation(cause.at[0]):
            return ("TRL508",)
        if result.perturbation == EVAL:
            rules = _about_one_more_evaluation(rules, cause)
        return tuple(sorted(rules, key=lambda code: by_cause.index(code) if code in by_cause else len(by_cause)))
    known = {rule.code for rule in all_rules()}
    return tuple(code for code in by_cause if code in known)


def _about_one_more_evaluation(rules: Sequence[str], cause: Cause | None) -> tuple[str, ...]:
    """Those of the rules that are about what an additional evaluation has moved: the generator of a loader does not
    reach what its samples are made of in the same process.
    """
    if cause is None or not _is_of_samples(cause):
        return tuple(code for code in rules if code != _OF_VALIDATION)
    is_evaluated = cause.at[0].detail.get("grad") is False
    return tuple(code for code in rules if code == _OF_VALIDATION and is_evaluated)


def _is_of_samples(cause: Cause) -> bool:
    """Whether what differs is a draw that makes the samples themselves, in the process that goes through the loader,
    and not one that decides which samples are next.
    """
    entry = cause.at[0]
    return entry.kind == "draw" and not cause.in_worker and not (_is_of_sampler(entry) or entry.name in _OF_ORDERS)


def _is_of_sampler(entry: Entry) -> bool:
    return entry.via is not None and entry.via.file.replace("\\", "/").endswith(_OF_LOADERS)


def _first_kind(comparison: Comparison) -> str | None:
    return None if comparison.divergence is None else comparison.divergence.entry.kind


def _rules_for_cause(cause: Cause) -> tuple[str, ...]:
    if cause.why == "operation":
        entry = cause.at[0]
        if "attention" in entry.name:
            return ("TRL404", "TRL402", "TRL401")
        switches = ("TRL301", "TRL302") if "conv" in entry.name or "cudnn" in entry.name else ()
        return (*switches, "TRL402", "TRL401", "TRL403")
    if cause.why in UNEXPLAINED:
        return ()
    if cause.why == "completion":
        return ("TRL213",)
    if cause.why == "memory":
        return ("TRL403",)
    if cause.why == "hash":
        return ("TRL214",) if cause.at[0].kind == "hash" else ("TRL208",)
    return tuple(_rules_for_draw(cause))


def _rules_for_draw(cause: Cause) -> Iterator[str]:
    rng, name = cause.rng or "", cause.at[0].name
    if cause.why in ("unseeded", "seed") and rng in _HELD and (code := _of_library(cause)) is not None:
        yield code
        return
    if is_dropout_in_evaluation(cause.at[0]):
        yield "TRL508"
        return
    if cause.why == "seed":
        yield "TRL503"
    nothing_seeds = cause.why == "unseeded" and cause.nothing_seeds
    if nothing_seeds and cause.process == MAIN:
        yield "TRL501"
    if cause.in_worker:
        yield from {
            "numpy": ("TRL101", "TRL102", "TRL105", "TRL109"),
            "random": ("TRL102", "TRL105", "TRL101"),
        }.get(name.rpartition(".")[0].removesuffix(".random"), ())
        yield "TRL107"
        if rng in _SEEDED_FOR_WORKERS:
            yield "TRL201"
    if name in _WEIGHTED:
        yield "TRL202"
    if _is_of_sampler(cause.at[0]):
        yield from ("TRL201", "TRL202")
    elif name == _SHUFFLES:
        yield from ("TRL202", "TRL201")
    elif name in _SPLITS_OF_NUMPY:
        yield "TRL209"
    if rng == "torch.Generator":
        yield "TRL203"
    if cause.why == "late":
        yield "TRL504"
    if cause.why == "unseeded":
        if cause.process != MAIN and not cause.in_worker:
            yield "TRL112"
        if not nothing_seeds:
            yield from ("TRL502", "TRL504")
        elif cause.process != MAIN:
            yield "TRL501"
        if rng in _DEAD_SEEDS_OF:
            yield DEAD_SEED
    if cause.why in ("draws", "state"):
        yield from ("TRL504", "TRL502", "TRL503")


def _of_library(cause: Cause) -> str | None:
    """The rule about a library that made the generator for itself, where one is about it."""
    via = (cause.seed or cause.at)[0].via
    package = None if via is None else via.package
    for code, names in (("TRL510", searches()), ("TRL511", known_calls("makes_environments"))):
        if any(name.partition(".")[0] == package for name in names):
            return code
    return None


def link(result: Result) -> Link | None:
    """The finding that explains why runs differed; None where there is none, or the files cannot be read here.

    Raises:
        TooLong: the linter has more to follow in this project than an answer can wait for.
    """
    files = files_in_question(result)
    if not files:
        return None
    try:
        with time_limit(PATIENCE):
            # A chain that passes one of the lines may be that of a finding in any file.
            projects = Projects(EVERY_RULE)
            everything = files.union(*map(projects.whole, files))
            report = check(everything, projects=projects, suppressed_too=True)
    except TorchReproLintError:
        return None
    return next(explanations(result, report.findings), None)


def files_in_question(result: Result) -> set[Path]:
    """The files that hold the lines which a difference leads back to; none where no rule is about such a difference."""
    if result.outcome is not Outcome.DIFFERED or not _codes(result):
        return set()
    return {Path(place.file) for place in _places(result) if Path(place.file).is_file()}


def explanations(result: Result, findings: Iterable[Finding]) -> Iterator[Link]:
    """Those findings that may explain why runs differed, the likeliest first."""
    codes, places, files = _codes(result), list(_places(result)), files_in_question(result)
    about = [finding for finding in findings if finding.code in codes]
    about.sort(key=lambda finding: codes.index(finding.code))
    # The likeliest rule first: where a seed differs, it is at fault, and not the draw that shows it.
    for finding in about:
        if _is_of_script(finding, result) or any(_explains(finding, place) for place in places):
            yield Link(finding, proven=True)
    if _is_unexplained(result):
        return
    rng = (result.cause.rng if result.cause is not None else None) or ""
    # Elsewhere in the file only the likeliest rule counts: another one is another fault.
    likely = [code for code in codes if code in codes[:1] or code == DEAD_SEED]
    for finding in about:
        if (
            finding.code in likely
            and finding.code != "TRL501"
            and (finding.code != DEAD_SEED or _DEAD_SEEDS_OF[rng] in finding.message)
            and finding.location.path in files
            and not any(_explains(finding, at) for at in places)
        ):
            yield Link(finding, proven=False)


def _is_of_script(finding: Finding, result: Result) -> bool:
    """Whether a finding says that the script which ran seeds nothing: it is said of a program, at its first line."""
    if finding.code != "TRL501":
        return False
    record = next((run.record for run in result.runs if run.record is not None), None)
    script = record.header.script if record is not None else None
    return script is None or finding.location.path == script


def _is_unexplained(result: Result) -> bool:
    """Whether it is seen where plain runs differ, and not why."""
    return result.cause is not None and result.cause.why in UNEXPLAINED and result.perturbation is None


def _codes(result: Result) -> tuple[str, ...]:
    """The rules whose findings may explain a difference."""
    return _ORDERS if _is_unexplained(result) else rules_for(result)


def _places(result: Result) -> Iterator[Place]:
    """The lines that a cause names, the nearest to it first, and those that met what was varied."""
    cause = result.cause
    pairs = [] if cause is None else [cause.at, *([cause.seed] if cause.seed else []), *reversed(cause.chain)]
    for pair in pairs:
        for entry in pair:
            if entry.place is not None:
                yield entry.place
    if result.perturbation == RESUME and result.comparison is not None and result.comparison.divergence is not None:
        at = result.comparison.divergence.entry.place
        yield from () if at is None else (at,)
    yield from result.met


def _explains(finding: Finding, place: Place) -> bool:
    path = Path(place.file)
    return finding.is_at(path, place.line) or finding.passes(path, place.line)
