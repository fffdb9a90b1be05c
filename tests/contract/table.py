"""The table of the contract: what the fixes of each cell leave, and which cells do not hold yet.

`table.tsv` has a row for each shape and rule. `fix` and `unsafe_fixes` say what `--fix` and `--fix --unsafe-fixes` leave,
as `code: why` (the reason of a declined fix, `unsafe`, or `no fix`), and nothing if they leave nothing. `left_out` says why
a cell is not run, `not_yet` which invariant does not hold yet.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

__all__ = ["Row", "read_table", "write_table"]

TABLE = Path(__file__).with_name("table.tsv")
BETWEEN = " | "


@dataclass(frozen=True)
class Row:
    """A cell of the table."""

    shape: str
    rule: str
    fix: str = ""
    unsafe_fixes: str = ""
    left_out: str = ""
    not_yet: str = ""


def read_table() -> list[Row]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def write_table(rows: list[Row]) -> None:
    names = [field.name for field in fields(Row)]
    lines = ["\t".join(names), *("\t".join(getattr(row, name) for name in names) for row in rows)]
    TABLE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
