"""`--scratch`: each run writes into a folder of its own, and the user's stays as it was."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
from verify_runs import line_of, script

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.verify import cli
from torchrepro_lint.verify.script.entries import Header
from torchrepro_lint.verify.script.launch import Launcher
from torchrepro_lint.verify.script.scratch import Scratch

WRITES = """
    import os
    import random
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    assert not os.path.exists("new.txt")
    with open("old.txt") as file:
        assert file.read() == "old"
    with open(os.path.join(here, "old.txt"), "w") as file:
        file.write("another")
    os.makedirs("runs/1")
    with open(sys.argv[1], "w") as file:
        file.write("new")
    os.remove("gone.txt")
    print(random.random())
    """


@pytest.fixture(params=["view", "copy"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    (tmp_path / "home").mkdir()
    (tmp_path / "of").mkdir()
    if request.param == "copy":
        monkeypatch.setattr(Scratch, "_view_works", lambda self: False)
    elif not Scratch(str(tmp_path / "of"), tmp_path / "home").are_views:
        pytest.skip("no overlay file system for us here")
    return str(request.param)


@pytest.mark.verify
@pytest.mark.usefixtures("kind")
def test_the_folder_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    folder = tmp_path / "project, of: mine"
    path = script(folder, WRITES)
    for name in ("old.txt", "gone.txt"):
        (folder / name).write_text("old")
    (folder / "records").mkdir()
    monkeypatch.chdir(folder)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        options = ["--scratch", "--output-format", "json", "--save", "records", str(path)]
        status = cli.main([*options, "--", str(folder / "runs/1/new.txt")])
    (found,) = json.loads(printed.getvalue())
    assert (status, found["cause"]["why"]) == (1, "unseeded"), found
    place = found["cause"]["first"]["place"]
    assert (place["filename"], place["row"]) == (str(path), line_of(path, "random.random"))
    assert "the script wrote old.txt, runs/1/new.txt, in a scratch folder that is gone now" in found["notes"]
    assert found["command"] == [str(path), str(folder / "runs/1/new.txt")]
    assert sorted(one.name for one in folder.iterdir()) == ["gone.txt", "old.txt", "records", "train.py"]
    assert (folder / "old.txt").read_text() == "old"
    for name in ("run-1.jsonl", "run-2-full-1.jsonl"):
        assert str(path) in (folder / "records" / name).read_text().splitlines()[0]


def test_each_folder_begins_as_the_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scratch, "_view_works", lambda self: False)
    (tmp_path / "of").mkdir()
    (tmp_path / "of" / "a").write_text("a")
    (tmp_path / "home").mkdir()
    scratch = Scratch(str(tmp_path / "of"), tmp_path / "home")
    first = scratch.new()
    Path(first.cwd, "a").write_text("b")
    assert Path(scratch.new().cwd, "a").read_text() == "a"
    first.remove()
    assert not Path(first.cwd).exists()


def test_a_copy_that_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scratch, "_view_works", lambda self: False)
    monkeypatch.setattr("torchrepro_lint.verify.script.scratch._SPARE", 1 << 62)
    (tmp_path / "home").mkdir()
    with pytest.raises(TorchReproLintError, match="no copy-on-write view, and a copy of"):
        Scratch(str(tmp_path), tmp_path / "home")


@pytest.mark.verify
def test_a_folder_can_hold_other_files(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in for the user's own file is what runs, under its name, and is not among what the script wrote."""
    pytest.importorskip("torch")
    folder = tmp_path / "project"
    path = script(folder, "from package import part")
    script(folder, "raise ValueError", "package/part.py").chmod(0o640)
    monkeypatch.chdir(folder)
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "home").mkdir()
    scratch = Scratch(str(folder), tmp_path / "records" / "home").holding(
        {"package/part.py": b'import os\nprint("other", __file__)\n'}
    )
    assert scratch.are_views == (kind == "view")
    made = scratch.new()
    ran = Launcher(tmp_path / "records", 60).run(Header((str(path),), str(folder)), "run.jsonl", scratch=made)
    assert (ran.trouble, dict(ran.wrote)) == (None, {}), ran.output
    assert ran.output == f"other {made.cwd}/package/part.py\n"
    assert (Path(made.upper) / "package/part.py").stat().st_mode & 0o777 == 0o640
    made.remove()
    assert (folder / "package/part.py").read_text() == "raise ValueError"
