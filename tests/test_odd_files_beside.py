"""Files of a repository that are not Python, as somebody who means harm writes them: each costs one line, and no run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from torchrepro_lint.cli import main
from torchrepro_lint.engine import check
from torchrepro_lint.regular_files import NotRegular, collected_notices, read_if_there, read_regular

TRAIN = "import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n"
BROKEN_NUMBER = "9" * 5_000


def deep(opening: str, closing: str) -> str:
    return opening * 100_000 + closing * 100_000


def linked(name: str, target: str) -> Callable[[Path], None]:
    return lambda root: (root / name).symlink_to(target)


def pipe(name: str) -> Callable[[Path], None]:
    return lambda root: os.mkfifo(root / name)


def holding(name: str, text: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    return write


def including(root: Path) -> None:
    """Twenty-five files, each of which includes the next one twice: 2 ** 25 ways through them."""
    for number in range(25):
        (root / f"q{number}.txt").write_text(f"-r q{number + 1}.txt\n-r ./q{number + 1}.txt\n")
    (root / "q25.txt").write_text("torch==1.8\n")
    (root / "requirements.txt").write_text("-r q0.txt\n")


def chained(root: Path) -> None:
    for number in range(1_500):
        (root / f"q{number}.txt").write_text(f"-r q{number + 1}.txt\n")
    (root / "requirements.txt").write_text("-r q0.txt\n")


def index_of_one_number(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "index").write_bytes(b"DIRC" + bytes(3) + b"\x04" + b"\xff" * 4 + b"\x80" * 1_000_000)
    (root / ".gitignore").write_text("*.pyc\n")


#: What is put there, and the file that is named for it; None where there is nothing to say.
CASES: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "patterns that are a link to a device": (linked(".gitignore", "/dev/zero"), ".gitignore"),
    "patterns that are a pipe": (pipe(".gitignore"), ".gitignore"),
    "patterns that are a link to themselves": (linked(".gitignore", ".gitignore"), ".gitignore"),
    "settings that are a link to a device": (linked("torchrepro-lint.toml", "/dev/zero"), "torchrepro-lint.toml"),
    "a lock file that is a pipe": (pipe("uv.lock"), "uv.lock"),
    "requirements that are a link to a device": (linked("requirements.txt", "/dev/zero"), "requirements.txt"),
    "a script that is a pipe": (pipe("run.sh"), None),
    "metadata that is nested deeply": (holding("pyproject.toml", f"[project]\nx={deep('[', ']')}"), "pyproject.toml"),
    "metadata with a number of 5,000 digits": (holding("pyproject.toml", f"[project]\nx = {BROKEN_NUMBER}\n"), None),
    "a lock file that is nested deeply": (holding("Pipfile.lock", '{"default":' * 50_000), "Pipfile.lock"),
    "requirements that include each other": (including, None),
    "requirements in a long chain": (chained, None),
    "a number without an end in git's index": (index_of_one_number, None),
    "a pattern that backtracks": (holding(".gitignore", "*a" * 60 + "b\n"), None),
    "a folder in place of a file": (holding("requirements.txt/a.txt", "torch\n"), None),
    "a notebook with a number of 5,000 digits": (
        holding("n.ipynb", f'{{"nbformat": 4, "metadata": {{"torch": {BROKEN_NUMBER}}}, "cells": []}}'), None,
    ),
    "a name with a null character for Hydra": (
        holding(
            "b.py",
            'import hydra\nimport torch\n@hydra.main(config_path="a\\0b", config_name="c")\ndef main(cfg):\n'
            "    torch.manual_seed(cfg.seed)\n    torch.backends.cudnn.benchmark = True\nmain()\n",
        ),
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_the_run_goes_on(tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    put, named = CASES[case]
    (tmp_path / "setup.cfg").write_text("")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / ("a" * 200)).mkdir()
    (tmp_path / ("a" * 200) / "train.py").write_text("import torch\n")
    put(tmp_path)
    start = time.process_time()
    assert main([str(tmp_path), "--no-cache", "-j1", "--output-format", "json", "--exit-zero"]) == 0
    assert time.process_time() - start < 20
    said = capsys.readouterr()
    assert "TRL203" in {one["code"] for one in json.loads(said.out)}
    warnings = [line for line in said.err.splitlines() if line.startswith("warning: ")]
    assert [line for line in warnings if named is None or f"/{named}: not read: " not in line] == []
    assert bool(warnings) == (named is not None)


SETTINGS = {
    'extend = "/dev/zero"': "not a regular file",
    'extend = "~nobody-of-that-name/a"': "names no file",
    'extend = "loop"': "names no file",
    'extend = "a\\u0000"': "names no file",
    'baseline = "a\\u0000"': "not a path of a file",
    'src = ["a\\u0000"]': "not a path of a folder",
    f"seed = {BROKEN_NUMBER}": "not valid TOML",
    f"seed = {deep('[', ']')}": "nested too deeply",
}


@pytest.mark.parametrize("setting", SETTINGS, ids=SETTINGS.values())
def test_settings_that_cannot_be_read_are_said_in_one_line(
    tmp_path: Path, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "torchrepro-lint.toml").write_text(setting)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "train.py").write_text(TRAIN)
    assert main([str(tmp_path), "--no-cache"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "torchrepro-lint.toml" in line
    assert SETTINGS[setting] in line


def test_a_long_chain_of_settings_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(300):
        (tmp_path / f"s{number}.toml").write_text(f'extend = "s{number + 1}.toml"\n')
    (tmp_path / "torchrepro-lint.toml").write_text('extend = "s0.toml"\n')
    (tmp_path / "train.py").write_text(TRAIN)
    assert main([str(tmp_path), "--no-cache"]) == 2
    assert "files extend each other" in capsys.readouterr().err


def test_what_is_read_and_what_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_regular(tmp_path / "a", 5) == b"12345"
    with pytest.raises(NotRegular, match="larger than 4 bytes"):
        read_regular(tmp_path / "a", 4)
    os.mkfifo(tmp_path / "pipe")
    with collected_notices() as notices:
        assert read_if_there(tmp_path / "none") == read_if_there(tmp_path) == read_if_there(tmp_path / "a" / "b") == b""
        assert read_if_there(tmp_path / "pipe") == read_if_there(Path("a\0b")) == b""
    assert notices == {
        tmp_path / "pipe": "not read: not a regular file",
        Path("a\0b"): "not read: not a name of a file",
    }


def test_a_device_in_place_of_a_file_of_the_project_is_said_in_every_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / ".gitignore").symlink_to("/dev/zero")
    assert [check([tmp_path]).notices for _ in range(2)] == 2 * [
        ((tmp_path / ".gitignore", "not read: not a regular file"),)
    ]
