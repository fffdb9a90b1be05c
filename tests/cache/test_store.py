"""The file of the cache: whole or not there, bounded, and never trusted."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import BinaryIO

import pytest
from filelock import FileLock

from torchrepro_lint.cache import store
from torchrepro_lint.cache.store import FOLDER, Store, clean

FORMAT = b"torchrepro-lint results 4\n"

SECRET = b"s" * 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / FOLDER


def test_what_is_kept_is_found(folder: Path) -> None:
    Store(folder, SECRET).put({"key": b"text\n\x00\xff"})
    assert Store(folder, SECRET).get("key") == b"text\n\x00\xff"
    assert Store(folder, SECRET).get("other") is None


def test_git_and_backups_leave_it_out(folder: Path) -> None:
    Store(folder, SECRET).put({"key": b"text"})
    assert (folder / ".gitignore").read_text().endswith("*\n")
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_the_oldest_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_ENTRIES", 2)
    for key in "abc":
        Store(folder, SECRET).put({key: key.encode()})
    assert [Store(folder, SECRET).get(key) for key in "abc"] == [None, b"b", b"c"]


def test_it_does_not_grow_without_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 10)
    Store(folder, SECRET).put({"a": b"12345678"})
    Store(folder, SECRET).put({"b": b"12345678"})
    Store(folder, SECRET).put({"c": b"more than fits"})
    assert [Store(folder, SECRET).get(key) for key in "abc"] == [None, b"12345678", None]


def test_what_is_used_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_ENTRIES", 3)
    for key in "abcd":
        Store(folder, SECRET).put({key: key.encode()}, used=("a", "not there"))
    assert [Store(folder, SECRET).get(key) for key in "abcd"] == [b"a", None, b"c", b"d"]


def test_what_is_put_again_is_new(folder: Path) -> None:
    Store(folder, SECRET).put({"a": b"old", "b": b"text"})
    Store(folder, SECRET).put({"a": b"new"}, used=("a",))
    assert [Store(folder, SECRET).get(key) for key in "ab"] == [b"new", b"text"]


def test_parts_of_an_entry(folder: Path) -> None:
    Store(folder, SECRET).put({"a": b"other", "key": b"0123456789", "z": b"other"})
    places = [(0, 3), (3, 2), (8, 5), (10, 1), (99, 1), (4, 0)]
    assert Store(folder, SECRET).pieces("key", places) == [b"012", b"34", b"89", b"", b"", b""]
    assert Store(folder, SECRET).pieces("none", places) == []


def test_an_entry_that_was_damaged_is_not_given(folder: Path) -> None:
    Store(folder, SECRET).put({"a": b"first", "b": b"second", "c": b"third"})
    file = folder / "results"
    file.write_bytes(file.read_bytes().replace(b"second", b"sEcond"))
    assert [Store(folder, SECRET).get(key) for key in "abc"] == [b"first", None, b"third"]
    Store(folder, SECRET).put({"d": b"fourth"})
    assert [Store(folder, SECRET).get(key) for key in "abcd"] == [b"first", None, b"third", b"fourth"]


def test_what_another_has_written_is_not_given(folder: Path) -> None:
    Store(folder, b"t" * 32).put({"key": b"text"})
    assert Store(folder, SECRET).get("key") is None
    Store(folder, SECRET).put({"other": b"own"})
    assert Store(folder, SECRET).get("other") == b"own"
    assert Store(folder, b"t" * 32).get("key") == b"text"


def test_what_was_kept_under_one_key_is_not_given_under_another(folder: Path) -> None:
    Store(folder, SECRET).put({"one": b"text"})
    file = folder / "results"
    file.write_bytes(file.read_bytes().replace(b"one ", b"two "))
    assert Store(folder, SECRET).get("two") is None


def test_large_entries_are_carried_on(folder: Path) -> None:
    data = os.urandom(3_000_000)
    Store(folder, SECRET).put({"large": data})
    Store(folder, SECRET).put({"small": b"text"})
    assert Store(folder, SECRET).get("large") == data


def test_a_file_that_shrinks_meanwhile_is_not_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(folder, SECRET).put({"large": bytes(3_000_000)})
    read = store.entries_of

    def and_cut(stream: BinaryIO) -> object:
        found = read(stream)
        os.truncate(folder / "results", 1_000_000)
        return found

    monkeypatch.setattr(store, "entries_of", and_cut)
    Store(folder, SECRET).put({"small": b"text"})
    monkeypatch.undo()
    assert [path.name for path in folder.iterdir() if path.name.startswith(".results")] == []
    assert Store(folder, SECRET).get("small") is None


@pytest.mark.parametrize(
    "data",
    [b"", b"\x80\x04K\x01.", b"another tool 2\nkey digest 4\ntext", FORMAT, FORMAT + b"key bad-digest 4\ntext",
     FORMAT + b"key digest\n", FORMAT + b"key digest 99999999999999\ntext", FORMAT + b"key digest -1\ntext",
     FORMAT + b"key digest four\ntext", FORMAT + b"x" * 100_000, FORMAT + b"\xff\xfe 0 0\n", b"\xff\xfe"],
)  # fmt: skip
def test_a_broken_or_foreign_file_counts_as_empty(folder: Path, data: bytes) -> None:
    Store(folder, SECRET).put({"key": b"before"})
    (folder / "results").write_bytes(data)
    assert Store(folder, SECRET).get("key") is None
    Store(folder, SECRET).put({"key": b"text"})
    assert Store(folder, SECRET).get("key") == b"text"


def test_every_cut_of_the_file_is_harmless(folder: Path) -> None:
    Store(folder, SECRET).put({"key": b"text"})
    data = (folder / "results").read_bytes()
    for end in range(len(data)):
        (folder / "results").write_bytes(data[:end])
        assert Store(folder, SECRET).get("key") is None


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Store(tmp_path / "file", SECRET).put({"key": b"text"})
    assert Store(tmp_path / "file", SECRET).get("key") is None


def test_a_fifo_in_its_place_is_not_waited_for(folder: Path) -> None:
    folder.mkdir()
    os.mkfifo(folder / "results")
    assert Store(folder, SECRET).get("key") is None


def test_many_at_once_leave_a_whole_file(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: Store(folder, SECRET).put({f"key{number}": b"x" * 10_000}), range(40)))
    assert any(Store(folder, SECRET).get(f"key{number}") for number in range(40))
    assert not list(folder.glob(".results-*"))


def test_clean_takes_what_is_ours(folder: Path) -> None:
    Store(folder, SECRET).put({"key": b"text"})
    (folder / "mine.txt").write_text("kept")
    assert clean(folder)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    assert not clean(folder)


def test_a_folder_that_others_use_is_not_marked_as_a_cache(folder: Path) -> None:
    folder.mkdir()
    (folder / "train.py").write_text("import torch\n")
    Store(folder, SECRET).put({"key": b"text"})
    assert Store(folder, SECRET).get("key") == b"text"
    assert sorted(path.name for path in folder.iterdir()) == ["results", "train.py"]
    assert clean(folder)
    assert [path.name for path in folder.iterdir()] == ["train.py"]
    assert not clean(folder)


def test_clean_keeps_what_others_wrote_under_the_same_names(folder: Path) -> None:
    folder.mkdir()
    (folder / ".gitignore").write_text("*.pt\n")
    (folder / "results").write_text("epoch 1: 0.93\n")
    assert not clean(folder)
    Store(folder, SECRET).put({"key": b"text"})
    assert not clean(folder)
    assert (folder / "results").read_text() == "epoch 1: 0.93\n"
    assert (folder / ".gitignore").read_text() == "*.pt\n"


def test_what_a_run_that_was_killed_left_behind_is_taken(folder: Path) -> None:
    Store(folder, SECRET).put({"key": b"text"})
    (folder / ".results-x").write_bytes(b"")
    (folder / "results").write_bytes(b"damaged")
    assert clean(folder)
    assert not folder.exists()


def test_one_at_a_time_has_the_lock(folder: Path) -> None:
    inside: list[str] = []

    def enter(name: str) -> None:
        with Store(folder, SECRET).locked("report-a", 300):
            inside.append(name)
            began.set()
            go_on.wait()
            inside.append(name)

    began, go_on = Event(), Event()
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(enter, "a")
        began.wait()
        second = threads.submit(enter, "b")
        go_on.set()
        first.result(), second.result()
    assert inside == ["a", "a", "b", "b"]
    assert clean(folder) and not folder.exists()


def test_who_has_waited_does_not_keep_others_waiting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    acquire = FileLock.acquire

    def told(lock: FileLock, timeout: float) -> object:
        if timeout:
            waits.set()
        return acquire(lock, timeout=timeout)

    def enter() -> None:
        with Store(folder, SECRET).locked("report-a", 300):
            acquire(FileLock(folder / ".results-lock-a"), timeout=0).lock.release()

    waits = Event()
    monkeypatch.setattr(FileLock, "acquire", told)
    with ThreadPoolExecutor(1) as threads:
        with Store(folder, SECRET).locked("report-a", 0):
            waiting = threads.submit(enter)
            waits.wait()
        waiting.result()


def test_who_has_waited_long_enough_goes_on_without_the_lock(folder: Path) -> None:
    with Store(folder, SECRET).locked("report-a", 0), Store(folder, SECRET).locked("report-a", 0.01):
        Store(folder, SECRET).put({"key": b"text"})
    assert Store(folder, SECRET).get("key") == b"text"


def test_who_makes_another_result_does_not_wait(folder: Path) -> None:
    with Store(folder, SECRET).locked("report-a", 0), Store(folder, SECRET).locked("report-b", 0):
        assert len(list(folder.glob(".results-lock-*"))) == 2


def test_where_there_can_be_no_lock_none_is_needed(folder: Path) -> None:
    folder.write_text("not a folder")
    with Store(folder, SECRET).locked("report-a", 300):
        assert folder.read_text() == "not a folder"


def test_nothing_is_written_through_a_link(tmp_path: Path, folder: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "results").write_text("precious")
    folder.symlink_to(victim, target_is_directory=True)
    Store(folder, SECRET).put({"key": b"text"})
    assert {path.name: path.read_text() for path in victim.iterdir()} == {"results": "precious"}
    assert "is a link" in (Store(folder, SECRET).refusal() or "")


@pytest.mark.parametrize("name", ["results", "digests"])
def test_a_file_of_the_user_is_not_written_over(folder: Path, name: str) -> None:
    folder.mkdir()
    (folder / name).write_text("mine")
    Store(folder, SECRET, name).put({"key": b"text"})
    assert {path.name: path.read_text() for path in folder.iterdir()} == {name: "mine"}
    assert "has not written" in (Store(folder, SECRET).refusal() or "")


def test_what_a_full_disk_has_cut_off_is_made_whole(folder: Path) -> None:
    Store(folder, SECRET).put({"key": b"text"})
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in (".gitignore", "CACHEDIR.TAG"):
        (folder / name).write_bytes(b"")
    (folder / "results").write_bytes(whole["results"][:30])
    assert Store(folder, SECRET).refusal() is None
    Store(folder, SECRET).put({"key": b"text"})
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole


def test_what_a_run_that_was_killed_left_behind_goes_with_the_next_one(folder: Path) -> None:
    Store(folder, SECRET).put({"key": b"text"})
    for name in (".results-old", ".results-new", ".results-lock-a"):
        (folder / name).write_bytes(b"half")
    for name in (".results-old", ".results-lock-a"):
        os.utime(folder / name, (0, 0))
    Store(folder, SECRET).put({"other": b"text"})
    assert sorted(path.name for path in folder.glob(".results-*")) == [".results-lock-a", ".results-new"]
