"""Write what the fixes leave in each cell into `contract/table.tsv`: `python tests/update_contract.py`.

Review the difference: a fix that is declined where it was not, or no longer, is what the table is there to show.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from contract.cells import also_asked, fixes
from contract.programs import FAULTS, SHAPES, files
from contract.table import BETWEEN, Row, read_table, write_table


def main() -> None:
    known = {(row.shape, row.rule): row for row in read_table()}
    rows = []
    for shape in SHAPES.values():
        for rule in FAULTS:
            row = known.get((shape.name, rule), Row(shape.name, rule))
            if not row.left_out:
                with tempfile.TemporaryDirectory() as folder:
                    _, safe, unsafe = fixes(files(shape, rule), Path(folder), rule, also_asked(shape, rule))
                row = replace(row, fix=BETWEEN.join(safe.left), unsafe_fixes=BETWEEN.join(unsafe.left))
            rows.append(row)
    write_table(rows)


if __name__ == "__main__":
    main()
