"""Programs that are kept from one analysis to the next, so that the next costs what has changed."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.facts.memory import TextMemory
from torchrepro_lint.facts.module import facts_of_text
from torchrepro_lint.program.imports import ImportGraph
from torchrepro_lint.program.kept.evaluator import TracedEvaluator
from torchrepro_lint.program.kept.project import KeptProject
from torchrepro_lint.program.locations import MOST_PARSED, ParsedFile
from torchrepro_lint.program.program import Linked, Program
from torchrepro_lint.settings import Intent, Settings
from torchrepro_lint.source.beside import files_beside
from torchrepro_lint.source.configurations import answer_outside
from torchrepro_lint.source.contents import Read
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import read_bytes

__all__ = ["KeptPrograms"]


@dataclass(frozen=True, slots=True)
class _Circumstances:
    """What must be the same for answers to be the same, beside the texts: not the profile, nor which rules run."""

    files: tuple[Path, ...]
    src: tuple[Path, ...]
    intent: Intent | None
    target: TargetTorch
    beside: tuple[tuple[Path, bytes], ...]


@dataclass(slots=True)
class _Kept:
    circumstances: _Circumstances
    project: KeptProject
    ev: TracedEvaluator
    imports: ImportGraph

    def follows(self, overlay: Mapping[Path, str], read: Read) -> bool:
        """Takes the texts as they are now, and forgets what no longer holds; whether that could be done."""
        root = self.project.root
        if any(answer_outside(root, question) != found for question, found in self.project.outside.items()):
            return False
        changes = self.project.follow(overlay, read)
        if changes is None:
            return False
        self.imports.follow(changes.imports)
        self.ev.begin_analysis(self.project.looks.mask(changes.questions), changes.retired)
        return True


class KeptPrograms:
    """Makes the program of a project, as the engine asks for it, out of the last one: with the same files, settings and
    metadata, each answer stays that rests on nothing which has changed. The last program may not be used any more.

    The findings are those of a program that is made anew, but where a question runs out of its budget: what is known
    already costs nothing, so that it comes further. With `exact`, a program in which that has happened is not kept.
    """

    def __init__(self, *, exact: bool = False) -> None:
        self._exact = exact
        self._facts = TextMemory(facts_of_text)
        self._parsed = TextMemory(ParsedFile, MOST_PARSED)
        self._kept: dict[Path, _Kept] = {}

    def __call__(
        self, root: Path, files: Sequence[Path], settings: Settings, target: TargetTorch, overlay: Mapping[Path, str],
        *, read: Read = read_bytes, asked: frozenset[Path] | None = None,
    ) -> Program:  # fmt: skip
        circumstances = _Circumstances(tuple(files), settings.src, settings.intent, target, tuple(_beside(root)))
        kept = self._kept.pop(root, None)
        if kept is not None and self._exact and kept.ev.ran_out:
            kept = None
        if kept is None or kept.circumstances != circumstances or not kept.follows(overlay, read):
            project = KeptProject(root, files, overlay, settings.src, self._facts, read)
            kept = _Kept(circumstances, project, TracedEvaluator(project), ImportGraph(project))
        self._kept[root] = kept
        linked = Linked(kept.project, kept.ev, kept.imports)
        return Program(root, files, settings, target, asked=asked, parsed_of=self._parsed, linked=linked)

    def keep(self, roots: Container[Path]) -> None:
        """Drops the programs of other projects than those at these roots, and of the files that are in none."""
        self._kept = {root: kept for root, kept in self._kept.items() if root in roots}
        files = {path for kept in self._kept.values() for path in kept.project.files}
        self._facts.keep(files)
        self._parsed.keep(files)


def _beside(root: Path) -> list[tuple[Path, bytes]]:
    found: list[tuple[Path, bytes]] = []
    for path in in_order(files_beside(root)):
        with suppress(TorchReproLintError):
            found.append((path, read_bytes(path)))
    return found
