"""Options of the command line, settings and environment variables that say how a run goes."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torchrepro_lint import __version__
from torchrepro_lint.arguments import apply_environment, check_parser
from torchrepro_lint.arguments.environment import VARIABLES
from torchrepro_lint.cli import main

PROGRAM = (
    "import torch\n"
    "\n"
    "g = torch.Generator()\n"
    "print(torch.rand(2, generator=g))\n"
    "h = torch.Generator()  # noqa: TRL203\n"
    "print(torch.rand(2, generator=h))\n"
)
FOUND = "a.py:3:5: TRL203 "
SUPPRESSED = "a.py:5:5: TRL203 "
FIXED = "g = torch.Generator().manual_seed(0)"


@pytest.fixture(autouse=True)
def project(write, monkeypatch: pytest.MonkeyPatch) -> Path:
    root: Path = write({"pyproject.toml": "", "a.py": PROGRAM})
    monkeypatch.chdir(root)
    for variable in (*VARIABLES, "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    return root


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a text on standard input."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def settings(text: str) -> None:
    Path("pyproject.toml").write_text(f"[tool.torchrepro-lint]\n{text}\n", encoding="utf-8")


def test_comments_suppress_nothing_where_they_are_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--output-format", "concise"]) == 1
    assert SUPPRESSED not in capsys.readouterr().out
    assert main(["--output-format", "concise", "--ignore-noqa"]) == 1
    out = capsys.readouterr().out
    assert FOUND in out and SUPPRESSED in out
    # A comment that is ignored is not one that suppresses nothing.
    assert main(["--output-format", "concise", "--ignore-noqa", "--profile", "strict"]) == 1
    assert "TRL901" not in capsys.readouterr().out


@pytest.mark.parametrize("option", ["-o", "--output-file"])
def test_what_is_for_standard_output_goes_into_a_file(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option, "out.txt", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out == ""
    assert Path("out.txt").read_text(encoding="utf-8").startswith(FOUND)


def test_a_file_stays_as_it_is_where_the_run_fails(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out.txt").write_text("mine", encoding="utf-8")
    assert main(["-o", "out.txt", "not-there.py"]) == 2
    assert Path("out.txt").read_text(encoding="utf-8") == "mine"
    assert main(["-o", "not-there/out.txt"]) == 2
    assert "not-there/out.txt: cannot be written: " in capsys.readouterr().err


def test_how_much_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-s"]) == 1
    assert capsys.readouterr() == ("", "")
    settings('target-torch = "2.1"')
    assert main(["-v"]) == 1
    said = capsys.readouterr().err
    assert ".: 1 file, settings: pyproject.toml\n" in said
    assert ".: torch: ==2.1.*" in said or "2.1" in said


def test_short_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-e", "-n", "-q", "--output-format", "concise"]) == 0
    assert capsys.readouterr().out.startswith(FOUND)
    assert not Path(".torchrepro-lint-cache").exists()
    with pytest.raises(SystemExit) as ended:
        main(["-V"])
    assert (ended.value.code, __version__ in capsys.readouterr().out) == (0, True)


@pytest.mark.parametrize("option", ["--ignore", "--extend-ignore"])
def test_ignored_in_addition(option: str) -> None:
    settings('ignore = ["TRL101"]')
    assert main([option, "TRL203"]) == 0


def test_per_file_ignores_by_either_name() -> None:
    assert main(["--extend-per-file-ignores", "a.py:TRL203"]) == 0


def test_fixable_in_addition(capsys: pytest.CaptureFixture[str]) -> None:
    settings('fixable = ["TRL1"]\nunsafe-fixes = true')
    main(["--diff"])
    assert FIXED not in capsys.readouterr().out
    main(["--diff", "--extend-fixable", "TRL203"])
    assert FIXED in capsys.readouterr().out
    settings('fixable = ["TRL1"]\nextend-fixable = ["TRL203"]\nunsafe-fixes = true')
    main(["--diff"])
    assert FIXED in capsys.readouterr().out
    # What the command line calls fixable is in the place of both.
    main(["--diff", "--fixable", "TRL1"])
    assert FIXED not in capsys.readouterr().out


def test_settings_in_toml_go_before_those_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    settings('profile = "strict"\noutput-format = "concise"')
    assert main(["--config", 'ignore = ["TRL203"]', "--config", "profile = 'default'"]) == 0
    # An option goes before both.
    assert main(["--config", "output-format = 'grouped'", "--output-format", "concise"]) == 1
    assert FOUND in capsys.readouterr().out
    assert main(["--isolated", "--config", "output-format = 'concise'"]) == 1
    assert FOUND in capsys.readouterr().out


def test_a_setting_in_toml_is_in_the_place_of_that_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    settings('ignore = ["TRL203"]\noutput-format = "concise"')
    assert main([]) == 0
    assert main(["--config", 'select = ["TRL2"]']) == 0, "what the file ignores is another setting"
    assert main(["--config", "ignore = []"]) == 1
    # What an option adds, it adds to both.
    assert main(["--config", 'ignore = ["TRL203"]', "--ignore", "TRL1"]) == 0
    capsys.readouterr()
    assert main(["--config", 'ignore = ["TRL1"]', "--show-settings"]) == 0
    assert 'ignore = ["TRL1"]' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "profil = 'strict'"], '--config: profil: unknown setting; did you mean "profile"?'),
        (["--config", "profile = 'strct'"], 'did you mean "strict"?'),
        (["--config", "a.toml", "--config", "b.toml"], "--config names one settings file at most"),
        (["--config", "pyproject.toml", "--isolated"], "none with --isolated"),
        (["--config", 'config = "a.toml"'], "--config: config: unknown setting"),
        (["--config", 'ignore = ["TRL999"]'], '--config: ignore: unknown rule "TRL999"'),
        (["--extend-fixable", "TRL999"], '--extend-fixable: unknown rule "TRL999"'),
    ],
)
def test_what_is_no_setting(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "x = ["], "is neither a file nor a setting in TOML"),
        (["--target-version", "2.1"], 'did you mean "--target-torch"?'),
        (["--format", "json"], 'did you mean "--output-format"?'),
        (["--output", "a"], 'did you mean "--output-file"?'),
        (["--no-fix", "--fix-only"], "--no-fix and --fix-only cannot be used together"),
        (["--add-noqa", "--ignore-noqa"], "--add-noqa and --ignore-noqa cannot be used together"),
        (["--watch", "-o", "a"], "--watch and --output-file cannot be used together"),
        (["-o", "a.py"], "a.py is code, which --output-file would overwrite"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_environment_variables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    Path("strict.toml").write_text('ignore = ["TRL203"]\n', encoding="utf-8")
    for variable, value in {
        "TORCHREPRO_LINT_OUTPUT_FORMAT": "concise",
        "TORCHREPRO_LINT_OUTPUT_FILE": "out.txt",
        "TORCHREPRO_LINT_CACHE_DIR": "kept",
    }.items():
        monkeypatch.setenv(variable, value)
    assert main([]) == 1
    assert Path("out.txt").read_text(encoding="utf-8").startswith(FOUND)
    assert Path("kept").is_dir() and not Path(".torchrepro-lint-cache").exists()
    # An option goes before a variable, and what is empty says nothing.
    monkeypatch.setenv("TORCHREPRO_LINT_OUTPUT_FILE", "")
    assert main(["--output-format", "pylint"]) == 1
    assert capsys.readouterr().out.startswith("a.py:3: [TRL203] ")
    monkeypatch.setenv("TORCHREPRO_LINT_CONFIG", "strict.toml")
    assert main([]) == 0
    assert main(["--isolated"]) == 1
    monkeypatch.setenv("TORCHREPRO_LINT_NO_CACHE", "1")
    monkeypatch.setenv("TORCHREPRO_LINT_CACHE_DIR", "other")
    assert main([]) == 0
    assert not Path("other").exists()


def test_a_variable_says_nothing_beside_what_it_contradicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHREPRO_LINT_OUTPUT_FORMAT", "sarif")
    assert main(["--statistics"]) == 1
    options = (parser := check_parser()).parse_with_paths(["--watch"])
    apply_environment(parser, options, {"TORCHREPRO_LINT_OUTPUT_FILE": "out.txt"})
    assert options.output_file is None
    Path("strict.toml").write_text('ignore = ["TRL203"]\n', encoding="utf-8")
    monkeypatch.setenv("TORCHREPRO_LINT_CONFIG", "strict.toml")
    assert main(["--config", "profile = 'strict'"]) == 0, "the file of the variable counts beside a setting"
    assert main(["--config", "ignore = []"]) == 1
    Path("loose.toml").write_text("ignore = []\n", encoding="utf-8")
    assert main(["--config", "loose.toml"]) == 1
    monkeypatch.setenv("TORCHREPRO_LINT_CONFIG", "ignore = ['TRL203']")
    assert main([]) == 0
    assert main(["--isolated"]) == 0


def test_an_environment_variable_that_is_wrong_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TORCHREPRO_LINT_OUTPUT_FORMAT", "html")
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert 'TORCHREPRO_LINT_OUTPUT_FORMAT: "html" is none of full, concise' in capsys.readouterr().err


def test_settings_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    settings('fix = true\nunsafe-fixes = true\nshow-fixes = true\noutput-format = "concise"\ncache-dir = "kept"')
    # What does something else than a check is not made a fix of.
    assert main(["--no-fix"]) == 1
    assert main(["--statistics"]) == 1
    assert main(["--diff"]) == 1
    assert Path("a.py").read_text(encoding="utf-8") == PROGRAM
    assert Path("kept").is_dir()
    capsys.readouterr()
    assert main([]) == 0
    assert FIXED in Path("a.py").read_text(encoding="utf-8")
    assert "1 x TRL203" in capsys.readouterr().out


def test_the_settings_of_one_project_do_not_fix_another(write) -> None:
    root = write(
        {
            "fixed/pyproject.toml": "[tool.torchrepro-lint]\nfix = true\nunsafe-fixes = true\n",
            "fixed/b.py": PROGRAM,
            "left/pyproject.toml": "[tool.torchrepro-lint]\nunsafe-fixes = true\n",
            "left/b.py": PROGRAM,
        }
    )
    for order in (["fixed", "left"], ["left", "fixed"]):
        assert main(order) == 1
        assert {(root / name / "b.py").read_text(encoding="utf-8") for name in order} == {PROGRAM}
    assert main(["fixed"]) == 0
    assert FIXED in (root / "fixed" / "b.py").read_text(encoding="utf-8")


def test_each_project_has_its_cache(write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"b/pyproject.toml": '[tool.torchrepro-lint]\ncache-dir = "kept"\n', "b/b.py": PROGRAM})
    main(["b"])
    assert (root / "b" / "kept").is_dir()
    main(["."])
    capsys.readouterr()
    assert main(["clean", "b"]) == 0
    assert capsys.readouterr().out == f"removed {root / 'b' / 'kept'}\n"
    assert main(["clean", "--cache-dir", ".torchrepro-lint-cache"]) == 0


def test_a_cache_in_a_file_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    settings('cache-dir = "a.py"')
    assert main([]) == 1
    assert "a.py: is not a folder: the run goes on without a cache" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('cache-dir = ""', "pyproject.toml: tool.torchrepro-lint.cache-dir: the path is empty"),
        ('output-format = "html"', 'tool.torchrepro-lint.output-format: "html" is none of "full", "concise", '),
    ],
)
def test_a_setting_that_is_wrong(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings(text)
    assert main([]) == 2
    assert message in capsys.readouterr().err


def test_a_fixed_text_is_not_lost_in_silence(given: Callable[[str], None], capsys: pytest.CaptureFixture[str]) -> None:
    given(PROGRAM)
    assert main(["-", "-s", "--fix", "--unsafe-fixes", "--stdin-filename", "a.py"]) == 0
    out, err = capsys.readouterr()
    assert FIXED in out and err == ""
    given(PROGRAM)
    assert main(["-", "--fix", "--unsafe-fixes", "-o", "a.py", "--stdin-filename", "a.py"]) == 0
    assert FIXED in Path("a.py").read_text(encoding="utf-8")
    capsys.readouterr()
    given(PROGRAM)
    assert main(["-", "-s", "--stdin-filename", "a.py"]) == 1
    assert capsys.readouterr() == ("", "")


def test_a_silent_run_prints_what_is_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-s", "--show-files"]) == 0
    assert capsys.readouterr().out == "a.py\n"
    assert main(["-s", "--statistics"]) == 1
    assert capsys.readouterr() == ("", "")
    assert main(["-s", "-o", "out.txt", "--output-format", "concise"]) == 1
    assert Path("out.txt").read_text(encoding="utf-8").startswith(FOUND)


@pytest.mark.parametrize("arguments", [["-", "--stdin-filename", "a.py"], ["--add-noqa"], ["--write-baseline"]])
def test_what_is_said_of_a_project_is_said_by_whatever_checks(
    arguments: list[str], given: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    given(PROGRAM)
    main(["-v", *arguments])
    assert ".: 1 file, settings: defaults\n" in capsys.readouterr().err


def test_a_watch_waits_where_the_settings_are_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", stop)
    settings("profile = 1")
    monkeypatch.setattr("torchrepro_lint.commands.watch.watch.__defaults__", (stop, None))
    assert main(["--watch"]) == 130
    err = capsys.readouterr().err
    assert "profile: expected a string" in err and "waiting for changes" in err


def test_a_cache_outside_of_the_project_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    settings('cache-dir = "../kept"')
    assert main([]) == 2
    assert "lies outside the project; name it with --cache-dir instead" in capsys.readouterr().err


def test_git_may_be_left_out_of_it() -> None:
    Path(".gitignore").write_text("a.py\n", encoding="utf-8")
    assert main([]) == 0
    assert main(["--no-respect-gitignore"]) == 1
    settings("respect-gitignore = false")
    assert main([]) == 1
    assert main(["--respect-gitignore"]) == 0


def test_a_settings_file_that_is_out_of_sight(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".torchrepro-lint.toml").write_text('ignore = ["TRL203"]\n', encoding="utf-8")
    assert main([]) == 0
    Path("torchrepro-lint.toml").write_text("ignore = []\n", encoding="utf-8")
    assert main([]) == 0, "the first of them counts"


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini"])
@pytest.mark.parametrize("head", ["[torchrepro-lint]", "[tool:torchrepro-lint]", "[tool.torchrepro-lint]"])
def test_settings_in_files_of_other_tools_are_refused(name: str, head: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(name).write_text(f"[flake8]\nselect = TRL\n{head}\nignore = TRL203\n", encoding="utf-8")
    assert main([]) == 2
    assert f"{name}: {head}: settings belong in [tool.torchrepro-lint] of pyproject.toml" in capsys.readouterr().err
    settings("")
    assert main([]) == 1, "they count nowhere, and these do"


def test_the_help_fits_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["--help"])
    _, _, commands = capsys.readouterr().out.partition("other commands")
    below = "  torchrepro-lint verify [SCRIPT]    run a script twice and show where the\n" + " " * 37 + "runs differ"
    assert below in commands
    assert max(map(len, commands.splitlines())) <= 80
    assert [variable for variable in VARIABLES if variable not in commands] == []


def test_explain_of_a_rule_is_its_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "TRL203"]) == 0
    explained = capsys.readouterr().out
    assert main(["rule", "TRL203"]) == 0
    assert explained == capsys.readouterr().out
    assert main(["explain", "generator-never-seeded"]) == 0
    assert explained == capsys.readouterr().out
    assert main(["explain", "TRL20"]) == 0
    assert "TRL203 generator-never-seeded" in capsys.readouterr().out
    assert main(["explain", "generator-never-sown"]) == 2
    assert "unknown rule" in capsys.readouterr().err
