from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.settings import Settings
from torchrepro_lint.source import imported_folders
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.root import project_root


@pytest.mark.parametrize("marker", ["torchrepro-lint.toml", "pyproject.toml", "setup.py", "setup.cfg", ".git/HEAD"])
def test_markers(write, marker: str) -> None:
    root = write({f"p/{marker}": "", "p/src/pkg/__init__.py": "", "p/src/pkg/a.py": ""})
    assert project_root(root / "p" / "src" / "pkg" / "a.py") == root / "p"
    assert project_root(root / "p") == root / "p"


@pytest.mark.parametrize(
    ("files", "file", "expected"),
    [
        (["d/x.py"], "d/x.py", "d"),
        (["d/x.py", "d/pkg/__init__.py", "d/pkg/sub/__init__.py", "d/pkg/sub/a.py"], "d/pkg/sub/a.py", "d"),
        (["d/pkg/__init__.py", "d/pkg/a.py"], "d/pkg/a.py", "d"),
        (["d/pkg-main/__init__.py", "d/pkg-main/a.py"], "d/pkg-main/a.py", "d/pkg-main"),
        (["d/pkg-main/__init__.py", "d/pkg-main/sub/__init__.py"], "d/pkg-main/sub/__init__.py", "d/pkg-main"),
        (["d/x.py", "d/pkg-main/__init__.py", "d/pkg-main/a.py"], "d/pkg-main/a.py", "d/pkg-main"),
        (["d/main.py", "d/models/net.py"], "d/models/net.py", "d/models"),
        (["d/main.py", "d/models/deep/net.py"], "d/models/deep/net.py", "d/models/deep"),
        (["d/data/x.py", "d/lib/y.py"], "d/data/x.py", "d/data"),
    ],
)
def test_without_markers_the_modules_show_it(write, files: list[str], file: str, expected: str) -> None:
    root = write(dict.fromkeys(files, ""))
    assert project_root(root / file) == root / expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"d/main.py": "from models.net import Net", "d/models/net.py": ""}, "d"),
        ({"d/main.py": "import models.net as net", "d/models/net.py": ""}, "d"),
        ({"d/main.py": "from .models import net", "d/models/net.py": ""}, "d"),
        ({"d/main.py": "from . import models", "d/models/net.py": ""}, "d"),
        ({"d/options.py": "", "d/models/net.py": "import options"}, "d"),
        ({"d/lib/tools.py": "", "d/models/net.py": "from lib.tools import x"}, "d"),
        ({"d/main.py": "import torch", "d/models/net.py": "import torch"}, "d/models"),
        ({"d/main.py": "from net import Net", "d/models/net.py": "import net2", "d/models/net2.py": ""}, "d/models"),
        ({"d/data/x.csv": "", "d/models/net.py": "import data"}, "d/models"),
        ({"d/tools.py": "", "d/models/net.py": "import tools", "d/models/tools.py": ""}, "d/models"),
    ],
)
def test_modules_right_above_are_of_the_program_if_imports_join_them(write, files, expected: str) -> None:
    root = write(files)
    assert project_root(root / "d/models/net.py") == root / expected


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ("from pkg.data.sets import Digits", "d/pkg"),
        ("import os, pkg.data.sets as sets", "d/pkg"),
        ("from ..data import sets", "d/pkg"),
        ("from ..data.sets import Digits", "d/pkg"),
        ("from ...pkg.data import sets", "d"),
        ("from .. import data", "d/pkg"),
        ("from ... import pkg", "d"),
        ("from pkg import data", "d/pkg"),
        ("from pkg import (\n    data as sets,  # what to learn, from\n)", "d/pkg"),
        ("from pkg import other", "d/pkg/training"),
        ("from .. import other", "d/pkg/training"),
        ("from pkg.other import Digits", "d/pkg/training"),  # that is something else: a library of the name
        ("import pkg", "d/pkg/training"),
        ("from .loop import fit", "d/pkg/training"),
        ("from torch.utils import data", "d/pkg/training"),
        ("from training.loop import fit", "d/pkg/training"),
        ("from loop import fit", "d/pkg/training"),
    ],
)
@pytest.mark.parametrize("asked", ["d/pkg/training/train.py", "d/pkg/training/loop.py"])
def test_imports_show_how_far_a_namespace_package_goes(write, imports: str, expected: str, asked: str) -> None:
    files = {"d/pkg/training/train.py": imports, "d/pkg/training/loop.py": "", "d/pkg/data/sets.py": ""}
    root = write(files)
    assert project_root(root / asked) == root / expected
    if expected != "d/pkg/training":  # and of those that import nothing themselves
        assert project_root(root / "d/pkg/data/sets.py") == root / expected
        assert len(Projects({}).of(root / asked).files) == 3


def test_a_nearer_module_of_that_name_is_meant(write) -> None:
    root = write({"d/pkg/a/train.py": "from pkg.data import x", "d/pkg/a/pkg/data.py": "", "d/pkg/data/x.py": ""})
    assert project_root(root / "d/pkg/a/train.py") == root / "d/pkg/a"


def test_a_namespace_package_that_a_project_leaves_out(write) -> None:
    root = write(
        {
            "pyproject.toml": '[tool.torchrepro-lint]\nextend-exclude = ["examples"]\n',
            "main.py": "",
            "examples/runs/train.py": "from examples.data.sets import Digits",
            "examples/data/sets.py": "",
        }
    )
    project = Projects({}).of(root / "examples/runs/train.py")
    assert project.root == root / "examples"
    assert sorted(project.files) == [root / "examples/data/sets.py", root / "examples/runs/train.py"]


def test_each_module_is_asked_once_what_it_imports(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({f"d/f{number}/m.py": "import torch" for number in range(20)})
    asked: list[Path] = []
    monkeypatch.setattr(imported_folders, "_imported", lambda file: asked.append(file) or [])
    projects = Projects({})
    assert len({projects.of(root / f"d/f{number}/m.py").root for number in range(20)}) == 20
    assert len(asked) == len(set(asked)) == 20


def test_the_home_folder_is_not_a_project(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"a.py": "", "d/x.py": "", "__init__.py": ""})
    monkeypatch.setattr(Path, "home", lambda: root)
    assert project_root(root / "d" / "x.py") == root / "d"
    assert project_root(root / "a.py") == root


@pytest.mark.parametrize("marker", [".git/HEAD", "setup.py", "pyproject.toml"])
@pytest.mark.parametrize(("repositories", "root"), [(2, "code"), (3, "code/scratch")])
def test_a_folder_of_projects_is_not_a_project(write, repositories: int, root: str, marker: str) -> None:
    clones = {f"code/repo{number}/{marker}": "" for number in range(repositories)}
    files = {f"code/repo{number}/x.py": "" for number in range(repositories)}
    top = write(
        {
            **clones,
            **files,
            "code/notes.py": "import scratch.train",
            "code/pkg/__init__.py": "",
            "code/scratch/train.py": "",
        }
    )
    assert project_root(top / "code/scratch/train.py") == top / root
    projects = Projects({})
    notes = projects.of(top / "code/notes.py")
    assert (top / "code/repo0/x.py" in notes.files) == (repositories == 2)
    assert top / "code/pkg/__init__.py" in notes.files
    # Named, it stands for all that is in it.
    assert top / "code/repo0/x.py" in projects.files([top / "code"])


def test_a_project_may_hold_git_repositories(write) -> None:
    clones = {f"parts/repo{number}/.git/HEAD": "" for number in range(3)}
    top = write({**clones, "pyproject.toml": "", "train.py": "", "lib/data.py": "", "parts/repo0/x.py": ""})
    assert top / "lib/data.py" in Projects({}).of(top / "train.py").files


def test_what_a_project_leaves_out_is_a_program_of_its_own(write) -> None:
    root = write(
        {
            "pyproject.toml": '[tool.torchrepro-lint]\nextend-exclude = ["examples"]\nseed = 3\n',
            "requirements.txt": "torch==1.8.0\n",
            "train.py": "",
            "examples/one/main.py": "import data.set",
            "examples/one/data/set.py": "",
            "examples/two/main.py": "",
            "examples/two/requirements.txt": "torch==2.1.0\n",
        }
    )
    projects = Projects({})
    whole = projects.of(root / "train.py")
    assert (whole.root, whole.files) == (root, (root / "train.py",))
    one = projects.of(root / "examples" / "one" / "data" / "set.py")
    assert one.root == root / "examples" / "one"
    assert sorted(one.files) == [root / "examples/one/data/set.py", root / "examples/one/main.py"]
    assert (one.settings.seed, one.target.specifier) == (3, "==1.8.0")
    assert projects.of(root / "examples" / "two" / "main.py").target.specifier == "==2.1.0"
    assert projects.of(root / "examples" / "one" / "main.py") is one


def test_a_package_that_a_project_leaves_out_is_still_beside_the_others(write) -> None:
    root = write(
        {
            "pyproject.toml": '[tool.torchrepro-lint]\nextend-exclude = ["gen", "made.py"]\n',
            "train.py": "",
            "made.py": "",
            "gen/__init__.py": "",
            "gen/sub/a.py": "",
            "gen/sub/__init__.py": "",
        }
    )
    projects = Projects({})
    package = projects.of(root / "gen" / "sub" / "a.py")
    names = ["gen/__init__.py", "gen/sub/__init__.py", "gen/sub/a.py", "train.py"]
    assert (package.root, [path.relative_to(root).as_posix() for path in sorted(package.files)]) == (root, names)
    assert projects.of(root / "gen" / "__init__.py") is package
    assert projects.of(root / "made.py") is projects.of(root / "train.py")
    assert projects.of(root / "train.py").files == (root / "train.py",)


def test_the_command_line_reaches_the_project(write) -> None:
    root = write({"pyproject.toml": "[tool.torchrepro-lint]\nseed = 3\n", "a.py": ""})
    settings = Projects({"profile": "strict"}).of(root / "a.py").settings
    assert (settings.profile, settings.seed, Settings().profile) == ("strict", 3, "default")


def test_there_need_be_neither_a_home_nor_a_folder_for_temporary_files(write, monkeypatch) -> None:
    """A user without an entry in a container whose disk is read-only, and a disk that is full."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    def no_folder() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    root = write({"pyproject.toml": "", "a.py": ""})
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr("tempfile.gettempdir", no_folder)
    assert project_root(root / "a.py") == root
