"""`torchrepro-lint -`: a file that comes from standard input, in the place of the one that it is called."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from torchrepro_lint.commands.check import CheckOptions, print_report, status
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import Report, Toolkit, check
from torchrepro_lint.housekeeping import UNREADABLE_FILE
from torchrepro_lint.report.colours import Colours, wants_colour
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.source.root import absolute
from torchrepro_lint.source.text import SourceError, decode

__all__ = ["check_stdin"]

_UNNAMED = Path("stdin.py")


def check_stdin(options: CheckOptions, name: Path | None = None, toolkit: Toolkit | None = None) -> int:
    """Check what comes from standard input as the file `name`, whose project gives the facts and the settings.

    With `fix`, the mended text goes to standard output and the report to standard error; with `diff`, the difference.
    A text that cannot be read goes through as it is. Exit status as for files.
    """
    if [path for path in options.paths if path != Path("-")] not in ([], [Path()]):
        raise TorchReproLintError("- is standard input, and the only path then")
    data = sys.stdin.buffer.read()
    path = absolute(name or _UNNAMED)
    repairs = options.fix or options.fix_only or options.diff
    stream = sys.stderr if repairs else sys.stdout
    colours = Colours(wants_colour(options.colour, stream, os.environ))
    try:
        source = decode(path, data)
    except SourceError as error:
        if repairs and not options.diff:
            _pass_on(data)
        report = Report((UNREADABLE_FILE.finding(path, error.row, error.column, error.reason),), 1)
        print_report(report, options, Texts({path: ""}), colours, toolkit, stream=stream)
        return status(report, options, True)
    if not repairs:
        report = check([path], options.override, overlay={path: source.text}, toolkit=toolkit)
        print_report(report, options, Texts({path: source.text}), colours, toolkit)
        return status(report, options, bool(report.findings))
    from torchrepro_lint.fix_loop import fix

    result = fix([path], options.override, write=False, given=source, toolkit=toolkit)
    text = result.changes[0].text if result.changes else source.text
    if options.diff:
        sys.stdout.writelines(line for change in result.changes for line in change.diff(Texts().name(path)))
    else:
        _pass_on(source.encode(text))
    # The findings that are left are of the new text.
    texts = Texts({path: text})
    left = replace(result.report, findings=()) if options.fix_only or options.diff else result.report
    print_report(left, options, texts, colours, toolkit, fixed=len(result.fixed), stream=stream)
    changed = bool(result.changes) and (options.diff or options.exit_non_zero_on_fix)
    return status(result.report, options, changed or (bool(result.report.findings) and not options.fix_only))


def _pass_on(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
