"""A file is replaced whole or not at all, and stays what it was in all but its content."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.source.write import link_out_of, write_atomically, write_output

OLD = b"\xef\xbb\xbfx = 1\r\n"
NEW = b"\xef\xbb\xbfx = 2\r\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_replaces_and_keeps_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    path.chmod(0o751)
    write_atomically(path, NEW, OLD)
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o7777 == 0o751
    assert names(tmp_path) == ["a.py"]


def test_follows_links(tmp_path: Path) -> None:
    target = tmp_path / "real" / "a.py"
    target.parent.mkdir()
    target.write_bytes(OLD)
    link = tmp_path / "link.py"
    link.symlink_to(Path("real") / "a.py")
    write_atomically(link, NEW, OLD)
    assert link.is_symlink()
    assert target.read_bytes() == NEW


def test_a_file_with_two_names_keeps_both(tmp_path: Path) -> None:
    path, other = tmp_path / "a.py", tmp_path / "b.py"
    path.write_bytes(OLD + b"# a longer end\n")
    other.hardlink_to(path)
    write_atomically(path, NEW, OLD + b"# a longer end\n")
    assert path.read_bytes() == other.read_bytes() == NEW
    assert path.stat().st_nlink == 2
    assert names(tmp_path) == ["a.py", "b.py"]


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="a system without extended attributes")
def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("a file system without extended attributes")
    write_atomically(path, NEW, OLD)
    assert os.getxattr(path, "user.note") == b"mine"


def test_what_a_run_that_was_killed_left_behind_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    old, foreign, new, written, just_made = (
        tmp_path / f".a.py.{name}.tmp" for name in ("0123456789ab", "x", "1" * 12, "2" * 12, "3" * 12)
    )
    for one in (old, foreign, new, written):
        one.write_bytes(b"half")
    just_made.touch()
    for one in (old, foreign):
        os.utime(one, (0, 0))
    fcntl = pytest.importorskip("fcntl")
    with written.open("r+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # as the process has it that writes
        write_atomically(path, NEW, OLD)
    assert names(tmp_path) == [f".a.py.{'2' * 12}.tmp", f".a.py.{'3' * 12}.tmp", ".a.py.x.tmp", "a.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_next_run_removes_the_file_of_one_that_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    killed = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom torchrepro_lint.source.write import write_atomically\n"
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(Path(sys.argv[1]), b'new', Path(sys.argv[1]).read_bytes())\n"
    )
    subprocess.run([sys.executable, "-c", killed, str(path)], check=False, cwd=Path(__file__).parents[2])
    assert len(names(tmp_path)) == 2
    write_atomically(path, NEW, OLD)
    assert names(tmp_path) == ["a.py"]


def test_where_a_link_leads(tmp_path: Path) -> None:
    inside, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a.py").write_bytes(OLD)
    (inside / "link.py").symlink_to(outside / "a.py")
    (inside / "own.py").symlink_to("a.py")
    (inside / "folder").symlink_to(outside)
    (tmp_path / "named").symlink_to(inside)
    assert link_out_of(inside, inside / "link.py") == outside / "a.py"
    assert link_out_of(inside, inside / "folder" / "a.py") == outside / "a.py"
    assert link_out_of(inside, inside / "own.py") is None
    assert link_out_of(tmp_path / "named", tmp_path / "named" / "a.py") is None


def test_refuses_a_file_that_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"x = 3\n")
    with pytest.raises(TorchReproLintError, match="changed"):
        write_atomically(path, NEW, OLD)
    assert path.read_bytes() == b"x = 3\n"
    assert names(tmp_path) == ["a.py"]


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TorchReproLintError, match="not written"):
        write_atomically(tmp_path / "a.py", NEW, OLD)
    assert names(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything")
def test_read_only_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    path.chmod(0o444)
    with pytest.raises(TorchReproLintError, match="not written"):
        write_atomically(path, NEW, OLD)
    assert path.read_bytes() == OLD


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_interruption_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException | type[BaseException]
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)

    def interrupt(*_: object, **__: object) -> None:
        raise error

    if step == "replace":
        monkeypatch.setattr(Path, "replace", interrupt)
    elif step == "fsync":
        monkeypatch.setattr(os, "fsync", interrupt)
    else:
        monkeypatch.setattr(os, "fdopen", interrupt)
    with pytest.raises((KeyboardInterrupt, TorchReproLintError)):
        write_atomically(path, NEW, OLD)
    assert path.read_bytes() == OLD
    assert names(tmp_path) == ["a.py"]


def test_writes_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    write_atomically(path, b"{}", None)
    assert path.read_bytes() == b"{}"
    assert [one.name for one in tmp_path.iterdir()] == ["new.json"]


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    path.write_bytes(b"theirs")
    with pytest.raises(TorchReproLintError, match="was created by something else"):
        write_atomically(path, b"{}", None)
    assert path.read_bytes() == b"theirs"


@pytest.mark.skipif(not hasattr(os, "chown"), reason="files have no owner here")
def test_keeps_the_owner_and_the_mode_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    path.chmod(0o751)
    given: list[tuple[int, int, int]] = []

    def chown(target: Path, owner: int, group: int) -> None:
        given.append((owner, group, target.stat().st_mode & 0o7777))

    monkeypatch.setattr(os, "chown", chown)
    write_atomically(path, NEW, OLD)
    status = path.stat()
    # Nobody else could read it before it had its owner.
    assert given == [(status.st_uid, status.st_gid, 0o600)]
    assert status.st_mode & 0o7777 == 0o751


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_a_file_of_somebody_else_stays_theirs(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    os.chown(path, 12345, 23456)
    write_atomically(path, NEW, OLD)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


@pytest.mark.skipif(not hasattr(os, "chown"), reason="files have no owner here")
def test_an_owner_that_may_not_be_kept_does_not_keep_the_file_from_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(OLD)
    asked: list[int] = []

    def chown(target: Path, owner: int, group: int) -> None:
        asked.append(owner)
        raise PermissionError

    monkeypatch.setattr(os, "chown", chown)
    write_atomically(path, NEW, OLD)
    assert path.read_bytes() == NEW
    assert asked[-1] == -1  # the group alone


def test_an_output_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.md"
    write_output(path, "one")
    write_output(path, "tw\udcff")
    assert path.read_bytes() == b"tw\\udcff"
    assert names(tmp_path) == ["out.md"]


@pytest.mark.parametrize("old", [None, OLD])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bytes | None) -> None:
    path = tmp_path / "out.md"
    if old is not None:
        path.write_bytes(old)

    def fsync(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(TorchReproLintError, match=r"out\.md: not written: No space left on device$"):
        write_output(path, "text")
    assert names(tmp_path) == ([] if old is None else ["out.md"])
    assert old is None or path.read_bytes() == old


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_device_is_written_to_and_not_replaced() -> None:
    write_output(Path("/dev/null"), "text")
    with pytest.raises(TorchReproLintError, match=r"^/dev/full: not written: "):
        write_output(Path("/dev/full"), "text")
    assert Path("/dev/full").is_char_device()
