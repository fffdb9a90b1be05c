"""Runs beside each other: only where they cannot meet, and ended together."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from verify_runs import record

from torchrepro_lint.verify.script import beside as module
from torchrepro_lint.verify.script.beside import beside, room_for
from torchrepro_lint.verify.script.entries import Entry
from torchrepro_lint.verify.script.launch import Launcher, Run

FIRST = Run(record([]), Path("record"), 10.0)  # it kept one core busy
GPU = record([Entry("environment", detail={"gpu 0": "a GPU"})])


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(module, "_free_memory", lambda: 1 << 50)
    used = SimpleNamespace(ru_utime=8.0, ru_stime=2.0, ru_maxrss=1000)
    monkeypatch.setattr(module.resource, "getrusage", lambda who: used)


def test_one_core_for_each() -> None:
    assert room_for(FIRST, 8, own_files=False) == 4
    assert room_for(FIRST, 2, own_files=False) == 2
    assert room_for(replace(FIRST, seconds=2.5), 8, own_files=False) == 1


@pytest.mark.parametrize(
    ("first", "own_files", "room"),
    [
        (replace(FIRST, wrote={"log.txt": "1"}), False, 1),
        (replace(FIRST, wrote={"log.txt": "1"}), True, 4),
        (replace(FIRST, record=GPU), True, 1),
        (replace(FIRST, trouble="failed"), True, 1),
        (replace(FIRST, record=None), True, 1),
    ],
)
def test_runs_that_would_meet_are_made_one_by_one(first: Run, own_files: bool, room: int) -> None:
    assert room_for(first, 8, own_files=own_files) == room


def test_memory_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_free_memory", lambda: 1)
    assert room_for(FIRST, 8, own_files=True) == 1


def test_tasks_are_under_way_together_and_their_results_are_in_order(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=60)

    def task(number: int) -> int:
        both.wait()
        return number

    assert beside([lambda: task(1), lambda: task(2)], 2, Launcher(tmp_path, 1.0)) == [1, 2]


def test_when_it_is_interrupted_all_runs_are_ended(tmp_path: Path) -> None:
    launcher = Launcher(tmp_path, 1.0)

    def interrupted() -> None:
        raise KeyboardInterrupt

    def waits() -> None:
        end = time.monotonic() + 60
        while not launcher._stopping.is_set():
            assert time.monotonic() < end
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        beside([interrupted, waits], 2, launcher)
