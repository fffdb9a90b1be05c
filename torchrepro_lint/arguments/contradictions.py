"""Options that contradict each other."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from torchrepro_lint.arguments.parser import ArgumentParser
from torchrepro_lint.report.formats import OutputFormat, has_statistics
from torchrepro_lint.source.discovery import SUFFIXES

__all__ = ["refuse_contradictions"]

# What is done instead of a check, of which one can be asked for at a time, and what a check can do beside it.
_INSTEAD = ("--show-files", "--show-settings", "--add-noqa", "--write-baseline")
_OF_A_CHECK = ("--fix", "--fix-only", "--diff", "--watch", "--statistics", "-")


def refuse_contradictions(parser: ArgumentParser, options: argparse.Namespace) -> None:
    """End as for any wrong usage where options were given of which one would be left out without a word."""

    def written(name: str) -> str:
        """The option as it was given: standard input is asked for by either of two."""
        return "--stdin-filename" if name == "-" and Path("-") not in options.paths else name

    def is_given(name: str) -> bool:
        if name == "-":
            return Path("-") in options.paths or options.stdin_filename is not None
        return getattr(options, name.lstrip("-").replace("-", "_")) not in (None, False)

    instead = [name for name in _INSTEAD if is_given(name)]
    beside = [name for name in _OF_A_CHECK if is_given(name)]
    apart = [*instead, *beside] if instead else [name for name in beside if name in ("--watch", "-")]
    if options.statistics and len(apart) < 2:
        # They print no findings that could be counted.
        apart = [name for name in beside if name in ("--diff", "--fix-only", "--statistics")]
    if len(apart) > 1:
        parser.error(f"{written(apart[0])} and {written(apart[1])} cannot be used together")
    for one, other, both in (
        ("--no-fix", "--fix-only", options.fix is False and options.fix_only),
        ("--add-noqa", "--ignore-noqa", options.add_noqa is not None and options.ignore_noqa),
        ("--watch", "--output-file", options.watch and options.output_file is not None),
    ):
        if both:
            parser.error(f"{one} and {other} cannot be used together")
    if options.output_file is not None and _is_code(options.output_file) and not is_given("-"):
        # A word is missing behind the option, more likely than not.
        parser.error(f"{options.output_file} is code, which --output-file would overwrite")
    style: OutputFormat = options.output_format or "full"
    if options.statistics and not has_statistics(style):
        parser.error(f"--statistics is printed as text or json, not as {style}")


def _is_code(path: Path) -> bool:
    """Whether a file that is there is one of those that are checked."""
    return path.suffix in SUFFIXES and os.path.exists(path)  # noqa: PTH110 (Path.exists raises where a name is too long)
