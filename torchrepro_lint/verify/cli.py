"""`torchrepro-lint verify`: run the fixtures, hold what is seen against what they claim, print a table."""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify import ops_cli
from torchrepro_lint.verify.claims import DEVICES, Device
from torchrepro_lint.verify.fixtures import find_fixtures
from torchrepro_lint.verify.judge import Outcome
from torchrepro_lint.verify.suite import JOBS, Plan, Row, verify

AS_CLAIMED, NOT_AS_CLAIMED, COULD_NOT_RUN = 0, 1, 2
WIDEST = 64  # characters of a cell in the table; JSON has all of it


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. 0: all that was run is as claimed; 1: some is not; 2: something, or all, could not be run."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if "--ops" in arguments:
            return ops_cli.main(arguments)
        options = _parser().parse_args(arguments)
        if importlib.util.find_spec("torch") is None or importlib.util.find_spec("numpy") is None:
            raise TorchReproLintError('verify runs PyTorch programs: pip install "torchrepro-lint[verify]"')
        fixtures = find_fixtures(options.paths)
        if not fixtures:
            raise TorchReproLintError(f"no fixtures below {', '.join(map(str, options.paths))}")
        devices: tuple[Device, ...] = DEVICES if options.device == "all" else (options.device,)
        available: tuple[Device, ...] = DEVICES if "cuda" in devices and _cuda_is_there() else ("cpu",)
        plan = Plan(devices, available, runs=options.runs, timeout=options.timeout, jobs=options.jobs)
        rows = verify(fixtures, plan, _progress if sys.stderr.isatty() else lambda done, total: None)
    except TorchReproLintError as error:
        print(f"torchrepro-lint verify: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    print(_json(rows) if options.output_format == "json" else _text(rows))
    return exit_status(rows)


def exit_status(rows: Sequence[Row]) -> int:
    """The exit status for these rows. Rows of which nothing at all was run are not a success."""
    outcomes = {row.verdict.outcome for row in rows}
    if Outcome.COULD_NOT_RUN in outcomes or not outcomes & {Outcome.PASSED, Outcome.FAILED, Outcome.NOT_SHOWN}:
        return COULD_NOT_RUN
    return NOT_AS_CLAIMED if Outcome.FAILED in outcomes else AS_CLAIMED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="torchrepro-lint verify",
        description="Run fixtures in fresh processes and compare what is observed with what they claim.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        default=[Path("fixtures")],
        metavar="PATH",
        help="fixtures, or folders that hold them (default: fixtures)",
    )
    parser.add_argument(
        "--ops",
        action="store_true",
        help="run the operations of the table instead of fixtures (--ops --help says more)",
    )
    parser.add_argument("--device", choices=(*DEVICES, "all"), default="all", help="where to run (default: all)")
    parser.add_argument(
        "--runs", type=_at_least(2), default=2, metavar="N", help="fresh processes for each program (default: 2)"
    )
    parser.add_argument("--timeout", type=_seconds, default=60.0, metavar="S", help="seconds for one run (default: 60)")
    parser.add_argument(
        "--jobs", type=_at_least(1), default=JOBS, metavar="N", help=f"programs that run at a time (default: {JOBS})"
    )
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    return parser


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be {least} or more")
        return value

    return number


def _seconds(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return value


def _cuda_is_there() -> bool:
    # Asked in a process of its own: this one does not import torch.
    probe = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode == 0


def _progress(done: int, total: int) -> None:
    end = "\r" if done < total else "\r\x1b[K"
    print(f"{done} of {total} runs", end=end, file=sys.stderr, flush=True)


def _start_method(row: Row) -> str | None:
    """How the workers were started; what the claim asks for where nothing was run, None where none were started."""
    return " and ".join(row.start_methods) or row.claim.start_method


def _verdict_words(row: Row) -> str:
    # The reason of a skip belongs to the verdict: it must never be read as a pass.
    skipped = row.verdict.outcome is Outcome.SKIPPED
    return f"{row.verdict.outcome.value}: {row.verdict.observed}" if skipped else row.verdict.outcome.value


def _text(rows: Sequence[Row]) -> str:
    table: list[tuple[str, ...]] = [("fixture", "device", "workers", "claimed", "observed", "verdict")]
    for row in rows:
        observed = "-" if row.verdict.outcome is Outcome.SKIPPED else row.verdict.observed
        place = (row.device or "-", _start_method(row) or "-")
        cells = (row.fixture.name, *place, row.claim.text, observed, _verdict_words(row))
        short = (cell if len(cell) <= WIDEST else cell[: WIDEST - 3] + "..." for cell in cells[1:])
        table.append((cells[0], *short))
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    counts = Counter(row.verdict.outcome for row in rows)
    summary = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome if counts[outcome])
    fixtures = len({row.fixture.path for row in rows})
    return "\n".join([*lines, "", f"{_counted(fixtures, 'program')}, {_counted(len(rows), 'claim')}: {summary}"])


def _json(rows: Sequence[Row]) -> str:
    return json.dumps(
        [
            {
                "fixture": row.fixture.name,
                "path": str(row.fixture.path),
                "device": row.device,
                "start_method": _start_method(row),
                "claim": row.claim.text,
                "observed": row.verdict.observed,
                "verdict": row.verdict.outcome.value,
            }
            for row in rows
        ],
        indent=2,
    )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


if __name__ == "__main__":
    sys.exit(main())
