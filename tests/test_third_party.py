"""Rules that other packages bring: tests/example_rules lies there as an installed package does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
EXAMPLE = PROJECT / "tests" / "example_rules"

PROGRAM = """\
import torch
from torch.nn.functional import dropout as drop


class Head(torch.nn.Module):
    def forward(self, x):
        x = drop(x, 0.5)
        x = drop(x, 0.5, True)
        x = drop(x, 0.5, training=self.training)
        x = drop(x, 0.5, **self.options)
        return helper(x, True)


def helper(x, on):
    return torch.nn.functional.dropout(x, p=0.5, training=on)
"""


def run(folder: Path, *arguments: str, packages: Path = EXAMPLE) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), str(packages)])}
    command = [sys.executable, "-m", "torchrepro_lint", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


@pytest.fixture
def project(write) -> Path:
    root: Path = write({"pyproject.toml": "", "model.py": PROGRAM})
    return root


def test_it_finds_across_functions_and_import_forms(project: Path) -> None:
    ran = run(project, "--output-format", "json")
    found = [(one["code"], one["location"]["row"]) for one in json.loads(ran.stdout)]
    assert {one["url"] for one in json.loads(ran.stdout)} == {None}  # no page of ours speaks of it
    assert found == [("TRL801", 7), ("TRL801", 8), ("TRL801", 15)]
    assert ran.returncode == 1


def test_it_is_selected_silenced_and_documented_like_any_other(project: Path) -> None:
    assert run(project, "--ignore", "dropout-always-on").returncode == 0
    assert run(project, "--select", "TRL8", "--statistics").stdout.startswith("3\tTRL801\t")
    assert "Finds calls of `torch.nn.functional.dropout`" in run(project, "rule", "TRL801").stdout
    assert "TRL801 dropout-always-on" in run(project, "rule").stdout
    (project / "model.py").write_text("x = 1  # noqa: TRL801\n")
    assert "TRL901" in run(project, "--output-format", "concise").stdout
    sarif = json.loads(run(project, "--output-format", "sarif").stdout)
    assert "TRL801" in [rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]]


def test_its_fix_is_made(project: Path) -> None:
    run(project, "--fix", "--unsafe-fixes")
    text = (project / "model.py").read_text()
    assert "x = drop(x, 0.5, training=self.training)\n        x = drop(x, 0.5, True)" in text


def test_without_the_package_nothing_is_found(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert run(project, packages=tmp_path_factory.mktemp("none")).returncode == 0


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("raise RuntimeError('x')", "the rule broken:R (broken-rules) cannot be loaded: x"),
        ("R = 1", "broken:R (broken-rules) is not a subclass of torchrepro_lint.api.Rule"),
        ("{rule}    name = 'a-b'\n    summary = 's'\n    code = 'ABC1'", "has no `code` of the form TRL8"),
        ("{rule}    name = 'a-b'\n    summary = 's'\n    code = 'TRL801'", "TRL801 is defined both by "),
    ],
)
def test_what_is_wrong_with_a_package_is_one_line(write, module: str, message: str) -> None:
    rule = (
        "from torchrepro_lint.api import Rule\n"
        "class R(Rule):\n    def findings(self, project):\n        return iter(())\n"
    )
    root = write(
        {
            "pyproject.toml": "",
            "model.py": PROGRAM,
            "packages/broken.py": module.replace("{rule}", rule),
            "packages/broken-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: broken-rules\nVersion: 1\n",
            "packages/broken-1.dist-info/entry_points.txt": "[torchrepro_lint.rules]\nz = broken:R\n",
        }
    )
    packages = Path(os.pathsep.join([str(root / "packages"), str(EXAMPLE)]))
    ran = run(root, "model.py", packages=packages)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1
