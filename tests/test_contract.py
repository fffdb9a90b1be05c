"""What a fix may never change, held by running: each shape of program with the fault of each rule, before and after
`--fix` and `--fix --unsafe-fixes`.

A cell whose fixes leave nothing has to hold every invariant that applies to it. Where they leave something, the table says
what and why, and whatever held before has to hold after. What a program printed is kept in pytest's cache: only what
has changed is run again, and everything in a clean checkout, as in CI.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from contract.cells import Cell, Fixed, Held, evaluate
from contract.invariants import INVARIANTS
from contract.programs import FAULTS, SHAPES
from contract.runs import Runner
from contract.table import BETWEEN, Row, read_table
from contract.text import other_lines_gone, outside_the_cells, python_of, warnings

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the programs need torch"),
]

ROWS = read_table()


def _parameter(row: Row) -> object:
    marks = [pytest.mark.xfail(reason=row.not_yet)] if row.not_yet else []
    return pytest.param(row, id=f"{row.shape}-{row.rule}", marks=marks)


@pytest.fixture(scope="module")
def runner(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    cache = getattr(pytestconfig, "cache", None)
    with Runner(tmp_path_factory.mktemp("runs"), cache.mkdir("contract-runs") if cache else None) as runner:
        yield runner


def test_the_table_has_every_cell_once() -> None:
    assert [(row.shape, row.rule) for row in ROWS] == [(shape, rule) for shape in SHAPES for rule in FAULTS]


@pytest.mark.parametrize("row", [_parameter(row) for row in ROWS if not row.left_out])
def test_the_contract_holds(row: Row, runner: Runner, tmp_path: Path) -> None:
    cell = evaluate(SHAPES[row.shape], row.rule, tmp_path, runner)
    assert row.rule in cell.codes
    # Only this fault keeps a program from running, and the fix is what lets it.
    assert cell.failure is None or row.rule == "TRL106", cell.failure
    for fixed, left in ((cell.safe, row.fix), (cell.unsafe, row.unsafe_fixes)):
        assert BETWEEN.join(fixed.left) == left
        _keeps_the_text(row, cell, fixed)
        _holds(cell, fixed)
    # Whoever asks for unsafe fixes may get a constant as a seed.
    if (held := cell.safe.held) is not None:
        assert held.invariants.get("runs differ without a seed", True)


def _keeps_the_text(row: Row, cell: Cell, fixed: Fixed) -> None:
    assert fixed.changed_again == ()
    for path, text in fixed.texts.items():
        before, after = (python_of(path, one) for one in (cell.texts[path], text))
        assert other_lines_gone(SHAPES[row.shape], row.rule, before, after) == []
        assert outside_the_cells(path, text) == outside_the_cells(path, cell.texts[path])
        compile(after, path, "exec")
        assert not warnings(after) - warnings(before), after


def _holds(cell: Cell, fixed: Fixed) -> None:
    if fixed.held is None:
        assert fixed.texts == cell.texts and fixed.left
        return
    changed = "\n".join(text for path, text in fixed.texts.items() if text != cell.texts[path])
    assert fixed.held.failure is None, f"{fixed.held.failure}\n{changed}"
    broken = {name for name, holds in fixed.held.invariants.items() if not holds} - {"runs differ without a seed"}
    if fixed.left and cell.held is not None:
        broken -= _broken_before(cell.held)
    assert not broken, f"{', '.join(sorted(broken))}\n{changed}"


def _broken_before(held: Held) -> set[str]:
    if held.failure is not None:
        return {*INVARIANTS}
    broken = {name for name, holds in held.invariants.items() if not holds}
    # Draws that are always the same are not apart from anything.
    return broken | {"draws are apart"} if "no draw comes twice" in broken else broken
