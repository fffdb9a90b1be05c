"""What was measured of the operations that a rule is about, for the page of the rule."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence

from torchrepro_lint.knowledge.conditions import parse_conditions, render_conditions
from torchrepro_lint.knowledge.op_measurements import OpMeasurement, op_measurements
from torchrepro_lint.knowledge.ops import OpRow, op_table

__all__ = ["op_evidence"]

_KERNELS = frozenset({"attention", "third-party"})
_ABOUT: Mapping[str, Callable[[OpRow], bool]] = {
    "TRL401": lambda row: row.effect == "throws" and not row.flags & _KERNELS,
    "TRL402": lambda row: row.effect in ("silent", "made_deterministic") and not row.flags & _KERNELS,
    "TRL403": lambda row: row.effect == "fills_memory",
    "TRL404": lambda row: bool(row.flags & _KERNELS),
}
_HOW = "`torchrepro-lint verify --ops --device cuda` measures it where there is a GPU."


def op_evidence(code: str, measured: Sequence[OpMeasurement] | None = None) -> str:
    """A section "Measured" for the rule with this code; empty where the rule is about no row of the table."""
    about = _ABOUT.get(code)
    if about is None:
        return ""
    chosen = [one for one in (op_measurements() if measured is None else measured) if any(map(about, _rows(one)))]
    lines = ["Measured"]
    for place in dict.fromkeys((one.device, one.torch, one.cuda, one.runs, one.date) for one in chosen):
        device, torch, cuda, runs, date = place
        built = f", CUDA {cuda}" if cuda else ""
        lines.append(f"    On {device} with torch {torch}{built}, {runs} runs of each call, {date}:")
        here = [one for one in chosen if (one.device, one.torch, one.cuda, one.runs, one.date) == place]
        for result in sorted({one.result for one in here}):
            names = ", ".join(dict.fromkeys(_name(one) for one in here if one.result == result))
            lines.extend(
                textwrap.wrap(
                    f"{result}: {names}",
                    116,
                    initial_indent=" " * 8,
                    subsequent_indent=" " * 12,
                    break_on_hyphens=False,
                )
            )
    if not any(one.kind == "cuda" for one in chosen):
        lines.append(f"    Nothing has been measured on CUDA yet: {_HOW}")
    return "\n".join(lines)


def _rows(one: OpMeasurement) -> list[OpRow]:
    """The rows that were measured, as they are in that release of torch."""
    return [
        row
        for row in op_table()
        if (row.op, render_conditions(row.when)) == (one.op, one.when) and row.holds_at(one.torch)
    ]


def _name(one: OpMeasurement) -> str:
    words = "; ".join(condition.in_words for condition in parse_conditions(one.when))
    return f"{one.op} ({words})" if words else one.op
