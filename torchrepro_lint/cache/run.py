"""One run and the cache: is its answer known, and what is to be kept of it.

The key of a report holds the contents of every file of the projects concerned, so that nothing that a rule could look
at is left out. What is asked of other files (does a shell script set this variable?) is kept beside the answer, and
asked again. Where only a few files have changed since the last run of the same kind, its answer holds as well if none
of the changes alters what that run has seen of these files: see `record`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from torchrepro_lint.cache.codec import Stored, decoded, encoded
from torchrepro_lint.cache.dependencies import Dependencies
from torchrepro_lint.cache.installed import are_rules_installed
from torchrepro_lint.cache.key import digest_of, key_of, own_state
from torchrepro_lint.cache.secret import user_secret
from torchrepro_lint.cache.stats import KnownDigests
from torchrepro_lint.cache.store import DIGESTS, FOLDER, Store
from torchrepro_lint.diagnostics import Finding, LeftToStrict
from torchrepro_lint.source.beside import files_beside
from torchrepro_lint.source.configurations import answer_outside
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.discovery import in_order
from torchrepro_lint.source.ignore import git_top
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.text import SourceError
from torchrepro_lint.source.write import link_out_of

__all__ = ["CachedRun", "cache_folder"]


def cache_folder(project: Project) -> Path:
    """Where the results for a project are kept, unless the command line says where."""
    return project.settings.cache_dir or project.root / FOLDER


class CachedRun:
    """A run over `requested`. Where it may not be cached, nothing is known and nothing is kept."""

    def __init__(
        self, requested: Collection[Path], projects: Projects, folder: Path | None, extra: str, contents: Contents
    ) -> None:
        concerned = _in_order({projects.of(path) for path in requested})
        self.notices: tuple[tuple[Path, str], ...] = ()
        self._store: Store | None = None
        self._requested = requested
        self._contents = contents
        if not concerned or not all(project.settings.cache for project in concerned):
            return
        if are_rules_installed():
            return  # what the rules of others depend on is theirs to know
        roots = {project.root for project in concerned}
        tops = {git_top(root) or root for root in roots}
        secret = user_secret(tops)
        if secret is None:
            return  # nobody could tell what this user has kept from what somebody else has put there
        files = in_order({*requested, *(path for project in concerned for path in project.files)})
        metadata = {path for root in roots for path in files_beside(root)}
        store = Store(folder or cache_folder(concerned[0]), secret)
        if (refusal := _leads_out(store.folder, tops) or store.refusal()) is not None:
            self.notices = ((store.folder, refusal),)
            return
        try:
            self._known = KnownDigests(Store(store.folder, secret, DIGESTS), files, contents)
            beside = {path: digest_of(contents(path)) for path in in_order(metadata)}
        except SourceError:
            return  # it may be readable in the next run, without any change
        self._store = store
        self._roots = roots
        self._digests = self._known.digests
        only = in_order(requested) if len(requested) < len(files) else []
        metadata_said: list[str | bytes] = [*map(str, beside), *beside.values()]
        kind = key_of([own_state(), extra, _said(concerned), _names(files), _names(only), key_of(metadata_said)])
        self._key = f"report-{key_of([kind, *self._digests.values()])}"
        self._record = f"record-{kind}"
        self._texts = f"texts-{kind}"

    def load(self) -> Stored | None:
        """What an equal run has found, None where there was none."""
        if self._store is None:
            return None
        data = self._store.get(self._key)
        stored = self._answered(data) if data is not None else None
        if stored is None:
            stored = self._after_changes(self._store)
        if stored is not None:
            self._known.keep()
        return stored

    def alone(self, wait: float) -> AbstractContextManager[None]:
        """While no other process makes the result, or after one has, or after so many seconds."""
        return nullcontext() if self._store is None else self._store.locked(self._key, wait)

    def save(
        self,
        findings: Iterable[Finding],
        notices: Iterable[tuple[Path, str]],
        left: LeftToStrict,
        dependencies: Dependencies,
    ) -> None:
        """Keeps the answer of this run, unless a file has changed since it began: then it is of other texts."""
        if self._store is None:
            return
        try:
            texts = [self._text(path) for path in self._digests]
        except SourceError:
            return
        self._known.keep()
        outside = dependencies.outside.items()
        questions = [[str(root), name, found] for root, names in outside for name, found in names.items()]
        entries = {self._key: json.dumps([questions, encoded(findings, notices, left)]).encode()}
        looks = [one for one in dependencies.looks if one is not None]
        if len(looks) == len(dependencies.looks):
            from torchrepro_lint.cache.record import record_of

            made = record_of(self._key, looks, self._digests, texts)
            entries.update(zip((self._record, self._texts), made, strict=True))
        self._store.put(entries)

    def is_of(self, files: Iterable[Path]) -> bool:
        """Whether these files still are those of the result: one may be saved after its digest is known."""
        try:
            for path in dict.fromkeys(files):
                self._text(path)
        except (SourceError, KeyError):
            return False
        return True

    def _text(self, path: Path) -> bytes:
        """The bytes that the digest of the file is of. SourceError where there are others now."""
        data = self._contents(path)
        if digest_of(data) != self._digests[path]:
            raise SourceError(path, 1, 1, "has changed meanwhile")
        return data

    def _after_changes(self, store: Store) -> Stored | None:
        kept = store.get(self._record)
        if kept is None:
            return None
        from torchrepro_lint.cache.record import Record

        record = Record.read(kept)
        changed = record.changed(self._digests) if record is not None else {}
        if record is None or not changed:
            return None
        data = store.get(record.report)
        stored = self._answered(data) if data is not None else None
        if data is None or stored is None:
            return None
        pieces = partial(store.pieces, self._texts)
        if not record.answers_stay(changed, self._text, self._requested, pieces):
            return None
        # The record stays the one of the run that was made: what changes next is held against the same texts.
        store.put({self._key: data}, used=(self._record, self._texts, record.report))
        return stored

    def _answered(self, data: bytes) -> Stored | None:
        """The findings and notices of a report, None where what it has asked of other files has another answer now, or
        where it is not of these files.
        """
        try:
            asked, report = _parsed(data)
            if any(self._outside(root, name) != found for root, name, found in asked):
                return None
            return decoded(report, self._digests, self._roots)
        except (ValueError, TypeError, AttributeError, IndexError, KeyError, OverflowError):
            return None

    def _outside(self, root: str, name: str) -> bool | str:
        """What the files of a project say that are no Python. ValueError for a folder that is none of its roots."""
        if Path(root) not in self._roots:
            raise ValueError(f"{root} is no project of the run")
        return answer_outside(Path(root), name)


def _leads_out(folder: Path, tops: Iterable[Path]) -> str | None:
    """Why a folder that is said to lie in one of the repositories is not written to, None where it may be."""
    if any(folder.is_relative_to(top) and link_out_of(top, folder) is not None for top in tops):
        return "a link on the way to it leads out of the project: the run goes on without a cache"
    return None


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _in_order(projects: Iterable[Project]) -> list[Project]:
    return sorted(projects, key=lambda project: (str(project.root), str(project.also)))


def _said(projects: Iterable[Project]) -> str:
    return key_of(str(part) for one in projects for part in (one.root, one.also, one.settings, one.target))


def _names(paths: Iterable[Path]) -> str:
    return "\0".join(map(str, paths))
