"""The state of a project's reproducibility: what is controlled, where, and what was found; for a paper's checklist.

It says what the code does, as far as it was followed, and never that a run is reproducible: that nothing is found is no
proof, and a run on the machine is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from torchrepro_lint import __version__
from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.knowledge.environment import environment_variables
from torchrepro_lint.loader_view import Namer, summarised
from torchrepro_lint.program.evaluation import value_text
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import wants_to_repeat
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.switches.environment import is_set_outside, settings_of
from torchrepro_lint.program.switches.intent import Evidence
from torchrepro_lint.report.documents import Document, Section, Table
from torchrepro_lint.report.places import place
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.source.target import described

__all__ = ["overview_of"]

_RNGS = {
    "python": "Python's random module",
    "numpy": "NumPy's global RNG",
    "torch": "torch, on the CPU",
    "torch-cuda": "torch, on every GPU",
    "torch-device": "torch, on other accelerators",
}

# What each family of rules is about, as a reader of a checklist asks for it.
_SUBJECTS = {
    "TRL1": "Random numbers in DataLoader workers",
    "TRL2": "Order of data, splits, generators",
    "TRL3": "Switches of cuDNN and cuBLAS",
    "TRL4": "Operations that are nondeterministic on a GPU",
    "TRL5": "Seeds of the program",
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


def overview_of(
    program: Program,
    files: Collection[Path],
    findings: Sequence[Finding],
    silenced: Sequence[Finding],
    texts: Texts,
    title: str,
) -> Document:
    """The state of `files` of a project. `findings` are those of all rules in them, `silenced` those that comments,
    settings or a baseline hide; `texts` names the files.
    """
    name = texts.name
    evidence = [one for one in program.evidence if one.roots and (one.site.path in files or one.roots & set(files))]
    return Document(
        f"Reproducibility of {title}",
        (
            "What the code controls, where, and what was found, as far as static analysis follows it. The "
            "absence of findings does not prove that runs agree.",
            f"torch: {described(program.target)}. Linter: torchrepro-lint {__version__}, "
            "with the rules of both profiles.",
        ),
        (
            _overview(findings, silenced),
            _programs(program, files, name),
            _seeds(program, evidence, name),
            _switches(program, evidence, name),
            _environment(program, files, name),
            _loaders(program, files, name),
            _findings(findings, texts),
        ),
    )


def _overview(findings: Sequence[Finding], silenced: Sequence[Finding]) -> Section:
    open_counts, silent_counts = _by_family(findings), _by_family(silenced)
    rows = []
    for family, subject in {**_SUBJECTS, **_ASIDE}.items():
        found, hidden = open_counts[family], silent_counts[family]
        if family in _ASIDE and not found and not hidden:
            continue
        rows.append((subject, f"{found} found" if found else "nothing found", str(hidden) if hidden else ""))
    return Section("Overview", (), Table(("subject", "findings", "silenced"), tuple(rows)))


def _by_family(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(finding.code[:4] for finding in findings)


def _programs(program: Program, files: Collection[Path], name: Namer) -> Section:
    rows = tuple(
        (
            program.places.shown(one.site, name),
            "shows that it wants to repeat" if wants_to_repeat(program, one.path) else "seeds nothing for its run",
        )
        for one in entry_points(program)
        if one.path in files
    )
    paragraphs = () if rows else ("No program starts in these files.",)
    return Section("Programs", paragraphs, Table(("starts at", "what its seeds and switches show"), rows))


def _seeds(program: Program, evidence: Sequence[Evidence], name: Namer) -> Section:
    seeds = [one for one in evidence if one.effect == "seed"]
    rows = []
    for rng, title in _RNGS.items():
        places = [f"{one.name} at {program.places.shown(one.site, name)}" for one in seeds if rng in one.seeds]
        rows.append((title, "; ".join(dict.fromkeys(places)) or "not seeded"))
    others = sorted({rng for one in seeds for rng in one.seeds} - _RNGS.keys())
    for rng in others:
        places = [f"{one.name} at {program.places.shown(one.site, name)}" for one in seeds if rng in one.seeds]
        rows.append((rng, "; ".join(dict.fromkeys(places))))
    return Section("Random number generators", (), Table(("generator", "seeded by"), tuple(rows)))


def _switches(program: Program, evidence: Sequence[Evidence], name: Namer) -> Section:
    switches = [one for one in evidence if one.effect != "seed"]
    rows = tuple(dict.fromkeys(_switch_row(program, one, name) for one in switches))
    paragraphs = () if rows else ("No switch of determinism is set.",)
    return Section("Switches", paragraphs, Table(("switch", "what it asks for", "where"), rows))


def _switch_row(program: Program, one: Evidence, name: Namer) -> tuple[str, str, str]:
    sure = "" if one.always else " (on some ways)"
    return one.name, _EFFECTS.get(one.effect, one.effect) + sure, program.places.shown(one.site, name)


def _environment(program: Program, files: Collection[Path], name: Namer) -> Section:
    rows = []
    for variable in environment_variables():
        places = list(_settings(program, files, variable, name))
        if is_set_outside(program, variable):
            places.append("named in a script or configuration of the project")
        rows.append((variable, "; ".join(dict.fromkeys(places)) or "not set"))
    return Section("Environment variables", (), Table(("variable", "set by"), tuple(rows)))


def _settings(program: Program, files: Collection[Path], variable: str, name: Namer) -> Iterator[str]:
    for setting in settings_of(program.ev, variable):
        if setting.frame.facts.path not in files:
            continue
        value = value_text.short(setting.values) if setting.values else "a value that was not followed"
        yield f"{value} at {program.places.shown(Site(setting.frame.facts.path, setting.node.site), name)}"


def _loaders(program: Program, files: Collection[Path], name: Namer) -> Section:
    rows: dict[tuple[str, ...], None] = {}
    for group in program.loader_sites:
        for loader in group if group[0].site.path in files else ():
            one = summarised(program, loader, name)
            rows[(one.place, one.title, one.order, one.workers, one.generator, one.init, one.draws)] = None
    header = ("where", "loader", "order", "workers", "generator", "worker_init_fn", "drawn where items are fetched")
    paragraphs = () if rows else ("No DataLoader is made.",)
    return Section("Data loading", paragraphs, Table(header, tuple(rows)))


def _findings(findings: Sequence[Finding], texts: Texts) -> Section:
    rows = tuple(
        (
            place(one.location, texts).text.rpartition(":")[0],  # columns are of no use in a paper
            f"{one.code} {one.name}",
            one.severity.value,
            one.message,
        )
        for one in findings
    )
    paragraphs = () if rows else ("Nothing was found.",)
    return Section("Findings", paragraphs, Table(("where", "rule", "severity", "what"), rows))
