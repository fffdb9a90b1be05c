"""The secret of the user: one for all processes, for nobody else to read, and never one that a project brings along."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from torchrepro_lint.cache import secret
from torchrepro_lint.cache.secret import SECRET_SIZE, user_secret
from torchrepro_lint.cache.store import FOLDER
from torchrepro_lint.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "torchrepro-lint"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "pyproject.toml").write_text("")
    (made / "train.py").write_text("import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n")
    return made


def test_it_is_made_once_and_for_the_user_alone(folder: Path) -> None:
    first = user_secret([])
    assert first is not None
    assert len(first) == SECRET_SIZE
    assert user_secret([]) == first
    assert [path.name for path in folder.iterdir()] == ["secret"]
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600


def test_processes_that_make_it_at_once_agree(folder: Path) -> None:
    command = "from torchrepro_lint.cache.secret import user_secret; print(user_secret([]).hex())"
    running = [subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE) for _ in range(8)]
    assert len({one.communicate()[0] for one in running}) == 1


def test_without_hard_links_it_is_made_as_well(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*paths: object) -> None:
        raise PermissionError

    monkeypatch.setattr(secret.os, "link", refused)
    first = user_secret([])
    assert first is not None
    assert user_secret([]) == first


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_one_that_others_can_read_is_none(folder: Path, mode: int) -> None:
    user_secret([])
    (folder / "secret").chmod(mode)
    assert user_secret([]) is None


@pytest.mark.parametrize("data", [b"", b"short", b"x" * (SECRET_SIZE + 1)])
def test_one_of_another_size_is_none(folder: Path, data: bytes) -> None:
    user_secret([])
    (folder / "secret").write_bytes(data)
    assert user_secret([]) is None


def test_a_link_or_a_fifo_is_none(folder: Path, tmp_path: Path) -> None:
    user_secret([])
    (folder / "secret").rename(tmp_path / "elsewhere")
    (folder / "secret").symlink_to(tmp_path / "elsewhere")
    assert user_secret([]) is None
    (folder / "secret").unlink()
    os.mkfifo(folder / "secret", 0o600)
    assert user_secret([]) is None


def test_one_that_lies_in_a_project_is_none(folder: Path, tmp_path: Path) -> None:
    assert user_secret([tmp_path]) is None
    user_secret([tmp_path / "project"])
    assert user_secret([tmp_path / "other", tmp_path]) is None
    (tmp_path / "link").symlink_to(tmp_path)
    assert user_secret([tmp_path / "link"]) is None


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the folder of Linux")
@pytest.mark.parametrize("named", ["", "relative/cache"])
def test_the_folder_of_the_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.setenv("HOME", str(tmp_path))
    user_secret([])
    assert (tmp_path / ".cache" / "torchrepro-lint" / "secret").is_file()


def test_where_there_can_be_none_nothing_is_kept_and_nothing_said(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").write_text("a file where the folder would be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main([str(project)]) == 1
    said = capsys.readouterr()
    assert "TRL203" in said.out
    assert said.err == ""
    assert not (project / FOLDER).exists()


def test_the_cache_of_another_user_is_not_read(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(project)])
    first = capsys.readouterr().out
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    monkeypatch.setattr("torchrepro_lint.cache.run.decoded", None)
    assert main([str(project)]) == 1
    assert capsys.readouterr().out == first
