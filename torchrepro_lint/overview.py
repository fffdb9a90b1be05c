"""The state of a project's reproducibility: what is controlled, where, and what was found; for a paper's checklist.

It says what the code does, as far as it was followed, and never that a run is reproducible: that nothing is found is no
proof, and a run on the machine is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from torchrepro_lint import __version__
from torchrepro_lint.checklist import checklist
from torchrepro_lint.console import counted
from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.knowledge.environment import environment_variables
from torchrepro_lint.loader_view import summarised
from torchrepro_lint.program.evaluation import value_text
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import is_run_seed, wants_to_repeat
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.switches.environment import is_set_outside, settings_of
from torchrepro_lint.report.documents import Document, Section, Table, link
from torchrepro_lint.report.next_steps import next_step
from torchrepro_lint.report.places import place
from torchrepro_lint.report.rule_pages import rule_url
from torchrepro_lint.report.source_links import SourceLinks
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.source.target import described
from torchrepro_lint.verdict import Subject, Verdict, subjects, without_seed

__all__ = ["Found", "overview_of"]

_RNGS = {
    "python": "Python's random module",
    "numpy": "NumPy's global RNG",
    "torch": "torch, on the CPU",
    "torch-cuda": "torch, on every GPU",
    "torch-device": "torch, on other accelerators",
}

# The family of rules that is about a subject of the verdict.
_FAMILIES = {
    "Random numbers in DataLoader workers": "TRL1",
    "Order of data, splits, generators": "TRL2",
    "Switches of cuDNN and cuBLAS": "TRL3",
    "Operations that are nondeterministic on a GPU": "TRL4",
    "Seeds of the program": "TRL5",
}
# These are spoken of only where something is found.
_ASIDE = {
    "TRL8": "What rules of other packages are about",
    "TRL9": "Files that were not read, comments that suppress nothing",
}

_EFFECTS = {
    "algorithms": "only deterministic algorithms; others raise",
    "algorithms-warn": "deterministic algorithms where there are any; others warn",
    "algorithms-off": "deterministic algorithms are not asked for",
    "cudnn": "cuDNN's deterministic algorithms",
    "cudnn-off": "cuDNN's deterministic algorithms are turned off",
    "benchmark": "cuDNN chooses algorithms by timing",
    "benchmark-off": "cuDNN does not choose algorithms by timing",
    "precision": "products of less precision, such as TF32",
    "autotune": "kernels are chosen by timing",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a report is about. `findings` are those of all rules in `files`, `deciding` those of them that decide a
    verdict, `silenced` those that comments, settings or a baseline hide; `texts` names the files, `links` leads to
    their lines, and `may_fix` says whether `--fix` fixes a finding.
    """

    program: Program
    files: Collection[Path]
    findings: Sequence[Finding]
    deciding: Sequence[Finding]
    silenced: Sequence[Finding]
    texts: Texts
    links: SourceLinks
    may_fix: Callable[[Finding], bool]

    def at(self, site: Site) -> str:
        """A place, with a link to it."""
        shown = self.program.places.shown(site, self.texts.name)
        return link(shown, self.links.line(site.path, self.program.location(site).start.row))


def overview_of(found: Found, title: str, date: str) -> Document:
    """The state of a project on a date."""
    program, files = found.program, found.files
    evidence = [one for one in program.evidence if one.roots and (one.site.path in files or one.roots & set(files))]
    judged = subjects(program, files, evidence, found.deciding)
    return Document(
        f"Reproducibility of {title}",
        (
            _sentence(judged),
            f"{_commit(found)}, {date}. torch: {described(program.target)}. torchrepro-lint {__version__}, with the "
            "rules of both profiles. Static analysis: that nothing is found does not prove that runs agree.",
        ),
        (
            _verdict(judged, found),
            Section(
                "Checklist for a paper",
                ("What code can answer of the Machine Learning Reproducibility Checklist and the NeurIPS checklist.",),
                Table(("item", "answer", "why", "checklist"), tuple(_items(found, evidence))),
            ),
            _findings(found),
            _programs(found),
            _seeds(found, evidence),
            _switches(found, evidence),
            _environment(found),
            _loaders(found),
        ),
    )


def _sentence(judged: Sequence[Subject]) -> str:
    """The verdict in one line."""
    names = {verdict: [one.name for one in judged if one.verdict == verdict] for verdict in get_args(Verdict)}
    parts = [f"{verdict[0].upper()}{verdict[1:]}: {len(own)} of {len(judged)}" for verdict, own in names.items()]
    return f"{'. '.join(parts)}."


def _commit(found: Found) -> str:
    head = found.links.head
    if head is None:
        return "No commit"
    target = found.links.commit()
    short = head.commit[:12]
    return f"Commit {link(short, target) if target is not None else short}, with the files as they are"


def _items(found: Found, evidence: Sequence[Evidence]) -> Iterator[tuple[str, ...]]:
    for source, item, answer, why in checklist(found.program, found.files, evidence, found.deciding):
        yield item, answer, why, source


def _verdict(judged: Sequence[Subject], found: Found) -> Section:
    silent = _by_family(found.silenced)
    rows: list[tuple[str, ...]] = []
    for one in judged:
        hidden = silent[_FAMILIES[one.name]] if one.name in _FAMILIES else 0
        more = f"; {counted(hidden, 'finding')} silenced" if hidden else ""
        rows.append((one.name, one.verdict, f"{one.why}{more}"))
    counts = _by_family(found.findings)
    rows += [(subject, "", f"{counted(counts[code], 'finding')}") for code, subject in _ASIDE.items() if counts[code]]
    return Section("Verdict", (), Table(("subject", "verdict", "why"), tuple(rows)))


def _by_family(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(finding.code[:4] for finding in findings)


def _programs(found: Found) -> Section:
    program, starts = found.program, {one.path: found.at(one.site) for one in entry_points(found.program)}
    unseeded = without_seed(found.findings)
    starts |= {path: link(found.texts.name(path), found.links.line(path, 1)) for path in unseeded if path not in starts}
    rows = tuple((at, _shown_by(program, path, unseeded)) for path, at in starts.items() if path in found.files)
    paragraphs = () if rows else ("No program starts in these files.",)
    return Section("Programs", paragraphs, Table(("starts at", "what its seeds and switches show"), rows))


def _shown_by(program: Program, path: Path, unseeded: Collection[Path]) -> str:
    if path not in unseeded and wants_to_repeat(program, path):
        return "shows that it wants to repeat"
    return "seeds nothing for its run" + (
        "" if path in unseeded else ", and nothing was found that a seed would change"
    )


def _seeds(found: Found, evidence: Sequence[Evidence]) -> Section:
    seeds = [(one, is_run_seed(found.program, one)) for one in evidence if one.effect == "seed"]
    rows = []
    for rng, title in _RNGS.items():
        rows.append((title, _seeded_by(found, seeds, rng) or "not seeded"))
    others = sorted({rng for one, _ in seeds for rng in one.seeds} - _RNGS.keys())
    for rng in others:
        rows.append((rng, _seeded_by(found, seeds, rng)))
    return Section("Random number generators", (), Table(("generator", "seeded by"), tuple(rows)))


def _seeded_by(found: Found, seeds: Sequence[tuple[Evidence, bool]], rng: str) -> str:
    """The places that seed a generator, those for the whole run first."""
    ordered = sorted((pair for pair in seeds if rng in pair[0].seeds), key=lambda pair: not pair[1])
    places = [f"{one.name} at {found.at(one.site)}" + ("" if own else " (not for the run)") for one, own in ordered]
    return "; ".join(dict.fromkeys(places))


def _switches(found: Found, evidence: Sequence[Evidence]) -> Section:
    switches = [one for one in evidence if one.effect != "seed"]
    rows = tuple(dict.fromkeys(_switch_row(found, one) for one in switches))
    paragraphs = () if rows else ("No switch of determinism is set.",)
    return Section("Switches", paragraphs, Table(("switch", "what it asks for", "where"), rows))


def _switch_row(found: Found, one: Evidence) -> tuple[str, str, str]:
    sure = "" if one.always else " (on some ways)"
    return one.name, _EFFECTS.get(one.effect, one.effect) + sure, found.at(one.site)


def _environment(found: Found) -> Section:
    rows = []
    for variable in environment_variables():
        places = list(_settings(found, variable))
        if is_set_outside(found.program, variable):
            places.append("named in a script or configuration of the project")
        rows.append((variable, "; ".join(dict.fromkeys(places)) or "not set"))
    return Section("Environment variables", (), Table(("variable", "set by"), tuple(rows)))


def _settings(found: Found, variable: str) -> Iterator[str]:
    for setting in settings_of(found.program.ev, variable):
        if setting.frame.facts.path not in found.files:
            continue
        value = value_text.short(setting.values) if setting.values else "a value that was not followed"
        yield f"{value} at {found.at(Site(setting.frame.facts.path, setting.node.site))}"


def _loaders(found: Found) -> Section:
    rows: dict[tuple[str, ...], None] = {}
    for group in found.program.loader_sites:
        for loader in group if group[0].site.path in found.files else ():
            one = summarised(found.program, loader, found.texts.name)
            order = f"{one.order}\ngenerator: {one.generator}"
            workers = f"{one.workers}\nworker_init_fn: {one.init}"
            rows[(f"{found.at(loader.site)}\n{one.title}", order, workers, one.draws)] = None
    paragraphs = () if rows else ("No DataLoader is made.",)
    return Section("Data loading", paragraphs, Table(("loader", "order", "workers", "drawn for items"), tuple(rows)))


def _findings(found: Found) -> Section:
    rows = tuple(_finding(found, one) for one in found.findings)
    paragraphs = () if rows else ("Nothing was found.",)
    return Section("Findings", paragraphs, Table(("where", "what", "what to do"), rows))


def _finding(found: Found, one: Finding) -> tuple[str, str, str]:
    path, row = one.location.path, one.location.start.row
    shown = place(one.location, found.texts).text.rpartition(":")[0]  # columns are of no use in a paper
    named = f"{one.code} {one.name}"
    url = rule_url(one.code)
    line = found.texts.line(path, row).strip().replace("`", "'")
    what = f"{link(named, url) if url else named} ({one.severity.value})\n{one.message}" + (
        f"\n`{line}`" if line else ""
    )
    profile = None if one in found.deciding and not one.left_to_strict else "strict"
    step = next_step(one, found.may_fix, found.texts, profile=profile)
    return link(shown, found.links.line(path, found.texts.row_in_file(path, row))), what, step
