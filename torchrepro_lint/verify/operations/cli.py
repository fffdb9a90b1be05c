"""`torchrepro-lint verify --ops`: run each operation of the table again and again, and say what was seen."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date

from torchrepro_lint.arguments import ArgumentParser, at_least, seconds
from torchrepro_lint.console import PROGRAM, StatusLine
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.knowledge.op_cases import op_cases
from torchrepro_lint.knowledge.op_measurements import OpMeasurement
from torchrepro_lint.verify.devices import require_torch
from torchrepro_lint.verify.operations.run import Machine, Seen, run_cases

AS_THE_TABLE_SAYS, AGAINST_THE_TABLE, COULD_NOT_RUN = 0, 1, 2


def verify_operations(arguments: Sequence[str]) -> int:
    """Run the command. 0: nothing that was seen contradicts the table; 1: something does; 2: some could not be run.

    TorchReproLintError where nothing can be run.
    """
    options = _parser().parse_args(arguments)
    require_torch()
    cases = [case for case in op_cases() if not options.only or any(word in case.op for word in options.only)]
    if not cases:
        raise TorchReproLintError(f"no operation in the table has {' or '.join(options.only)} in its name")
    with StatusLine.on(sys.stderr) as line:
        machine, seen = run_cases(
            cases,
            options.device,
            runs=options.runs,
            timeout=options.timeout,
            progress=lambda done, total: line.show(f"{done} of {total} operations"),
        )
    if not machine.device:
        why = next((one.detail for one in seen if one.against), "no case can be run here")
        raise TorchReproLintError(f"nothing was run on {options.device}: {why.removeprefix('not run: ')}")
    if options.output_format == "json":
        print(_json(machine, seen, options.device, options.runs))
    elif options.output_format == "tsv":
        for one in measurements(machine, seen, options.device, options.runs):
            print(one)
    else:
        print(_text(machine, seen))
    if any(one.against and not one.result for one in seen):
        return COULD_NOT_RUN
    return AGAINST_THE_TABLE if any(one.against for one in seen) else AS_THE_TABLE_SAYS


def measurements(machine: Machine, seen: Sequence[Seen], kind: str, runs: int) -> list[OpMeasurement]:
    """What was seen as rows of knowledge/op_measurements.tsv, dated today."""
    today = date.today().isoformat()
    where = (kind, machine.device, machine.torch, machine.cuda, str(runs), today)
    return [OpMeasurement(one.case.op, one.case.when, *where, one.result, one.detail) for one in seen if one.result]


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        f"{PROGRAM} verify --ops",
        "Run each operation of the table many times, forward and backward, beside other work, with\n"
        "use_deterministic_algorithms off and on, and compare the results with the table.",
    )
    parser.add_argument("--ops", action="store_true", required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "only", nargs="*", metavar="WORD", help="only operations with one of these words in their name (default: all)"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to run (default: cpu)")
    parser.add_argument("--runs", type=at_least(2), default=20, metavar="N", help="runs of each call (default: 20)")
    parser.add_argument(
        "--timeout", type=seconds, default=120.0, metavar="S", help="seconds for all runs of one call (default: 120)"
    )
    parser.add_argument(
        "--output-format", choices=("text", "json", "tsv"), default="text", help="tsv: rows for op_measurements.tsv"
    )
    return parser


def _text(machine: Machine, seen: Sequence[Seen]) -> str:
    lines = [("operation", "result", "detail", "the table")]
    for one in seen:
        table = f"AGAINST: {one.against}" if one.against else ("agrees" if one.result else "-")
        call = one.case.call or f"{one.case.op} ({one.case.when})"
        lines.append((call, one.result or "-", one.detail or "-", table))
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    table = "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, (*widths, 0), strict=True)).rstrip() for line in lines
    )
    counts = Counter(one.result or "not run" for one in seen)
    summary = ", ".join(f"{count} {result}" for result, count in sorted(counts.items(), key=lambda item: -item[1]))
    where = ", ".join(filter(None, (machine.device, f"torch {machine.torch}", machine.cuda and f"CUDA {machine.cuda}")))
    against = sum(bool(one.against) for one in seen)
    return f"{table}\n\n{where}\n{len(seen)} operations: {summary}; {against} against the table"


def _json(machine: Machine, seen: Sequence[Seen], kind: str, runs: int) -> str:
    return json.dumps(
        [
            {
                "op": one.case.op,
                "when": one.case.when,
                "call": one.case.call,
                "kind": kind,
                "device": machine.device,
                "torch": machine.torch,
                "cuda": machine.cuda,
                "runs": runs,
                "result": one.result or None,
                "detail": one.detail,
                "against": one.against or None,
            }
            for one in seen
        ],
        indent=2,
    )
