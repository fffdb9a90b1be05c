"""The file of one run: what is written is what is read, also where the run was cut off; what is no record is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from torchrepro_lint.verify.script.entries import Entry, Header, Place
from torchrepro_lint.verify.script.record import RecordError, RecordWriter, read_record

HEADER = Header(
    command=("train.py", "--epochs", "1"),
    folder="/home/someone/project",
    stage=2,
    run=3,
    perturbation="listing",
    started="2026-01-02T03:04:05+00:00",
    tool="0.1.0",
)
ENTRIES = (
    Entry("environment", detail={"torch": "2.13.0", "threads": "2"}),
    Entry("seed", "torch.manual_seed", output="00", shown="0", place=Place("train.py", 3, "main")),
    Entry(
        "op",
        "aten.mm.default",
        process="worker 1 of loader 0",
        step=4,
        epoch=1,
        worker=1,
        place=Place("/home/someone/project/näme\udce4.py", 12, "Net.forward"),
        via=Place("torch/nn/modules/linear.py", 134, "Linear.forward"),
        inputs="aa",
        output="bb",
        shown="0.5",
        detail={"module": "net.head", "backward": True},
    ),
    Entry("environment", detail={"threads": "1"}),
    Entry("environment", process="rank 1", detail={"threads": "7"}),
    Entry("end", "exit", detail={"status": 0}),
)


def save_record(path: Path, header: Header, entries: Iterable[Entry]) -> None:
    """Write a whole record."""
    writer = RecordWriter(str(path), header)
    for entry in entries:
        writer.write(entry)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    save_record(tmp_path / "run.jsonl", HEADER, ENTRIES)
    record = read_record(tmp_path / "run.jsonl")
    assert record.header == HEADER
    assert record.entries == ENTRIES
    assert not record.truncated


def test_every_field_of_an_entry_is_kept(tmp_path: Path) -> None:
    whole = ENTRIES[2]
    assert all(getattr(whole, name) not in (None, "", {}) for name in whole.__dataclass_fields__)


def test_zero_is_not_nothing(tmp_path: Path) -> None:
    entry = Entry("batch", "loader 0", step=0, epoch=0, worker=0)
    save_record(tmp_path / "run.jsonl", HEADER, [entry])
    assert read_record(tmp_path / "run.jsonl").entries == (entry,)


def test_what_a_record_knows(tmp_path: Path) -> None:
    save_record(tmp_path / "run.jsonl", HEADER, ENTRIES)
    record = read_record(tmp_path / "run.jsonl")
    assert record.environment == {"torch": "2.13.0", "threads": "1"}
    assert record.processes == ("main", "worker 1 of loader 0", "rank 1")
    assert record.end is not None and record.end.detail == {"status": 0}
    assert record.failure is None
    assert [entry.kind for entry in record.of_process("rank 1")] == ["environment"]


def test_several_processes_append(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    first = RecordWriter(str(path), HEADER)
    second = RecordWriter(str(path))
    first.write(ENTRIES[0])
    second.write(ENTRIES[2])
    first.write(ENTRIES[5])
    assert read_record(path).entries == (ENTRIES[0], ENTRIES[2], ENTRIES[5])


@pytest.mark.parametrize("lost", [1, 2, 20])
def test_a_run_that_was_cut_off(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "run.jsonl"
    save_record(path, HEADER, ENTRIES)
    path.write_bytes(path.read_bytes()[:-lost])
    record = read_record(path)
    assert record.truncated
    assert record.entries == ENTRIES[:-1]
    assert record.end is None


def test_a_later_kind_and_a_later_field_are_read_over(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    save_record(path, HEADER, ENTRIES[:1])
    with path.open("ab") as file:
        file.write(b'{"kind":"weather","degrees":20}\n{"kind":"end","name":"exit","mood":"good"}\n')
    assert read_record(path).entries == (ENTRIES[0], Entry("end", "exit"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a recording"),
        (b"print(1)\n", "not a recording"),
        (b"[1]\n", "not a recording"),
        (b"\x80\x00\xff", "not a recording"),
        (b'{"format": "another"}\n', "not a recording"),
        (b'{"format":"torchrepro-lint record","version":2}\n', "format 2; this version"),
        (b'{"format":"torchrepro-lint record","version":1}\n', "header of the recording is damaged"),
        (
            b'{"format":"torchrepro-lint record","version":1,"command":["a"],"folder":"/"}\n{"kind":"lo\n{"kind":"end"}\n',
            "line 2 is damaged",
        ),
    ],
)
def test_what_is_no_record(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=words) as error:
        read_record(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="No such file"):
        read_record(tmp_path / "none.jsonl")


def test_reading_imports_neither_torch_nor_numpy() -> None:
    program = (
        "import sys, torchrepro_lint.verify.script.record, torchrepro_lint.verify.script.environment\n"
        "assert not {'torch', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
