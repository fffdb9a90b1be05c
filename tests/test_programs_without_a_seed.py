"""What is said of programs that do not show that they want to repeat, by each way of asking."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from torchrepro_lint.cli import main
from torchrepro_lint.commands.explain import explain
from torchrepro_lint.commands.report import report as report_command
from torchrepro_lint.engine import check
from torchrepro_lint.flake8_plugin import Plugin
from torchrepro_lint.settings import SettingsOverride

LOADER = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(16)), shuffle=True)
"""
LINE = "1 program seeds nothing for its run (train.py): --profile strict shows 1 finding about that."


@pytest.fixture
def project(write, monkeypatch: pytest.MonkeyPatch) -> Path:
    root: Path = write({"torchrepro-lint.toml": "", "train.py": LOADER})
    monkeypatch.chdir(root)
    return root


def codes(root: Path, override: SettingsOverride | None = None) -> list[str]:
    return [one.code for one in check([root], override).findings]


def overview(root: Path) -> str:
    written = root.parent / "report.md"
    assert report_command([str(root), "--output", str(written)]) == 0
    return written.read_text()


def test_the_run_ends_with_a_line_about_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # the second time from the cache
        assert main([]) == 0
        assert capsys.readouterr().out == f"Found no errors or warnings.\n{LINE}\n"
    assert main(["--profile", "strict", "--ignore", "TRL501"]) == 1
    assert "Found 1 warning.\n" in capsys.readouterr().out
    assert main(["--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    (project / "train.py").write_text("import torch\n")
    assert main([]) == 0
    assert capsys.readouterr().out == "All checks passed!\n"


@pytest.mark.parametrize("name", ["json", "json-lines", "gitlab", "junit", "rdjson"])
def test_formats_without_a_place_for_it_leave_it_to_standard_error(
    project: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--output-format", name]) == 0
    out, err = capsys.readouterr()
    assert "seeds nothing" not in out
    assert err == f"note: {LINE}\n"


def test_formats_with_a_place_for_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--output-format", "sarif"]) == 0
    out, err = capsys.readouterr()
    invocation = json.loads(out)["runs"][0]["invocations"][0]
    assert invocation["toolExecutionNotifications"] == [{"level": "note", "message": {"text": LINE}}]
    assert invocation["executionSuccessful"] is True
    assert main(["--output-format", "github"]) == 0
    assert capsys.readouterr().out == f"::notice title=torchrepro-lint::{LINE}\n"
    assert err == ""


def test_explain_says_why(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(["train.py:4"]) == 0
    why = "only the `strict` profile reports it, since 1 program seeds nothing for its run (train.py)."
    assert f"This finding is not reported: {why}" in capsys.readouterr().out


def test_a_rule_that_is_selected_by_itself_speaks(project: Path) -> None:
    assert codes(project) == []
    assert codes(project, {"extend_select": ("TRL201",)}) == ["TRL201"]
    assert codes(project, {"select": ("TRL2",)}) == ["TRL201"]


def test_a_comment_for_the_strict_profile_is_not_unused(project: Path) -> None:
    (project / "train.py").write_text(LOADER.rstrip() + "  # noqa: TRL201\n")
    report = check([project])
    assert (report.findings, report.left.findings) == ((), 0)


def test_only_errors_are_counted_where_only_errors_are_asked_for(project: Path) -> None:
    assert check([project], {"min_severity": "error"}).left.findings == 0


def test_tests_are_not_programs_without_a_seed(write) -> None:
    root = write({"torchrepro-lint.toml": "", "tests/test_data.py": LOADER})
    report = check([root])
    assert (report.findings, report.left.programs) == ((), ())
    assert codes(root, {"extend_select": ("TRL201",)}) == ["TRL201"]


def test_the_first_names_stand_for_all(
    write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write({"torchrepro-lint.toml": "", **{f"train{number}.py": LOADER for number in range(5)}})
    monkeypatch.chdir(root)
    main([])
    names = "train0.py, train1.py, train2.py and 2 more"
    assert f"5 programs seed nothing for their runs ({names}): --profile strict shows 5" in capsys.readouterr().out


def test_a_seed_that_an_import_sets_is_of_the_program(write) -> None:
    config = "import torch\n\ntorch.manual_seed(0)\n"
    root = write({"torchrepro-lint.toml": "", "config.py": config, "train.py": "import config\n" + LOADER})
    assert [one.code for one in check([root]).untold] == ["TRL201"]


LIBRARY_THAT_SEEDS = """\
import torch


class Generators:
    seeding = {}

    @classmethod
    def seed_all(cls, seed):
        for function in cls.seeding.values():
            function(seed)


def seed_torch(seed):
    torch.manual_seed(seed)


Generators.seeding["torch"] = seed_torch


def start(seed):
    Generators.seed_all(seed)
"""


TRAINING = """\
model = torch.nn.Linear(1, 1)
for _ in range(3):
    for (rows,) in loader:
        model(rows.float().view(-1, 1)).sum().backward()
"""


@pytest.mark.parametrize(
    ("program", "line", "found"),
    [
        ("examples/train.py", "", []),
        ("examples/train.py", "# The seed is the default.\n", ["TRL201"]),
        ("lib/train.py", "if __name__ == '__main__': print('starts')\n", ["TRL201"]),
    ],
)
def test_a_library_that_can_seed_says_nothing_of_who_only_imports_it(
    write, program: str, line: str, found: list[str]
) -> None:
    root = write(
        {
            "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "lib"\nversion = "1"\n',
            "lib/__init__.py": "from lib.generators import start\n",
            "lib/generators.py": LIBRARY_THAT_SEEDS,
            program: f"import lib\n{line}{LOADER}{TRAINING}",
        }
    )
    assert codes(root) == found


def test_one_loader_has_one_finding(write) -> None:
    text = (
        "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Noise(Dataset):\n    def __len__(self):\n        return 8\n\n"
        "    def __getitem__(self, index):\n        return np.random.rand()\n\n\n"
        "torch.manual_seed(0)\nloader = DataLoader(Noise(), shuffle=True, num_workers=2)\n"
    )
    root = write({"torchrepro-lint.toml": 'target-torch = ">=1.7"', "train.py": text})
    assert codes(root) == ["TRL101"]
    assert codes(root, {"extend_select": ("TRL201",)}) == ["TRL101"]
    assert codes(root, {"ignore": ("TRL101",), "extend_select": ("TRL201",)}) == ["TRL201"]
    # With an unknown torch, which may seed NumPy in the workers, a generator would be half of a mend.
    (root / "torchrepro-lint.toml").write_text("")
    assert codes(root) == []
    assert codes(root, {"profile": "strict"}) == ["TRL101", "TRL201"]


_SPLIT = """\
import random
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

files = sys.argv[1:]
data = TensorDataset(torch.arange(16))
{seed}
loader = DataLoader(data, shuffle=True)
"""


@pytest.mark.parametrize(
    ("seed", "found"),
    [
        ("random.seed(0)\nrandom.shuffle(files)", []),
        ("np.random.seed(0)\norder = np.random.permutation(16)", []),
        ("torch.manual_seed(0)\nfirst, second = random_split(data, [8, 8])", ["TRL201"]),
        ("net = torch.nn.Linear(1, 1)\ntorch.manual_seed(0)\nfirst, second = random_split(data, [8, 8])", []),
        ("def parts():\n    torch.manual_seed(0)\n    return random_split(data, [8, 8])\nfirst, second = parts()", []),
        ("random.seed(0)\nnp.random.seed(0)\nrandom.shuffle(files)", ["TRL201"]),
        ("random.seed(0)\nprint(files)\nrandom.shuffle(files)", ["TRL201"]),
        ("torch.manual_seed(int(sys.argv[1]))\nfirst, second = random_split(data, [8, 8])", ["TRL201"]),
        ("torch.manual_seed(0)\nlayer = torch.nn.Linear(2, 2)", ["TRL201"]),
        (
            "torch.manual_seed(0)\nfirst, second = random_split(data, [8, 8], generator=torch.Generator().manual_seed(1))",
            ["TRL201"],
        ),
    ],
)
def test_a_constant_right_before_one_draw_is_the_seed_of_that_draw(write, seed: str, found: list[str]) -> None:
    root = write({"torchrepro-lint.toml": "", "train.py": _SPLIT.format(seed=seed)})
    report = check([root], {"ignore": ("TRL502",)})
    assert [one.code for one in (*report.findings, *report.untold)] == found
    document = overview(root)
    seeds_nothing = "| seeds nothing for its run |" in document
    assert seeds_nothing is not bool(found)
    assert ("1 of 1 program seeds nothing" in document) is seeds_nothing
    assert ("| Random seeds are set | no |" in document) is seeds_nothing
    assert ("(not for the run)" in document) is seeds_nothing


def test_the_report_counts_the_programs_that_the_last_line_counts(write) -> None:
    quiet = "import torch\n\nprint(torch.ones(1))\n"
    helper = "from torch.utils.data import DataLoader\n\n\ndef load(data):\n    return DataLoader(data, shuffle=True)\n"
    root = write({"torchrepro-lint.toml": "", "train.py": LOADER, "show.py": quiet, "helper.py": helper})
    programs = [path.name for path in check([root]).left.programs]
    document = overview(root)
    assert programs == ["train.py"]
    assert "1 of 2 programs seeds nothing" in document
    assert document.count("| seeds nothing for its run |") == 1
    assert document.count("| seeds nothing for its run, and nothing was found that a seed would change |") == 1


_ORDER = """\
import os
import sys

from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, folder):
        {order}

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.names[index]


for batch in DataLoader(Images(sys.argv[1]), shuffle=False):
    print(batch)
"""


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("self.names = os.listdir(folder)", []),
        ("self.names = [name for name in set(open(folder).read().split())]", []),
        (
            "self.names = sorted(os.listdir(folder)); self.classes = {n: i for i, n in enumerate(os.listdir(folder))}",
            ["TRL207"],
        ),
        ("self.names = []; self.words = {w: i for i, w in enumerate(set(open(folder).read().split()))}", ["TRL208"]),
    ],
)
def test_numbers_of_classes_and_words_are_wrong_in_every_program_and_an_order_is_not(
    write, order: str, found: list[str]
) -> None:
    root = write({"torchrepro-lint.toml": "", "train.py": _ORDER.format(order=order)})
    assert codes(root) == found
    assert [one[:4] for one in codes(root, {"extend_select": ("TRL207", "TRL208")})] == ["TRL2"]


def test_flake8_says_nothing_of_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (project / "train.py").read_text()
    assert list(Plugin(ast.parse(text), str(project / "train.py"), text.splitlines(keepends=True)).run()) == []
    assert capsys.readouterr() == ("", "")
