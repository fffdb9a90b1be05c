"""What a run leaves in its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchrepro_lint.verify.script import leftovers
from torchrepro_lint.verify.script.leftovers import written_since

OURS = Path("/nowhere")


def write(path: Path, moment: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    os.utime(path, (moment, moment))


def test_what_was_written_since(tmp_path: Path) -> None:
    for name in ("old.pt", "new.pt", "runs/1/log.txt", ".git/index", "__pycache__/train.pyc"):
        write(tmp_path / name, 50 if name == "old.pt" else 150)
    (tmp_path / "loop").symlink_to(tmp_path)
    assert written_since(str(tmp_path), 100, OURS) == ("new.pt", "runs/1/log.txt")
    assert written_since(str(tmp_path), 100, tmp_path / "runs") == ("new.pt",)
    assert written_since(str(tmp_path / "none"), 100, OURS) == ()


def test_a_large_folder_is_looked_at_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        write(tmp_path / str(number), 150)
    assert len(written_since(str(tmp_path), 100, OURS)) == 5
    monkeypatch.setattr(leftovers, "_MOST", 3)
    assert len(written_since(str(tmp_path), 100, OURS)) == 3
