"""For each row of the table of operations there is a call that runs it, or the reason why none can."""

from __future__ import annotations

import ast

import pytest

from torchrepro_lint.knowledge.conditions import render_conditions
from torchrepro_lint.knowledge.op_cases import OpCase, op_cases
from torchrepro_lint.knowledge.op_measurements import op_measurements
from torchrepro_lint.knowledge.ops import op_table
from torchrepro_lint.knowledge.torch_releases import torch_releases


def test_every_row_has_a_case_and_every_case_a_row() -> None:
    rows = {(row.op, render_conditions(row.when)) for row in op_table()}
    assert rows == {(case.op, case.when) for case in op_cases()}


def test_a_row_without_a_call_is_about_something_that_no_call_in_eager_mode_reaches() -> None:
    for case in op_cases():
        if case.why:
            rows = [row for version in torch_releases() for row in case.rows(version)]
            assert all(
                row.device == "mps" or "compiled" in row.flags or "compile" in case.why or "script" in case.why
                for row in rows
            ), case


@pytest.mark.parametrize("case", [case for case in op_cases() if case.call], ids=lambda case: f"{case.op} {case.when}")
def test_a_call_is_python(case: OpCase) -> None:
    ast.parse(case.inputs)
    ast.parse(case.call, mode="eval")


def test_what_was_measured_is_in_the_table_and_said_in_the_words_of_the_command() -> None:
    cases = {(case.op, case.when) for case in op_cases()}
    for one in op_measurements():
        assert (one.op, one.when) in cases
        assert one.kind in ("cpu", "cuda") and one.device and one.torch and int(one.runs) >= 2
        assert bool(one.cuda) >= (one.kind == "cuda")
        assert one.result in (
            "raises under use_deterministic_algorithms(True)",
            "cannot be run under use_deterministic_algorithms(True)",
            "made deterministic by the switch",
            "differs between runs",
            f"bitwise stable in {one.runs} runs",
        )


def test_every_call_that_needs_torch_alone_was_measured_on_a_cpu() -> None:
    measured = {(one.op, one.when) for one in op_measurements() if one.kind == "cpu" and one.torch == "2.13.0"}
    runnable = {(case.op, case.when) for case in op_cases() if case.call and not case.needs and case.rows("2.13.0")}
    assert measured == runnable
