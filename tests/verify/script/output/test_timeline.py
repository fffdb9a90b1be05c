"""Hashes of runs side by side, step by step, and their drawing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from torchrepro_lint.verify.script.entries import Entry, Header
from torchrepro_lint.verify.script.output.timeline import LANES, timeline
from torchrepro_lint.verify.script.output.timeline_svg import draw
from torchrepro_lint.verify.script.record import Record


def record(*entries: Entry) -> Record:
    return Record(Header(("train.py",), "/"), entries)


def training(steps: int, part: int | None = None) -> Record:
    """From step `part` on, losses and parameters are others."""

    def other(step: int) -> str:
        return "" if part is None or step < part else " other"

    return record(
        *(
            entry
            for step in range(steps)
            for entry in (
                Entry("batch", f"batch {step} of loader 0", step=step, inputs="i", output=f"b{step}"),
                Entry("draw", "random.random", step=step, output="not a lane"),
                Entry("loss", "loss", step=step, output=f"l{step}{other(step)}"),
                Entry("parameter", "Adam 0", step=step, output=f"p{step}{other(step)}"),
                Entry("loss", "loss", process="rank 1", step=step, output="not the main process"),
            )
        )
    )


def test_runs_that_agree() -> None:
    lines = timeline([training(5), training(5)], most=100)
    assert (lines.columns, lines.width, lines.first_difference()) == (5, 1, None)
    assert len({lines.hash(0, column, lane) for column in range(5) for lane in LANES}) == 15
    assert all(lines.hash(0, column, lane) == lines.hash(1, column, lane) for column in range(5) for lane in LANES)


def test_where_a_run_parts() -> None:
    lines = timeline([training(5), training(5), training(5, part=3)], most=100)
    assert lines.first_difference() == 3
    assert lines.hash(0, 3, "batch") == lines.hash(2, 3, "batch")
    assert lines.hash(0, 3, "loss") != lines.hash(2, 3, "loss")


def test_a_shorter_run_parts_where_it_ends() -> None:
    lines = timeline([training(5), training(4)], most=100)
    assert (lines.columns, lines.first_difference(), lines.hash(1, 4, "loss")) == (5, 4, None)


def test_many_steps_share_columns() -> None:
    lines = timeline([training(25), training(25, part=24)], most=10)
    assert (lines.columns, lines.width, lines.first_difference()) == (9, 3, 8)
    assert (lines.steps(0), timeline([training(1)], most=10).steps(0)) == ("steps 0 to 2", "step 0")


def test_other_indices_are_another_batch() -> None:
    one = record(Entry("batch", "batch 0 of loader 0", step=0, inputs="a", output="x"))
    two = record(Entry("batch", "batch 0 of loader 0", step=0, inputs="b", output="x"))
    assert timeline([one, two], most=10).first_difference() == 0


def test_without_an_optimizer_a_step_ends_with_its_loss() -> None:
    losses = record(*(Entry("loss", "loss", step=0, output=f"l{number}") for number in range(4)))
    assert timeline([losses], most=10).columns == 4


def test_nothing_told() -> None:
    assert timeline([record(), record()], most=10).columns == 0
    assert timeline([], most=10).columns == 0


def test_the_drawing() -> None:
    svg = draw(timeline([training(4), training(3, part=2)], most=100), ["run 1", "<b>&"])
    drawing = ElementTree.fromstring(svg)
    cells = drawing.findall("rect")
    looks = [cell.get("class") for cell in cells]
    assert (looks.count("same"), looks.count("differed"), looks.count("missing")) == (12 + 7, 2, 3)
    title = cells[looks.index("differed")].find("title")
    assert title is not None and re.fullmatch(
        r"step 2, loss: [0-9a-f]{16}; the first run has [0-9a-f]{16}", title.text or ""
    )
    assert [line.get("class") for line in drawing.findall("line")] == ["first"]
    assert "<b>&" in [text.text for text in drawing.findall("text")]
    right = max(float(cell.get("x", "")) + float(cell.get("width", "")) for cell in cells)
    assert right <= float(drawing.get("width", ""))
