"""The verdicts of fixtures that passed, kept in pytest's cache until something changes that they depend on."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path

import pytest

import torchrepro_lint.verify
from torchrepro_lint.verify.fixtures.fixture import Fixture
from torchrepro_lint.verify.fixtures.judge import Outcome, Verdict
from torchrepro_lint.verify.fixtures.suite import Row

_NAME = "torchrepro-lint/verdicts"
_VERIFY = Path(torchrepro_lint.verify.__file__).parent


class KeptVerdicts:
    """What was judged in earlier runs on this machine. Without pytest's cache plugin nothing is kept."""

    def __init__(self, config: pytest.Config) -> None:
        self._cache = getattr(config, "cache", None)
        self._kept: dict[str, list[list[str | None]]] = self._cache.get(_NAME, {}) if self._cache else {}
        self._runner = _digest_of(_files(_VERIFY), [sys.version, *_installed()])

    def get(self, fixture: Fixture) -> list[Row] | None:
        """The rows of the fixture, if nothing has changed since they were made."""
        kept = {text: (device, observed, outcome) for text, device, observed, outcome in self._of(fixture)}
        if {claim.text for claim in fixture.claims} != set(kept):
            return None
        rows = []
        for claim in fixture.claims:
            device, observed, outcome = kept[claim.text]
            rows.append(Row(fixture, claim, device, Verdict(Outcome(outcome), observed or "")))  # type: ignore[arg-type]
        return rows

    def add(self, made: Iterable[list[Row]]) -> None:
        """Keep the rows of programs, one list a program."""
        if self._cache is None:
            return
        for rows in made:
            self._kept[self._key(rows[0].fixture)] = [
                [row.claim.text, row.device, row.verdict.observed, row.verdict.outcome.value] for row in rows
            ]
        self._cache.set(_NAME, self._kept)

    def _of(self, fixture: Fixture) -> list[list[str | None]]:
        return self._kept.get(self._key(fixture), [])

    def _key(self, fixture: Fixture) -> str:
        files = [fixture.path] if fixture.alone else _files(fixture.path)
        return _digest_of(files, [self._runner, *(claim.text for claim in fixture.claims)])


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def _digest_of(files: Iterable[Path], words: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    for word in words:
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()


def _installed() -> list[str]:
    """What fixtures may import, with versions: every package of this environment but the tool itself."""
    found = {(one.metadata["Name"] or "", one.version) for one in distributions()}
    return sorted(f"{name} {version}" for name, version in found if name != "torchrepro-lint")
