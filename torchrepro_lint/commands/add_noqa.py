"""`--add-noqa`: silence what is found now by comments, each where its finding is."""

from __future__ import annotations

from itertools import groupby

from torchrepro_lint.commands.check import CheckOptions
from torchrepro_lint.console import counted, print_errors
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import check
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.fixes.noqa_fix import silencing
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.report.at_steps import told_at_steps
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.text import decode
from torchrepro_lint.source.write import alone_in, write_atomically
from torchrepro_lint.toolkit import Toolkit

__all__ = ["add_noqa"]


def add_noqa(options: CheckOptions, reason: str = "", toolkit: Toolkit | None = None) -> int:
    """Add a `# noqa` comment for each finding in the paths, with `reason` after the codes, and write the files. One
    elsewhere that a file in the paths brings about gets its comment in this one, at the last step of its proof.

    What is found of files and comments (TRL9) gets none. Exit status 0; 2 where the tool failed or a file could not be
    written: the others are written none the less.
    """
    contents, projects = Contents(), Projects(options.override)
    report = check(options.paths, options.override, projects=projects, toolkit=toolkit, contents=contents)
    errors = list(report.errors)
    own = {rule.code for rule in HOUSEKEEPING}
    told = told_at_steps(report.elsewhere, frozenset(projects.files(options.paths)), Texts())
    findings = sorted(
        (finding for finding in (*report.findings, *told) if finding.code not in own), key=lambda one: one.sort_key
    )
    added = changed = 0
    for path, group in groupby(findings, key=lambda finding: finding.location.path):
        try:
            source = decode(path, contents(path))
            if not options.through_links and (outside := projects.why_outside(path)) is not None:
                raise TorchReproLintError(f"{path}: not written: {outside}")
            edits = list(silencing(path, source.text, source.python, list(group), reason))
            with alone_in([projects.of(path).root]):
                write_atomically(path, source.encode(apply_edits(source.text, edits)), source.data)
        except TorchReproLintError as error:
            errors.append(str(error))
            continue
        added += len(edits)
        changed += 1
    print_errors(errors)
    if not options.quiet:
        if added:
            print(f"Added {counted(added, 'comment')} to {counted(changed, 'file')}.")
        elif not errors:
            print("No findings to suppress.")
    return 2 if errors else 0
