"""The index of git, in each of its versions, is read as git itself lists it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torchrepro_lint.regular_files import collected_notices
from torchrepro_lint.source.git_index import tracked_files

NAMES = ("a.py", "a/b/c.py", "a/b/d.py", "a/é.py", "a/" + "long" * 50 + ".py", "b.txt")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.quotepath=off", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, encoding="utf-8").stdout


@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_paths_are_those_that_git_lists(version: int, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", *NAMES[:-1])
    if version > 2:
        git(tmp_path, "add", "--intent-to-add", NAMES[-1])  # an entry with flags that version 2 does not have
    if version == 4:
        git(tmp_path, "update-index", "--index-version", "4")
    index = tmp_path / ".git" / "index"
    assert index.read_bytes()[7] == version
    assert tracked_files(index) == git(tmp_path, "ls-files").splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no names that are not text")
def test_a_name_that_is_not_utf8_hides_no_other(tmp_path: Path) -> None:
    names = [b"a.py", b"\xe9.py"]
    for name in names:
        (tmp_path / os.fsdecode(name)).touch()
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    assert tracked_files(tmp_path / ".git" / "index") == [os.fsdecode(name) for name in names]


def test_an_index_that_cannot_be_read_is_noted(tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.write_bytes(b"DIRC\0\0\0\4" + b"\xff" * 4 + b"\x80" * 1_000)
    with collected_notices() as notices:
        assert tracked_files(index) == []
        assert tracked_files(tmp_path / "missing") == []
    assert notices == {index: "not read: not an index of git"}


@pytest.mark.parametrize("content", [b"", b"DIRC", b"DIRC\0\0\0\2\0\0\0\1", b"DIRC\0\0\0\x63\0\0\0\1", b"x" * 90])
def test_what_is_no_index_lists_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "index").write_bytes(content)
    assert tracked_files(tmp_path / "index") == []
    assert tracked_files(tmp_path / "missing") == []
