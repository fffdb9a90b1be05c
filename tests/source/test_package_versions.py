"""The versions of a library that the files of a project name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.source.package_versions import declared_versions, is_declared, surely_in, versions_in


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("requirements.txt", "imgaug==0.4.0\n", ("==0.4.0",)),
        ("requirements.txt", "imgaug >= 0.2, < 0.5 ; python_version > '3'\n", (">=0.2,<0.5",)),
        ("requirements.txt", "# imgaug==0.2\nnot-imgaug==0.1\nimgaug-extra==3\n", ()),
        ("requirements.txt", "imgaug\n", ()),
        ("requirements.txt", "imgaug[all]~=0.4.0\n", (">=0.4.0,<0.5",)),
        ("requirements/train.txt", "IMGAUG==0.3\n", ("==0.3",)),
        ("setup.py", "setup(install_requires=['torch', 'imgaug>=0.4'])\n", (">=0.4",)),
        ("setup.cfg", "[options]\ninstall_requires =\n    imgaug<0.4\n", ("<0.4",)),
        ("pyproject.toml", '[project]\ndependencies = ["imgaug>=0.4,!=0.4.1"]\n', (">=0.4,!=0.4.1",)),
        ("pyproject.toml", '[tool.poetry.dependencies]\nimgaug = "^0.4.0"\n', (">=0.4.0,<0.5",)),
        ("pyproject.toml", '[tool.poetry.dependencies]\nimgaug = "~1.2"\n', (">=1.2,<2",)),
        ("poetry.lock", '[[package]]\nname = "imgaug"\nversion = "0.4.0"\n', ("==0.4.0",)),
        ("environment.yml", "dependencies:\n  - imgaug=0.4.0=py_1\n", ("==0.4.0",)),
        ("Dockerfile", "RUN pip install --no-cache imgaug==0.2.9 torch\n", ("==0.2.9",)),
        ("README.md", "pip install imgaug==0.2.9\n", ()),
    ],
)
def test_files(write, file: str, text: str, expected: tuple[str, ...]) -> None:
    assert declared_versions(write({file: text}), "imgaug") == expected


def test_several_files_give_several_specifiers(write) -> None:
    root = write({"requirements.txt": "imgaug>=0.2\n", "requirements-dev.txt": "imgaug==0.4.0\n"})
    assert set(declared_versions(root, "imgaug")) == {">=0.2", "==0.4.0"}


def test_names_are_compared_as_packages_are(write) -> None:
    root = write({"requirements.txt": "OpenCV_Python==4.1\n"})
    assert declared_versions(root, "opencv-python") == ("==4.1",)
    assert is_declared(root, "opencv-python")
    assert not is_declared(root, "opencv")


@pytest.mark.parametrize(
    ("text", "surely"),
    [
        ("imgaug==0.2.9\n", True),
        ("imgaug>=0.1,<0.3\n", True),
        ("imgaug>=0.1\n", False),
        ("imgaug<=0.3\n", False),
        ("imgaug>0.2.9,<0.5\n", False),
        ("imgaug\n", False),
        ("torch==0.2\n", False),
    ],
)
def test_every_version_that_is_admitted_counts(write, text: str, surely: bool) -> None:
    assert surely_in(write({"requirements.txt": text}), "imgaug", "<0.3") is surely


@given(st.lists(st.integers(0, 30), min_size=1, max_size=3), st.sampled_from(["==", ">=", "<=", "<", ">", "!="]))
def test_a_plain_requirement_is_read_back(numbers: list[int], operator: str) -> None:
    specifier = operator + ".".join(map(str, numbers))
    assert versions_in(f"torch\nimgaug{specifier}\n", "imgaug") == [specifier]


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    for specifier in versions_in(text, "imgaug"):
        assert specifier[0] in "=<>!"


def test_nothing_there(tmp_path: Path) -> None:
    assert declared_versions(tmp_path, "imgaug") == ()
