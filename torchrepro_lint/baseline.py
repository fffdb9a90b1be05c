"""Known findings that are not reported. A file records them by file, rule and context, and not by line.

A finding is known as long as its file, its rule and the code around it (see `report.fingerprints.context`) match a
record. Each record hides as many findings as it counts, so an additional one of the same kind is reported.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from torchrepro_lint.diagnostics import Finding, TorchReproLintError
from torchrepro_lint.regular_files import read_regular
from torchrepro_lint.report.fingerprints import context
from torchrepro_lint.report.texts import Texts

__all__ = ["Baseline", "read_baseline", "recorded"]

_VERSION = 1

# The file, relative to the folder of the baseline and with slashes; the code of the rule; the context.
_Record: TypeAlias = tuple[str, str, str]


@dataclass(slots=True)
class Baseline:
    """The records of one file, with their counts, which go down as findings are hidden."""

    path: Path
    records: Counter[_Record] = field(default_factory=Counter)

    def unknown(self, findings: Iterable[Finding], texts: Texts) -> list[Finding]:
        """The findings that no record hides. The records that are left in `records` afterwards matched no finding."""
        left = []
        for finding in findings:
            record = _record(finding, self.path.parent, texts)
            if self.records[record] > 0:
                self.records[record] -= 1
            else:
                left.append(finding)
        return left

    def stale(self, files: Collection[Path], was_run: Callable[[str], bool]) -> int:
        """How many records of `files` matched no finding although their rule ran. Must be called after `unknown`."""
        names = {_name(path, self.path.parent) for path in files}
        return sum(
            count for (name, rule, _), count in self.records.items() if count and name in names and was_run(rule)
        )

    def text(self) -> str:
        """The records as the file holds them: sorted, one for each line of a difference."""
        entries = [
            {"file": file, "rule": rule, "context": where, "count": count}
            for (file, rule, where), count in sorted(self.records.items())
            if count > 0
        ]
        return json.dumps({"version": _VERSION, "findings": entries}, indent=2, ensure_ascii=False) + "\n"


def read_baseline(path: Path) -> Baseline:
    """The records in the file `path` (absolute). TorchReproLintError if it does not exist or is not a baseline."""
    try:
        data = json.loads(read_regular(path))
        if data["version"] != _VERSION:
            raise TorchReproLintError(
                f"{path}: a baseline of version {data['version']}, which this version cannot read"
            )
        return Baseline(path, Counter({_entry(one): int(one["count"]) for one in data["findings"]}))
    except FileNotFoundError:
        raise TorchReproLintError(f"{path}: no such baseline; create one with --write-baseline") from None
    except OSError as error:
        raise TorchReproLintError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise TorchReproLintError(
            f"{path}: not a torchrepro-lint baseline; create one with --write-baseline"
        ) from error


def recorded(
    path: Path,
    findings: Sequence[Finding],
    texts: Texts,
    kept: Baseline | None,
    files: Sequence[Path],
    was_run: Callable[[str], bool],
    elsewhere: Sequence[Finding] = (),
) -> Baseline:
    """A baseline, to be written to `path`, of the findings in `files`, and of those `elsewhere` that they bring about.
    Records of `kept` stay if they are for other files that still exist, or for rules that did not run.
    """
    checked = {_name(file, path.parent) for file in files}
    others = kept.records if kept is not None else Counter[_Record]()
    records = Counter(
        {
            (file, rule, where): count
            for (file, rule, where), count in others.items()
            if (file not in checked or not was_run(rule)) and (path.parent / file).exists()
        }
    )
    records.update(_record(finding, path.parent, texts) for finding in findings)
    records |= Counter(_record(finding, path.parent, texts) for finding in elsewhere)  # some may be kept
    return Baseline(path, records)


def _entry(one: dict[str, Any]) -> _Record:
    file, rule, where = one["file"], one["rule"], one["context"]
    if not (isinstance(file, str) and isinstance(rule, str) and isinstance(where, str)):
        raise TypeError
    return file, rule, where


def _record(finding: Finding, folder: Path, texts: Texts) -> _Record:
    return _name(finding.location.path, folder), finding.code, context(finding, texts)


def _name(path: Path, folder: Path) -> str:
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # another drive of Windows
        return path.as_posix()
