from __future__ import annotations

import argparse
import ast
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import LOADER, PACKAGE

from torchrepro_lint import flake8_plugin
from torchrepro_lint.cache.entries import entries_of
from torchrepro_lint.cache.store import FOLDER, RESULTS
from torchrepro_lint.engine import CacheChoice, Report, RunOptions, check
from torchrepro_lint.flake8_plugin import Plugin

PROJECT = Path(__file__).resolve().parents[1]
INSTALLED = any(
    entry.value == "torchrepro_lint.flake8_plugin:Plugin"
    for entry in importlib.metadata.entry_points(group="flake8.extension")
)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flake8_plugin, "_ANALYSES", {})


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """One entry, the file that led to it, for every analysis that is made."""
    made: list[Path] = []
    analyse = flake8_plugin._analyse

    def count(path: Path) -> object:
        made.append(path)
        return analyse(path)

    monkeypatch.setattr(flake8_plugin, "_analyse", count)
    return made


def lint(path: Path, text: str | None = None) -> list[tuple[int, int, str]]:
    """What the plugin yields, called as flake8 calls it."""
    text = path.read_text() if text is None else text
    lines = text.splitlines(keepends=True)
    return [result[:3] for result in Plugin(ast.parse(text), str(path), lines).run()]


def flake8(root: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    config = "[flake8]\n"
    if not INSTALLED:
        config += "[flake8:local-plugins]\nextension =\n    TRL = torchrepro_lint.flake8_plugin:Plugin\n"
    (root / "flake8.cfg").write_text(config)
    return subprocess.run(
        [sys.executable, "-m", "flake8", "--config", "flake8.cfg", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        input=stdin,
        timeout=600,
    )


def as_flake8(report: Report, root: Path) -> list[str]:
    return [
        f"./{one.location.path.relative_to(root).as_posix()}:{one.location.start.row}:{one.location.start.column}: "
        f"{one.code} {one.message}"
        for one in report.findings
    ]


def test_the_same_findings_at_the_same_places_as_the_command(write) -> None:
    root = write(PACKAGE)
    result = flake8(root, "--select", "TRL", ".")
    expected = as_flake8(check([root]), root)
    assert any(line.startswith("./pkg/loader.py:7:12: TRL101 ") for line in expected)
    assert (result.stdout.splitlines(), result.stderr, result.returncode) == (expected, "", 1)


def reports(root: Path) -> list[str]:
    """The keys of the results in the cache of a project."""
    with (root / FOLDER / RESULTS).open("rb") as stream:
        return [key for key in entries_of(stream) if key.startswith("report-")]


def test_its_processes_share_one_analysis_with_the_command_through_the_cache(write) -> None:
    root = write({**PACKAGE, "pyproject.toml": "", **{f"pkg/other{number}.py": LOADER for number in range(4)}})
    first = flake8(root, "--select", "TRL", "-j", "4", ".")
    report = check([root], run=RunOptions(cache=CacheChoice()))
    assert sorted(first.stdout.splitlines()) == sorted(as_flake8(report, root))
    assert flake8(root, "--select", "TRL", ".").stdout == first.stdout
    assert len(reports(root)) == 1


def test_the_settings_may_say_that_nothing_is_kept(write) -> None:
    root = write({**PACKAGE, "torchrepro-lint.toml": "cache = false\n"})
    assert ":7:12: TRL101 " in flake8(root, "--select", "TRL", "-j", "4", ".").stdout
    assert not (root / FOLDER).exists()


def test_files_given_by_name_are_those_that_are_asked_about(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({**PACKAGE, "pkg/other.py": LOADER})
    monkeypatch.setattr(Plugin, "named", frozenset({root / "pkg" / "loader.py"}))
    assert lint(root / "pkg" / "loader.py")[0][2].startswith("TRL101")
    assert list(flake8_plugin._ANALYSES) == [root / "pkg" / "loader.py"]
    assert lint(root / "pkg" / "other.py")[0][2].startswith("TRL101"), "another one is analysed when it is shown"


@pytest.mark.parametrize(("given", "is_by_name"), [(["pkg/loader.py"], True), (["pkg"], False), ([], False)])
def test_folders_and_no_names_stand_for_all_files(write, monkeypatch, given: list[str], is_by_name: bool) -> None:
    root = write(PACKAGE)
    monkeypatch.chdir(root)
    for name in ("override", "disable_noqa", "named", "is_shown"):
        monkeypatch.setattr(Plugin, name, getattr(Plugin, name))
    unsaid = dict.fromkeys(("profile", "min_severity", "target_torch", "baseline"))
    Plugin.parse_options(
        argparse.Namespace(
            **{f"torchrepro_lint_{name}": value for name, value in unsaid.items()},
            **dict.fromkeys(("select", "extend_select", "ignore", "extend_ignore")),
            extended_default_select=["TRL"], extended_default_ignore=[], disable_noqa=False, filenames=given,
        )
    )  # fmt: skip
    assert Plugin.named == (frozenset(root / name for name in given) if is_by_name else None)


def test_codes_are_on_by_default_and_can_be_ignored(write) -> None:
    root = write(PACKAGE)
    assert ":7:12: TRL101 " in flake8(root, "pkg/loader.py").stdout
    assert flake8(root, "--extend-ignore", "TRL", "pkg/loader.py").stdout == ""


@pytest.mark.parametrize("row", ["return DataLoader(", "shuffle=False,", "    )"])
def test_a_comment_on_any_row_of_the_statement_silences(write, row: str) -> None:
    silenced = LOADER.replace(row, f"{row}  # noqa: TRL1")
    root = write({**PACKAGE, "pkg/loader.py": silenced})
    assert flake8(root, "--select", "TRL101", ".").stdout == ""
    other = LOADER.replace(row, f"{row}  # noqa: TRL3")
    (root / "pkg" / "loader.py").write_text(other)
    assert ":7:12: TRL101 " in flake8(root, "--select", "TRL101", ".").stdout


def test_the_settings_of_the_project_hold(write) -> None:
    settings = PACKAGE["pyproject.toml"] + "[tool.torchrepro-lint]\nignore = ['numpy-rng-in-workers']\n"
    root = write({**PACKAGE, "pyproject.toml": settings})
    assert "TRL101" not in flake8(root, "--select", "TRL", ".").stdout


def test_wrong_settings_are_one_line(write) -> None:
    root = write({**PACKAGE, "pyproject.toml": "[tool.torchrepro-lint]\nignor = []\n"})
    result = flake8(root, "--select", "TRL", "-j1", "pkg/loader.py")
    assert result.returncode == 1
    assert 'ignor: unknown setting; did you mean "ignore"?' in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_files_are_judged_wherever_flake8_is_started(write, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = write(PACKAGE)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert "TRL101" in flake8(elsewhere, "--select", "TRL", str(root / "pkg")).stdout


def test_standard_input_stands_for_its_file(write) -> None:
    root = write(PACKAGE)
    path = "pkg/loader.py"
    same = flake8(root, "--select", "TRL", "--stdin-display-name", path, "-", stdin=LOADER)
    assert ":7:12: TRL101 " in same.stdout
    moved = flake8(root, "--select", "TRL", "--stdin-display-name", path, "-", stdin="# above\n" + LOADER)
    assert ":8:12: TRL101 " in moved.stdout
    safe = LOADER.replace("num_workers=4", "num_workers=0")
    assert flake8(root, "--select", "TRL", "--stdin-display-name", path, "-", stdin=safe).stdout == ""


def test_standard_input_without_a_name(write) -> None:
    root = write(PACKAGE)
    result = flake8(root, "--select", "TRL", "-", stdin="import torch\nx = torch.rand(3)\n")
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    own = LOADER.replace("Images(images)", "images")
    assert flake8(root, "--select", "TRL101", "-", stdin=own).stderr == ""


def test_one_analysis_serves_all_files_of_a_project(write, analyses: list[Path]) -> None:
    root = write(PACKAGE)
    first = lint(root / "pkg" / "loader.py")
    assert [(row, column, text[:6]) for row, column, text in first if "TRL101" in text] == [(7, 11, "TRL101")]
    assert lint(root / "pkg" / "dataset.py") == []
    assert lint(root / "pkg" / "loader.py") == first
    assert analyses == [root / "pkg" / "loader.py"]


def test_a_changed_file_is_analysed_again(write, analyses: list[Path]) -> None:
    root = write(PACKAGE)
    path = root / "pkg" / "loader.py"
    assert lint(path)[0][0] == 7
    path.write_text("#\n" + LOADER)
    assert lint(path)[0][0] == 8
    assert len(analyses) == 2


def test_projects_do_not_mix(write, analyses: list[Path]) -> None:
    root = write({f"{name}/{path}": text for name in ("one", "two") for path, text in PACKAGE.items()})
    (root / "two" / "pkg" / "augment.py").write_text("def jitter(image):\n    return image\n")
    assert "TRL101" in str(lint(root / "one" / "pkg" / "loader.py"))
    assert "TRL101" not in str(lint(root / "two" / "pkg" / "loader.py"))
    assert len(analyses) == 2


def test_what_is_left_out_is_judged_when_flake8_shows_it(write) -> None:
    settings = PACKAGE["pyproject.toml"] + "[tool.torchrepro-lint]\nextend-exclude = ['pkg']\n"
    root = write({**PACKAGE, "pyproject.toml": settings})
    assert "TRL101" in str(lint(root / "pkg" / "loader.py"))


def test_files_without_interest_and_installed_ones_cost_nothing(write, analyses: list[Path]) -> None:
    root = write({**PACKAGE, "lib/site-packages/x.py": LOADER})
    assert lint(root / "pkg" / "plain.py") == []
    assert lint(root / "lib" / "site-packages" / "x.py") == []
    assert analyses == []
    code = "import sys, torchrepro_lint.flake8_plugin as p; r = list(p.Plugin(None, 'a.py', ['x = 1']).run())\n"
    code += "print(r, sorted({'libcst', 'torchrepro_lint.engine', 'pathspec', 'flake8'} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "[] []\n"


def test_line_endings_and_marks_of_the_file_do_not_make_it_another(write, analyses: list[Path]) -> None:
    root = write(PACKAGE)
    path = root / "pkg" / "loader.py"
    path.write_bytes(b"\xef\xbb\xbf" + LOADER.replace("\n", "\r\n").encode())
    assert lint(path, LOADER)[0][:2] == (7, 11)
    assert analyses == [path]


def test_a_file_that_does_not_decode_is_told(write) -> None:
    root = write({**PACKAGE, "pkg/odd.py": b"import torch\nx = '\xe9'\n"})
    results = lint(root / "pkg" / "odd.py", "import torch\nx = '\xe9'\n")
    assert [(row, text[:6]) for row, _, text in results] == [(2, "TRL900")]


STRICT = (
    "import torch\nfrom torch.utils.data import TensorDataset\n\nif __name__ == '__main__':\n    print(torch.rand(2))\n"
)


def codes(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.split()[1] for line in result.stdout.splitlines()]


def test_strict_rules_run_when_they_are_asked_for(write) -> None:
    root = write({"pyproject.toml": "", "main.py": STRICT})
    assert codes(flake8(root, "--select", "TRL", "main.py")) == []
    assert codes(flake8(root, "--select", "TRL501", "main.py")) == ["TRL501"]
    assert codes(flake8(root, "--select", "TRL", "--extend-select", "TRL5", "main.py")) == ["TRL501"]
    assert codes(flake8(root, "--select", "TRL", "--torchrepro-lint-profile", "strict", "main.py")) == ["TRL501"]


def test_options_in_the_configuration_of_flake8(write) -> None:
    root = write({"pyproject.toml": "", "main.py": STRICT})
    (root / "tox.ini").write_text("[flake8]\ntorchrepro-lint-profile = strict\n")
    assert codes(flake8(root, "--append-config", "tox.ini", "--select", "TRL", "main.py")) == ["TRL501"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("profile = stric", 'torchrepro-lint-profile: "stric" is not "default" or "strict"; did you mean "strict"?'),
        ("target-torch = new", 'torchrepro-lint-target-torch: "new" is neither a version nor'),
    ],
)
def test_a_wrong_option_in_the_configuration_of_flake8_is_said(write, option: str, message: str) -> None:
    root = write({"pyproject.toml": "", "main.py": STRICT, "tox.ini": f"[flake8]\ntorchrepro-lint-{option}\n"})
    result = flake8(root, "-j1", "--append-config", "tox.ini", "--select", "TRL", "main.py")
    assert result.returncode == 1
    assert message in result.stderr + result.stdout
    assert "Traceback" not in result.stderr


def test_the_target_and_the_baseline(write) -> None:
    root = write(PACKAGE)
    old = flake8(root, "--select", "TRL101", "--torchrepro-lint-target-torch", "1.8", ".")
    new = flake8(root, "--select", "TRL101", "--torchrepro-lint-target-torch", ">=2.1", ".")
    assert codes(old) == ["TRL101"]
    assert old.stdout != new.stdout
    wrong = flake8(root, "--torchrepro-lint-target-torch", "new", ".")
    assert '"new" is neither a version nor a version specifier' in wrong.stdout + wrong.stderr
    run = [sys.executable, "-m", "torchrepro_lint", "--baseline", "known.json", "--write-baseline"]
    subprocess.run(run, cwd=root, env={**os.environ, "PYTHONPATH": str(PROJECT)}, check=True, capture_output=True)
    assert codes(flake8(root, "--select", "TRL", "--torchrepro-lint-baseline", "known.json", ".")) == []


def test_comments_can_be_switched_off_and_idle_ones_are_told(write) -> None:
    root = write(
        {**PACKAGE, "pkg/loader.py": LOADER.replace("return DataLoader(", "return DataLoader(  # noqa: TRL101")}
    )
    assert "TRL101" not in codes(flake8(root, "--select", "TRL101", "pkg/loader.py"))
    assert codes(flake8(root, "--select", "TRL101", "--disable-noqa", "pkg/loader.py")) == ["TRL101"]
    (root / "plain.py").write_text("x = 1  # noqa: TRL101\n")
    assert codes(flake8(root, "--select", "TRL", "plain.py")) == ["TRL901"]


def test_a_file_is_told_what_it_breaks_in_another(write) -> None:
    root = write(PACKAGE)
    for arguments in (("pkg/augment.py",), ("-j", "4", "pkg/augment.py", "pkg/plain.py", "pkg/dataset.py")):
        result = flake8(root, "--select", "TRL101", *arguments)
        assert result.returncode == 1, result.stderr
        (line,) = result.stdout.splitlines()
        assert line.startswith("pkg/augment.py:5:20: TRL101 workers draw") and line.endswith("(at pkg/loader.py:7:12)")
    both = flake8(root, "--select", "TRL101", "-j", "4", "pkg/augment.py", "pkg/loader.py")
    assert [line.partition(" ")[0] for line in both.stdout.splitlines()] == ["pkg/loader.py:7:12:"]


def test_a_text_that_differs_from_the_disk_is_told_what_it_breaks(write) -> None:
    root = write({**PACKAGE, "pkg/augment.py": "def jitter(image):\n    return image\n"})
    assert lint(root / "pkg" / "augment.py") == []
    ((row, _, text),) = lint(root / "pkg" / "augment.py", PACKAGE["pkg/augment.py"])
    assert row == 5 and text.startswith("TRL101") and "loader.py:7:12)" in text


@pytest.mark.parametrize(
    "arguments", [("--select", "E9,F"), ("--ignore", "TRL"), ("--select", "E,TRL", "--ignore", "TRL")]
)
def test_nothing_is_analysed_where_no_code_of_ours_is_shown(write, arguments: tuple[str, ...]) -> None:
    # Settings that cannot be read are an error for whoever asks what they say.
    root = write({"torchrepro-lint.toml": "profile = 1\n", "main.py": STRICT})
    assert "torchrepro-lint.toml: profile" in flake8(root, "--select", "TRL2", "main.py").stdout
    assert "torchrepro-lint" not in flake8(root, *arguments, "main.py").stdout


def test_a_code_that_is_selected_is_shown_though_its_family_is_ignored(write) -> None:
    root = write({"pyproject.toml": "", "main.py": STRICT})
    assert codes(flake8(root, "--select", "TRL501", "--ignore", "TRL", "main.py")) == ["TRL501"]
