"""`--write-baseline`: record what is found now, so that only what comes after is reported."""

from __future__ import annotations

from pathlib import Path

from torchrepro_lint.baseline import Baseline, read_baseline, recorded
from torchrepro_lint.commands.check import CheckOptions
from torchrepro_lint.console import counted, print_errors
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import check
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.selection import runs
from torchrepro_lint.settings import DEFAULT_BASELINE, Settings, SettingsOverride
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.root import absolute
from torchrepro_lint.source.write import write_atomically
from torchrepro_lint.toolkit import Toolkit

__all__ = ["write_baseline"]


def write_baseline(options: CheckOptions, toolkit: Toolkit | None = None) -> int:
    """Write the findings in the paths, and those that these bring about elsewhere, to the baseline that the command
    line or the settings name, by default `torchrepro-lint-baseline.json` in the current folder. Records for files
    outside the paths, and for rules not run, stay. Exit status 0, or 2 where the tool failed: nothing is written then.

    TorchReproLintError where the file cannot be written, or one is there that is not a baseline.
    """
    projects = Projects(options.override)
    files = projects.files(options.paths)
    named = options.override.get("baseline") or _from_settings(files, projects)
    path = named or absolute(Path(DEFAULT_BASELINE))
    override: SettingsOverride = {**options.override, "baseline": None}
    report = check(options.paths, override, toolkit=toolkit)
    if report.errors:
        print_errors(report.errors)
        return 2
    before = _content(path)
    kept: Baseline | None = read_baseline(path) if before is not None else None
    settings = projects.of(files[0]).settings if files else Settings()
    was_run = runs(settings, (toolkit or Toolkit()).rules)
    baseline = recorded(path, report.findings, Texts(), kept, files, was_run, report.elsewhere)
    write_atomically(path, baseline.text().encode("utf-8"), before)
    if not options.quiet:
        count = len(report.findings) + len(report.elsewhere)
        print(f"Recorded {counted(count, 'finding')} in {Texts().name(path)}.")
        if named is None:
            print(f"To use it, pass `--baseline {DEFAULT_BASELINE}`, or name it in the settings.")
    return 0


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TorchReproLintError(f"{path}: cannot be read: {error.strerror}") from error


def _from_settings(files: list[Path], projects: Projects) -> Path | None:
    named = {baseline for file in files if (baseline := projects.of(file).settings.baseline) is not None}
    if len(named) > 1:
        raise TorchReproLintError("the files have different baselines; choose the one to write with --baseline FILE")
    return next(iter(named), None)
