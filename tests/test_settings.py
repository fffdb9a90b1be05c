from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.settings import DEFAULT_EXCLUDE, Settings, load_settings, normalised_specifier


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert load_settings(tmp_path) == Settings()


def test_every_setting_is_read(write) -> None:
    root = write(
        {
            "pyproject.toml": """
                [tool.torchrepro-lint]
                select = ["TRL1"]
                extend-select = ["cudnn-deterministic-off"]
                ignore = ["TRL101"]
                profile = "strict"
                target-torch = ">=1.7, <2"
                exclude = ["old"]
                extend-exclude = ["examples/*.py"]
                src = ["src", "lib"]
                seed = 7
                intent = "deterministic"
                cache = false
                unsafe-fixes = true
                fixable = ["TRL1"]
                unfixable = ["TRL103"]

                [tool.torchrepro-lint.per-file-ignores]
                "tests/*" = ["TRL5", "TRL201"]
                """
        }
    )
    assert load_settings(root) == Settings(
        per_file_ignores=(("tests/*", ("TRL5", "TRL201")),),
        fixable=("TRL1",),
        unfixable=("TRL103",),
        select=("TRL1",),
        extend_select=("cudnn-deterministic-off",),
        ignore=("TRL101",),
        profile="strict",
        target_torch="<2,>=1.7",
        exclude=("old",),
        extend_exclude=("examples/*.py",),
        src=(root / "src", root / "lib"),
        seed=7,
        intent="deterministic",
        cache=False,
        unsafe_fixes=True,
        base=root,
    )


def test_a_file_extends_another(write) -> None:
    root = write(
        {
            "base.toml": 'seed = 1\nprofile = "strict"\nsrc = ["lib"]\nextend = "shared/pyproject.toml"\n',
            "shared/pyproject.toml": '[tool.torchrepro-lint]\nignore = ["TRL201"]\nseed = 5\nsrc = ["x"]\n',
            "app/torchrepro-lint.toml": 'extend = "../base.toml"\nseed = 2\nexclude = ["old"]\n',
        }
    )
    expected = Settings(
        seed=2, profile="strict", src=(root / "lib",), ignore=("TRL201",), exclude=("old",), base=root / "app"
    )
    assert load_settings(root / "app") == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"torchrepro-lint.toml": "extend = 'torchrepro-lint.toml'"}, "extends itself"),
        ({"torchrepro-lint.toml": "extend = 'b.toml'", "b.toml": "extend = 'torchrepro-lint.toml'"}, "extends itself"),
        ({"torchrepro-lint.toml": "extend = 'gone.toml'"}, "gone.toml: no such settings file"),
        ({"torchrepro-lint.toml": "extend = 'sub'", "sub/a.toml": ""}, "sub: a folder, and no settings file"),
        (
            {"torchrepro-lint.toml": "extend = 'pyproject.toml'", "pyproject.toml": ""},
            "pyproject.toml: has no table \\[tool.torchrepro-lint\\]",
        ),
        ({"torchrepro-lint.toml": "extend = 1"}, "extend: expected a string, found an integer"),
        (
            {"torchrepro-lint.toml": "extend = 'b.toml'", "b.toml": "sede = 1"},
            'sede: unknown setting; did you mean "seed"?',
        ),
        ({"torchrepro-lint.toml": "extend = 'b.toml'", "b.toml": "= 1"}, "b.toml: not valid TOML"),
        ({"torchrepro-lint.toml": "[per-file-ignores]\n'a.py' = 'TRL1'"}, '"a.py": expected a list, found a string'),
        ({"torchrepro-lint.toml": "per-file-ignores = ['TRL1']"}, "expected a table of lists of rules, found a list"),
    ],
)
def test_what_is_wrong_with_a_chain_of_files_is_said(write, files: dict[str, str], message: str) -> None:
    with pytest.raises(TorchReproLintError, match=message.replace("?", "[?]")):
        load_settings(write(files))


def test_the_own_file_wins_over_pyproject_and_the_nearer_folder_over_the_farther(write) -> None:
    root = write(
        {
            ".git/HEAD": "",
            "pyproject.toml": "[tool.torchrepro-lint]\nseed = 1\n",
            "near/torchrepro-lint.toml": "seed = 2\n",
            "near/pyproject.toml": "[tool.torchrepro-lint]\nseed = 3\n",
            "other/pyproject.toml": "[project]\nname = 'x'\n",
        }
    )
    assert load_settings(root / "near").seed == 2
    assert load_settings(root / "other").seed == 1


def test_a_file_can_be_named_and_none_be_read(write) -> None:
    root = write(
        {
            "app/torchrepro-lint.toml": "seed = 2\nextend-exclude = ['old']\n",
            "shared/strict.toml": "profile = 'strict'\nextend = 'all.toml'\nextend-exclude = ['gen/*.py']\nsrc = ['lib']\n",
            "shared/all.toml": "seed = 3\n",
            "none/pyproject.toml": "[project]\n",
        }
    )
    named = load_settings(root / "app", {"config": root / "shared" / "strict.toml", "ignore": ("TRL1",)})
    assert (named.seed, named.profile, named.extend_exclude) == (3, "strict", ("gen/*.py",))
    # Patterns count from the project, folders from the file.
    assert (named.base, named.src) == (root / "app", (root / "shared" / "lib",))
    assert named.ignore == ("TRL1",)
    assert named.files == (root / "shared" / "strict.toml", root / "shared" / "all.toml")
    assert load_settings(root / "app", {"config": None}) == Settings()
    for name, said in (("gone.toml", "no such settings file"), ("none/pyproject.toml", "has no table")):
        with pytest.raises(TorchReproLintError, match=f"{name}: {said}"):
            load_settings(root / "app", {"config": root / name})


def test_the_search_ends_at_the_top_of_the_repository(write) -> None:
    root = write({"pyproject.toml": "[tool.torchrepro-lint]\nseed = 1\n", "repo/.git/HEAD": ""})
    assert load_settings(root / "repo") == Settings()


def test_a_broken_pyproject_that_never_names_the_tool_is_not_read(write) -> None:
    assert load_settings(write({".git/HEAD": "", "pyproject.toml": "[project"})) == Settings()


_NO_PATTERN = '{}: "[z-a]" is not a valid .gitignore pattern: bad character range z-a'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["TRL1"]', 'selct: unknown setting; did you mean "select"?'),
        ("zzz = 1", "zzz: unknown setting"),
        ("base = '.'", 'base: unknown setting; did you mean "baseline"?'),
        ('select = "TRL1"', 'select: expected a list, found a string; write ["TRL1"]'),
        ("target-torch = 2.1", 'target-torch: expected a string, found a number; write "2.1"'),
        ('seed = "7"', "seed: expected an integer, found a string; write 7"),
        ('cache = "False"', "cache: expected a boolean, found a string; write false"),
        ("ignore = [1]", "ignore: expected a list of strings, found an integer"),
        ("seed = true", "seed: expected an integer, found a boolean"),
        ("seed = 4294967296", "seed: 4294967296 is outside 0..2**32-1, the range of seeds that NumPy accepts"),
        ('profile = "strct"', 'profile: "strct" is not "default" or "strict"; did you mean "strict"?'),
        ("exclude = ['a', '[z-a]']", _NO_PATTERN.format("exclude")),
        ("extend-exclude = ['[z-a]']", _NO_PATTERN.format("extend-exclude")),
        ("per-file-ignores = {'[z-a]' = ['TRL1']}", _NO_PATTERN.format("per-file-ignores")),
        ("intent = 1", "intent: expected a string, found an integer"),
        ("cache = 1", "cache: expected a boolean, found an integer"),
        ("seed = 2024-01-01", "seed: expected an integer, found a date or time"),
        (
            'target-torch = "new"',
            'target-torch: "new" is neither a version nor a version specifier, such as "2.1" or ">=1.7,<2"',
        ),
        ('target-torch = ">=2,<1"', 'target-torch: no version lies within ">=2,<1"'),
        ('target-torch = "<2.1,>2.1.5"', 'target-torch: no version lies within "<2.1,>2.1.5"'),
    ],
)
def test_what_the_file_must_not_say(write, text: str, message: str) -> None:
    root = write({"torchrepro-lint.toml": text, "pyproject.toml": f"[tool.torchrepro-lint]\n{text}\n"})
    with pytest.raises(TorchReproLintError) as error:
        load_settings(root)
    assert str(error.value) == f"{root / 'torchrepro-lint.toml'}: {message}"
    (root / "torchrepro-lint.toml").unlink()
    with pytest.raises(TorchReproLintError) as error:
        load_settings(root)
    assert str(error.value) == f"{root / 'pyproject.toml'}: tool.torchrepro-lint.{message}"


@pytest.mark.parametrize(
    "table",
    ["torchrepro-lint", "torchrepro_lint", "tool.torchrepro_lint", "tool.torchreprolint", "tool.TorchRepro-Linter"],
)
def test_settings_under_a_name_that_nobody_looks_for_are_said(write, table: str) -> None:
    root = write({"pyproject.toml": f"[project]\nname = 'torchrepro-lint'\n[{table}]\nseed = 1\n"})
    with pytest.raises(TorchReproLintError) as error:
        load_settings(root)
    assert str(error.value) == f"{root}/pyproject.toml: {table}: settings belong in [tool.torchrepro-lint]"


def test_the_own_file_has_no_table(write) -> None:
    root = write({"torchrepro-lint.toml": "[tool.torchrepro-lint]\nseed = 1\n"})
    with pytest.raises(TorchReproLintError, match=r"without the table \[tool.torchrepro-lint\]"):
        load_settings(root)


@pytest.mark.parametrize("data", [b"seed = ", b"\xff", b"[tool]\ntorchrepro-lint = 1"])
def test_what_is_no_table_is_one_line(write, data: bytes) -> None:
    root = write({"pyproject.toml": b"# torchrepro-lint\n" + data})
    with pytest.raises(TorchReproLintError) as error:
        load_settings(root)
    assert "pyproject.toml: " in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.8", "==1.8.*"),
        ("2", "==2.*"),
        ("1.8.*", "==1.8.*"),
        ("1.8.1", "==1.8.1"),
        ("1.10.0+cu113", "==1.10.0"),
        ("==1.10.0+cu113", "==1.10.0"),
        ("2.0.0rc1", "==2.0.0rc1"),
        ("~=1.8", "~=1.8"),
        ("", ""),
    ],
)
def test_specifiers(text: str, expected: str) -> None:
    assert normalised_specifier(text) == expected


def test_the_command_line_stands_over_the_file() -> None:
    file = Settings(select=("TRL1",), extend_select=("TRL2",), ignore=("TRL101",), seed=3)
    assert file.overridden({}) == file
    added = file.overridden({"ignore": ("TRL102",), "profile": "strict", "target_torch": "1.8"})
    assert (added.select, added.ignore) == (("TRL1",), ("TRL101", "TRL102"))
    assert (added.profile, added.target_torch, added.seed) == ("strict", "==1.8.*", 3)
    chosen = file.overridden({"select": ("TRL101",)})
    assert (chosen.select, chosen.extend_select, chosen.ignore) == (("TRL101",), (), ())
    with pytest.raises(TorchReproLintError, match="--target-torch"):
        file.overridden({"target_torch": "x"})


def test_the_default_excludes_hold_what_nobody_wants_linted() -> None:
    assert {".git", ".venv", "build", "node_modules", "site-packages", "__pycache__"} <= set(DEFAULT_EXCLUDE)


@pytest.mark.parametrize(
    "text", [">1.7,<1.8", "==1.8.*,>1.8.5", "~=2.1", "<1", ">=2.1,!=2.1.0", "<2,>1.13.1", "===2.1"]
)
def test_a_narrow_range_of_versions_is_no_empty_one(text: str) -> None:
    assert Settings().overridden({"target_torch": text}).target_torch
