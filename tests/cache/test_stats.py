"""A file is not read again where nothing can have changed in it, and every other one is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from torchrepro_lint import engine
from torchrepro_lint.cache import run, stats
from torchrepro_lint.cache.key import digest_of
from torchrepro_lint.cache.stats import KnownDigests
from torchrepro_lint.cache.store import DIGESTS, FOLDER, Store
from torchrepro_lint.engine import CacheChoice, Report, RunOptions, check
from torchrepro_lint.source import contents
from torchrepro_lint.source.contents import Contents
from torchrepro_lint.source.text import SourceError, read_bytes

OLD = b"import torch\n"
NEW = b"import numpy\n"
LATER = 10**12  # nanoseconds


class Reads:
    """The files that were read."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def __call__(self, path: Path) -> bytes:
        self.files.append(path.name)
        return read_bytes(path)

    def taken(self) -> list[str]:
        """Those since the last question."""
        files, self.files = sorted(self.files), []
        return files


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    made = Reads()
    monkeypatch.setattr(contents, "read_bytes", made)
    return made


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for path in found:
        path.write_bytes(OLD)
    return found


def digests(files: list[Path], later: int = LATER) -> dict[Path, bytes]:
    """The digests in a run that begins so long from now."""
    asked = Contents()
    asked.since += later
    known = KnownDigests(Store(files[0].parent / FOLDER, b"s" * 32, DIGESTS), files, asked)
    known.keep()
    assert known.digests == {path: digest_of(path.read_bytes()) for path in files}
    return known.digests


def test_what_is_known_is_not_read(files: list[Path], reads: Reads) -> None:
    digests(files)
    assert reads.taken() == ["a.py", "b.py", "c.py"]
    digests(files)
    assert reads.taken() == []


def test_what_has_just_changed_is_read_again(files: list[Path], reads: Reads) -> None:
    digests(files, later=-LATER)  # before the change: no machine takes so long between the two that it is long ago
    reads.taken()
    digests(files, later=-LATER)
    assert reads.taken() == ["a.py", "b.py", "c.py"]
    digests(files)  # now it is long ago
    assert reads.taken() == ["a.py", "b.py", "c.py"]
    digests(files)
    assert reads.taken() == []


@pytest.mark.parametrize(("after", "trusted"), [(0, False), (-1, False), (3_000_000_000, False), (3_000_000_001, True)])
@pytest.mark.parametrize("which", ["st_mtime_ns", "st_ctime_ns"])
def test_a_change_in_the_same_tick_is_seen(
    files: list[Path], reads: Reads, monkeypatch: pytest.MonkeyPatch, after: int, trusted: bool, which: str
) -> None:
    """A file system whose clock stands still: a change of the same size leaves no trace in what it says."""
    tick = 1_700_000_000_000_000_000
    real = os.stat(files[0])
    state = {"st_mode": real.st_mode, "st_size": len(OLD), "st_ino": 1, "st_dev": 2, "st_mtime_ns": 0, "st_ctime_ns": 0}
    monkeypatch.setattr(
        stats, "os", SimpleNamespace(name="posix", stat=lambda path: SimpleNamespace(**state | {which: tick}))
    )
    for data in (OLD, NEW):
        files[0].write_bytes(data)
        asked = Contents()
        asked.since = tick + after
        known = KnownDigests(Store(files[0].parent / FOLDER, b"s" * 32, DIGESTS), files[:1], asked)
        known.keep()
        assert known.digests[files[0]] == digest_of(OLD if trusted else data)
    assert reads.taken() == (["a.py"] if trusted else ["a.py", "a.py"])


def appended(path: Path) -> None:
    path.write_bytes(OLD + b"#")


def written_at_another_time(path: Path) -> None:
    path.write_bytes(NEW)
    os.utime(path, (1, 1))


def written_with_the_time_put_back(path: Path) -> None:
    before = path.stat()
    path.write_bytes(NEW)
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # its clock may go in steps of milliseconds
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(NEW)
    os.utime(other, ns=(0, path.stat().st_mtime_ns))
    os.replace(other, path)


def made_a_link(path: Path) -> None:
    written = path.with_name("written")
    written.write_bytes(NEW)
    path.unlink()
    path.symlink_to(written)


@pytest.mark.parametrize(
    "change", [appended, written_at_another_time, written_with_the_time_put_back, replaced, made_a_link]
)
def test_every_change_is_seen(files: list[Path], reads: Reads, change: Callable[[Path], None]) -> None:
    digests(files)
    reads.taken()
    change(files[1])
    digests(files)
    assert reads.taken() == ["b.py"]


def test_what_a_link_leads_to_counts(files: list[Path], reads: Reads) -> None:
    files[1].unlink()
    files[1].symlink_to(files[0].with_name("target"))
    files[0].with_name("target").write_bytes(OLD)
    digests(files)
    reads.taken()
    written_with_the_time_put_back(files[0].with_name("target"))
    digests(files)
    assert reads.taken() == ["b.py"]


@pytest.mark.parametrize("change", [Path.unlink, lambda path: (path.unlink(), path.mkdir())])
def test_what_cannot_be_read_is_refused(files: list[Path], change: Callable[[Path], object]) -> None:
    digests(files)
    change(files[1])
    with pytest.raises(SourceError, match=r"b\.py"):
        digests(files)


@pytest.mark.parametrize("data", [b"", b"x", bytes(56), bytes(3 * 56), bytes(4 * 56), b"\xff" * 168])
def test_digests_that_are_not_in_order_are_laid_aside(files: list[Path], reads: Reads, data: bytes) -> None:
    store = Store(files[0].parent / FOLDER, b"s" * 32, DIGESTS)
    digests(files)
    reads.taken()
    (key,) = [
        line.split()[0].decode() for line in (store.folder / DIGESTS).read_bytes().splitlines() if b"digests-" in line
    ]
    store.put({key: data})
    digests(files)
    assert reads.taken() == ["a.py", "b.py", "c.py"]


def test_where_times_can_be_set_every_file_is_read(
    files: list[Path], reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats, "os", SimpleNamespace(name="nt", stat=os.stat))
    for _ in range(2):
        digests(files)
        assert reads.taken() == ["a.py", "b.py", "c.py"]


# --- in a run ---------------------------------------------------------------------------------------------------

TRAIN = "import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which all that is written counts as written long ago."""
    monkeypatch.setattr(stats, "_GRAIN_NS", -LATER)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "other.py").write_text("import torch\n")
    (tmp_path / "plain.py").write_text("x = 1\n")
    return tmp_path


def cached(root: Path) -> Report:
    return check([root], run=RunOptions(cache=CacheChoice()))


def test_a_run_that_knows_its_files_reads_none_but_the_first(project: Path, reads: Reads) -> None:
    first = cached(project)
    assert {"train.py", "other.py", "plain.py"} <= set(reads.taken())
    assert cached(project) == first
    # One of interest is looked for, and metadata are always read.
    assert len([name for name in reads.taken() if name.endswith(".py")]) <= 2


def test_a_run_while_a_file_changes_is_not_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = run.KnownDigests

    class Late(look):  # type: ignore[valid-type, misc]
        """Another program writes once the digests are known."""

        def __init__(self, *args: object) -> None:
            super().__init__(*args)
            (project / "train.py").write_text("import torch\n")

    cached(project)
    (project / "other.py").write_text("import torch\nimport numpy\n")
    cached(project)
    (project / FOLDER / "results").unlink()  # so that no answer is known, and all digests are
    monkeypatch.setattr(run, "KnownDigests", Late)
    monkeypatch.setattr(engine, "is_any_wanted", lambda *args: True)  # which reads a file, and not always the same
    assert cached(project).findings == ()
    monkeypatch.undo()
    (project / "train.py").write_text(TRAIN)
    assert [finding.code for finding in cached(project).findings] == ["TRL203"]


def test_without_a_cache_every_file_is_read(project: Path, reads: Reads) -> None:
    for _ in range(2):
        check([project])
        assert {"train.py", "other.py", "plain.py"} <= set(reads.taken())
    assert not (project / FOLDER).exists()
