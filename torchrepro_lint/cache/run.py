"""One run and the cache: is its answer known, and what is to be kept of it.

The key holds the contents of every file of the projects concerned, so that nothing that a rule could look at is left
out. What is asked of other files (does a shell script set this variable?) is kept beside the answer, and asked again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from torchrepro_lint.cache.codec import Stored, decoded, encoded
from torchrepro_lint.cache.key import digest_of, run_key
from torchrepro_lint.cache.store import FOLDER, Store
from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.rule_metadata import RULES_GROUP
from torchrepro_lint.source.outside import METADATA, is_named_below
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.text import SourceError, read_bytes

__all__ = ["Asked", "CachedRun"]

#: For each project's root the variables that files beside the Python ones were searched for, and what was found.
Asked = Mapping[Path, Mapping[str, bool]]


class CachedRun:
    """A run over `requested`. Where it may not be cached, nothing is known and nothing is kept."""

    def __init__(self, requested: Collection[Path], projects: Projects, folder: Path | None, extra: str) -> None:
        concerned = _in_order({projects.of(path) for path in requested})
        self._store: Store | None = None
        self._key = ""
        if not concerned or not all(project.settings.cache for project in concerned):
            return
        if entry_points(group=RULES_GROUP):
            return  # what the rules of others depend on is theirs to know
        try:
            contents = _contents(requested, concerned)
        except SourceError:
            return  # it may be readable in the next run, without any change
        self._store = Store(folder or concerned[0].root / FOLDER)
        parts = [extra, *map(str, sorted(requested))]
        for project in concerned:
            parts += [str(project.root), str(project.also), repr(project.settings), repr(project.target)]
        self._key = run_key(parts, contents)

    def load(self) -> Stored | None:
        """The findings and notices of an equal run, None where there was none."""
        text = self._store.get(self._key) if self._store is not None else None
        if text is None:
            return None
        try:
            asked, report = json.loads(text)
            if any(is_named_below(Path(root), name.encode()) != found for root, name, found in asked):
                return None
        except (ValueError, TypeError, AttributeError):
            return None
        return decoded(report)

    def save(self, findings: Iterable[Finding], notices: Iterable[tuple[Path, str]], asked: Asked) -> None:
        """Keeps the answer of this run."""
        if self._store is not None:
            questions = [[str(root), name, found] for root, names in asked.items() for name, found in names.items()]
            self._store.put(self._key, json.dumps([questions, encoded(tuple(findings), tuple(notices))]))


def _in_order(projects: Iterable[Project]) -> list[Project]:
    return sorted(projects, key=lambda project: (str(project.root), str(project.also)))


def _contents(requested: Collection[Path], projects: Iterable[Project]) -> dict[Path, bytes]:
    contents = {}
    for path in {*requested, *(path for project in projects for path in project.files)}:
        contents[path] = digest_of(read_bytes(path))
    for root in {project.root for project in projects}:
        for name in METADATA:
            if (root / name).is_file():
                contents[root / name] = digest_of(read_bytes(root / name))
    return contents
