"""The command `torchrepro-lint`: its arguments, and what answers to them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from torchrepro_lint import __version__
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.report.formats import FORMATS
from torchrepro_lint.settings import SettingsOverride

__all__ = ["main"]

PROGRAM = "torchrepro-lint"

_COMMANDS = """\
other commands (a folder of that name is written ./verify):
  torchrepro-lint rule [CODE]          what a rule is about, or the list of all rules
  torchrepro-lint explain FILE:LINE    what is found at a line, reported or not, and how a loader there is seen
  torchrepro-lint verify [FIXTURE ...] run programs and observe whether what is claimed about them is true

exit status: 0 nothing found, 1 findings, 2 wrong usage or an internal error
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, by default the arguments of the process, and give its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # File names and code may hold what the terminal's encoding has not; that is no reason to fail.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except TorchReproLintError as error:
        print(f"{PROGRAM}: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader, such as `head`, has what it wanted. Python would complain again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        # Python's own exit status for this is 1, which would say that something was found.
        import traceback

        traceback.print_exc()
        print(
            f"{PROGRAM}: internal error: {type(error).__name__}; please report it with what stands above",
            file=sys.stderr,
        )
        return 2


def _dispatch(arguments: list[str]) -> int:
    # Each command is imported when it is asked for: start-up is on every user's path.
    match arguments:
        case ["verify", *rest]:
            from torchrepro_lint.verify.cli import main as verify

            return verify(rest)
        case ["rule", *rest]:
            from torchrepro_lint.commands.rule import rule

            return rule(rest)
        case ["explain", *rest]:
            from torchrepro_lint.commands.explain import explain

            return explain(rest)
    options = _parser().parse_args(arguments)
    from torchrepro_lint.commands.check import CheckOptions, run_check

    return run_check(
        CheckOptions(
            paths=tuple(options.paths),
            override=_override(options),
            fix=options.fix,
            diff=options.diff,
            fix_only=options.fix_only,
            show_fixes=options.show_fixes,
            exit_non_zero_on_fix=options.exit_non_zero_on_fix,
            output_format=options.output_format,
            exit_zero=options.exit_zero,
            quiet=options.quiet,
            statistics=options.statistics,
            colour=options.color,
        )
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Find, explain and fix what makes PyTorch training irreproducible.",
        epilog=_COMMANDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="*", type=Path, default=[Path()], metavar="PATH", help="files and folders (.)")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")

    rules = parser.add_argument_group("rules", "RULE is a code, the beginning of one (TRL1), a name, or ALL")
    for option, text in (
        ("--select", "run these rules; the lists of the settings file are laid aside"),
        ("--ignore", "do not run these rules"),
        ("--extend-select", "run these rules as well"),
    ):
        rules.add_argument(option, action="append", type=_listed, metavar="RULE,...", help=text)
    rules.add_argument(
        "--per-file-ignores",
        action="append",
        type=_pattern_and_rules,
        metavar="PATTERN:RULE,...",
        help="do not run these rules on files that match the pattern, in addition to those of the settings file",
    )
    rules.add_argument("--profile", choices=["default", "strict"], help="which rules run unless they are named")
    rules.add_argument("--target-torch", metavar="VERSION", help='the torch to judge by, such as 2.1 or ">=1.7,<2"')

    fixes = parser.add_argument_group("fixes")
    fixes.add_argument("--fix", action="store_true", help="mend what can be mended safely")
    fixes.add_argument(
        "--fixable", action="append", type=_listed, metavar="RULE,...", help="mend only what these rules find (ALL)"
    )
    fixes.add_argument(
        "--unfixable", action="append", type=_listed, metavar="RULE,...", help="leave what these rules find"
    )
    fixes.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    fixes.add_argument("--unsafe-fixes", action="store_true", help="with fixes that need a look afterwards")
    fixes.add_argument("--fix-only", action="store_true", help="--fix, and neither print nor count what is left")
    fixes.add_argument("--show-fixes", action="store_true", help="list what was mended, by file and rule")
    fixes.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if a file was changed")

    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format", choices=FORMATS, default="full", metavar="FORMAT", help=f"{', '.join(FORMATS)} (full)"
    )
    output.add_argument("--statistics", action="store_true", help="count the findings of each rule instead")
    output.add_argument("--quiet", "-q", action="store_true", help="print findings and errors, and nothing else")
    output.add_argument("--exit-zero", action="store_true", help="exit with 0 also when something is found")
    output.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="(auto)")
    output.add_argument("--no-cache", action="store_true", help="read no cached facts; nothing is cached as yet")
    return parser


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _flat(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(word for words in lists for word in words)


def _pattern_and_rules(text: str) -> tuple[str, tuple[str, ...]]:
    pattern, separator, rules = text.rpartition(":")
    if not separator or not pattern or not _listed(rules):
        raise argparse.ArgumentTypeError(f'"{text}" is not of the form PATTERN:RULE,...')
    return pattern, _listed(rules)


def _override(options: argparse.Namespace) -> SettingsOverride:
    """What the command line says over the settings file: nothing where an option was not given."""
    override: SettingsOverride = {}
    if options.select is not None:
        override["select"] = _flat(options.select)
    if options.ignore is not None:
        override["ignore"] = _flat(options.ignore)
    if options.extend_select is not None:
        override["extend_select"] = _flat(options.extend_select)
    if options.per_file_ignores is not None:
        override["per_file_ignores"] = tuple(options.per_file_ignores)
    if options.fixable is not None:
        override["fixable"] = _flat(options.fixable)
    if options.unfixable is not None:
        override["unfixable"] = _flat(options.unfixable)
    if options.profile is not None:
        override["profile"] = options.profile
    if options.target_torch is not None:
        override["target_torch"] = options.target_torch
    if options.no_cache:
        override["cache"] = False
    if options.unsafe_fixes:
        override["unsafe_fixes"] = True
    return override
