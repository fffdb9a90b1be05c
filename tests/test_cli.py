from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import BrokenRule, FakeProgram, WordRule, toolkit

from torchrepro_lint import __version__
from torchrepro_lint.arguments import check_parser, settings_override
from torchrepro_lint.cli import main
from torchrepro_lint.commands.check import CheckOptions, run_check
from torchrepro_lint.commands.explain import explain
from torchrepro_lint.commands.rule import rule
from torchrepro_lint.commands.write_baseline import write_baseline
from torchrepro_lint.diagnostics import (
    Applicability,
    Finding,
    Location,
    Position,
    Severity,
    TorchReproLintError,
    TraceStep,
)

PROJECT = Path(__file__).resolve().parents[1]
BAD = WordRule("TRL101", "bad-word", "bad", "good")
RISKY = WordRule("TRL102", "risky-word", "risky", "fine", Applicability.UNSAFE)
STRICT = WordRule("TRL403", "strict-word", "strict", profile="strict")
MILD = WordRule("TRL102", "risky-word", "risky", "fine", Applicability.UNSAFE, severity=Severity.WARNING)
KIT = toolkit(BAD, RISKY, STRICT)


@pytest.fixture
def project(write, monkeypatch: pytest.MonkeyPatch) -> Path:
    root: Path = write({"pyproject.toml": "", "a.py": "import torch\nbad = risky\n", "clean.py": "import torch\n"})
    monkeypatch.chdir(root)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return root


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(
        [sys.executable, "-m", "torchrepro_lint", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        **options,  # type: ignore[call-overload]
    )


def test_what_is_printed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check(CheckOptions(output_format="concise"), KIT) == 1
    assert capsys.readouterr().out == (
        "a.py:2:1: TRL101 [*] found bad\n"
        "a.py:2:7: TRL102 found risky\n"
        "Found 2 errors.\n"
        "[*] 1 fixable with --fix (1 more with --unsafe-fixes).\n"
    )
    assert run_check(CheckOptions(override={"unsafe_fixes": True}, output_format="concise"), KIT) == 1
    assert "a.py:2:7: TRL102 [*] found risky\n" in capsys.readouterr().out
    assert run_check(CheckOptions((Path("clean.py"),)), KIT) == 0
    assert capsys.readouterr().out == "All checks passed!\n"


def test_full_output_and_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_check(CheckOptions(), KIT)
    out = capsys.readouterr().out
    assert "2 | bad = risky\n  | ^^^\n" in out
    assert "  because:\n    a.py:2:1: the word stands here\n      | bad = risky\n" in out
    assert run_check(CheckOptions(output_format="json"), KIT) == 1
    assert [one["code"] for one in json.loads(capsys.readouterr().out)] == ["TRL101", "TRL102"]


def test_sarif_describes_the_rules_about_files_and_comments_too(project: Path, capsys) -> None:
    (project / "a.py").write_text("import torch\nx = (\n")
    run_check(CheckOptions(output_format="sarif"), KIT)
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "TRL900"


def test_quiet_statistics_and_exit_zero(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check(CheckOptions(quiet=True, output_format="concise", exit_zero=True), KIT) == 0
    assert capsys.readouterr().out == "a.py:2:1: TRL101 [*] found bad\na.py:2:7: TRL102 found risky\n"
    run_check(CheckOptions(statistics=True, quiet=True), KIT)
    assert capsys.readouterr().out == "1\tTRL101\t[*]\tbad-word\n1\tTRL102\t[ ]\trisky-word\n"
    run_check(CheckOptions(statistics=True, output_format="json"), KIT)
    assert json.loads(capsys.readouterr().out) == [
        {"code": "TRL101", "name": "bad-word", "count": 1, "fixable": True, "fixable_count": 1},
        {"code": "TRL102", "name": "risky-word", "count": 1, "fixable": False, "fixable_count": 0},
    ]


def test_fix(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check(CheckOptions(fix=True, output_format="concise"), KIT) == 1
    captured = capsys.readouterr()
    assert captured.out == (
        "a.py:2:8: TRL102 found risky\n"
        "Found 2 errors (1 fixed, 1 remaining).\n"
        "No safe fixes (1 fixable with --fix --unsafe-fixes).\n"
    )
    assert run_check(CheckOptions(fix=True, override={"unsafe_fixes": True}), KIT) == 0
    assert capsys.readouterr().out == "Found 1 error (1 fixed, 0 remaining).\n"
    assert (project / "a.py").read_text() == "import torch\ngood = fine\n"
    assert run_check(CheckOptions(fix=True), KIT) == 0
    assert capsys.readouterr().out == "All checks passed!\n"


def test_a_dropped_fix_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kit = toolkit(WordRule("TRL101", "bad-word", "bad", "("))
    assert run_check(CheckOptions(fix=True), kit) == 1
    captured = capsys.readouterr()
    assert "a.py:2:1: TRL101 found bad\n" in captured.out
    assert "\n  fix declined: the result does not parse" in captured.out
    assert captured.out.endswith("Found 1 error.\n")
    assert captured.err == ""
    run_check(CheckOptions(fix=True, output_format="concise"), kit)
    assert capsys.readouterr().err.startswith("a.py:2:1: TRL101 fix declined: the result does not parse")
    run_check(CheckOptions(fix=True, output_format="json"), kit)
    (one,) = json.loads(capsys.readouterr().out)
    assert one["fix"] is None
    assert one["fix_declined"].startswith("the result does not parse")


def test_diff(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check(CheckOptions((Path("a.py"),), diff=True), KIT) == 1
    captured = capsys.readouterr()
    assert captured.out == "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n import torch\n-bad = risky\n+good = risky\n"
    assert captured.err == "Would fix 1 error (1 remaining, 1 fixable with --unsafe-fixes).\n"
    assert (project / "a.py").read_text() == "import torch\nbad = risky\n"
    assert run_check(CheckOptions((Path("clean.py"),), diff=True), KIT) == 0
    run_check(CheckOptions((Path("a.py"),), diff=True, colour="always"), KIT)
    assert "\x1b[32m+good = risky\x1b[0m\n" in capsys.readouterr().out


def test_fix_only(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check(CheckOptions((Path("a.py"),), diff=True, fix_only=True), KIT) == 1
    assert (project / "a.py").read_text() == "import torch\nbad = risky\n"
    capsys.readouterr()
    assert run_check(CheckOptions(fix_only=True), KIT) == 0
    assert (project / "a.py").read_text() == "import torch\ngood = risky\n"
    captured = capsys.readouterr()
    assert captured.out == "Fixed 1 error (1 remaining, 1 fixable with --unsafe-fixes).\n"
    assert captured.err == ""
    assert run_check(CheckOptions((Path("a.py"),), diff=True, fix_only=True), KIT) == 0
    assert run_check(CheckOptions(fix_only=True, quiet=True), KIT) == 0
    assert capsys.readouterr().out == ""


def test_show_fixes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "b.py").write_text("import torch\nbad = bad + risky\n")
    unsafe = CheckOptions(fix=True, show_fixes=True, override={"unsafe_fixes": True})
    listed = "- a.py:\n    1 x TRL101 (bad-word)\n    1 x TRL102 (risky-word)\n"
    listed += "- b.py:\n    2 x TRL101 (bad-word)\n    1 x TRL102 (risky-word)\n\n"
    run_check(CheckOptions(diff=True, show_fixes=True, override={"unsafe_fixes": True}), KIT)
    assert capsys.readouterr().err == f"Would fix 5 errors:\n{listed}Would fix 5 errors.\n"
    assert run_check(unsafe, KIT) == 0
    assert capsys.readouterr().out == f"Fixed 5 errors:\n{listed}Found 5 errors (5 fixed, 0 remaining).\n"
    run_check(unsafe, KIT)
    assert capsys.readouterr().out == "All checks passed!\n"


@pytest.mark.parametrize("fix_only", [False, True])
def test_exit_non_zero_on_fix(project: Path, fix_only: bool) -> None:
    options = CheckOptions(fix=True, fix_only=fix_only, exit_non_zero_on_fix=True, override={"unsafe_fixes": True})
    assert run_check(options, KIT) == 1
    assert run_check(options, KIT) == 0
    (project / "a.py").write_text("import torch\nbad\n")
    assert run_check(replace(options, exit_zero=True), KIT) == 0
    assert (project / "a.py").read_text() == "import torch\ngood\n"


def test_a_diff_can_be_applied(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.py").write_bytes(b"import torch\r\nx = 1\r\nbad\r\ny = 1\r\nz = bad")
    run_check(CheckOptions((Path("a.py"),), diff=True), KIT)
    patch = capsys.readouterr().out
    subprocess.run(["git", "apply", "-p0", "-"], input=patch.encode(), check=True, cwd=project)
    assert (project / "a.py").read_bytes() == b"import torch\r\nx = 1\r\ngood\r\ny = 1\r\nz = good"


def test_an_internal_error_is_said_beside_the_findings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kit = toolkit(BAD, BrokenRule("TRL102", "broken", "risky"))
    assert run_check(CheckOptions(output_format="concise", exit_zero=True), kit) == 2
    captured = capsys.readouterr()
    assert "a.py:2:1: TRL101 [*] found bad\n" in captured.out
    assert captured.err.startswith("torchrepro-lint: internal error: TRL102 broken in ")
    assert captured.err.count("\n") == 1
    assert run_check(CheckOptions((Path("clean.py"),)), toolkit(BrokenRule("TRL102", "broken", "import"))) == 2
    assert "passed" not in capsys.readouterr().out


def test_folders_without_python_files(write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"d/x.txt": ""})
    assert run_check(CheckOptions((root / "d",)), KIT) == 0
    captured = capsys.readouterr()
    assert captured.err == "warning: no Python files or notebooks under the given paths\n"
    assert captured.out == ""


def test_a_folder_that_cannot_be_read_is_named_in_every_run(project: Path, capsys, monkeypatch) -> None:
    (project / "a.py").write_text("import torch\ntorch.manual_seed(0)\n")
    (project / "closed").mkdir()
    (project / "excluded").mkdir()
    scandir = os.scandir

    def refuse(path: object) -> object:
        if Path(str(path)).name in ("closed", "excluded"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", refuse)
    said = "warning: closed: this folder cannot be read: Permission denied\n"
    without = ["--extend-exclude", "excluded"]
    for _ in range(2):  # the second run finds its answer in the cache
        assert main([*without, "."]) == 0
        assert capsys.readouterr().err == said
        assert (project / ".torchrepro-lint-cache").is_dir()
    assert main([*without, "--show-files", "."]) == 0
    assert capsys.readouterr().err == said
    for arguments in ([*without, "-q", "."], [*without, "a.py"], [*without, "--show-files", "-q", "."]):
        assert main(arguments) == 0
        assert capsys.readouterr().err == ""


def test_names_relative_to_the_current_folder(project: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    run_check(CheckOptions((Path(".."),), output_format="concise"), KIT)
    assert capsys.readouterr().out.startswith(f"{project}/a.py:2:1: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--selct", "TRL1"], 'unrecognized arguments: --selct; did you mean "--select"?'),
        (["--format", "json"], 'unrecognized arguments: --format; did you mean "--output-format"?'),
        (["--ignores", "TRL1"], 'unrecognized arguments: --ignores; did you mean "--ignore"?'),
        (["--extend"], "unrecognized arguments: --extend\n"),
        (["verfy", "x"], 'verfy: no such file or folder; did you mean the command "verify"?'),
        (["a.py", "-q", "-"], "check standard input, and cannot be combined with other paths"),
        (["a.py", "-q", "clea.py"], 'clea.py: no such file or folder; did you mean "clean.py"?'),
        (["a.py", "-q", ""], "argument PATH: the path is empty"),
        (["a.py", "-q", "b.py", "--selct"], 'unrecognized arguments: --selct; did you mean "--select"?'),
        (["clea.py"], 'clea.py: no such file or folder; did you mean "clean.py"?'),
        (["--per-file-ignores", "TRL1"], '"TRL1" is not of the form PATTERN:RULE,...'),
        (["--per-file-ignores", "a.py:"], '"a.py:" is not of the form PATTERN:RULE,...'),
        (["--profile", "stric"], 'did you mean "strict"?'),
        (["--output-format", "jsn"], 'did you mean "json"?'),
        (["--jobs", "x"], 'argument --jobs/-j: "x" is not a whole number of 1 or more'),
        (["--jobs", "0"], '"0" is not a whole number of 1 or more'),
        (["--select", ""], "argument --select: expected at least one rule"),
        (["--fixable", ","], "argument --fixable: expected at least one rule"),
        (["check", "src/"], "checking needs no command: torchrepro-lint src\n"),
        (["chek"], "checking needs no command: torchrepro-lint .\n"),
        (["--select", "TRL1", "TRL301"], "TRL301: no such file or folder; separate several rules with commas"),
        (["help"], "help: no such file or folder; did you mean --help?"),
        (["--add-noqa=one\ntwo", "a.py"], "argument --add-noqa: the reason must be a single line"),
        (
            ["--exclude", "x,[z-a]"],
            '--exclude: "[z-a]" is not a valid .gitignore pattern: bad character range',
        ),
        (["--per-file-ignores", "[z-a]:TRL1"], '--per-file-ignores: "[z-a]" is not a valid .gitignore pattern'),
        (["--add-noqa", "--fix"], "--add-noqa and --fix cannot be used together"),
        (["--write-baseline", "--diff"], "--write-baseline and --diff cannot be used together"),
        (["--show-files", "--add-noqa=x"], "--show-files and --add-noqa cannot be used together"),
        (["--watch", "-"], "--watch and - cannot be used together"),
        (["--statistics", "--diff"], "--diff and --statistics cannot be used together"),
        (
            ["--write-baseline", "--stdin-filename", "a.py"],
            "--write-baseline and --stdin-filename cannot be used together",
        ),
        (["--statistics", "--output-format", "sarif"], "--statistics is printed as text or json, not as sarif"),
        (["--stdin-filename", "b.py", "a.py"], "check standard input, and cannot be combined with other paths"),
        (["-", "."], "check standard input, and cannot be combined with other paths"),
        ([""], "argument PATH: the path is empty; write . for the current folder"),
        (["a.py", ""], "argument PATH: the path is empty"),
        (["--config", "", "a.py"], "argument --config: the name of the file is empty"),
        (["--baseline="], "argument --baseline: the name of the file is empty"),
        (["report", "--output", ""], "argument --output/-o: the name of the file is empty"),
        (["report", ""], "argument PATH: the path is empty"),
        (["clean", "--cache-dir", ""], "argument --cache-dir: the path is empty"),
        (["verify", ""], "argument PATH: the path is empty"),
        (["--cache-dir", "a.py"], "a.py: not a folder; --cache-dir expects the folder for cached results"),
        (["x" * 300], "cannot be read: File name too long"),
        (["explain", "x" * 300 + ":1"], "cannot be read: File name too long"),
        (["--baseline", "x" * 300, "--write-baseline"], "cannot be read: File name too long"),
        (["clean", "--cache-dir", "x" * 300], "xxx: File name too long"),
        (["verify", "x" * 300 + ".py"], "xxx.py: File name too long"),
        (["nothing.py"], "nothing.py: no such file or folder"),
        (["no\nthing.py"], r"no\nthing.py: no such file or folder"),
        (["--select", "TRL99"], 'unknown rule "TRL99"'),
        (["--target-torch", "new"], "--target-torch"),
        (["rule", "numpy-rng-in-wokers"], 'did you mean "numpy-rng-in-workers"?'),
        (["rule", "--al"], 'did you mean "--all"?'),
        (["rule", "--output-format", "jsn"], 'did you mean "json"?'),
        (["completion", "zhs"], 'did you mean "zsh"?'),
        (["verify", "--perturbb", "x"], 'did you mean "--perturb"?'),
        (["--bogus"], "unrecognized arguments: --bogus\n"),
        (["--nope"], "unrecognized arguments: --nope\n"),
        (["verify", "--ops", "--runs", "x"], 'argument --runs: "x" is not a whole number of 2 or more'),
        (["verify", "--ops", "--timeout", "x"], 'argument --timeout: "x" is not a number of seconds greater than 0'),
        (["explain", "a.py"], '"a.py" is not FILE:LINE'),
        (["explain", "clea.py:1"], 'clea.py: no such file or folder; did you mean "clean.py"?'),
        (["clean", "clea.py"], 'clea.py: no such file or folder; did you mean "clean.py"?'),
        (["--show-settings", "clea.py"], 'clea.py: no such file or folder; did you mean "clean.py"?'),
        (["explain", "no.py:1"], "no.py: no such file or folder"),
        (["explain", ".:1"], ".: not a file"),
        (["explain", "a.py:9"], "error: a.py has 2 lines"),
    ],
)
def test_wrong_usage_is_one_message_and_exit_2(project: Path, capsys, arguments: list[str], message: str) -> None:
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = stop.code  # type: ignore[assignment]
    captured = capsys.readouterr()
    assert status == 2
    assert message in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.py", b"import torch\nx = 'caf\xe9'\n", "not utf-8: invalid continuation byte"),
        ("x.ipynb", b'{"cells": "torch', "not valid JSON: Unterminated string"),
    ],
)
def test_an_unreadable_file_is_not_explained(project: Path, capsys, name: str, data: bytes, message: str) -> None:
    (project / name).write_bytes(data)
    assert main(["explain", f"{name}:1"]) == 2
    assert capsys.readouterr().err == f"torchrepro-lint: error: {name}: cannot be read: {message}\n"


def test_wrong_settings_are_one_message_and_exit_2(write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"pyproject.toml": "[tool.torchrepro-lint]\nprofil = 1\n", "a.py": ""})
    assert main([str(root)]) == 2
    error = capsys.readouterr().err
    assert error.endswith('tool.torchrepro-lint.profil: unknown setting; did you mean "profile"?\n')
    assert error.count("\n") == 1


@pytest.mark.parametrize(("settings", "found"), [("", 1), ("extend-exclude = ['data']", 0)])
def test_what_is_left_out_is_no_part_of_the_program_either(settings: str, found: int, project: Path) -> None:
    (project / "pyproject.toml").write_text(f"[tool.torchrepro-lint]\n{settings}\n")
    (project / "data").mkdir()
    (project / "data" / "noisy.py").write_text(
        "import numpy as np\nclass Noisy:\n    def __getitem__(self, index): return np.random.rand()\n"
    )
    (project / "a.py").write_text(
        "from data.noisy import Noisy\nfrom torch.utils.data import DataLoader\nDataLoader(Noisy(), num_workers=2)\n"
    )
    assert main(["-q", "--select", "TRL101", "."]) == found


def test_what_is_left_out_can_be_left_out_where_it_is_named(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pyproject.toml").write_text("[tool.torchrepro-lint]\nextend-exclude = ['old']\n")
    (project / "old").mkdir()
    dead = "import torch\ntorch.manual_seed\n"
    for name in ("old/a.py", "a.py"):
        (project / name).write_text(dead)
    options = ["--output-format", "concise", "-q"]
    for named in ("old/a.py", "old"):
        assert main([*options, named]) == 1
        assert main([*options, "--force-exclude", named]) == 0
    capsys.readouterr()
    assert main([*options, "--force-exclude", "old/a.py", "a.py", "."]) == 1
    assert capsys.readouterr().out.startswith("a.py:2:1: TRL305 ")
    for arguments, out in (([], ""), (["--fix"], dead)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(dead.encode())))
        assert main([*options, *arguments, "--force-exclude", "--stdin-filename", "old/a.py", "-"]) == 0
        assert capsys.readouterr().out == out


def test_the_settings_file_can_be_named_or_left_unread(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "torchrepro-lint.toml").write_text("ignore = ['TRL305']\n")
    (project / "ci.toml").write_text("select = ['TRL305']\n")
    (project / "a.py").write_text("import torch\ntorch.manual_seed\n")
    assert main(["-q", "a.py"]) == 0
    assert main(["-q", "--isolated", "a.py"]) == 1
    assert main(["-q", "--config", "ci.toml", "a.py"]) == 1
    capsys.readouterr()
    main(["--config", "ci.toml", "--show-settings"])
    assert f"# settings file: {project}/ci.toml\n" in capsys.readouterr().out
    assert main(["--config", "gone.toml", "a.py"]) == 2
    assert "gone.toml: no such settings file" in capsys.readouterr().err


def test_an_unknown_rule_is_said_with_the_place_that_names_it(write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"pyproject.toml": "[tool.torchrepro-lint]\nunfixable = ['TRL9x']\n", "a.py": "import torch\n"})
    told = 'unfixable: unknown rule "TRL9x"; did you mean "TRL901"?\n'
    for arguments in ([], ["--show-settings"]):
        assert main([*arguments, str(root)]) == 2
        assert capsys.readouterr().err == f"torchrepro-lint: error: {root}/pyproject.toml: {told}"
    assert main(["--ignore", "E501", str(root)]) == 2
    assert capsys.readouterr().err == (
        'torchrepro-lint: error: --ignore: unknown rule "E501"; `torchrepro-lint rule` lists them\n'
    )


def test_paths_stand_on_both_sides_of_options(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(project / "a.py"), "--show-files", str(project / "b.py")]
    (project / "b.py").write_text("x = 1\n")
    assert main(arguments) == 0
    assert [Path(line).name for line in capsys.readouterr().out.splitlines()] == ["a.py", "b.py"]


def test_all_options_are_understood(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "clean.py --select TRL1,TRL101 --select TRL900 --ignore TRL101 --extend-select trl9 --no-cache -q"
    arguments += " --profile strict --target-torch >=1.7 --unsafe-fixes --exit-zero --fix-only --show-fixes --exit-non-zero-on-fix --write-through-links --color never --output-format full"
    assert main(arguments.split()) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "given",
    [
        ["--per-file-ignores", "a.py:TRL101,TRL102", "--per-file-ignores", "b.py:TRL3"],
        ["--per-file-ignores", "a.py:TRL101,TRL102,b.py:TRL3"],
        ["--per-file-ignores", "a.py:TRL101, a.py:TRL102, b.py:TRL3"],
    ],
)
def test_per_file_ignores_in_the_forms_of_ruff_and_flake8(given: list[str]) -> None:
    override = settings_override(check_parser().parse_args(given))
    assert override == {"per_file_ignores": (("a.py", ("TRL101", "TRL102")), ("b.py", ("TRL3",)))}


def test_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert rule([], KIT) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(maxsplit=2) == ["TRL101", "bad-word", "A word that should not be there"]
    assert lines[2].split(maxsplit=2) == ["TRL403", "strict-word", "A word that should not be there (strict)"]
    assert [line[:6] for line in lines[3:]] == ["TRL900", "TRL901"]
    assert rule(["bad-word"], KIT) == 0
    out = capsys.readouterr().out
    about = (
        "TRL101 bad-word\n\nA word that should not be there.\nSeverity: error. Profile: default. Fix: none.\nhttps://"
    )
    assert out.startswith(about)
    assert "\n\nA program and rules for tests" in out
    assert rule(["trl901"], KIT) == 0
    out = capsys.readouterr().out
    assert out.count("unused-suppression") == 1
    assert "Severity: warning. Profile: default. Fix: safe.\nhttps://" in out
    assert rule(["trl1"], KIT) == 0
    assert [line[:6] for line in capsys.readouterr().out.splitlines()] == ["TRL101", "TRL102"]
    with pytest.raises(TorchReproLintError, match='unknown rule "TRL405"; did you mean "TRL403"'):
        rule(["TRL405"], KIT)


def test_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert rule(["TRL901", "--output-format", "json"], KIT) == 0
    one = json.loads(capsys.readouterr().out)
    assert one["code"] == "TRL901"
    assert one["summary"].startswith("A `# noqa` comment")
    assert one["fix"].startswith("Safe:")
    assert one["explanation"].startswith("# TRL901 unused-suppression\n\n## What it does\n\nFinds ")
    assert one["url"].endswith("/rules/TRL901/")
    assert rule(["--all", "--output-format", "json"], KIT) == 0
    assert [one["code"] for one in json.loads(capsys.readouterr().out)] == [
        "TRL101", "TRL102", "TRL403", "TRL900", "TRL901"
    ]  # fmt: skip
    assert rule(["--all"], KIT) == 0
    assert capsys.readouterr().out.count("Profile: ") == 5
    with pytest.raises(SystemExit):
        rule(["TRL901", "--all"], KIT)


def test_explain(write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"pyproject.toml": "", "a.py": "import torch\nx = 1\nbad  # noqa: TRL101\nstrict\n"})
    monkeypatch.chdir(root)
    assert explain(["a.py:2"], KIT) == 0
    torch = "torch: unknown, so all versions are considered; `target-torch` in the settings states it\n\n"
    silent = "No rule finds anything at a.py:2.\n  There is no call on this line that a rule is about.\n\n"
    assert capsys.readouterr().out == f"{silent}{torch}"
    assert explain(["a.py:3:1"], KIT) == 0
    out = capsys.readouterr().out
    assert "a.py:3:1: TRL101 [*] found bad" in out
    assert "This finding is not reported: a comment suppresses it." in out
    assert out.endswith("\ntorchrepro-lint rule TRL101: a word that should not be there\n")
    assert explain([f"{root}/a.py:4"], KIT) == 0
    assert "This finding is not reported: only the `strict` profile reports it." in capsys.readouterr().out


def test_explain_knows_the_findings_of_other_files_that_rest_on_a_line(write, capsys) -> None:
    def starting_at(path: Path) -> WordRule:
        class Elsewhere(WordRule):
            def at(self, found: Path, text: str, offset: int) -> Finding:
                one = super().at(found, text, offset)
                return replace(one, trace=(TraceStep(Location(path, Position(2, 1), Position(2, 2)), "from here"),))

        return Elsewhere("TRL101", "bad-word", "bad")

    root = write({"pyproject.toml": "", "a.py": "import torch\nx = 1\n", "b.py": "import torch\nbad\n"})
    explain([f"{root}/a.py:2"], toolkit(starting_at(root / "a.py")))
    out = capsys.readouterr().out
    assert f"This line is part of the proof of:\n  {root}/b.py:2:1: TRL101 found bad\n" in out


def test_explain_knows_what_hides_a_finding(write, capsys: pytest.CaptureFixture[str]) -> None:
    settings = "baseline = 'known.json'\n[per-file-ignores]\n'b.py' = ['TRL101']\n"
    root = write({"torchrepro-lint.toml": settings, "a.py": "import torch\nbad\n", "b.py": "import torch\nbad\n"})
    write_baseline(CheckOptions((root / "a.py",)), KIT)
    capsys.readouterr()
    explain([f"{root}/a.py:2"], KIT)
    assert f"This finding is not reported: it is in the baseline {root}/known.json." in capsys.readouterr().out
    explain([f"{root}/b.py:2"], KIT)
    assert "This finding is not reported: `per-file-ignores` names it for this file." in capsys.readouterr().out


def test_explain_names_the_profile_that_alone_reports_a_finding(write, capsys: pytest.CaptureFixture[str]) -> None:
    class MoreWhenStrict(WordRule):
        def check(self, program: FakeProgram) -> Iterator[Finding]:
            return super().check(program) if program.settings.profile == "strict" else iter(())

    root = write({"pyproject.toml": "", "a.py": "import torch\nbad\n"})
    explain([f"{root}/a.py:2"], toolkit(MoreWhenStrict("TRL101", "bad-word", "bad")))
    assert "This finding is not reported: only the `strict` profile reports it." in capsys.readouterr().out


def test_explain_shows_a_finding_as_it_is_reported(write, capsys: pytest.CaptureFixture[str]) -> None:
    settings = "unfixable = ['TRL101']\n"
    root = write({"torchrepro-lint.toml": settings, "a.py": "import torch\nbad\nx = 1  # noqa: TRL101\n"})
    explain([f"{root}/a.py:2"], KIT)
    out = capsys.readouterr().out
    assert "a.py:2:1: TRL101 found bad\n" in out and "the settings leave TRL101 to be mended by hand" in out
    assert "not reported" not in out
    explain([f"{root}/a.py:3"], KIT)
    out = capsys.readouterr().out
    assert "a.py:3:8: TRL901 [*] unused suppression" in out and "not reported" not in out


def test_version_and_help() -> None:
    assert run("--version").stdout == f"torchrepro-lint {__version__}\n"
    result = run("--help")
    assert result.returncode == 0
    for word in ("verify", "explain", "rule", "--fix", "--add-noqa[=REASON]", "exit status"):
        assert word in result.stdout


def test_the_help_keeps_names_whole_and_columns_straight() -> None:
    lines = run("--help").stdout.splitlines()
    # A file whose name ends on the next line cannot be found, and no option be copied.
    assert [line for line in lines if line.endswith("-")] == []
    # An option, and on the same line what it is for.
    described = [line[4:].partition("  ") for line in lines if line.startswith("  --") and "  " in line[4:]]
    assert len({len(option) + len(text) - len(text.lstrip()) for option, _, text in described}) == 1


@pytest.mark.parametrize("arguments", [["--version"], ["plain.py"], ["--fix", "plain.py"], ["."], ["--help"]])
def test_nothing_heavy_is_imported_without_need(write, arguments: list[str]) -> None:
    root = write({"pyproject.toml": "", "plain.py": "def add(a, b):\n    return a + b\n"})
    code = textwrap.dedent(
        """
        import sys
        from torchrepro_lint.cli import main
        try:
            status = main(sys.argv[1:])
        except SystemExit as stop:
            status = stop.code
        heavy = {"libcst", "torch", "numpy", "flake8", "torchrepro_lint.program", "torchrepro_lint.rules"}
        print(status, sorted(heavy & set(sys.modules)), file=sys.stderr)
        """
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr.splitlines()[-1] == "0 []"


def test_a_syntax_error_in_a_real_run(write) -> None:
    root = write({"a.py": "import torch\nx = torch.rand(3\n", "b.py": "import torch\n"})
    result = run("--output-format", "concise", ".", cwd=root)
    assert result.returncode == 1
    assert result.stdout.startswith("a.py:")
    assert " TRL900 this file cannot be read: " in result.stdout
    assert result.stdout.endswith("Found 1 error.\n")
    assert result.stderr == ""


def test_a_reader_that_has_enough_causes_no_traceback(write) -> None:
    root = write({f"a{n}.py": "import torch\nx = (\n" for n in range(400)})
    with subprocess.Popen(
        [sys.executable, "-m", "torchrepro_lint", "."],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(600)
    assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(
    "arguments", [[], ["--output-format", "json"], ["--diff"], ["--show-files"], ["rule"], ["report"]]
)
def test_output_that_cannot_be_written_is_one_message(project: Path, arguments: list[str]) -> None:
    (project / "a.py").write_text("import torch\ntorch.manual_seed = 1\n")
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "torchrepro_lint", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
    message = "torchrepro-lint: error: the output cannot be written: No space left on device\n"
    assert (result.returncode, result.stderr) == (2, message)


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("words", "status", "error"),
    [
        ("a.py >&-", 1, ""),
        ("--diff a.py >&-", 1, "Would fix 1 error.\n"),
        ("a.py 2>&-", 1, ""),
        ("nothing.py 2>&-", 2, ""),
        ("- <&-", 2, "torchrepro-lint: error: standard input is closed\n"),
    ],
)
def test_streams_that_are_closed(project: Path, words: str, status: int, error: str) -> None:
    (project / "a.py").write_text("import torch\ntorch.manual_seed = 1\n")
    result = subprocess.run(
        ["sh", "-c", f'"$0" -m torchrepro_lint {words}', sys.executable],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert (result.returncode, result.stderr) == (status, error)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a folder in use cannot be removed")
@pytest.mark.parametrize("words", ["", ".", "-", "report", "clean", "explain a.py:1", "--show-settings"])
def test_a_current_folder_that_is_gone_is_one_message(project: Path, words: str) -> None:
    command = f'mkdir gone && cd gone && rmdir ../gone && "$0" -m torchrepro_lint {words} < /dev/null'
    result = subprocess.run(
        ["sh", "-c", command, sys.executable],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    message = "torchrepro-lint: error: the current folder no longer exists\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, "", message)


def test_an_interruption_causes_no_traceback(tmp_path: Path) -> None:
    code = """
import signal, sys, time, torchrepro_lint.cli as cli
# What is started in the background of a shell script has Ctrl-C switched off.
signal.signal(signal.SIGINT, signal.default_int_handler)
cli._dispatch = lambda arguments, **of_process: (print("go", flush=True), time.sleep(60))
sys.exit(cli.main([]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=600)
    assert (process.returncode, error) == (130, "torchrepro-lint: interrupted\n")


def test_terminals_of_another_encoding(write) -> None:
    root = write({"é.py": "import torch\nx = (\n"})
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = subprocess.run(
        [sys.executable, "-m", "torchrepro_lint", "."], cwd=root, env=environment, capture_output=True, text=True
    )
    assert (result.returncode, result.stderr) == (1, "")
    assert "\\xe9.py:" in result.stdout


def test_an_error_of_ours_is_not_taken_for_findings(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(arguments: list[str], *, owns_process: bool) -> int:
        raise KeyError("x")

    monkeypatch.setattr("torchrepro_lint.cli._dispatch", fail)
    assert main([]) == 2
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert error.endswith(
        "torchrepro-lint: internal error: KeyError; please report it, together with the traceback above\n"
    )


def test_add_noqa_takes_a_reason_only_behind_an_equals_sign(project: Path) -> None:
    (project / "a.py").write_text("import torch\ntorch.manual_seed\n")
    (project / "b.py").write_text("import torch\ntorch.manual_seed\n")
    assert main(["--add-noqa", "a.py"]) == 0
    assert (project / "a.py").read_text().endswith("torch.manual_seed  # noqa: TRL305\n")
    assert main(["--add-noqa=as it was", "b.py"]) == 0
    assert (project / "b.py").read_text().endswith("torch.manual_seed  # noqa: TRL305 as it was\n")


def test_the_collector_is_left_to_the_process_that_goes_on(project: Path) -> None:
    before = gc.get_freeze_count()
    assert main([]) == 0
    assert gc.isenabled() and gc.get_freeze_count() == before


def test_the_trees_of_the_last_work_of_a_process_are_not_taken_apart(project: Path) -> None:
    code = (
        "import gc, sys; from torchrepro_lint.cli import main; sys.argv[1:] = ['--no-cache']; assert main() == 0; "
        "assert gc.get_freeze_count() and not gc.isenabled()"
    )
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)


def test_errors_and_warnings_are_counted_apart(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kit = toolkit(BAD, MILD)
    assert run_check(CheckOptions(output_format="concise"), kit) == 1
    assert "\nFound 1 error and 1 warning.\n" in capsys.readouterr().out
    errors_only = CheckOptions(output_format="concise", override={"min_severity": "error"})
    assert run_check(errors_only, kit) == 1
    assert capsys.readouterr().out.startswith("a.py:2:1: TRL101 [*] found bad\nFound 1 error.\n")


def test_warnings_are_left_out_of_the_exit_status(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kit = toolkit(MILD)
    assert run_check(CheckOptions(), kit) == 1
    capsys.readouterr()
    (project / "torchrepro-lint.toml").write_text('min-severity = "error"\n')
    assert run_check(CheckOptions(), kit) == 0
    assert capsys.readouterr().out == "All checks passed!\n"
    assert run_check(CheckOptions(override={"min_severity": "warning"}), kit) == 1
    capsys.readouterr()
    assert run_check(CheckOptions(fix_only=True, override={"unsafe_fixes": True}), kit) == 0
    assert (project / "a.py").read_text() == "import torch\nbad = risky\n"
    capsys.readouterr()
    assert explain(["a.py:2"], kit) == 0
    assert "not reported: it is a warning, and `min-severity` is error" in capsys.readouterr().out


def test_python_m_imports_nothing_from_the_current_folder(project: Path) -> None:
    for name in ("argparse", "json", "libcst", "pathspec"):
        (project / f"{name}.py").write_text("raise SystemExit('imported from the repository')\n")
    done = subprocess.run(
        [sys.executable, "-m", "torchrepro_lint", "--no-cache", "."], cwd=project, capture_output=True, text=True
    )
    assert "imported from the repository" not in done.stdout + done.stderr
    assert done.returncode in (0, 1)


@pytest.mark.parametrize(
    ("text", "options", "status", "said"),
    [
        ("def (:\n", [], 1, "stdin.py:1:5: TRL900 this file cannot be read: syntax error"),
        ("def (:\n", ["--ignore", "TRL900"], 0, "All checks passed!"),
        ("x = 1\n", [], 0, "All checks passed!"),
        ('{"cells": 3', ["--stdin-filename", "a.ipynb"], 1, "TRL900 this file cannot be read: not valid JSON"),
    ],
)
def test_what_is_typed_must_be_python_whatever_it_is_about(
    text: str,
    options: list[str],
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main([*options, "-"]) == status
    assert said in capsys.readouterr().out
