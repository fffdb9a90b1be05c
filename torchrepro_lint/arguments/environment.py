"""What environment variables say where an option was not given: for CI, where the command is somebody else's."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from torchrepro_lint.arguments.commands import VARIABLES
from torchrepro_lint.arguments.options import config_value
from torchrepro_lint.arguments.parser import ArgumentParser, file_named, path_named
from torchrepro_lint.report.formats import FORMATS, has_statistics

__all__ = ["VARIABLES", "apply_environment"]

_NO = ("0", "false", "no", "off")


def apply_environment(parser: ArgumentParser, options: argparse.Namespace, environment: Mapping[str, str]) -> None:
    """Take over what variables say in place of options that were not given. An empty variable says nothing, and so does
    one whose option contradicts another that was given. A value that the option would not take ends as wrong usage
    does, with the name of the variable.
    """
    for variable, option in VARIABLES.items():
        text = environment.get(variable, "")
        if not text:
            continue
        try:
            _take(option, text, options)
        except argparse.ArgumentTypeError as wrong:
            parser.error(f"{variable}: {wrong}")


def _take(option: str, text: str, options: argparse.Namespace) -> None:
    given = getattr(options, option)
    match option:
        case "config":
            # Settings that were given go before the file or the settings of the variable.
            value = config_value(text)
            is_second = isinstance(value, Path) and any(isinstance(one, Path) for one in given or ())
            if not is_second and not (isinstance(value, Path) and options.isolated):
                options.config = [value, *(given or ())]
        case "output_format" if given is None:
            style = next((one for one in FORMATS if one == text), None)
            if style is None:
                raise argparse.ArgumentTypeError(f'"{text}" is none of {", ".join(FORMATS)}')
            if not options.statistics or has_statistics(style):
                options.output_format = style
        case "output_file" if given is None and not options.watch:
            options.output_file = file_named(text)
        case "cache_dir" if given is None:
            options.cache_dir = path_named(text)
        case "no_cache":
            options.no_cache = given or text.lower() not in _NO
