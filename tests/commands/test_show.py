from __future__ import annotations

import sys
from pathlib import Path

import pytest

from torchrepro_lint.cli import main
from torchrepro_lint.commands.check import CheckOptions
from torchrepro_lint.commands.show import show_files, show_settings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_the_files(write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(
        write({"torchrepro-lint.toml": "extend-exclude = ['old']", "b.py": "", "a/c.py": "", "old/d.py": ""})
    )
    assert show_files(CheckOptions()) == 0
    assert capsys.readouterr().out == "a/c.py\nb.py\n"
    for arguments, shown in ((["--extend-exclude", "a,x"], "b.py\n"), (["--exclude", "b.py"], "a/c.py\n")):
        assert main(["--show-files", *arguments]) == 0
        assert capsys.readouterr().out == shown


def test_the_settings_can_be_read_back(write, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
        extend = "shared.toml"
        select = ["TRL1"]
        seed = 7
        [per-file-ignores]
        "tests/*.py" = ["TRL101"]
        """
    root = write({"torchrepro-lint.toml": text, "requirements.txt": "torch>=2.1\n", "a.py": "", "shared.toml": ""})
    assert show_settings(CheckOptions((root / "a.py",), {"profile": "strict"})) == 0
    out = capsys.readouterr().out
    read = tomllib.loads(out)
    assert (read["select"], read["seed"], read["profile"]) == (["TRL1"], 7, "strict")
    assert read["per-file-ignores"] == {"tests/*.py": ["TRL101"]}
    assert f"# settings file: {root}/torchrepro-lint.toml, which extends {root}/shared.toml\n" in out
    assert "# torch: >=2.1 (from requirements.txt)" in out
    assert "#   TRL101 numpy-rng-in-workers" in out
    assert "TRL201" not in out
    assert "#   TRL900 unreadable-file" in out  # whatever is selected
    assert "TRL901" not in out


def test_without_settings(write, capsys: pytest.CaptureFixture[str]) -> None:
    root: Path = write({".git/HEAD": "", "a.py": ""})
    show_settings(CheckOptions((root,)))
    out = capsys.readouterr().out
    assert "# settings file: none" in out
    assert "# torch: unknown, so all versions are considered" in out
    assert "#   TRL901 unused-suppression" in out
    show_settings(CheckOptions((root,), {"ignore": ("TRL900",)}))
    assert "TRL900" not in capsys.readouterr().out.partition("# rules")[2]
