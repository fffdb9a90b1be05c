"""`torchrepro-lint report [PATH]`: the state of a project's reproducibility, as Markdown or HTML."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from torchrepro_lint.arguments import ArgumentParser, file_named, path_named
from torchrepro_lint.console import PROGRAM, print_errors, printable
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import check
from torchrepro_lint.report.documents import as_html, as_markdown
from torchrepro_lint.report.source_links import SourceLinks
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.settings import EVERY_RULE
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.git_head import git_head
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.root import absolute
from torchrepro_lint.source.write import write_output
from torchrepro_lint.toolkit import Toolkit

__all__ = ["report"]


def report(arguments: Sequence[str]) -> int:
    """Print or write what is controlled in the project of a path, where, and what all rules find in it.

    Exit status 0, also where something is found; 2 where the tool failed. TorchReproLintError where the path is not
    there, or the file cannot be written.
    """
    parser = ArgumentParser(
        f"{PROGRAM} report",
        "Show what a project controls of its randomness, what it does not, and where.",
    )
    parser.add_argument(
        "path", nargs="?", type=path_named, default=Path(), metavar="PATH", help="a file or folder (default: .)"
    )
    parser.add_argument(
        "--output-format",
        "--format",
        dest="format",
        choices=["markdown", "html"],
        help="default: by the suffix of --output, or else markdown",
    )
    parser.add_argument(
        "--output", "-o", type=file_named, metavar="FILE", help="where to write it (default: standard output)"
    )
    options = parser.parse_args(arguments)
    output: Path | None = options.output
    form = options.format or _form_of(output)
    if form is None:
        parser.error(f"{output} ends neither in .md nor in .html: choose the format with --output-format")

    folder = absolute(output).parent if output is not None else Path.cwd()
    text, errors = _state(options.path, folder, html=form == "html")
    if output is None:
        sys.stdout.write(text)
    else:
        write_output(output, text)
    print_errors(errors)
    return 2 if errors else 0


_ENDINGS = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}


def _form_of(output: Path | None) -> str | None:
    """The format that the name of a file asks for, None where it asks for another one than there are."""
    return "markdown" if output is None else _ENDINGS.get(output.suffix.lower())


def _state(path: Path, written_in: Path, *, html: bool) -> tuple[str, Sequence[str]]:
    from torchrepro_lint.overview import Found, overview_of
    from torchrepro_lint.program.program import Program

    projects = Projects({"profile": "strict"})
    files = projects.files([path])
    if not files:
        raise TorchReproLintError(f"{path}: no Python files or notebooks")
    # Of the paths that are given, so that a folder of examples is not told of the whole.
    folder = absolute(path)
    project = projects.of(folder if folder.is_file() else files[0])
    own = [file for file in files if projects.of(file) is project]
    shown = check(own, {"profile": "strict"})
    # What only the strict profile reports in a program that wants to repeat is no reason to say that its runs differ.
    told = {(one.code, one.location) for one in check(own, {"profile": "default"}).findings}
    everything = check(own, EVERY_RULE, suppressed_too=True)
    known = {(one.code, one.location) for one in shown.findings}
    silenced = [one for one in everything.findings if (one.code, one.location) not in known]
    files = project.program_of(own, Contents())
    program = Toolkit().make_program(project.root, files, project.settings, project.target, {})
    assert isinstance(program, Program)
    found = Found(
        program,
        frozenset(own),
        shown.findings,
        [one for one in shown.findings if one.left_to_strict or (one.code, one.location) in told],
        silenced,
        Texts(folder=project.root),
        SourceLinks(written_in, git_head(project.root)),
        shown.may_fix,
    )
    document = overview_of(found, printable(folder.name or str(folder)), _today())
    return (as_html if html else as_markdown)(document), shown.errors


def _today() -> str:
    """The date of the report; that of `SOURCE_DATE_EPOCH` where it is set, so that a build can be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch.isdecimal() else datetime.now(timezone.utc)
    return now.date().isoformat()
