"""`torchrepro-lint -`: a file that comes from standard input, in the place of the one that it is called."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from torchrepro_lint.commands.check import CheckOptions, print_report, status
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import Report, check
from torchrepro_lint.housekeeping import UNREADABLE_FILE
from torchrepro_lint.report.colours import Colours, wants_colour
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.selection import is_ignored
from torchrepro_lint.source.prefilter import is_wanted
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.root import absolute
from torchrepro_lint.source.text import Source, SourceError, decode
from torchrepro_lint.toolkit import Toolkit

__all__ = ["check_stdin"]

_UNNAMED = Path("stdin.py")


def check_stdin(
    options: CheckOptions, name: Path | None = None, toolkit: Toolkit | None = None, *, force_exclude: bool = False
) -> int:
    """Check what comes from standard input as the file `name`, whose project gives the facts and the settings.

    With `fix`, the fixed text goes to standard output and the report to standard error; with `diff`, the difference.
    A text that cannot be read goes through as it is, and with `force_exclude` one whose file the settings leave out.
    Exit status as for files.
    """
    if any(path != Path("-") for path in options.paths) and options.paths != (Path(),):
        raise TorchReproLintError(
            "- and --stdin-filename check standard input, and cannot be combined with other paths"
        )
    if sys.stdin is None:  # as `<&-` leaves it
        raise TorchReproLintError("standard input is closed")
    data = sys.stdin.buffer.read()
    path = absolute(name or _UNNAMED)
    if force_exclude and Projects(options.override).leaves_out(path):
        if options.is_fixing and not options.diff:
            _pass_on(data)
        return 0
    # The fixed text has standard output for itself.
    stream = sys.stderr if options.is_fixing else sys.stdout
    colours = Colours(wants_colour(options.colour, stream, os.environ))
    shown = ""
    try:
        source = decode(path, data)
        shown = source.text
        if not is_wanted(source.searched):
            _require_python(path, source, options)
    except SourceError as error:
        if options.is_fixing and not options.diff:
            _pass_on(data)
        report = Report((UNREADABLE_FILE.finding(path, error.row, error.column, error.reason),), 1)
        print_report(report, options, Texts({path: shown}), colours, toolkit, stream=stream)
        return status(report, options, True)
    if not options.is_fixing:
        report = check([path], options.override, overlay={path: source.text}, toolkit=toolkit)
        print_report(report, options, Texts({path: source.text}), colours, toolkit)
        return status(report, options, bool(report.everything))
    from torchrepro_lint.commands.fix import print_fixes
    from torchrepro_lint.fix_loop import fix

    result = fix([path], options.override, write=False, given=source, toolkit=toolkit)
    text = result.changes[0].text if result.changes else source.text
    if not options.diff:
        _pass_on(source.encode(text))
    return print_fixes(result, options, Texts({path: text}), toolkit, stream)


def _require_python(path: Path, source: Source, options: CheckOptions) -> None:
    """SourceError for a text that is no Python, also where no rule would look at it: somebody has just typed it."""
    from torchrepro_lint.facts.module import UnreadableModule, facts_of_text

    if is_ignored(UNREADABLE_FILE, path, Projects(options.override).of(path).settings):
        return
    try:
        facts_of_text(path, source.python)
    except UnreadableModule as error:
        raise SourceError(path, error.row, error.column, error.message) from None


def _pass_on(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
