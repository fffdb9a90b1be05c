"""What environment variables say where an option was not given: for CI, where the command is somebody else's."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from torchrepro_lint.arguments.parser import ArgumentParser, file_named, path_named
from torchrepro_lint.report.formats import FORMATS

__all__ = ["VARIABLES", "apply_environment"]

#: The variables, and the options that they stand for.
VARIABLES = {
    "TORCHREPRO_LINT_CONFIG": "config",
    "TORCHREPRO_LINT_OUTPUT_FORMAT": "output_format",
    "TORCHREPRO_LINT_OUTPUT_FILE": "output_file",
    "TORCHREPRO_LINT_CACHE_DIR": "cache_dir",
    "TORCHREPRO_LINT_NO_CACHE": "no_cache",
}
_NO = ("0", "false", "no", "off")


def apply_environment(parser: ArgumentParser, options: argparse.Namespace, environment: Mapping[str, str]) -> None:
    """Take over what variables say in place of options that were not given. An empty variable says nothing. A value
    that the option would not take ends as wrong usage does, with the name of the variable.
    """
    for variable, option in VARIABLES.items():
        text = environment.get(variable, "")
        if not text or getattr(options, option) not in (None, False):
            continue
        match option:
            case "config":
                if not options.isolated:
                    options.config = [file_named(text)]
            case "output_format":
                if text not in FORMATS:
                    parser.error(f'{variable}: "{text}" is none of {", ".join(FORMATS)}')
                options.output_format = text
            case "no_cache":
                options.no_cache = text.lower() not in _NO
            case "output_file":
                options.output_file = file_named(text)
            case _:
                options.cache_dir = path_named(text)
