"""argparse's parser, as all commands use it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from torchrepro_lint.console import did_you_mean

__all__ = ["ArgumentParser", "HelpFormatter", "at_least", "file_named", "path_named", "seconds"]

# What other linters call an option.
_ELSEWHERE = {"--target-version": "--target-torch", "--format": "--output-format", "--output": "--output-file"}

# Options whose value can only be written with `=`, and may be left out.
_WITHOUT_REASON = ("--add-noqa",)


def path_named(text: str, empty: str = "the path is empty; write . for the current folder") -> Path:
    """The path that an argument names. An empty one, as of a variable that is not set, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError(empty)
    return Path(text)


def file_named(text: str) -> Path:
    """The file that an argument names, where a folder would make no sense."""
    return path_named(text, "the name of the file is empty")


def at_least(least: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number and not less than `least`."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f'"{text}" is not a whole number of {least} or more')
        return int(text)

    return number


def seconds(text: str) -> float:
    """The length of time that an argument gives."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number of seconds greater than 0')
    return value


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """argparse's formatter, which breaks no name of a file or an option at its hyphens, and keeps the lines of a text,
    such as a list of commands with what each does: one that is too long goes on below the beginning of its last column.
    """

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-o, --output FILE`: the value once, behind all names of an option, as Python 3.13 has it."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"

    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap  # which a check does not wait for

        return textwrap.wrap(text, width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap

        lines = (f"{indent}{line}" for line in text.splitlines())
        return "\n".join(
            line
            if len(line) <= width
            else textwrap.fill(line, width, subsequent_indent=" " * _last_column(line), break_on_hyphens=False)
            for line in lines
        )


def _last_column(line: str) -> int:
    """Where the last column of a line begins, which two or more blanks set apart; 0 where it has one column."""
    return max((gap.end() for gap in re.finditer(r"(?<=\S) {2,}(?=\S)", line)), default=0)


class ArgumentParser(argparse.ArgumentParser):
    """argparse's parser, which says what was meant by an option that is not there."""

    def __init__(self, prog: str, description: str, epilog: str | None = None, usage: str | None = None) -> None:
        super().__init__(
            prog=prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=HelpFormatter,
            allow_abbrev=False,
        )

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """As argparse does it, but an option without `=` takes no reason: what follows is a path."""
        words = [f"{word}=" if word in _WITHOUT_REASON else word for word in (sys.argv[1:] if args is None else args)]
        return super().parse_known_args(words, namespace)

    def parse_with_paths(self, args: Sequence[str]) -> argparse.Namespace:
        """As `parse_args`, where the `paths` of the command may be on both sides of its options.

        argparse takes the first of them only, and knows nothing of those that come after an option.
        """
        options: argparse.Namespace
        options, rest = self.parse_known_args(args)
        unknown = [word for word in rest if word.startswith("-") and word != "-"]
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        try:
            options.paths = [*options.paths, *map(path_named, rest)]
        except argparse.ArgumentTypeError as wrong:
            self.error(f"argument PATH: {wrong}")
        return options

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, with what was meant, and end with exit status 2."""
        unknown = re.match(r"unrecognized arguments: (--?[^\s=]+)", message)
        if unknown is not None:
            same = _ELSEWHERE.get(unknown[1])
            known = self._option_string_actions
            message += f'; did you mean "{same}"?' if same in known else did_you_mean(unknown[1], list(known))
        choice = re.match(r"argument (\S+): invalid choice: '([^']*)'", message)
        if choice is not None:
            message += did_you_mean(choice[2], self._choices(choice[1]))
        super().error(message)

    def _choices(self, argument: str) -> list[str]:
        """What may stand for an argument, which messages call by its options or by the name of its place."""
        for action in self._actions:
            if argument in ("/".join(action.option_strings), action.metavar, action.dest):
                return [str(one) for one in action.choices or ()]
        return []

    def format_help(self) -> str:
        """As argparse writes it, but a value that takes `=` is at its option."""
        return re.sub(r" (\[=\w+\])", r"\1 ", super().format_help())
