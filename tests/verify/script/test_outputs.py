"""What a program prints and writes is compared where it computes the same; what is about time is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from verify_runs import answer, forked_command, line_of, script

from torchrepro_lint.verify.script.watch.printed import stable

PROGRAM = """
    import os
    import random
    import sys
    import time

    random.seed(0)
    print("drawn", random.random(), "at", time.time())
    print("on average", (time.time() + time.perf_counter()) / 3)
    if sys.argv[1] == "hash":
        print("checksum", hash("text"))
    if sys.argv[1] == "file":
        with open(f"cache_{hash('text')}.txt", "w") as file:
            file.write("x")
    if sys.argv[1] == "listing":
        print(os.listdir("files"))
    """


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("epoch 1 loss 0.5 took 3.2", "epoch 1 loss 0.5 took 4.1"),
        ("epoch 1: 3.25s", "epoch 1: 4s"),
        ("[00:01<00:02, 12.5it/s]", "[00:03<00:01, 2.5it/s]"),
        ("2026-11-27 03:04:05,123 INFO loss 1", "2026-11-28 13:04:06,456 INFO loss 1"),
        ("<Net object at 0x7f00aa11bb20>", "<Net object at 0x7f00aa11cc40>"),
        ("saved to /tmp/tmpab12/model.pt", "saved to /tmp/tmpcd34/model.pt"),
        ("memory: 120 MB, speed 30", "memory: 121 MB, speed 31"),
        ("elapsed time = 1.5", "elapsed time = 2.5"),
    ],
)
def test_times_and_places_are_left_out(one: str, other: str) -> None:
    assert stable(one) == stable(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loss 0.5", "loss 0.6"),
        ("checksum 12", "checksum 13"),
        ("epoch 1 acc 0.9 took 3 s", "epoch 1 acc 0.8 took 3 s"),
        ("cache_91.pt", "cache_92.pt"),
        ("['a.png', 'b.png']", "['b.png', 'a.png']"),
        ("5 steps", "6 steps"),
        ("timestep 5 of 7 samples", "timestep 5 of 8 samples"),
    ],
)
def test_all_else_is_compared(one: str, other: str) -> None:
    assert stable(one) != stable(other)


@pytest.mark.verify
def test_what_depends_on_the_clock_alone_is_no_difference(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script(tmp_path, PROGRAM)
    status, found = answer("train.py", "--", "times", folder=tmp_path, run=forked_command)
    assert (status, found["outcome"]) == (0, "agreed"), found["verdict"]


@pytest.mark.verify
def test_a_printed_hash_and_the_name_of_a_file_by_one(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = script(tmp_path, PROGRAM)
    status, found = answer("train.py", "--", "hash", folder=tmp_path)
    assert (status, found["cause"]["why"]) == (1, "hash"), found["verdict"]
    assert found["verdict"].endswith("at what is printed")
    assert found["cause"]["first"]["place"]["row"] == line_of(path, "checksum")
    status, found = answer("--scratch", "train.py", "--", "file", folder=tmp_path)
    assert (status, found["cause"]["why"]) == (1, "hash"), found["verdict"]
    assert "one does the file cache_" in found["verdict"]


@pytest.mark.verify
def test_what_is_printed_depends_on_a_listing(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = script(tmp_path, PROGRAM)
    (tmp_path / "files").mkdir()
    for name in "abc":
        (tmp_path / "files" / name).touch()
    ran = forked_command("--perturb", "listing", "train.py", "--", "listing", folder=tmp_path)
    assert ran.returncode == 3
    lines = ran.stdout.splitlines()
    assert lines[0] == "2 plain runs of train.py listing agree; the result depends on: listing"
    assert "1 random number drawn, 3 printed lines" in lines[3]
    assert f"train.py:{line_of(path, 'listdir')}" in lines[4]
    assert "cause: the order in which directories are listed" in ran.stdout
