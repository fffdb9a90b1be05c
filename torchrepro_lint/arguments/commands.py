"""The commands other than checking: how the help lists them, and what a misspelt one meant."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from torchrepro_lint.console import PROGRAM, did_you_mean

__all__ = ["COMMANDS", "VARIABLES", "listed_commands", "misspelt_command"]

#: The environment variables, and the options that they stand for.
VARIABLES = {
    "TORCHREPRO_LINT_CONFIG": "config",
    "TORCHREPRO_LINT_OUTPUT_FORMAT": "output_format",
    "TORCHREPRO_LINT_OUTPUT_FILE": "output_file",
    "TORCHREPRO_LINT_CACHE_DIR": "cache_dir",
    "TORCHREPRO_LINT_NO_CACHE": "no_cache",
}

# What stands first may be one of these in place of a path.
COMMANDS = {
    "rule": ("[CODE]", "explain a rule, or list rules (TRL1)"),
    "explain": ("FILE:LINE", "say why a line is reported, or is not"),
    "verify": ("[SCRIPT]", "run a script twice and show where the runs differ"),
    "repair": ("[SCRIPT]", "run a script, fix what makes its runs differ, run it again"),
    "report": ("[PATH]", "write a reproducibility report: Markdown or HTML"),
    "skill": ("", "write a skill file for coding agents"),
    "server": ("", "run the language server, for editors"),
    "clean": ("[PATH ...]", "delete cached results"),
    "completion": ("SHELL", "print a completion script for a shell"),
}

_CODE = re.compile(r"TRL\d{0,3}", re.IGNORECASE)

# What others call to check, and what is a path here.
_CHECKS = ("check", "lint")


def misspelt_command(paths: Sequence[Path]) -> str:
    """`; did you mean the command "verify"?` where the first path is not there and looks like a command."""
    word = str(paths[0]) if paths else ""
    if not word.isalnum() or os.path.exists(word):  # noqa: PTH110 (Path.exists raises where a name is too long)
        return ""
    if _CODE.fullmatch(word):
        return "; separate several rules with commas: TRL1,TRL301"
    if word in ("help", "version"):
        return f"; did you mean --{word}?"
    if did_you_mean(word, _CHECKS):
        return f"; checking needs no command: {PROGRAM} {' '.join(map(str, paths[1:])) or '.'}"
    return did_you_mean(word, list(COMMANDS)).replace("did you mean", "did you mean the command")


def listed_commands() -> str:
    """The commands, the environment variables, and what the exit status says, as they are below the help."""
    shown = {f"{PROGRAM} {name} {arguments}": text for name, (arguments, text) in COMMANDS.items()}
    width = max(map(len, shown))
    names = list(VARIABLES)
    variables = ",\n".join(f"  {', '.join(names[first : first + 2])}" for first in range(0, len(names), 2))
    commands = "".join(f"  {usage:{width}}  {text}\n" for usage, text in shown.items())
    return (
        f"other commands (to check a folder of such a name, write ./verify):\n{commands}\n"
        "environment variables, which stand for options that are not given:\n"
        f"{variables}\n\n"
        "exit status: 0 nothing found, 1 findings, 2 wrong usage or an internal error\n"
    )
