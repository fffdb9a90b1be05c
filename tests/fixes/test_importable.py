"""A worker init function of another module is imported only where that works in every way to start the program."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from torchrepro_lint.fix_loop import fix

SEEDING = """
    import random

    import numpy as np
    import torch


    def set_seed(seed):
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)


    def seed_worker(worker_id):
        worker_seed = torch.initial_seed() % 2**32
        np.random.seed(worker_seed)
        random.seed(worker_seed)
    """

DATA = """
    import numpy as np
    from torch.utils.data import DataLoader, Dataset
    {imports}

    class Noise(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return np.random.rand()


    def loaders(generator):
        return DataLoader(Noise(), num_workers=2, generator=generator)
    """

TRAIN = """
    import torch
    {imports}

    def main():
        set_seed(7)
        generator = torch.Generator()
        generator.manual_seed(7)
        print(loaders(generator))


    if __name__ == "__main__":
        main()
    """

#: What a program needs of torch and NumPy to start: the imports are what is tested.
STAND_INS = {
    "numpy.py": "class random:\n    seed = rand = staticmethod(lambda *a: None)\n",
    "torch/__init__.py": "initial_seed = lambda: 0\nmanual_seed = lambda n: None\n"
    "class Generator:\n    manual_seed = lambda self, n: self\n",
    "torch/utils/__init__.py": "",
    "torch/utils/data.py": "class Dataset:\n    pass\nclass DataLoader:\n"
    "    def __init__(self, *a, worker_init_fn=None, **k):\n"
    "        if worker_init_fn is not None:\n            worker_init_fn(0)\n",
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")


def package(folder: str, train: str, data: str, *, inits: bool = False) -> dict[str, str]:
    """A program in `folder`, whose train.py and data.py import so."""
    files = {
        f"{folder}train.py": TRAIN.format(imports=train.replace("\n", "\n    ")),
        f"{folder}data.py": DATA.format(imports=data.replace("\n", "\n    ")),
        f"{folder}tools/reproducibility.py": SEEDING,
    }
    if inits:
        files |= {f"{folder}__init__.py": "", f"{folder}tools/__init__.py": ""}
    return files


BELOW = "from pkg.data import loaders\nfrom pkg.tools.reproducibility import set_seed\n"
BESIDE = "from data import loaders\nfrom tools.reproducibility import set_seed\n"
RELATIVE = "from .data import loaders\nfrom .tools.reproducibility import set_seed\n"
BOTH = """
    from pkg.data import loaders


    def test_loaders():
        assert loaders(None)
    """

TESTS = """
    from {module} import loaders


    def test_loaders():
        assert loaders(None)
    """
SCRIPTS = '[build-system]\nrequires = []\n[project]\nname = "pkg"\n[project.scripts]\ntrain = "pkg.train:main"\n'
IN_SRC = SCRIPTS + '[tool.pytest.ini_options]\npythonpath = ["src"]\n'

SCRIPT = "python pkg/train.py"
MODULE = "python -m pkg.train"
CONSOLE = "train"
PYTEST = "pytest"


def with_tests(files: dict[str, str], module: str, **more: str) -> dict[str, str]:
    """A program with a test of one of its modules."""
    return {**files, "tests/test_data.py": TESTS.format(module=module), **more}


@pytest.mark.parametrize(
    ("files", "starts", "imported"),
    [
        pytest.param(package("", BESIDE, ""), ["python train.py"], "from tools.reproducibility import", id="scripts"),
        pytest.param(
            with_tests(package("", BESIDE, ""), "data", **{"conftest.py": ""}), ["python train.py", PYTEST],
            "from tools.reproducibility import", id="scripts and tests",
        ),
        pytest.param(package("pkg/", BESIDE, ""), [SCRIPT], "from tools.reproducibility import", id="script in a folder"),
        pytest.param(
            package("pkg/", BESIDE, "", inits=True), [SCRIPT], "from tools.reproducibility import",
            id="script in a package",
        ),
        pytest.param(package("pkg/", BELOW, ""), [MODULE], "from pkg.tools.reproducibility import", id="namespace package"),
        pytest.param(
            {**package("pkg/", BELOW, ""), "pyproject.toml": SCRIPTS}, [MODULE, CONSOLE],
            "from pkg.tools.reproducibility import", id="namespace package, installed",
        ),
        pytest.param(
            package("pkg/", BELOW, "", inits=True), [MODULE], "from pkg.tools.reproducibility import", id="package"
        ),
        pytest.param(
            with_tests(package("pkg/", BELOW, "", inits=True), "pkg.data", **{"pyproject.toml": SCRIPTS, "conftest.py": ""}),
            [MODULE, CONSOLE, PYTEST], "from pkg.tools.reproducibility import", id="package, installed and tested",
        ),
        pytest.param(
            package("pkg/", RELATIVE, "from . import tools\n", inits=True),
            [MODULE], "from .tools.reproducibility import", id="relative",
        ),
        pytest.param(
            {**package("pkg/", RELATIVE, "from . import tools\n", inits=True), "pyproject.toml": SCRIPTS},
            [MODULE, CONSOLE], "from .tools.reproducibility import", id="relative, installed",
        ),
        pytest.param(package("pkg/", RELATIVE, "", inits=True), [MODULE], None, id="nothing shows how it imports"),
        pytest.param(
            {**package("pkg/", BESIDE, ""), "tests/test_data.py": BOTH}, [SCRIPT, "python -c 'import pkg.data'"], None,
            id="imported in two ways",
        ),
        pytest.param(
            package("src/pkg/", BELOW, "from pkg import tools\n", inits=True),
            [MODULE], "from pkg.tools.reproducibility import", id="src",
        ),
        pytest.param(
            with_tests(package("src/pkg/", BELOW, "", inits=True), "pkg.data", **{"pyproject.toml": IN_SRC}),
            [MODULE, CONSOLE, PYTEST], "from pkg.tools.reproducibility import", id="src, installed and tested",
        ),
        pytest.param(
            with_tests(package("src/pkg/", BELOW, ""), "pkg.data", **{"pyproject.toml": IN_SRC}),
            [MODULE, CONSOLE, PYTEST], "from pkg.tools.reproducibility import", id="src without __init__",
        ),
        pytest.param(
            {**package("src/pkg/", RELATIVE, "", inits=True), "pyproject.toml": IN_SRC}, [MODULE, CONSOLE], None,
            id="src, nothing shows how it imports",
        ),
    ],
)  # fmt: skip
def test_the_import_resolves_in_each_way_of_starting_the_program(
    tmp_path: Path, files: dict[str, str], starts: list[str], imported: str | None
) -> None:
    root = tmp_path / "project"
    write(root, {"pyproject.toml": "", **files})
    write(tmp_path / "stand_ins", STAND_INS)
    (tmp_path / "elsewhere").mkdir()
    for start in starts:
        assert started(start, root) == 0
    result = fix([root], {"target_torch": "==1.8.0", "select": ("TRL101",)})
    assert [finding.code for finding in result.fixed] == ["TRL101"], (result.report.findings, result.rejected)
    (data,) = (path for path in root.rglob("data.py"))
    text = data.read_text(encoding="utf-8")
    if imported is None:
        assert "def seed_worker(" in text
    else:
        assert imported in text
        assert "def seed_worker(" not in text
    for start in starts:
        assert started(start, root) == 0


def started(start: str, root: Path) -> int:
    """The exit status of the program when it is started so: an installed one from somewhere else."""
    home = root / "src" if (root / "src").is_dir() else root
    is_installed = start == CONSOLE or (home != root and start == MODULE)
    path = [str(root.parent / "stand_ins"), *([str(home)] if is_installed else [])]
    if start == CONSOLE:
        arguments = ["-c", "from pkg.train import main\nmain()"]
    elif start == PYTEST:
        arguments = [
            "-c",
            "import sys\nsys.path.remove('')\nfrom pytest import main\nsys.exit(main(['-q', '-p', 'no:cacheprovider', 'tests']))",
        ]
    else:
        arguments = shlex.split(start)[1:]
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=root.parent / "elsewhere" if start == CONSOLE else root,
        env={"PYTHONPATH": os.pathsep.join(path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    print(start, run.stdout, run.stderr)
    return run.returncode
