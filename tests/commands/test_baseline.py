from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import WordRule, toolkit

from torchrepro_lint.commands.check import CheckOptions, run_check
from torchrepro_lint.commands.write_baseline import write_baseline
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import check
from torchrepro_lint.settings import DEFAULT_BASELINE

BAD = WordRule("TRL101", "wrong-word", "bad", "good")
RISKY = WordRule("TRL102", "risky-word", "risky")
KIT = toolkit(BAD, RISKY)
TEXT = "import torch\n\n\ndef f():\n    bad\n\n\nclass C:\n    def g(self):\n        bad = risky\n"


@pytest.fixture
def project(write, monkeypatch: pytest.MonkeyPatch) -> Path:
    root: Path = write({"torchrepro-lint.toml": "", "a.py": TEXT, "sub/b.py": "import torch\nbad\n"})
    monkeypatch.chdir(root)
    return root


def options(*paths: str, **other) -> CheckOptions:
    return CheckOptions(tuple(map(Path, paths)) or (Path(),), {"baseline": Path.cwd() / "known.json"}, **other)


def found(*paths: str) -> list[tuple[str, int]]:
    report = check(options(*paths).paths, options().override, toolkit=KIT)
    return [(one.code, one.location.start.row) for one in report.findings]


def test_what_is_recorded_is_not_reported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write_baseline(options(), KIT) == 0
    assert capsys.readouterr().out == "Recorded 4 findings in known.json.\n"
    assert run_check(options(), KIT) == 0
    assert capsys.readouterr().out == "All checks passed! 4 known findings of the baseline not shown.\n"
    entries = json.loads((project / "known.json").read_text())["findings"]
    assert [(one["file"], one["rule"], one["context"]) for one in entries] == [
        ("a.py", "TRL101", "C.g: bad = risky"),
        ("a.py", "TRL101", "f: bad"),
        ("a.py", "TRL102", "C.g: bad = risky"),
        ("sub/b.py", "TRL101", "bad"),
    ]


def test_lines_may_move_and_new_findings_are_reported(project: Path) -> None:
    write_baseline(options(quiet=True), KIT)
    (project / "a.py").write_text("import os\n# a note\n" + TEXT)
    assert found() == []
    (project / "a.py").write_text(TEXT.replace("    bad\n", "    bad\n    bad\n"))
    assert found() == [("TRL101", 6)]
    (project / "a.py").write_text(TEXT + "bad\n")
    assert found() == [("TRL101", 11)]


def test_what_was_mended_is_told_and_dropped(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_baseline(options(), KIT)
    (project / "a.py").write_text(TEXT.replace("    bad\n", "    good\n"))
    capsys.readouterr()
    run_check(options(), KIT)
    assert capsys.readouterr().err == (
        "note: 1 record of the baseline matches no finding any more; --write-baseline drops them\n"
    )
    run_check(options("sub"), KIT)
    assert capsys.readouterr().err == ""
    write_baseline(options("a.py"), KIT)
    assert len(json.loads((project / "known.json").read_text())["findings"]) == 3
    (project / "sub" / "b.py").unlink()
    write_baseline(options("a.py"), KIT)
    assert len(json.loads((project / "known.json").read_text())["findings"]) == 2


def test_what_a_run_does_not_look_for_is_neither_stale_nor_dropped(project: Path, capsys) -> None:
    write_baseline(options(), KIT)
    one_rule = CheckOptions((Path(),), {**options().override, "select": ("TRL102",)})
    capsys.readouterr()
    assert run_check(one_rule, KIT) == 0
    assert capsys.readouterr().err == ""
    write_baseline(one_rule, KIT)
    assert len(json.loads((project / "known.json").read_text())["findings"]) == 4
    records = (project / "known.json").read_text()
    (project / "known.json").write_text(records.replace("TRL102", "TRL499"))
    run_check(one_rule, KIT)
    assert "1 record of the baseline matches no finding any more" in capsys.readouterr().err


def test_a_fix_leaves_what_is_known(project: Path) -> None:
    write_baseline(options(), KIT)
    assert run_check(options(fix=True), KIT) == 0
    assert (project / "a.py").read_text() == TEXT


def test_one_that_is_not_there_is_said_before_anything_is_looked_at(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchrepro_lint.engine._report", lambda *_, **__: pytest.fail("the project was looked at"))
    with pytest.raises(TorchReproLintError, match=r"gone\.json: no such baseline"):
        check([project], {"baseline": project / "gone.json"}, toolkit=KIT)


def test_the_settings_may_name_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "torchrepro-lint.toml").write_text('baseline = "kept/known.json"\n')
    (project / "kept").mkdir()
    with pytest.raises(TorchReproLintError, match=r"known.json: no such baseline; create one with --write-baseline"):
        check([project], toolkit=KIT)
    assert write_baseline(CheckOptions(), KIT) == 0
    assert check([project], toolkit=KIT).findings == ()
    assert {one["file"] for one in json.loads((project / "kept/known.json").read_text())["findings"]} == {
        "../a.py", "../sub/b.py"  # so that it holds in another checkout
    }  # fmt: skip


def test_without_a_name_it_lies_in_the_current_folder(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_baseline(CheckOptions(), KIT)
    assert (project / DEFAULT_BASELINE).is_file()
    assert f"To use it, pass `--baseline {DEFAULT_BASELINE}`" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1}', '{"version": 1, "findings": [1]}', "\xff"])
def test_a_foreign_file_is_neither_read_nor_overwritten(project: Path, text: str) -> None:
    (project / "known.json").write_text(text, encoding="latin-1")
    with pytest.raises(TorchReproLintError, match="not a torchrepro-lint baseline"):
        found()
    with pytest.raises(TorchReproLintError, match="not a torchrepro-lint baseline"):
        write_baseline(options(), KIT)
    assert (project / "known.json").read_text(encoding="latin-1") == text


def test_a_baseline_of_a_later_version(project: Path) -> None:
    (project / "known.json").write_text('{"version": 2, "findings": []}')
    with pytest.raises(TorchReproLintError, match="a baseline of version 2"):
        found()


@pytest.mark.parametrize("name", ["../known.json", "/tmp/known.json", "link/known.json", "loop", "a\\u0000"])
def test_settings_name_no_baseline_outside_of_the_project(
    project: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    (project / "link").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    (project / "loop").symlink_to("loop")
    (project / "torchrepro-lint.toml").write_text(f'baseline = "{name}"\n')
    with pytest.raises(
        TorchReproLintError, match=r"torchrepro-lint\.toml: baseline: .*(outside the project|not a path)"
    ):
        write_baseline(CheckOptions(), KIT)


def test_in_a_repository_the_settings_of_one_project_may_name_the_baseline_of_all(project: Path) -> None:
    (project / ".git").mkdir()
    (project / "sub" / "torchrepro-lint.toml").write_text('baseline = "../known.json"\n')
    assert write_baseline(CheckOptions((Path("sub"),), quiet=True), KIT) == 0
    assert (project / "known.json").is_file()


@pytest.mark.parametrize(
    "entry",
    ['{"version": 1, "findings": ' + "[" * 100_000, '{"version": 1, "findings": [{"count": 1}]}',
     '{"version": 1, "findings": [{"file": "a", "rule": "b", "context": "c", "count": 1e999}]}'],
)  # fmt: skip
def test_a_baseline_with_anything_in_it_is_said_to_be_none(project: Path, entry: str) -> None:
    (project / "known.json").write_text(entry)
    with pytest.raises(TorchReproLintError, match=r"known\.json: not a torchrepro-lint baseline"):
        run_check(options(), KIT)
