"""What stays of a finding when lines above it come and go: its file, its rule, and the code around it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.report.texts import Texts

__all__ = ["context", "fingerprints"]

_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")


def context(finding: Finding, texts: Texts) -> str:
    """The function or class around the finding and the line that it is on: `Trainer.fit: loader = DataLoader(..)`.

    Blanks are brought to one, so that a formatter's indentation changes nothing. It is read from the text alone: a
    report has no tree, and a finding of a broken file has none either.
    """
    row = finding.location.start.row
    line = " ".join(texts.line(finding.location.path, row).split())
    scope = ".".join(_scope(texts.lines(finding.location.path), row))
    return f"{scope}: {line}" if scope else line


def fingerprints(findings: Iterable[Finding], texts: Texts) -> Iterator[tuple[Finding, str]]:
    """Each finding with a hexadecimal number that is its own: of equal ones, the first keeps its number when a second
    comes after it.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        key = (texts.name(finding.location.path), finding.code, context(finding, texts))
        seen[key] += 1
        number = hashlib.sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass"))
        yield finding, number.hexdigest()[:32]


def _scope(lines: list[str], row: int) -> list[str]:
    """The names of the definitions around a row, the outermost first, as the indentation tells."""
    names: list[str] = []
    limit = _indentation(lines[row - 1]) if 0 < row <= len(lines) else 0
    for line in reversed(lines[: row - 1]):
        if limit == 0:
            break
        body = line.lstrip()
        if not body or body.startswith("#") or _indentation(line) >= limit:
            continue
        definition = _DEFINITION.match(body)
        if definition is not None:
            names.append(definition[1])
        limit = _indentation(line)
    return names[::-1]


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
