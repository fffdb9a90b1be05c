"""`Program`: all facts of a project, linked. What rules ask. The package's docstring explains the terms."""

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
from torchrepro_lint.program.intent.configurations import configured_evidence, evidence_words
from torchrepro_lint.program.intent.intent import Evidence, find_evidence, running_modules
from torchrepro_lint.program.loaders.loaders import Loader, find_loaders
from torchrepro_lint.program.loaders.worker_runs import WorkerRun, worker_run
from torchrepro_lint.program.locations import ParsedFile, ParsedOf, Places
from torchrepro_lint.program.looks import Looks
from torchrepro_lint.program.modules import FactsOf, Project
from torchrepro_lint.program.ops.operations import Operation, find_operations
from torchrepro_lint.program.programs.for_others import (
    is_another_version,
    is_beside_its_packages,
    is_beside_programs,
    is_of_its_package,
)
from torchrepro_lint.program.running.reach import Link, Walker
from torchrepro_lint.program.switches.older_torch import is_for_older_torch
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.commands import ALL_COMMANDS, commands_below, digest_of, files_run
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.left_over import has_conflict
from torchrepro_lint.source.line_length import line_length_of
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import SourceError, read_bytes

__all__ = ["Linked", "Program"]

Answer = TypeVar("Answer")
Place = TypeVar("Place")
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)

# A question may nest a few hundred deep, at about ten Python frames each.
_RECURSION_LIMIT = 12_000
# One file of so many, or fewer, are few.
_FEW = 8
# A rule that fails at more places than this fails everywhere.
_MOST_GIVEN_UP = 20


@dataclass(frozen=True, slots=True)
class Linked:
    """What several programs of one project can share: its files, and what was found out about them.

    It depends neither on the rules that run nor on the files whose findings are wanted.
    """

    project: Project
    ev: Evaluator
    imports: ImportGraph


class Program:
    """The linked facts of one project. Everything is computed on first use, and then kept.

    Args:
        root: The folder from which the project's modules are imported.
        files: All Python files of the project.
        settings: The settings of the project, including those of the command line.
        target: The versions of torch that the project targets.
        overlay: Texts that replace files on the disk, such as unsaved ones in an editor.
        asked: The files whose findings are wanted; None for all.
        read: Reads a file.
        facts_of: Makes the facts of a text; it may take them from a cache.
        parsed_of: Makes the libcst tree of a text, for fixes; it may take it from a cache.
        linked: What an earlier program has found out about exactly these files, as their texts are now: in the place of
            `overlay`, `read` and `facts_of`, with which it was made.
    """

    def __init__(
        self,
        root: Path,
        files: Sequence[Path],
        settings: Settings,
        target: TargetTorch,
        overlay: Mapping[Path, str] | None = None,
        *,
        asked: frozenset[Path] | None = None,
        read: Read = read_bytes,
        facts_of: FactsOf = facts_of_text,
        parsed_of: ParsedOf = ParsedFile,
        linked: Linked | None = None,
    ) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
        self.root = root
        self._files = files
        self._asked = asked
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
        # What the current rule is not asked about again, since it failed there; and the place that it looks at.
        self._given_up: set[Site | Path] = set()
        self._in_hand: Site | None = None

    @property
    def unreadable(self) -> Mapping[Path, tuple[int, int, str]]:
        """Row and column (from 1) and the reason, for each file that was looked at and could not be read or parsed."""
        return self.project.unreadable

    def facts(self, path: Path) -> ModuleFacts | None:
        """The facts of a file; None where it cannot be read or parsed."""
        return self.project.facts(path)

    def is_imported(self, path: Path, by: Set[Path]) -> bool:
        """Whether one of the files `by` imports this one that can be read itself."""
        return any(one in by and self.facts(one) is not None for one in self.imports.importers(path))

    def is_offered(self, path: Path) -> bool:
        """Whether the file is part of a package that the project builds, so that others may import it."""
        return is_of_its_package(self, path) and not is_beside_its_packages(self, path)

    def is_draft(self, path: Path) -> bool:
        """Whether scripts and READMEs name other files of the project to run, or it is another version of a file beside
        it that can be read, or of several scripts in a folder that they say nothing of; and they do not name this one,
        and no merge was left unresolved in it.
        """
        named = self.once("files run", lambda: files_run(self.commands.values()))
        source = self.project.source(path)
        if path.name in named or (source is not None and has_conflict(source.searched)):
            return False
        if any(one.name in named for one in self.project.files) or is_another_version(self, path):
            return True
        return is_beside_programs(self, path)

    @cached_property
    def commands(self) -> Mapping[str, bytes]:
        """The texts of the scripts, READMEs and CI files, which may give commands, by their paths. A cached result
        holds as long as they do.
        """
        read = commands_below(self.root)
        self.project.outside[ALL_COMMANDS] = digest_of(read)
        return read

    @property
    def tests(self) -> frozenset[Path]:
        """The files of the project that are tests."""
        return self.project.tests

    def is_test(self, path: Path) -> bool:
        """Whether a file of the project is a test."""
        return path in self.tests

    @cached_property
    def _told(self) -> frozenset[Path] | None:
        """The asked files, and those that import them or are imported by them; None for all."""
        if self._asked is None:
            return None
        around = (self.imports.above(path) | self.imports.below(path) for path in self._asked)
        return self._asked.union(*around)

    def is_asked(self, path: Path) -> bool:
        """Whether the findings of a file are wanted. For other files no fix need be planned."""
        return (self._asked is None or path in self._asked) and path not in self._given_up

    def is_told(self, path: Path) -> bool:
        """Whether the findings of a file are wanted, or may be because their proof may go through an asked file."""
        return (self._told is None or path in self._told) and path not in self._given_up

    def begin_rule(self) -> None:
        """Another rule is run: it is asked about all places, and what the last one spent is not counted."""
        self._given_up.clear()
        self._in_hand = None
        self.ev.begin_question()

    def begin_place(self) -> None:
        """The current rule goes on to its next place: what it spent on the last one is not counted."""
        self.ev.begin_question()

    def give_up(self, files: Iterable[Path]) -> bool:
        """Leave out the place at which a rule failed, so that it can be run once more for all others: the site that it
        looked at, else the first of `files`, those that the failing code looked at. False where no such place is known,
        or so many have been left out that the fault is in none of them.
        """
        places = (*((self._in_hand,) if self._in_hand is not None else ()), *files)
        self._in_hand = None
        if len(self._given_up) < _MOST_GIVEN_UP:
            for place in places:
                if place not in self._given_up and self.is_told(place.path if isinstance(place, Site) else place):
                    self._given_up.add(place)
                    return True
        return False

    def _each_place(self, places: Iterable[Place], site_of: Callable[[Place], Site]) -> Iterator[Place]:
        """The places at which a rule looks one after the other. Each begins a question, with a budget of its own; so
        does the search for the next one.
        """
        for place in places:
            site = site_of(place)
            if site not in self._given_up and self.is_told(site.path):
                self.ev.begin_question()
                self._in_hand = site
                yield place
                self.ev.begin_question()
        self._in_hand = None

    def asked_with(self, pattern: re.Pattern[bytes]) -> list[Path]:
        """The asked files themselves whose text matches the pattern, in order: a test before any parsing."""
        asked = self._asked
        if asked is not None and len(asked) * _FEW < len(self._files):
            return [path for path in self.project.matching(pattern, sorted(asked)) if self.is_asked(path)]
        matching = self.project.matching(pattern)
        return [path for path in matching if (asked is None or path in asked) and self.is_asked(path)]

    def others_with(self, pattern: re.Pattern[bytes]) -> list[Path]:
        """The files that are not asked and whose text matches the pattern, in order."""
        asked = self._asked
        return [path for path in self.project.matching(pattern) if path not in asked] if asked is not None else []

    def asked_in_order(
        self, sites: Iterable[Site], proof: Callable[[Site], Iterable[Site]] = lambda site: ()
    ) -> list[Site]:
        """Those of `sites` of which findings may be wanted (see `is_told`), or whose `proof` goes through one,
        by file, then in the order of the text.
        """
        asked = (site for site in sites if self.is_told(site.path) or any(self.is_asked(at.path) for at in proof(site)))
        return sorted(asked, key=lambda site: (str(site.path), site.number))

    def has_read(self, path: Path) -> bool:
        """Whether something has looked at a file."""
        return self.project.is_parsed(path)

    @property
    def outside(self) -> Mapping[str, bool | str]:
        """What was asked of files other than Python (YAML, shell scripts, Dockerfiles), and the answers.

        For an environment variable, whether one of them names it. A cached result holds as long as these do.
        """
        return self.project.outside

    @property
    def looks(self) -> Looks | None:
        """Which words and patterns were looked for in the texts, so that a cached result can be checked against a
        changed text. None where the result depends on more than that, and cannot be checked so.
        """
        return self.project.looks if not self._refused else None

    def without(self, refused: SourceError) -> Program:
        """The same project without a file that turned out to be unreadable while it was analysed."""
        project = self.project
        other = Program(
            self.root,
            self._files,
            self.settings,
            self.target,
            project.overlay,
            asked=self._asked,
            read=project.read,
            facts_of=project.facts_of,
            parsed_of=self.places.parsed_of,
        )
        for path, where in (
            *((one, self.unreadable[one]) for one in self._refused),
            (refused.path, (refused.row, refused.column, refused.reason)),
        ):
            other.project.lay_aside(path, where)
            other._refused.add(path)
        return other

    def once(self, key: Hashable, compute: Callable[[], Answer]) -> Answer:
        """The answer to a question about the program as a whole: `compute` runs once for each `key`."""
        return self.ev.once(self._answers, key, compute)

    @cached_property
    def line_length(self) -> int | None:
        """The line length, in characters, that the project's formatter is set to; None where none is configured."""
        return line_length_of(self.root)

    @property
    def strict(self) -> bool:
        """Whether the profile is `strict`: rules that have a second, stricter threshold then use it."""
        return self.settings.profile == "strict"

    def is_chosen(self, code: str, name: str) -> bool:
        """Whether the settings choose a rule by itself or its family: it then reports all that it finds."""
        selectors = (*self.settings.select, *self.settings.extend_select)
        return any(
            selector.lower() == name
            or selector.upper() == "ALL"
            or (len(selector) > 3 and code.startswith(selector.upper()))
            for selector in selectors
        )

    # --- loaders and their workers ----------------------------------------------------------------------------

    @property
    def loaders(self) -> Sequence[Loader]:
        """Every loader of the project. A call that is reached with different arguments gives one loader for each."""
        return self.once("loaders", lambda: find_loaders(self.ev))

    @property
    def loader_sites(self) -> Sequence[Sequence[Loader]]:
        """The same loaders, grouped by the call that makes them: a finding is about such a group."""
        return self.once("loader sites", lambda: _by_site(self.loaders))

    def asked_loader_sites(self) -> Iterator[Sequence[Loader]]:
        """Those of `loader_sites` of which findings may be wanted (see `is_told`). Each begins a question."""
        return self._each_place(self._asked_loader_sites, lambda loaders: loaders[0].site)

    @cached_property
    def _asked_loader_sites(self) -> Sequence[Sequence[Loader]]:
        told = self._told
        if told is None or len(told) * _FEW >= len(self._files) or "loaders" in self._answers:
            return [one for one in self.loader_sites if told is None or one[0].site.path in told]
        return _by_site(find_loaders(self.ev, told))

    def worker_run(self, loader: Loader) -> WorkerRun:
        """What the workers of a loader run: the events of fetching items and of collating them."""

        def run() -> WorkerRun:
            self.ev.begin_question()
            return worker_run(self.ev, loader, self.is_test)

        return self.once(loader, run)

    # --- intent -----------------------------------------------------------------------------------------------

    @property
    def evidence(self) -> Sequence[Evidence]:
        """Every seeding call and determinism switch of the project, and those in its configuration files."""

        def find() -> list[Evidence]:
            found = (one for one in find_evidence(self.ev) if not is_for_older_torch(self.ev, one, self.target))
            return [*found, *configured_evidence(self)]

        return self.once("evidence", find)

    def evidence_of(self, effect: str) -> Sequence[Evidence]:
        """The evidence with one effect: `seed`, `benchmark`, `algorithms`, ..."""

        return self.once("evidence-by-effect", lambda: _grouped(self.evidence, lambda one: one.effect)).get(effect, ())

    def evidence_in(self, path: Path) -> Sequence[Evidence]:
        """The evidence in one file, in the order of the text."""

        return self.once("evidence-by-file", lambda: _grouped(self.evidence, lambda one: one.site.path)).get(path, ())

    @property
    def evidence_of_intent(self) -> Sequence[Evidence]:
        """The evidence that shows that runs are to repeat: what seeds, and what asks for determinism."""

        def find() -> list[Evidence]:
            return [one for one in self.evidence if one.level is not None or one.effect == "seed"]

        return self.once("evidence-of-intent", find)

    def asked_evidence(self) -> Iterator[Evidence]:
        """The evidence of which findings may be wanted (see `is_told`). Each begins a question, with its own budget.

        Where no asked file holds a word that evidence needs, the rest of the project is not searched either.
        """
        if any(self.asked_with(words) for words in evidence_words()):
            return self._each_place(self.evidence, lambda one: one.site)
        return iter(())

    def runs_with(self, paths: Iterable[Path]) -> frozenset[Path]:
        """`paths`, and all modules that import any of them, directly or through others."""
        return frozenset[Path]().union(*map(self.imports.above, paths))

    def evidence_for(self, path: Path) -> list[Evidence]:
        """The evidence that holds for a module: what seeds or switches in it, or in a module that imports it."""
        above = self.imports.above(path)
        return [one for one in self.evidence if not above.isdisjoint(one.roots)]

    def evidence_in_programs_of(self, frame: Frame) -> list[Evidence]:
        """The evidence in the programs that run this frame's code: in the modules of its callers, and above them."""
        above = self.programs_of(frame)
        return [one for one in self.evidence if not above.isdisjoint(one.roots)]

    def programs_of(self, frame: Frame) -> frozenset[Path]:
        """The modules that make this frame's code run, those that import them, and those that import its own."""
        roots = running_modules(self.ev, frame.facts, frame.scope) or frozenset((frame.facts.path,))
        return self.runs_with(roots) | self.imports.above(frame.facts.path)

    # --- operations -------------------------------------------------------------------------------------------

    def operations(self, path: Path, called: Set[str]) -> Sequence[Operation]:
        """The calls in a file of torch operations that are nondeterministic in some version, in the order of the text.

        `called` are the last parts of their names (`scatter_add_`): others are not looked for.
        """
        known = self._operations.setdefault(path, {})
        missing = called - known.keys()
        known.update((name, []) for name in missing)
        for name, operation in find_operations(self.ev, path, missing) if missing else ():
            known[name].append(operation)
        return sorted((one for name in called for one in known[name]), key=lambda one: one.call.site)

    # --- places -----------------------------------------------------------------------------------------------

    def location(self, site: Site) -> Location:
        """The file, rows and columns of a place, as findings give them."""
        return self.places.location(site)

    def parsed(self, path: Path) -> ParsedFile:
        """The libcst tree of a file, with positions: for fixes."""
        return self.places.parsed(path)

    def steps(self, links: Iterable[Link]) -> tuple[TraceStep, ...]:
        """A chain of an event as the trace of a finding. A step that repeats the one before it is left out."""
        steps: list[TraceStep] = []
        for link in links:
            step = TraceStep(self.location(link.site), link.note, link.depth)
            if not steps or steps[-1] != step:
                steps.append(step)
        return tuple(steps)

    def site(self, node: tree.Expr | tree.Stmt | tree.Arg | tree.Param, frame: Frame) -> Site:
        """The place of a node of the file whose code the frame runs."""
        return self.ev.site(node, frame)


def _by_site(loaders: Iterable[Loader]) -> list[list[Loader]]:
    return list(_grouped(loaders, lambda one: one.site).values())


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    groups: dict[Key, list[Item]] = {}
    for one in items:
        groups.setdefault(key(one), []).append(one)
    return groups
