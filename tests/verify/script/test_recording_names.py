"""What recordings are called: by what was run, and never two by one name."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.verify.script.entries import Header
from torchrepro_lint.verify.script.recording_names import closer_recordings, recording_name


def recording(folder: Path, run: int, varied: str | None = None) -> tuple[Path, Header]:
    """A file of the first stage, which need not be there, and its header."""
    return folder / recording_name(run, varied), Header(("train.py",), str(folder), run=run, perturbation=varied)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((1, None), "run-1.jsonl"),
        ((2, "clock"), "clock-2.jsonl"),
        ((3, None, 1), "run-3-full-1.jsonl"),
        ((2, "clock", 2, "clock"), "clock-2-full-2.jsonl"),
        # One run is held against each that is varied: what is recorded of it then is not the same.
        ((1, None, 1, "clock"), "run-1-beside-clock-full-1.jsonl"),
        ((1, None, 1, "listing"), "run-1-beside-listing-full-1.jsonl"),
    ],
)
def test_a_name_says_what_was_run(arguments: tuple[int, str | None], name: str) -> None:
    assert recording_name(*arguments) == name


def test_the_last_attempt_is_the_one_that_found_something(tmp_path: Path) -> None:
    first, second = recording(tmp_path, 1), recording(tmp_path, 2)
    assert closer_recordings(first, second) == ()
    for name in ("run-1-full-1", "run-2-full-1", "run-1-full-2", "run-2-full-2", "run-1-full-3"):
        (tmp_path / f"{name}.jsonl").touch()
    assert [path.name for path in closer_recordings(first, second)] == ["run-1-full-2.jsonl", "run-2-full-2.jsonl"]


def test_a_pair_with_something_varied_has_its_own(tmp_path: Path) -> None:
    first, second = recording(tmp_path, 1), recording(tmp_path, 2, "clock")
    for name in ("run-1-full-1", "run-1-beside-listing-full-1", "clock-2-full-1"):
        (tmp_path / f"{name}.jsonl").touch()
    assert closer_recordings(first, second) == ()
    (tmp_path / "run-1-beside-clock-full-1.jsonl").touch()
    assert [path.name for path in closer_recordings(first, second)] == [
        "run-1-beside-clock-full-1.jsonl",
        "clock-2-full-1.jsonl",
    ]


def test_recordings_of_two_machines_have_no_pair_in_common(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for path in (tmp_path / "run-1-full-1.jsonl", tmp_path / "there" / "run-1-full-1.jsonl"):
        path.touch()
    assert closer_recordings(recording(tmp_path, 1), recording(tmp_path / "there", 1)) == ()
