from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes import WordRule, toolkit

from torchrepro_lint.commands.add_noqa import add_noqa
from torchrepro_lint.commands.check import CheckOptions
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import check

BAD = WordRule("TRL101", "wrong-word", "bad", "good")
RISKY = WordRule("TRL102", "risky-word", "risky")
KIT = toolkit(BAD, RISKY)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bad\n", "bad  # noqa: TRL101\n"),
        ("bad", "bad  # noqa: TRL101"),
        ("bad = risky; bad\n", "bad = risky; bad  # noqa: TRL101, TRL102\n"),
        ("bad  # noqa: E501\n", "bad  # noqa: E501, TRL101\n"),
        ("bad  # why\n", "bad  # why  # noqa: TRL101\n"),
        ("f(bad,\n  1)\n", "f(bad,  # noqa: TRL101\n  1)\n"),
        ("x = bad, '''a\nb'''\n", "x = bad, '''a\nb'''  # noqa: TRL101\n"),
        ("x = bad + \\\n  1\n", "x = bad + \\\n  1  # noqa: TRL101\n"),
        ("x = '''\nbad\n'''\n", "x = '''\nbad\n'''  # noqa: TRL101\n"),
        ("if bad:\n    risky\n", "if bad:  # noqa: TRL101\n    risky  # noqa: TRL102\n"),
    ],
)
def test_a_comment_goes_where_one_can_stand_and_silences(before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(("import torch\n" + before).encode())
    assert add_noqa(CheckOptions((path,)), toolkit=KIT) == 0
    assert path.read_bytes().decode() == "import torch\n" + after
    assert check([path], toolkit=KIT).findings == ()


def test_reason_line_endings_and_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfimport torch\r\nbad\r\n")
    assert add_noqa(CheckOptions((tmp_path,)), "seeded by the launcher", KIT) == 0
    assert path.read_bytes() == b"\xef\xbb\xbfimport torch\r\nbad  # noqa: TRL101 seeded by the launcher\r\n"
    assert capsys.readouterr().out == "Added 1 comment to 1 file.\n"
    assert add_noqa(CheckOptions((tmp_path,)), "", KIT) == 0
    assert capsys.readouterr().out == "No findings to suppress.\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write every file")
def test_a_file_that_cannot_be_written_keeps_no_other(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("import torch\nbad\n")
    (tmp_path / "a.py").chmod(0o444)
    assert add_noqa(CheckOptions((tmp_path,)), toolkit=KIT) == 2
    assert "noqa" in (tmp_path / "b.py").read_text()


def test_findings_in_a_file_that_cannot_be_written_are_not_called_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise TorchReproLintError(f"{path}: not written: Permission denied")

    monkeypatch.setattr("torchrepro_lint.commands.add_noqa.write_atomically", refuse)
    (tmp_path / "a.py").write_text("import torch\nbad\n")
    assert add_noqa(CheckOptions((tmp_path,)), toolkit=KIT) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "not written" in captured.err


def test_broken_files_and_idle_comments_get_none(tmp_path: Path) -> None:
    texts = {"a.py": "import torch\nbad = (\n", "b.py": "import torch\nx = 1  # noqa: TRL101\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    kit = toolkit(RISKY, WordRule("TRL101", "wrong-word", "nowhere"))
    assert add_noqa(CheckOptions((tmp_path,)), toolkit=kit) == 0
    assert {name: (tmp_path / name).read_text() for name in texts} == texts


SAVED = "import torch\n\n\ntext = '''\nbad\n'''\n"


class SavedMeanwhile(WordRule):
    """The rule; a person saves the file once its findings are made, before the comments are added."""

    def check(self, program):
        found = list(super().check(program))
        for path in {finding.location.path for finding in found}:
            path.write_text(SAVED)
        return iter(found)


def test_a_file_that_was_saved_meanwhile_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\nbad\n")
    kit = toolkit(SavedMeanwhile("TRL101", "wrong-word", "bad", "good"))
    assert add_noqa(CheckOptions(paths=[path], override={}), toolkit=kit) == 2
    assert path.read_text() == SAVED
    assert "the file has changed since it was read" in capsys.readouterr().err


def test_nothing_is_written_through_a_link_that_leads_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside, project = tmp_path / "outside.py", tmp_path / "project"
    outside.write_text("import torch\nbad\n")
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    (project / "a.py").symlink_to(outside)
    assert add_noqa(CheckOptions((project,)), toolkit=KIT) == 2
    assert outside.read_text() == "import torch\nbad\n"
    assert "a.py: not written: a link leads out of the project, to " in capsys.readouterr().err
    assert add_noqa(CheckOptions((project,), through_links=True), toolkit=KIT) == 0
    assert outside.read_text() == "import torch\nbad  # noqa: TRL101\n"
