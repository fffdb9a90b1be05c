"""`Program`: all facts of a project, linked. What rules ask."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from torchrepro_lint.diagnostics import Location, TraceStep
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.module import ModuleFacts, facts_of_text
from torchrepro_lint.program.evaluation.evaluator import Evaluator
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.imports import ImportGraph
from torchrepro_lint.program.locations import ParsedFile, ParsedOf, Places
from torchrepro_lint.program.looks import Looks
from torchrepro_lint.program.modules import FactsOf, Project
from torchrepro_lint.program.ops.operations import Operation, find_operations
from torchrepro_lint.program.project_tests import is_test_file
from torchrepro_lint.program.running.reach import Link, Walker
from torchrepro_lint.program.switches.configurations import configured_evidence, evidence_words
from torchrepro_lint.program.switches.intent import Evidence, find_evidence, running_modules
from torchrepro_lint.program.workers.loaders import Loader, find_loaders
from torchrepro_lint.program.workers.workers import WorkerRun, worker_run
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.line_length import line_length_of
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import SourceError, read_bytes

__all__ = ["Linked", "Program"]

Answer = TypeVar("Answer")

# A question may nest a few hundred deep, at about ten Python frames each.
_RECURSION_LIMIT = 12_000
# One file of so many, or fewer, are few.
_FEW = 8


@dataclass(frozen=True, slots=True)
class Linked:
    """The files of a project with all that was found out about them, which does not hang on what is asked."""

    project: Project
    ev: Evaluator
    imports: ImportGraph


class Program:
    """The linked facts of one project. Everything is computed when first asked for, and then kept.

    `files` are all Python files of the project; `overlay` gives texts that stand for files on disk. `asked` are the
    files whose findings somebody waits for, None where it is all of them. `facts_of` and `parsed_of` may know what a
    text says that was read before, and `linked` what was found out about these very files.
    """

    def __init__(
        self,
        root: Path,
        files: Sequence[Path],
        settings: Settings,
        target: TargetTorch,
        overlay: Mapping[Path, str] | None = None,
        facts_of: FactsOf = facts_of_text,
        asked: frozenset[Path] | None = None,
        read: Read = read_bytes,
        parsed_of: ParsedOf = ParsedFile,
        linked: Linked | None = None,
    ) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
        self.root = root
        self._files = files
        self._asked = asked
        # These are so few of the files that what concerns them alone is looked for by itself.
        self._few = asked if asked is not None and len(asked) * _FEW < len(files) else None
        self.settings = settings
        self.target = target
        if linked is None:
            project = Project(root, files, overlay, settings.src, facts_of, read)
            linked = Linked(project, Evaluator(project), ImportGraph(project))
        self.project, self.ev, self.imports = linked.project, linked.ev, linked.imports
        self.walker = Walker(self.ev)
        self.places = Places(self.project, parsed_of)
        self._answers: dict[Hashable, Any] = {}
        self._operations: dict[Path, dict[str, list[Operation]]] = {}
        self._refused: set[Path] = set()
        #: What the planners of fixes have made of a file.
        self.documents: dict[Path, object] = {}

    @property
    def unreadable(self) -> Mapping[Path, tuple[int, int, str]]:
        """Row, column and reason for each file that something looked at and could not read."""
        return self.project.unreadable

    def facts(self, path: Path) -> ModuleFacts | None:
        """The facts of a file; None where it cannot be read or parsed."""
        return self.project.facts(path)

    @cached_property
    def tests(self) -> frozenset[Path]:
        """The files of the project that are tests."""
        return frozenset(path for path in self.project.files if is_test_file(self.root, path))

    def is_test(self, path: Path) -> bool:
        """Whether a file of the project is a test."""
        return path in self.tests

    def is_asked(self, path: Path) -> bool:
        """Whether somebody waits for the findings of a file: of others, none need be found, and no fix planned."""
        return self._asked is None or path in self._asked

    def asked_with(self, pattern: re.Pattern[bytes]) -> list[Path]:
        """The files whose findings somebody waits for and in whose bytes the pattern finds something, in order."""
        if self._few is not None:
            return self.project.matching(pattern, sorted(self._few))
        return [path for path in self.project.matching(pattern) if self.is_asked(path)]

    def others_with(self, pattern: re.Pattern[bytes]) -> list[Path]:
        """The files whose findings nobody waits for and in whose bytes the pattern finds something, in order."""
        if self._asked is None:
            return []
        return [path for path in self.project.matching(pattern) if not self.is_asked(path)]

    def asked_in_order(self, sites: Iterable[Site]) -> list[Site]:
        """The places in files whose findings somebody waits for, in the order of files and text."""
        asked = (site for site in sites if self.is_asked(site.path))
        return sorted(asked, key=lambda site: (str(site.path), site.number))

    def has_read(self, path: Path) -> bool:
        """Whether something has looked at a file."""
        return self.project.is_parsed(path)

    @property
    def outside(self) -> Mapping[str, bool | str]:
        """What was asked of files that are no Python, and the answers: for a variable, whether one names it."""
        return self.project.outside

    @property
    def looks(self) -> Looks | None:
        """What was asked of the texts; None where more than them has made the program what it is."""
        return self.project.looks if not self._refused else None

    def without(self, refused: SourceError) -> Program:
        """The same project, of which the file that was refused is known to be unreadable."""
        project = self.project
        overlay, parsed_of = project.overlay, self.places.parsed_of
        other = Program(
            self.root, self._files, self.settings, self.target, overlay, project.facts_of, self._asked, project.read,
            parsed_of,
        )  # fmt: skip
        for path, where in (
            *((one, self.unreadable[one]) for one in self._refused),
            (refused.path, (refused.row, refused.column, refused.reason)),
        ):
            other.project.lay_aside(path, where)
            other._refused.add(path)
        return other

    def once(self, key: Hashable, compute: Callable[[], Answer]) -> Answer:
        """An answer that is about this program as a whole, computed when it is first asked for."""
        return self.ev.once(self._answers, key, compute)

    @cached_property
    def line_length(self) -> int | None:
        """How long the project wants its lines to be; None where nothing says it."""
        return line_length_of(self.root)

    @property
    def strict(self) -> bool:
        return self.settings.profile == "strict"

    # --- loaders and their workers ----------------------------------------------------------------------------

    @property
    def loaders(self) -> Sequence[Loader]:
        """Every loader of the project, in each frame in which it is made."""
        return self.once("loaders", lambda: find_loaders(self.ev))

    @property
    def loader_sites(self) -> Sequence[Sequence[Loader]]:
        """The loaders grouped by the call that makes them."""
        return self.once("loader sites", lambda: _by_site(self.loaders))

    def asked_loader_sites(self) -> Iterator[Sequence[Loader]]:
        """Those of `loader_sites` that stand in files whose findings somebody waits for, each a question of its own."""
        for loaders in self._asked_loader_sites:
            self.ev.begin_question()
            yield loaders

    @cached_property
    def _asked_loader_sites(self) -> Sequence[Sequence[Loader]]:
        if self._few is None or "loaders" in self._answers:
            return [loaders for loaders in self.loader_sites if self.is_asked(loaders[0].site.path)]
        return _by_site(find_loaders(self.ev, self._few))

    def worker_run(self, loader: Loader) -> WorkerRun:
        """What the workers of a loader run."""

        def run() -> WorkerRun:
            self.ev.begin_question()
            return worker_run(self.ev, loader, self.is_test)

        return self.once(loader, run)

    # --- intent -----------------------------------------------------------------------------------------------

    @property
    def evidence(self) -> Sequence[Evidence]:
        """Every seeding call and determinism switch of the project, and those in its configuration files."""
        return self.once("evidence", lambda: [*find_evidence(self.ev), *configured_evidence(self)])

    def asked_evidence(self) -> Iterator[Evidence]:
        """The evidence in the files whose findings somebody waits for, each a question of its own; where none can be,
        none is looked for.
        """
        if any(self.asked_with(words) for words in evidence_words()):
            for one in self.evidence:
                if self.is_asked(one.site.path):
                    self.ev.begin_question()
                    yield one

    def runs_with(self, paths: Iterable[Path]) -> frozenset[Path]:
        """The modules that import any of `paths`, directly or through others, and they themselves."""
        return frozenset(above for path in paths for above in self.imports.above(path))

    def evidence_for(self, path: Path) -> list[Evidence]:
        """The evidence that holds for a module: what runs in it, or in a module that imports it."""
        above = self.imports.above(path)
        return [one for one in self.evidence if not above.isdisjoint(one.roots)]

    def evidence_in_programs_of(self, facts: ModuleFacts, frame: Frame) -> list[Evidence]:
        """The evidence in the programs that run this frame's code: in the modules of its callers, and above them."""
        roots = running_modules(self.ev, facts, frame.scope) or frozenset((facts.path,))
        above = self.runs_with(roots) | self.imports.above(facts.path)
        return [one for one in self.evidence if not above.isdisjoint(one.roots)]

    # --- operations -------------------------------------------------------------------------------------------

    def operations(self, path: Path, called: Set[str]) -> Sequence[Operation]:
        """The operations of torch that a file calls by one of these names (the last parts), and that are
        nondeterministic in some version, in the order of the text.
        """
        known = self._operations.setdefault(path, {})
        missing = called - known.keys()
        known.update((name, []) for name in missing)
        for name, operation in find_operations(self.ev, path, missing) if missing else ():
            known[name].append(operation)
        return sorted((one for name in called for one in known[name]), key=lambda one: one.call.site)

    # --- places -----------------------------------------------------------------------------------------------

    def location(self, site: Site) -> Location:
        return self.places.location(site)

    def parsed(self, path: Path) -> ParsedFile:
        """The libcst tree of a file, with positions: for fixes."""
        return self.places.parsed(path)

    def steps(self, links: Iterable[Link]) -> tuple[TraceStep, ...]:
        """A chain as the trace of a finding; a place that stands twice in a row is said once."""
        steps: list[TraceStep] = []
        for link in links:
            step = TraceStep(self.location(link.site), link.note, link.depth)
            if not steps or steps[-1] != step:
                steps.append(step)
        return tuple(steps)

    def site(self, node: tree.Expr | tree.Stmt | tree.Arg | tree.Param, frame: Frame) -> Site:
        return Site(frame.facts.path, node.site)


def _by_site(loaders: Iterable[Loader]) -> list[list[Loader]]:
    groups: dict[Site, list[Loader]] = {}
    for loader in loaders:
        groups.setdefault(loader.site, []).append(loader)
    return list(groups.values())
