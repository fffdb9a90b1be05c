"""For each row of the table of operations a call that runs it, or the reason why none can."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from torchrepro_lint.knowledge.conditions import parse_conditions, render_conditions
from torchrepro_lint.knowledge.ops import OpRow, op_table
from torchrepro_lint.knowledge.tables import DataFileError, read_table

__all__ = ["OpCase", "op_cases"]

_COLUMNS = ("op", "when", "inputs", "call", "needs", "why")


@dataclass(frozen=True, slots=True)
class OpCase:
    """A call for the rows of the table that have this `op` and `when`.

    `inputs` are Python statements and `call` is an expression over what they name, with the helpers that the head of
    the data file lists; both are empty where `why` says what keeps such a call from being made. `needs` is a module
    that must be there, or `cuda`.
    """

    op: str
    when: str
    inputs: str
    call: str
    needs: str
    why: str

    @property
    def package(self) -> str:
        """The module of another package that the call needs; empty where it needs none."""
        return "" if self.needs == "cuda" else self.needs

    def rows(self, version: str) -> list[OpRow]:
        """The rows that the call is about, as far as they hold in a release of torch."""
        return [
            row
            for row in op_table()
            if row.op == self.op and render_conditions(row.when) == self.when and row.holds_at(version)
        ]


@cache
def op_cases() -> tuple[OpCase, ...]:
    """All cases, in the order of the file."""
    found = tuple(_case(row) for row in read_table("op_cases.tsv", _COLUMNS))
    if len({(case.op, case.when) for case in found}) != len(found):
        raise DataFileError("op_cases.tsv: two cases for the same rows")
    return found


def _case(row: dict[str, str]) -> OpCase:
    if bool(row["call"]) == bool(row["why"]):
        raise DataFileError(f"op_cases.tsv: a call, or why there is none: {row}")
    return OpCase(**{**row, "when": render_conditions(parse_conditions(row["when"]))})
