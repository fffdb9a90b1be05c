"""`torchrepro-lint explain FILE:LINE`: what any rule says about a line, reported or not, and how the tool sees it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from torchrepro_lint.arguments import ArgumentParser
from torchrepro_lint.commands.hypotheses import unmet_conditions
from torchrepro_lint.commands.rule import find_rule
from torchrepro_lint.console import PROGRAM, counted, print_errors, printable
from torchrepro_lint.diagnostics import Finding, Location, Position, TorchReproLintError
from torchrepro_lint.engine import check
from torchrepro_lint.explain import explain_line
from torchrepro_lint.line_view import calls_at
from torchrepro_lint.program.program import Program
from torchrepro_lint.report.colours import Colours, wants_colour
from torchrepro_lint.report.places import place
from torchrepro_lint.report.summary import unseeded
from torchrepro_lint.report.text import concise, full
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.selection import is_ignored_in, is_left_to_strict, is_selected, is_severe_enough
from torchrepro_lint.settings import EVERY_RULE
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.discovery import present
from torchrepro_lint.source.project import Project, Projects
from torchrepro_lint.source.target import described
from torchrepro_lint.source.text import Source, SourceError, read_source
from torchrepro_lint.toolkit import Toolkit

__all__ = ["explain"]


def explain(arguments: Sequence[str], toolkit: Toolkit | None = None) -> int:
    """Print what the rules find at a line, all profiles and suppressed findings included, or why they find nothing;
    which chains of findings elsewhere pass through it; what is known about a loader that is made there; and where the
    rules are explained. Exit status 0.

    TorchReproLintError where the place is not one.
    """
    parser = ArgumentParser(
        f"{PROGRAM} explain", "Say why a line is reported, or is not, and what is known about a loader there."
    )
    parser.add_argument("place", metavar="FILE:LINE", help="the line; in a notebook, FILE:cell N:LINE")
    source, cell, row = _place(parser.parse_args(arguments).place)
    path, texts = source.path, Texts({source.path: source.text})
    row = _row_in_text(path, cell, row, texts)
    toolkit, projects = toolkit or Toolkit(), Projects({})
    colours = Colours(wants_colour("auto", sys.stdout, os.environ))
    # A chain that passes through the line may be that of a finding in any file.
    files = {path, *projects.whole(path)}
    everything = check(files, EVERY_RULE, suppressed_too=True, toolkit=toolkit)
    reported = {_key(finding): finding for finding in check([path], projects=projects, toolkit=toolkit).findings}
    # A finding is shown as it is reported: settings can take its fix away, and the profile can change its message.
    found = {**{_key(finding): finding for finding in everything.findings}, **reported}
    at_line = sorted((one for one in found.values() if one.is_at(path, row)), key=lambda one: one.sort_key)
    for finding in at_line:
        print(full(finding, texts, colours, everything.may_fix(finding)))
        if _key(finding) not in reported:
            print(f"This finding is not reported: {printable(_why_not(finding, projects, toolkit, texts))}.\n")
    passing = [one for one in everything.findings if not one.is_at(path, row) and one.passes(path, row)]
    if passing:
        print("This line is part of the proof of:")
        for finding in passing:
            print(f"  {concise(finding, texts, colours, everything.may_fix(finding))}")
        print()
    project = projects.of(path)
    program = _program(project, toolkit, path)
    if not at_line:
        at = Position(row, 1)
        where = place(Location(path, at, at), texts).text.removesuffix(":1")
        print(f"No rule finds anything at {where}." if not passing else f"No finding is at {where} itself.")
        silent = _why_silent(program, project, path, row, everything.findings, toolkit)
        print("\n".join(map(printable, silent)) + "\n")
    view = explain_line(program, path, row, texts.name) if program is not None else []
    if view:
        print("\n".join(map(printable, view)) + "\n")
    print(f"torch: {printable(described(project.target))}\n")
    for code in dict.fromkeys(finding.code for finding in (*at_line, *passing)):
        print(f"{colours.note(f'{PROGRAM} rule {code}')}: {find_rule(code, toolkit.all_rules()).summary}")
    print_errors(everything.errors)
    return 2 if everything.errors else 0


def _key(finding: Finding) -> tuple[str, Location]:
    """What a finding has in common in every profile and under all settings."""
    return finding.code, finding.location


def _why_not(finding: Finding, projects: Projects, toolkit: Toolkit, texts: Texts) -> str:
    """What keeps a finding from being reported."""
    path = finding.location.path
    settings = projects.of(path).settings
    rule = find_rule(finding.code, toolkit.all_rules())
    if not is_selected(rule, settings):
        if is_selected(rule, replace(settings, profile="strict")):
            return "only the `strict` profile reports it"
        return "the settings do not select it"
    if not is_severe_enough(finding, settings):
        return f"it is a {finding.severity.value}, and `min-severity` is {settings.min_severity}"
    if is_ignored_in(path, finding, settings):
        return "`per-file-ignores` names it for this file"
    key = _key(finding)
    if settings.baseline and key in map(_key, check([path], {"baseline": None}, toolkit=toolkit).findings):
        return f"it is in the baseline {settings.baseline}"
    if is_left_to_strict(finding, settings) and not finding.left_to_strict and finding.strict_because:
        return f"only the `strict` profile reports it: {finding.strict_because}"
    if finding.repeats and key in map(_key, check([path], projects=projects, toolkit=toolkit).untold):
        why = "torch is seeded, and nothing is seen to move the order between runs of the project"
        return f"only the `strict` profile reports it: {why}"
    if key in map(_key, check([path], projects=projects, suppressed_too=True, toolkit=toolkit).findings):
        return "a comment suppresses it"
    if not finding.left_to_strict:
        return "only the `strict` profile reports it"
    return f"only the `strict` profile reports it, since {unseeded(finding.left_to_strict, texts)}"


def _program(project: Project, toolkit: Toolkit, path: Path) -> Program | None:
    """The program that the file is a part of; None where the toolkit makes programs of another kind."""
    files = project.program_of([path], Contents())
    program = toolkit.make_program(project.root, files, project.settings, project.target, {})
    return program if isinstance(program, Program) else None


def _why_silent(
    program: Program | None, project: Project, path: Path, row: int, known: Sequence[Finding], toolkit: Toolkit
) -> list[str]:
    """Why nothing is found at a line: which condition of a rule does not hold, or what the calls there are."""
    lines = [f"  {one}" for one in unmet_conditions(project, path, row, known, toolkit)]
    if not lines and program is not None:
        lines = calls_at(program, path, row)
    return lines or ["  There is no call on this line that a rule is about."]


def _place(text: str) -> tuple[Source, int | None, int]:
    """The file, the cell where one is named, and the row."""
    match = re.fullmatch(r"(.+?):(?:cell (\d+):)?(\d+)(?::\d+)?:?", text)
    if match is None:
        raise TorchReproLintError(f'"{text}" is not FILE:LINE')
    path = present(Path(match[1]))
    if not path.is_file():
        raise TorchReproLintError(f"{match[1]}: not a file")
    try:
        source = read_source(path)
    except SourceError as error:
        raise TorchReproLintError(f"{match[1]}: cannot be read: {error.reason}") from None
    return source, int(match[2]) if match[2] else None, int(match[3])


def _row_in_text(path: Path, cell: int | None, row: int, texts: Texts) -> int:
    """The row of the text that is meant. TorchReproLintError where there is none."""
    cells, name = texts.cells(path), texts.name(path)
    lines = len(texts.lines(path))
    if cells is None:
        if cell is not None:
            raise TorchReproLintError(f"{name} has no cells")
        if not 0 < row <= max(1, lines):
            raise TorchReproLintError(f"{name} has {counted(lines, 'line')}")
        return row
    if cell is None:
        raise TorchReproLintError(f'{name} is a notebook: write "{name}:cell {cells.numbers[0]}:1"')
    found = cells.row(cell, row)
    if found is None or found > lines:
        raise TorchReproLintError(f"{name} has no line {row} in a code cell {cell}")
    return found
