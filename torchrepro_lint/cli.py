"""The command `torchrepro-lint`: what answers to its arguments, and how it ends."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.console import print_errors
from torchrepro_lint.diagnostics import TorchReproLintError

if TYPE_CHECKING:
    import argparse

    from torchrepro_lint.commands.check import CheckOptions
    from torchrepro_lint.settings import SettingsOverride

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, by default the arguments of the process, and give its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # File names and code may hold what the terminal's encoding has not; that is no reason to fail.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _dispatch(arguments, owns_process=argv is None)
        if not sys.stdout.closed:  # as the server leaves it
            sys.stdout.flush()
        return status
    except TorchReproLintError as error:
        print_errors([f"error: {error}"])
        return 2
    except BrokenPipeError:
        # The reader, such as `head`, has what it wanted.
        _discard_output()
        return 1
    except KeyboardInterrupt:
        print_errors(["interrupted"])
        return 130
    except Exception as error:
        if (reason := _fault_of_the_system(error)) is not None:
            print_errors([f"error: {reason}"])
            return 2
        # Python's own exit status for this is 1, which would say that something was found.
        import traceback

        traceback.print_exc()
        print_errors([f"internal error: {type(error).__name__}; please report it, together with the traceback above"])
        return 2


def _replace_closed_streams() -> None:
    """What was started with a stream closed (`>&-`) has None in its place, and is not to be heard there."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (open as long as the process)


def _discard_output() -> None:
    """Send what is left to nowhere: Python would raise again when it flushes at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# Errors of a write that are the fault of the device.
_DEVICE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _fault_of_the_system(error: Exception) -> str | None:
    """What is wrong where the tool runs or looks, where that is the cause of an error, and not the tool."""
    if not isinstance(error, OSError):
        return None
    try:
        Path.cwd()
    except OSError:
        return "the current folder no longer exists"
    if error.errno == errno.ENAMETOOLONG:
        return f"{error.filename}: {error.strerror}"
    if error.filename is None and error.errno in _DEVICE_ERRORS:
        _discard_output()
        return f"the output cannot be written: {error.strerror}"
    return None


def _dispatch(arguments: list[str], *, owns_process: bool) -> int:
    # Each command is imported when it is asked for: start-up is on every user's path.
    match arguments:
        case ["verify", *rest]:
            from torchrepro_lint.verify.cli import main as verify

            return verify(rest)
        case ["repair", *rest]:
            from torchrepro_lint.verify.repair.cli import main as repair

            return repair(rest)
        case ["rule", *rest]:
            from torchrepro_lint.commands.rule import rule

            return rule(rest)
        case ["explain", word] if _is_rule(word):
            from torchrepro_lint.commands.rule import rule

            return rule([word])
        case ["explain", *rest]:
            from torchrepro_lint.commands.explain import explain

            return explain(rest)
        case ["server", *rest]:
            from torchrepro_lint.lsp.command import serve

            return serve(rest)
        case ["clean", *rest]:
            from torchrepro_lint.commands.clean import clean_caches

            return clean_caches(rest)
        case ["report", *rest]:
            from torchrepro_lint.commands.report import report

            return report(rest)
        case ["skill", *rest]:
            from torchrepro_lint.commands.skill import skill

            return skill(rest)
        case ["completion", *rest]:
            from torchrepro_lint.commands.completion import completion

            return completion(rest)
    from torchrepro_lint.arguments import apply_environment, check_parser, misspelt_command, refuse_contradictions

    parser = check_parser()
    options = parser.parse_with_paths(arguments)
    apply_environment(parser, options, os.environ)
    refuse_contradictions(parser, options)
    try:
        with _output_of(options):
            return _check(options, owns_process=owns_process)
    except TorchReproLintError as error:
        meant = misspelt_command(options.paths)
        raise TorchReproLintError(f"{error}{meant}") from error


def _check(options: argparse.Namespace, *, owns_process: bool) -> int:
    from torchrepro_lint.arguments import settings_override
    from torchrepro_lint.commands.check import CheckOptions

    override = settings_override(options)
    _take_settings(options, override)
    paths = _checked_paths(options, override)
    if options.verbose and not options.watch:
        from torchrepro_lint.commands.show import print_projects
        from torchrepro_lint.source.project import Projects

        projects = Projects(override)
        print_projects(projects, _given(options) if _is_from_input(options) else projects.files(paths))
    return _action(options)(
        CheckOptions(
            paths=paths,
            override=override,
            fix=options.fix,
            diff=options.diff,
            fix_only=options.fix_only,
            show_fixes=options.show_fixes,
            exit_non_zero_on_fix=options.exit_non_zero_on_fix,
            through_links=options.write_through_links,
            output_format=options.output_format,
            exit_zero=options.exit_zero,
            quiet=options.quiet or options.silent,
            silent=options.silent and options.output_file is None,
            verbose=options.verbose,
            statistics=options.statistics,
            colour=options.color,
            jobs=options.jobs,
            cache_folder=options.cache_dir,
            owns_process=owns_process,
        )
    )


# A code, the beginning of one, or a name; the place of a line has a colon.
_RULE = re.compile(r"TRL\d{0,3}|[a-z0-9]+(?:-[a-z0-9]+)+", re.IGNORECASE)


def _is_rule(word: str) -> bool:
    return _RULE.fullmatch(word) is not None and not Path(word).exists()


@contextmanager
def _output_of(options: argparse.Namespace) -> Iterator[None]:
    """Standard output as the options want it: as it is, or in a file. The file is written at the end, and not at all
    where the work ends with an error. TorchReproLintError where it cannot be written.
    """
    if options.output_file is None:
        yield
        return
    kept = io.BytesIO()
    text = io.TextIOWrapper(kept, encoding="utf-8", errors="backslashreplace", write_through=True)
    with redirect_stdout(text):
        yield
    try:
        options.output_file.write_bytes(kept.getvalue())
    except OSError as error:
        raise TorchReproLintError(f"{options.output_file}: cannot be written: {error.strerror}") from error


def _take_settings(options: argparse.Namespace, override: SettingsOverride) -> None:
    """What the settings of the first path say about the command line, where no option says it. Files are fixed only
    where the settings of every path say so.
    """
    from torchrepro_lint.settings import Settings
    from torchrepro_lint.source.project import Projects

    projects, given = Projects(override), _given(options)
    try:
        settings = projects.around(given[0]).settings
    except TorchReproLintError:
        if not options.watch:
            raise
        settings = Settings()  # a watch says what is wrong, and waits until it is mended
    if options.output_format is None:
        options.output_format = "full" if options.statistics else settings.output_format
    if options.show_fixes is None:
        options.show_fixes = settings.show_fixes
    if options.fix is None:
        # It is a check that settings may make a fix of, and not what is done in its place.
        instead = (
            options.add_noqa is not None,
            options.write_baseline,
            options.diff,
            options.statistics,
            options.watch,
        )
        may_fix = settings.fix and not any(instead) and not _is_from_input(options)
        options.fix = may_fix and all(projects.around(path).settings.fix for path in given)


def _is_from_input(options: argparse.Namespace) -> bool:
    """Whether a text from standard input is checked."""
    return Path("-") in options.paths or options.stdin_filename is not None


def _given(options: argparse.Namespace) -> list[Path]:
    """The files and folders that are checked, absolute; for standard input, the file in whose place it is."""
    from torchrepro_lint.source.root import absolute

    paths = [options.stdin_filename or Path("stdin.py")] if _is_from_input(options) else options.paths
    return [absolute(path) for path in paths]


def _checked_paths(options: argparse.Namespace, override: SettingsOverride) -> tuple[Path, ...]:
    """The paths that were given, with `--force-exclude` without those that the settings leave out."""
    paths = tuple(options.paths)
    if not options.force_exclude or paths == (Path("-"),):
        return paths
    from torchrepro_lint.source.discovery import present
    from torchrepro_lint.source.project import Projects

    projects = Projects(override)
    return tuple(path for path in paths if not projects.leaves_out(present(path)))


def _action(options: argparse.Namespace) -> Callable[[CheckOptions], int]:
    """What the options ask for: a check, or what is done in its place."""
    if options.show_settings or options.show_files:
        from torchrepro_lint.commands.show import show_files, show_settings

        return show_settings if options.show_settings else show_files
    if options.add_noqa is not None:
        from torchrepro_lint.commands.add_noqa import add_noqa

        return partial(add_noqa, reason=options.add_noqa)
    if options.write_baseline:
        from torchrepro_lint.commands.write_baseline import write_baseline

        return write_baseline
    if _is_from_input(options):
        from torchrepro_lint.commands.stdin import check_stdin

        return partial(check_stdin, name=options.stdin_filename, force_exclude=options.force_exclude)
    if options.watch:
        from torchrepro_lint.commands.watch import watch

        return watch
    from torchrepro_lint.commands.check import run_check

    return run_check
