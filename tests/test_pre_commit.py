"""The hooks, run by the real pre-commit on a repository of their own. Nothing is fetched: the entries of the hook file
are run by the Python that runs the tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from notebooks import notebook
from programs import LOADER, PACKAGE

PROJECT = Path(__file__).resolve().parents[1]
HOOKS = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())


def local_config(*ids: str) -> str:
    """A configuration with the hooks as the hook file has them, but for the place that the command comes from."""
    hooks = []
    for hook in HOOKS:
        command, *rest = hook["entry"].split()
        assert (command, hook["language"]) == ("torchrepro-lint", "python")
        entry = " ".join([f'"{sys.executable}"', "-m", "torchrepro_lint", *rest])
        if hook["id"] in ids:
            hooks.append({**hook, "language": "system", "entry": entry})
    assert len(hooks) == len(ids)
    return json.dumps({"repos": [{"repo": "local", "hooks": hooks}]})


class Repository:
    """A git repository with all modules of the package committed, but for the loader."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))},
            "PYTHONPATH": str(PROJECT),
            "PRE_COMMIT_HOME": str(root / ".git" / "pre-commit-home"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "NO_COLOR": "1",
        }
        self.git("init", "-q")
        self.git("config", "user.name", "somebody")
        self.git("config", "user.email", "somebody@example.org")

    def git(self, *arguments: str) -> str:
        return self.run("git", *arguments, check=True).stdout

    def hook(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "pre_commit", "run", "--color", "never", *arguments)

    def run(self, *command: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.root, env=self.environment, capture_output=True, text=True, check=check, timeout=600
        )


@pytest.fixture
def repository(write) -> Repository:
    # A second loader with the same fault is committed before: it is nothing that this commit brings.
    committed = {**PACKAGE, "pkg/old.py": LOADER, ".pre-commit-config.yaml": local_config("torchrepro-lint")}
    del committed["pkg/loader.py"]
    repository = Repository(write(committed))
    repository.git("add", ".")
    repository.git("commit", "-q", "-m", "the data set")
    write({"pkg/loader.py": LOADER})
    repository.git("add", "pkg/loader.py")
    return repository


def test_a_staged_file_is_judged_by_the_whole_project(repository: Repository) -> None:
    result = repository.hook()
    assert result.returncode == 1
    assert "pkg/loader.py:7:12: TRL101 " in result.stdout
    # The proof leads through the modules that were committed before.
    assert "pkg/dataset.py:13:5: " in result.stdout
    assert "pkg/augment.py:5:20: " in result.stdout
    assert "pkg/old.py:7:12" not in result.stdout


def test_a_clean_file_passes(repository: Repository, write) -> None:
    write({"pkg/loader.py": LOADER.replace("num_workers=4", "num_workers=0")})
    repository.git("add", "pkg/loader.py")
    result = repository.hook()
    assert (result.returncode, result.stdout.count("Passed")) == (0, 1)


def test_all_files_are_judged_in_one_process(repository: Repository) -> None:
    result = repository.hook("--all-files")
    assert result.returncode == 1
    assert result.stdout.count("Found ") == 1
    for name in ("pkg/loader.py:7:12: TRL101", "pkg/old.py:7:12: TRL101"):
        assert name in result.stdout


def test_the_fixing_hook_mends_what_is_staged_and_then_passes(repository: Repository, write) -> None:
    settings = {"torchrepro-lint.toml": 'target-torch = "<1.9"\n'}
    write({".pre-commit-config.yaml": local_config("torchrepro-lint-fix"), **settings})
    repository.git("add", ".pre-commit-config.yaml", *settings)
    first = repository.hook()
    assert first.returncode == 1
    assert "files were modified by this hook" in first.stdout
    mended = (repository.root / "pkg" / "loader.py").read_text()
    assert "worker_init_fn=seed_worker" in mended
    assert repository.git("status", "--porcelain", "pkg/old.py") == ""
    repository.git("add", "pkg/loader.py")
    assert repository.hook().returncode == 0
    assert (repository.root / "pkg" / "loader.py").read_text() == mended


def test_a_staged_file_that_the_settings_exclude_is_passed_over(repository: Repository, write) -> None:
    write({"pyproject.toml": "[tool.torchrepro-lint]\nextend-exclude = ['pkg/loader.py']\n"})
    repository.git("add", "pyproject.toml")
    assert repository.hook().returncode == 0


def test_a_staged_notebook_is_judged(repository: Repository, write) -> None:
    write({"notebooks/a.ipynb": notebook("import sys\nsys.path.insert(0, '..')", LOADER, "build_loader(None)")})
    repository.git("add", "notebooks")
    result = repository.hook()
    assert result.returncode == 1
    assert "notebooks/a.ipynb:cell 2:7:12: TRL101 " in result.stdout


def test_the_hook_file_says_what_pre_commit_needs() -> None:
    from pre_commit.clientlib import load_manifest

    hooks = {hook["id"]: hook for hook in load_manifest(str(PROJECT / ".pre-commit-hooks.yaml"))}
    assert {name: hook["entry"] for name, hook in hooks.items()} == {
        "torchrepro-lint": "torchrepro-lint --force-exclude",
        "torchrepro-lint-fix": "torchrepro-lint --force-exclude --fix",
    }
    for hook in hooks.values():
        assert (hook["language"], hook["types_or"], hook["require_serial"]) == (
            "python",
            ["python", "jupyter"],
            True,
        )


def test_a_commit_is_told_what_it_breaks_in_a_file_that_it_leaves_alone(repository: Repository, write) -> None:
    write({"pkg/augment.py": "import numpy as np\n\n\ndef jitter(image):\n    return image * np.float32(2)\n"})
    repository.git("add", ".")
    repository.git("commit", "-q", "--no-verify", "-m", "nothing is random")
    write({"pkg/augment.py": PACKAGE["pkg/augment.py"]})
    repository.git("add", "pkg/augment.py")
    result = repository.hook()
    assert result.returncode == 1
    assert "pkg/loader.py:7:12: TRL101 " in result.stdout
