"""`--add-noqa`: silence what is found now by comments, each where its finding stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from torchrepro_lint.commands.check import CheckOptions
from torchrepro_lint.console import counted, print_errors
from torchrepro_lint.diagnostics import Edit, Finding, TorchReproLintError
from torchrepro_lint.engine import Toolkit, check
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.fixes.noqa_fix import with_codes
from torchrepro_lint.fixes.write import write_atomically
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.source.noqa import read_directives, rows_with_an_end
from torchrepro_lint.source.text import Source, read_source

__all__ = ["add_noqa"]


def add_noqa(options: CheckOptions, reason: str = "", toolkit: Toolkit | None = None) -> int:
    """Add a `# noqa` comment for each finding in the paths, with `reason` behind the codes, and write the files.

    What is found of files and comments (TRL9) gets none. Exit status 0; 2 where the tool failed or a file could not be
    written: the others are written none the less.
    """
    report = check(options.paths, options.override, toolkit=toolkit)
    errors = list(report.errors)
    own = {rule.code for rule in HOUSEKEEPING}
    findings = [finding for finding in report.findings if finding.code not in own]
    added = changed = 0
    for path, group in groupby(findings, key=lambda finding: finding.location.path):
        try:
            source = read_source(path)
            edits = list(_edits(source, list(group), reason))
            write_atomically(path, source.encode(apply_edits(source.text, edits)), source.data)
        except TorchReproLintError as error:
            errors.append(str(error))
            continue
        added += len(edits)
        changed += 1
    print_errors(errors)
    if not options.quiet:
        print(f"Added {counted(added, 'comment')} to {counted(changed, 'file')}." if added else "Nothing to silence.")
    return 2 if errors else 0


def _edits(source: Source, findings: Iterable[Finding], reason: str) -> Iterator[Edit]:
    directives = read_directives(source.python)
    possible = rows_with_an_end(source.python)
    by_row: dict[int, list[str]] = {}
    for finding in findings:
        codes = by_row.setdefault(_row(finding, possible), [])
        if finding.code not in codes:
            codes.append(finding.code)
    for row, codes in sorted(by_row.items()):
        yield with_codes(source.path, source.text, row, codes, directives.rows.get(row), reason)


def _row(finding: Finding, possible: Sequence[int]) -> int:
    """The row of the statement on which a comment can stand, from where the finding begins: inside of a string, and
    behind a backslash, there is no room for one.
    """
    start = finding.location.start.row
    return next((row for row in possible if row >= start), start)
