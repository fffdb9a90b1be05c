"""`torchrepro-lint skill`: a text that tells a coding agent when and how to use the linter."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from torchrepro_lint.arguments import ArgumentParser, file_named
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.source.write import write_output

__all__ = ["skill", "skill_text"]


def skill_text() -> str:
    """The skill file: Markdown below a header in YAML with its name and when to use it."""
    return files("torchrepro_lint.commands").joinpath("skill.md").read_text(encoding="utf-8")


def skill(arguments: Sequence[str]) -> int:
    """Print the skill file, or write it, with the folders that it needs. Exit status 0.

    TorchReproLintError where it cannot be written.
    """
    parser = ArgumentParser(
        f"{PROGRAM} skill",
        "Write a skill file for coding agents: when to run the linter, how to read its output, what not to silence.",
        f"example: {PROGRAM} skill -o .claude/skills/{PROGRAM}/SKILL.md\n",
    )
    parser.add_argument(
        "--output", "-o", type=file_named, metavar="FILE", help="where to write it (default: standard output)"
    )
    output: Path | None = parser.parse_args(arguments).output
    if output is None:
        sys.stdout.write(skill_text())
        return 0
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TorchReproLintError(f"{output}: not written: {error.strerror}") from error
    write_output(output, skill_text())
    return 0
