"""What a file breaks in others is told to it: by the command, by flake8, by the cache, and as comments and baselines say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from programs import LOADER, PACKAGE

from torchrepro_lint.cli import main
from torchrepro_lint.commands.add_noqa import add_noqa
from torchrepro_lint.commands.check import CheckOptions
from torchrepro_lint.commands.write_baseline import write_baseline
from torchrepro_lint.engine import CacheChoice, RunOptions, check
from torchrepro_lint.report.at_steps import told_at_steps
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.settings import SettingsOverride

ONLY: SettingsOverride = {"select": ("TRL101", "TRL201", "TRL901")}
_FILES = {"torchrepro-lint.toml": "", **PACKAGE}
_DRAW = 5
_SILENT = PACKAGE["pkg/augment.py"].replace("np.random", "torch.random")


@pytest.fixture
def root(write, monkeypatch: pytest.MonkeyPatch) -> Path:
    made: Path = write({**_FILES, "pkg/loader.py": LOADER})
    monkeypatch.chdir(made)
    return made


def places(root: Path, *names: str) -> list[tuple[str, int, str]]:
    report = check([root / name for name in names], ONLY)
    return [(one.location.path.name, one.location.start.row, one.code) for one in report.elsewhere]


@pytest.mark.parametrize("name", ["pkg/augment.py", "pkg/dataset.py"])
def test_a_file_is_told_of_the_loader_in_another(root: Path, name: str) -> None:
    assert places(root, name) == [("loader.py", 7, "TRL101")]
    assert check([root / name], ONLY).findings == ()


def test_each_is_told_once(root: Path) -> None:
    assert places(root, "pkg/augment.py", "pkg/dataset.py") == [("loader.py", 7, "TRL101")]
    assert places(root, "pkg/augment.py", "pkg/loader.py") == []
    assert places(root, ".") == []


def test_a_file_that_the_proof_does_not_go_through_is_told_nothing(root: Path, write) -> None:
    write(
        {"pkg/other.py": "import numpy as np\n\nnoise = np.random.rand()\n", "pkg/use.py": "from pkg import loader\n"}
    )
    assert places(root, "pkg/other.py") == []
    assert places(root, "pkg/use.py") == []


def test_the_command_reports_it_at_its_own_place_and_fails(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # the second time from the cache
        assert main(["--select", "TRL101", "pkg/augment.py"]) == 1
        out = capsys.readouterr().out
        assert out.startswith("pkg/loader.py:7:12: TRL101 workers draw")
        assert "[*]" not in out
        assert out.endswith("Found 1 warning.\n")
    assert main(["--select", "TRL101", "--fix", "pkg/augment.py"]) == 1
    assert (root / "pkg/loader.py").read_text() == LOADER
    capsys.readouterr()
    assert main(["--select", "TRL101", "--output-format", "json", "pkg/augment.py"]) == 1
    (one,) = json.loads(capsys.readouterr().out)
    assert one["filename"].endswith("loader.py")


def test_a_stored_result_is_told_in_the_same_way(root: Path) -> None:
    run = RunOptions(cache=CacheChoice())
    made, stored = (check([root / "pkg/augment.py"], ONLY, run=run).elsewhere for _ in range(2))
    assert made == stored and len(made) == 1


@pytest.mark.parametrize("name", ["pkg/augment.py", "pkg/loader.py", "."])
@pytest.mark.parametrize("file", ["pkg/augment.py", "pkg/loader.py"])
def test_a_comment_counts_at_either_place(root: Path, file: str, name: str) -> None:
    mark = "np.random.rand" if "augment" in file else "DataLoader("
    path = root / file
    lines = path.read_text().splitlines()
    index = next(number for number, line in enumerate(lines) if mark in line and "import" not in line)
    lines[index] += "  # noqa: TRL101"
    path.write_text("\n".join(lines) + "\n")
    report = check([root / name], ONLY)
    assert [one.code for one in report.everything if one.code != "TRL201"] == []


def test_a_comment_that_names_no_rule_speaks_of_its_own_line_alone(root: Path) -> None:
    path = root / "pkg/augment.py"
    text = path.read_text().splitlines()
    text[_DRAW - 1] += "  # noqa"
    path.write_text("\n".join(text) + "\n")
    assert places(root, "pkg/augment.py") == [("loader.py", 7, "TRL101")]


def test_the_baseline_counts(root: Path, write) -> None:
    write({"torchrepro-lint.toml": "baseline = 'known.json'\n", "known.json": '{"version": 1, "findings": []}'})
    write_baseline(CheckOptions((root,)))
    assert places(root, "pkg/augment.py") == []
    assert check([root / "pkg/augment.py"], ONLY).known == 1


def test_a_baseline_of_one_file_has_what_it_breaks_elsewhere(root: Path, write) -> None:
    write({"torchrepro-lint.toml": "baseline = 'known.json'\n", "known.json": '{"version": 1, "findings": []}'})
    for name in ("pkg/augment.py", "pkg/augment.py", "pkg/dataset.py"):
        write_baseline(CheckOptions((root / name,)))
    assert places(root, "pkg/augment.py") == []
    assert check([root], ONLY).known == 1
    assert len(json.loads((root / "known.json").read_text())["findings"]) == 1


def test_a_comment_is_added_to_the_file_at_hand(root: Path) -> None:
    add_noqa(CheckOptions((root / "pkg/augment.py",), {"select": ("TRL101",)}))
    assert (root / "pkg/loader.py").read_text() == LOADER
    assert "# noqa: TRL101" in (root / "pkg/augment.py").read_text().splitlines()[_DRAW - 1]
    assert check([root / "pkg/augment.py"], ONLY).elsewhere == ()
    assert [one.code for one in check([root], ONLY).everything if one.code != "TRL201"] == []


def test_severity_and_per_file_ignores_are_those_of_its_place(root: Path, write) -> None:
    assert check([root / "pkg/augment.py"], {**ONLY, "min_severity": "error"}).elsewhere == ()
    write({"torchrepro-lint.toml": "[per-file-ignores]\n'pkg/loader.py' = ['TRL101', 'TRL201']\n"})
    assert places(root, "pkg/augment.py") == []


def test_it_is_told_at_the_last_step_in_a_file_at_hand(root: Path) -> None:
    files = [root / "pkg/dataset.py", root / "pkg/augment.py"]
    report = check(files, ONLY)
    (one,) = told_at_steps(report.elsewhere, files, Texts({}, root))
    assert (one.location.path.name, one.location.start.row) == ("augment.py", _DRAW)
    assert one.message.endswith(" (at pkg/loader.py:7:12)")
    assert one.trace[0].location == report.elsewhere[0].location


CLOCK = "import time\n\nSEED = int(time.time())\n"
SEEDING = "import torch\nfrom clock import SEED\n\ntorch.manual_seed(SEED)\nprint(torch.rand(2))\n"


def test_a_file_without_a_word_of_torch_has_its_finding_where_it_is_checked(write) -> None:
    root = write({"torchrepro-lint.toml": "", "clock.py": CLOCK, "train.py": SEEDING})
    for run in (
        RunOptions(),
        RunOptions(cache=CacheChoice(root / "cache")),
        RunOptions(cache=CacheChoice(root / "cache")),
    ):
        report = check([root], {"select": ("TRL503",)}, run=run)
        (found,) = report.findings
        assert (found.location.path.name, found.location.start.row) == ("clock.py", 3)
        assert report.elsewhere == () and found.fix is not None
    write({"clock.py": CLOCK.rstrip() + "  # noqa: TRL503\n"})
    assert check([root], {"select": ("TRL503", "TRL901")}).findings == ()


@pytest.mark.parametrize(
    ("rule", "helper", "data", "first", "second"),
    [
        ("TRL502", "torch.manual_seed(seed)", "np.random.rand(3)", "seed_all(3)", "noise = noise()"),
        ("TRL504", "torch.manual_seed(seed)", "torch.rand(3)", "noise = noise()", "seed_all(3)"),
    ],
)
def test_the_file_that_draws_is_told_of_the_seed_in_one_beside_it(
    write, rule: str, helper: str, data: str, first: str, second: str
) -> None:
    imports = "from data import noise\nfrom helper import seed_all\n"
    root = write(
        {
            "torchrepro-lint.toml": "",
            "helper.py": f"import torch\n\n\ndef seed_all(seed):\n    {helper}\n",
            "data.py": f"import numpy as np\nimport torch\n\n\ndef noise():\n    return {data}\n",
            "train.py": f"import torch\n{imports}\n{first}\n{second}\nnet = torch.nn.Linear(3, 3)\n"
            "net(noise).sum().backward()\ntorch.optim.SGD(net.parameters()).step()\n",
        }
    )
    (found,) = check([root], {"select": (rule,)}).findings
    for name in ("helper.py", "data.py", "train.py"):
        report = check([root / name], {"select": (rule,)})
        assert [one.location for one in (*report.findings, *report.elsewhere)] == [found.location]
    unused = root / "other.py"
    unused.write_text("import helper\n")
    assert check([unused], {"select": (rule,)}).elsewhere == ()
