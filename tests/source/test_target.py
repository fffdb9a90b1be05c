from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.knowledge.torch_releases import torch_releases
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch, find_target

POETRY = """
[tool.poetry.dependencies]
torch = {}
"""

CASES = {
    "pyproject": ({"pyproject.toml": '[project]\ndependencies = ["numpy", "torch>=1.7,<2"]'}, "<2,>=1.7"),
    "extras": (
        {"pyproject.toml": '[project]\ndependencies = []\n[project.optional-dependencies]\nt = ["torch==1.9"]'},
        "==1.9",
    ),
    "own needs before extras": (
        {"pyproject.toml": '[project]\ndependencies = ["torch>=2"]\n[dependency-groups]\nt = ["torch==2.1.0"]'},
        ">=2",
    ),
    "markers are alternatives": (
        {
            "pyproject.toml": "[project]\ndependencies = "
            """["torch==1.8.0; python_version<'3.8'", "torch[opt]>=2 ; python_version>='3.8'"]"""
        },
        "==1.8.0 or >=2",
    ),
    "poetry caret": ({"pyproject.toml": POETRY.format('"^1.9"')}, "<2,>=1.9"),
    "poetry caret below one": ({"pyproject.toml": POETRY.format('"^0.4.1"')}, "<0.5,>=0.4.1"),
    "poetry tilde": ({"pyproject.toml": POETRY.format('"~1.9.1"')}, "<1.10,>=1.9.1"),
    "poetry table": ({"pyproject.toml": POETRY.format('{version = "2.1.0", source = "x"}')}, "==2.1.0"),
    "poetry group": ({"pyproject.toml": '[tool.poetry.group.ml.dependencies]\ntorch = ">=2.2"'}, ">=2.2"),
    "poetry any": ({"pyproject.toml": POETRY.format('"*"')}, None),
    "setup.cfg": ({"setup.cfg": "[options]\ninstall_requires =\n    numpy\n    torch >= 1.6\n"}, ">=1.6"),
    "setup.py": ({"setup.py": "R = ['numpy', 'torch>=1.5']\nsetup(install_requires=R)"}, ">=1.5"),
    "setup.py of python 2": ({"setup.py": "print 'x'\nsetup(install_requires=['torch==1.2.0'])"}, "==1.2.0"),
    "commands of the README": (
        {
            "README.md": "1. `conda install pytorch=1.6 torchvision=0.7 -c pytorch`\n\n    pip install torch===1.7.1+cu110 x"
        },
        "==1.6.* or ==1.7.1",
    ),
    "a command over two lines": (
        {"INSTALL.md": "pip install torchvision==0.13.1 \\\n    torch==1.12.1+cu113 -f https://x/torch_stable.html"},
        "==1.12.1",
    ),
    "the commands of a Makefile": (
        {
            "tools/Makefile": "all:\n\t# conda install torch==1.1\n\tconda install -y pytorch==1.12.0 torchvision -c pytorch\n"
        },
        "==1.12.0",
    ),
    "the commands of a script": (
        {"install.sh": "pip install torch==1.7.1 numpy\n", "README.md": "torch 1.9"},
        "==1.7.1",
    ),
    "the image of a container": (
        {"docker/Dockerfile": "FROM pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime\nRUN pip install numpy\n"},
        "==1.12.1",
    ),
    "requirements before a container": (
        {"Dockerfile": "FROM pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime\n", "requirements.txt": "torch==2.1.0\n"},
        "==2.1.0",
    ),
    "another image": ({"Dockerfile": "FROM python:3.8\n# pip install torch==1.2\n"}, None),
    "a command without a version": ({"README.md": "pip install torch torchvision==0.7\n\nWe used torch==1.2."}, None),
    "a list in the README": ({"README.md": "# Needs\n* Python3.6.9\n* pytorch1.2.0\n* numpy1.16.4\n"}, ">=1.2.0"),
    "a list with a limit": (
        {"README.md": "- Install PyTorch\n- PyTorch (>= 1.1.0) and torchvision (>= 0.2.1)"},
        ">=1.1.0",
    ),
    "a block of code": (
        {"README.md": "```\npython 3.6.4\npytorch 0.4.0 (or the branch for 0.3.1)\nvisdom\n```\n"},
        ">=0.4.0",
    ),
    "lines of packages": ({"README.md": "Python 3.7\nPyTorch: 1.7.1\nnumpy\n"}, ">=1.7.1"),
    "a line with a pin": ({"README.md": "```\ntorch==1.5.0\n```\n"}, "==1.5.0"),
    "a table": ({"README.md": "| package | version |\n|---|---|\n| PyTorch | 1.7.1 |\n"}, ">=1.7.1"),
    "a sentence that begins so": ({"README.md": "PyTorch 1.8 introduced it.\nPyTorch 2.0 is faster.\n"}, None),
    "a line of another package": ({"README.md": "torchvision 0.5\npytorch-lightning 1.2\n"}, None),
    "the one to install": ({"README.md": "Installing PyTorch 0.3.1, using pip or conda, is enough.\n"}, ">=0.3.1"),
    "the version that it is": (
        {"README.md": "The python version is 3.6.9. The PyTorch version is 1.2.0.\n"},
        ">=1.2.0",
    ),
    "a list with a link": ({"README.md": "1. [PyTorch](https://pytorch.org/) 1.6.0+\n2. numpy 1.20"}, ">=1.6.0"),
    "a link with a version": ({"README.md": "- [PyTorch >= 1.3](https://pytorch.org/)"}, ">=1.3"),
    "a list with a pin": ({"README.md": "- `torch==1.12.1` or `torch==1.12.1+cu116`"}, "==1.12.1"),
    "a version in a sentence": ({"README.md": "This is a PyTorch(0.4.1) implementation of it.\n"}, ">=0.4.1"),
    "a link with a version in no list": ({"README.md": "Needs  \n[PyTorch v0.4.0](http://pytorch.org/)\n"}, ">=0.4.0"),
    "a version of another package": ({"README.md": "See my-pytorch(0.4.1), and PyTorch (in 2.1 seconds)\n"}, None),
    "what a sentence was tested with": (
        {
            "README.md": "# Nets\nThis code has been tested with Python 3.6, PyTorch 1.2, Cuda 10.0 but may run with newer ones.\n"
        },
        ">=1.2",
    ),
    "the environment of the experiments": (
        {"README.md": "Our experiment environment is Python 3.6 & PyTorch 0.3.1. \n"},
        ">=0.3.1",
    ),
    "what a sentence runs with": ({"README.md": "+ All of it can be run with PyTorch v1.0 or higher\n"}, ">=1.0"),
    "the oldest that sentences name": (
        {"README.md": "Tested on PyTorch 1.4. The demo needs a GPU. The export uses PyTorch 1.10.\n"},
        ">=1.4",
    ),
    "a sentence about what is supported": ({"README.md": "The tests now support PyTorch 2.0.\n"}, None),
    "a sentence about what came when": ({"README.md": "Implemented again, since PyTorch 1.5 changed it.\n"}, None),
    "a sentence about an upper limit": ({"README.md": "The code runs with PyTorch 0.4 or below.\n"}, None),
    "a sentence about a page": ({"README.md": "We use pytorch.org/docs/1.2 and my-pytorch 1.3\n"}, None),
    "a list with both limits": ({"README.md": "1. 1.1.0 =< PyTorch < 1.5.0\n2. cuda=9.0\n"}, "<1.5.0,>=1.1.0"),
    "a list with an upper limit": ({"README.md": "- numpy\n- `torch` <= 1.4.0\n"}, "<=1.4.0"),
    "a list with both limits behind": ({"README.md": "* PyTorch (>= 1.2, < 1.6)\n"}, "<1.6,>=1.2"),
    "a list of a speed below a version": ({"README.md": "PyTorch < 1.5 is slower.\n"}, None),
    "a list in bold": ({"README.md": "- **PyTorch**: 2.7.1"}, ">=2.7.1"),
    "a list of several versions": ({"README.md": "- PyTorch 1.0/1.1\n"}, None),
    "a list of what came when": ({"README.md": "* PyTorch 2.6 & Python 3.13 work\n- [ ] try PyTorch 2.0\n"}, ">=2.6"),
    "a list of other packages": (
        {"README.md": "- pytorch-lightning==2.0.2\n- torchvision 0.5.0\n- gpytorch 1.5"},
        None,
    ),
    "commands before a list": ({"README.md": "- PyTorch 1.2\n\npip install torch==1.7.1"}, "==1.7.1"),
    "requirements before the README": (
        {"README.md": "pip install torch==1.2.0", "requirements.txt": "torch>=2.1"},
        ">=2.1",
    ),
    "setup.py names the module": ({"setup.py": "__import__('torch')"}, None),
    "requirements": ({"requirements.txt": "# torch==1.0\nnumpy\ntorch==1.10.0+cu113  # cuda\n"}, "==1.10.0"),
    "hashes": ({"requirements.txt": "torch==1.8.1 \\\n    --hash=sha256:aa"}, "==1.8.1"),
    "utf-16": ({"requirements.txt": "torch==1.8.1\r\n".encode("utf-16")}, "==1.8.1"),
    "wheel": ({"requirements.txt": "https://x.org/whl/cu113/torch-1.11.0%2Bcu113-cp39.whl"}, "==1.11.0"),
    "direct reference": ({"requirements.txt": "torch @ https://x.org/torch-1.11.0-cp39.whl"}, "==1.11.0"),
    "included": ({"requirements.txt": "-r more/base.txt", "more/base.txt": "torch<1.9\n-r base.txt"}, "<1.9"),
    "requirements folder": ({"requirements/train.txt": "torch~=1.8"}, "~=1.8"),
    "another requirements file": ({"dev-requirements.txt": "torch<2"}, "<2"),
    "other packages": ({"requirements.txt": "timm==0.9\ntorch-scatter>=2\ntorch_geometric==2"}, None),
    "no version": ({"requirements.txt": "torch\n"}, None),
    "not a version": ({"requirements.txt": "torch==${VERSION}\n"}, None),
    "conda": ({"environment.yml": "dependencies:\n  - python=3.8\n  - pytorch=1.10\n"}, "==1.10.*"),
    "conda channel of the name": (
        {"environment.yml": "channels:\n  - pytorch\ndependencies:\n  - pytorch=1.10.2\n"},
        "==1.10.2",
    ),
    "conda build": ({"environment.yml": "  - pytorch=1.9.0=py3.8_cuda11.1_0\n"}, "==1.9.0"),
    "conda exact build": ({"environment.yml": "  - pytorch==1.9.0=py3.8_cuda11.1_0\n"}, "==1.9.0"),
    "conda channel": ({"environment.yaml": "  - pytorch::pytorch >=1.7\n"}, ">=1.7"),
    "conda pip section": ({"environment.yml": "  - pip:\n    - torch==1.8.0+cu111\n"}, "==1.8.0"),
    "uv.lock": ({"uv.lock": '[[package]]\nname = "torch"\nversion = "2.3.0+cpu"\n'}, "==2.3.0"),
    "poetry.lock": ({"poetry.lock": '[[package]]\nname = "torch"\nversion = "2.3.1"\n'}, "==2.3.1"),
    "Pipfile": ({"Pipfile": '[packages]\ntorch = ">=1.13"\n'}, ">=1.13"),
    "Pipfile.lock": ({"Pipfile.lock": '{"default": {"torch": {"version": "==1.13.1"}}}'}, "==1.13.1"),
    "lock before declaration": (
        {
            "uv.lock": '[[package]]\nname = "torch"\nversion = "2.3.0"\n',
            "pyproject.toml": '[project]\ndependencies = ["torch>=1.7"]',
        },
        "==2.3.0",
    ),
    "pin before declaration": (
        {"requirements.txt": "torch==1.8.0", "pyproject.toml": '[project]\ndependencies = ["torch>=1.7"]'},
        "==1.8.0",
    ),
    "declaration before loose requirements": (
        {"requirements.txt": "torch>=1.4", "setup.cfg": "[options]\ninstall_requires = torch>=1.7"},
        ">=1.7",
    ),
    "bare requirement does not hide a pin": (
        {"requirements.txt": "torch", "environment.yml": "- pytorch=1.8.1"},
        "==1.8.1",
    ),
    "broken files": (
        {"pyproject.toml": "[project", "uv.lock": "{", "Pipfile.lock": "[", "setup.cfg": "x", "setup.py": "torch"},
        None,
    ),
    "odd shapes": (
        {"pyproject.toml": "project = 1", "Pipfile.lock": "[]", "uv.lock": "package = [1]", "Pipfile": "packages = 2"},
        None,
    ),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES.keys())
def test_metadata(write, files, expected) -> None:
    target = find_target(write(files), Settings())
    assert target.specifier == expected
    assert target.known is (expected is not None)


def test_settings_win_and_the_origin_is_told(write) -> None:
    root = write({"requirements.txt": "torch==1.8.0"})
    assert find_target(root, Settings()).origin == "requirements.txt"
    assert find_target(root, Settings(target_torch=">=2")) == TargetTorch((">=2",), "target-torch", tried=(">=2",))


@pytest.mark.parametrize(
    ("alternatives", "below_1_9", "newest"),
    [
        ((), True, torch_releases()[-1]),
        (("==1.10.0",), False, "1.10.0"),
        ((">=1.7",), True, torch_releases()[-1]),
        ((">=1.9,<=2.0",), False, "2.0.0"),
        (("<2,>=1.9",), False, "1.13.1"),
        (("==1.8.*",), True, "1.8.2"),
        (("==1.8.0", ">=2"), True, torch_releases()[-1]),
        (("!=1.8.0,<1.9",), True, "1.8.2"),
        (("<1.0",), True, "0.4.1"),
        (("==99.1",), False, "99.1"),
        (("==1.9.0.dev20210401",), True, "1.9.0.dev20210401"),
        (("<0.1",), False, torch_releases()[-1]),
    ],
)
def test_what_a_specifier_stands_for(alternatives: tuple[str, ...], below_1_9: bool, newest: str) -> None:
    target = TargetTorch(alternatives)
    assert target.admits_below("1.9") is below_1_9
    assert target.newest() == newest


@pytest.mark.parametrize(
    ("target", "supports_1_5"),
    [
        (TargetTorch((">=1.4",), "setup.py"), True),
        (TargetTorch((">=1.4",), "python>=3.6", inferred=True), False),
        (TargetTorch(("==1.4.0",), "torchvision==0.5.0", inferred=True), True),
        (TargetTorch((">=1.6",), "setup.py"), False),
        (TargetTorch(), False),
    ],
)
def test_what_a_project_has_to_run_with(target: TargetTorch, supports_1_5: bool) -> None:
    assert target.supports_below("1.6") is supports_1_5


@pytest.mark.parametrize(
    ("files", "is_run_below"),
    [
        ({"requirements.txt": "torch>=1.4\ntorchvision==0.8.2\n"}, True),
        ({"requirements.txt": "torch>=1.4\ntorchaudio==0.8.1\n"}, True),
        ({"requirements.txt": "torch>=1.4\ntorchvision>=0.8\n"}, False),
        ({"requirements.txt": "torch>=1.4\ntorchvision==0.20.1\n"}, False),
        ({"requirements.txt": "torch>=1.4.0"}, False),
        ({"environment.yml": "dependencies:\n- pytorch>=1.4.0\n"}, False),
        ({"setup.py": "setup(install_requires=['torch>1.4'])"}, False),
        ({"requirements.txt": "torch>=1.4,<2"}, True),
        ({"requirements.txt": "torch~=1.4"}, True),
        ({"requirements.txt": "torch==1.4.0"}, True),
        ({"requirements.txt": "torch>=1.9"}, False),
        ({"requirements.txt": "torch>=1.4.0", "README.md": "pip3 install torch==1.7.1+cu110 torchvision"}, True),
        ({"requirements.txt": "torch>=1.4.0", "README.md": "- PyTorch 1.7.1\n"}, True),
        ({"requirements.txt": "torch>=1.4.0", "README.md": "- PyTorch 1.12.1\n"}, False),
        ({"requirements.txt": "torch>=1.4.0", "Dockerfile": "FROM pytorch/pytorch:1.6.0-cuda10.1\n"}, True),
        ({"requirements.txt": "torch>=1.4.0", "Dockerfile": "FROM pytorch/pytorch:2.1.0-cuda12.1\n"}, False),
        ({"README.md": "Pytorch 1.0.1\n"}, True),
        ({}, False),
    ],
)
def test_a_lower_bound_alone_does_not_say_that_an_older_release_is_used(write, files, is_run_below: bool) -> None:
    assert find_target(write(files), Settings()).is_run_below("1.9") is is_run_below


def test_the_settings_say_which_release_is_used() -> None:
    assert find_target(Path(), Settings(target_torch=">=1.7")).is_run_below("1.9")


def test_the_releases_are_in_order() -> None:
    from packaging.version import Version

    versions = [Version(release) for release in torch_releases()]
    assert versions == sorted(set(versions))
    assert {"1.0.0", "1.8.1", "1.9.0", "2.0.0", "2.13.0"} <= set(torch_releases())
