"""Names, settings and code of a repository that hold control characters: nothing that is printed holds one, and no line
begins as one of them would have it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torchrepro_lint.cli import main
from torchrepro_lint.report.documents import link

NASTY = "a\x1b[31m\n::error::\u202e"
TRAIN = """\
import os
import torch
from torch.utils.data import DataLoader, random_split
from data import Items
g = torch.Generator()
print(torch.rand(2, generator=g), "\x1b[31m")
def main(folder="\x1b[31m\u202e"):
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    return DataLoader(Items(sorted(os.listdir(folder))), shuffle=True, num_workers=2)
main()
"""
DATA = """\
import numpy as np
from torch.utils.data import Dataset
class Items(Dataset):
    def __init__(self, items): self.items = items
    def __getitem__(self, index): return np.random.rand(), "\x1b[31m"
"""


@pytest.fixture
def nasty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which all that a stranger names is named so: its folder, files, patterns and requirements."""
    root = tmp_path / f"{NASTY} project"
    root.mkdir()
    (root / "pyproject.toml").write_text(f"[project]\nname = {json.dumps(NASTY)}\n")
    (root / f"{NASTY}.toml").write_text("")
    (root / "torchrepro-lint.toml").write_text(
        f'exclude = [{json.dumps(f"{NASTY}/*")}]\nextend = {json.dumps(f"{NASTY}.toml")}\nprofile = "strict"\n'
    )
    (root / "requirements.txt").write_text(f"torch==1.8+{NASTY}\n-r {NASTY}.txt\n")
    (root / f"{NASTY}.txt").write_text("torch>=1.7\n")
    (root / "uv.lock").symlink_to("/dev/zero")
    (root / f"{NASTY}.py").write_text(TRAIN)
    (root / "data.py").write_text(DATA)
    (root / f"broken {NASTY}.py").write_text("import torch\ndef (:\n")
    outside = tmp_path / f"{NASTY} outside.py"
    outside.write_text("import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n")
    (root / f"link {NASTY}.py").symlink_to(outside)
    monkeypatch.chdir(root)
    return root


def held(text: str) -> set[str]:
    """The control characters of a text, except line ends and tabs, and the lines that are commands of a workflow."""
    lines = text.split("\n")
    return {one for line in lines for one in line if not one.isprintable() and one != "\t"} | {
        line for line in lines if line.startswith("::")
    }


RUNS = {
    "a check": ["--output-format", "full"],
    "one line for each finding": ["--output-format", "concise"],
    "each file": ["--output-format", "grouped"],
    "pylint": ["--output-format", "pylint"],
    "counts": ["--statistics", "-v"],
    "fixes": ["--fix", "--unsafe-fixes", "--show-fixes", "-v"],
    "files": ["--show-files"],
    "settings": ["--show-settings"],
    "comments": ["--add-noqa"],
    "a baseline": ["--write-baseline"],
    "a setting that is not known": ["--config", f'target-torch = {json.dumps(NASTY)}'],
    "a rule that is not known": ["--select", NASTY],
    "a path that is not there": [f"none {NASTY}.py"],
    "what a report says": ["report"],
    "what is removed": ["clean"],
}  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
def test_nothing_that_is_printed_holds_one(nasty: Path, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    if run == "what is removed":
        main(["-q"])
        capsys.readouterr()
    try:
        main([*RUNS[run], *([] if run in ("what a report says", "what is removed") else ["."])])
    except SystemExit as end:
        assert end.code in (0, 1, 2)
    said = capsys.readouterr()
    assert said.out or said.err
    assert held(said.out) | held(said.err) == set()


@pytest.mark.parametrize("file", [f"{NASTY}.py", "data.py"])
def test_nothing_that_is_explained_holds_one(nasty: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    for row in range(1, (nasty / file).read_text().count("\n") + 1):
        main(["explain", f"{file}:{row}"])
    said = capsys.readouterr()
    assert held(said.out) | held(said.err) == set()


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_no_text_of_a_report_is_a_link_of_its_own(nasty: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a line of code holds, among it the marks that the report puts around its links."""
    marks = [link("x", "javascript:alert(1)"), "\ue000x\ue001javascript:alert(1)\ue002"]
    for number, mark in enumerate(marks):
        text = f"import torch\ng = torch.Generator()  # {mark}\nprint(torch.rand(2, generator=g))\n"
        (nasty / f"marked{number}.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    main(["report", "--output-format", form, "."])
    said = capsys.readouterr().out
    assert "marked1.py" in said
    assert "](javascript:" not in said and 'href="javascript:' not in said
    assert held(said) == set()
