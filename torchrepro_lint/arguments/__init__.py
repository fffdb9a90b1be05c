"""The arguments of `torchrepro-lint`, and what they say over the settings file.

parser.py          argparse's parser, as all commands use it
options.py         the options of a check
environment.py     environment variables that stand for options
commands.py        the other commands, and what a misspelt one meant
contradictions.py  options that contradict each other
"""

from __future__ import annotations

from torchrepro_lint.arguments.commands import COMMANDS, misspelt_command
from torchrepro_lint.arguments.contradictions import refuse_contradictions
from torchrepro_lint.arguments.environment import apply_environment
from torchrepro_lint.arguments.options import check_parser, settings_override
from torchrepro_lint.arguments.parser import ArgumentParser, at_least, file_named, path_named, seconds

__all__ = [
    "COMMANDS",
    "ArgumentParser",
    "apply_environment",
    "at_least",
    "check_parser",
    "file_named",
    "misspelt_command",
    "path_named",
    "refuse_contradictions",
    "seconds",
    "settings_override",
]
