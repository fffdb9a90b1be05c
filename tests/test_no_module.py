"""Files for Python 2, templates and parts of files: whom a run names, and whom it only counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from torchrepro_lint.cli import main
from torchrepro_lint.diagnostics import LeftToStrict, Severity
from torchrepro_lint.engine import CacheChoice, RunOptions, check

OLD = "import torch\nprint torch.rand(2)\n"
TEMPLATE = "import torch\nfrom {{ cookiecutter.package }} import train\ntorch.manual_seed(0)\n"
PART = "# How to train.\n\n    model.eval()\n    torch.manual_seed(0)\n"
CELLS = "import torch\n!pip install timm\ntorch.manual_seed(0)\n"
SLIP = "import torch\ntorch.manual_seed(0\n"
#: A slip in what has nothing to do with torch, as a script of another framework beside the training.
ELSEWHERE = "import numpy as np\nimport tensorflow as tf\nx = np.random.rand(2) print(x)\n"
BLANK = "import torch\ntorch.manual_seed(0)\nroot =\nmodel = torch.load(root)\n"
TABS = "import torch\ntorch.manual_seed(0)\nif torch.rand(1) > 0:\n\tx = 1\n        y = 2\n"
#: Python takes this, and libcst does not. What is found there has no place for it.
ODD_TABS = "import torch\nif torch.rand(1) > 0:\n\tif 1:\n            g = torch.Generator()\n\tprint(torch.rand(2, generator=g))\n"
LEFT_OUT = "import torch\n\n\ndef train(\n    model,\n):\n    #{}\n\n\ntorch.manual_seed(0)\n"
UNFINISHED = "import torch\ntorch.manual_seed(0)\nfor epoch in range(3):\n    \n"
KINDS = {
    "a template": TEMPLATE,
    "a part": PART,
    "cells": CELLS,
    "no torch": ELSEWHERE,
    "the begin of a block": UNFINISHED,
    "tabs and spaces mixed": TABS,
    "a script of cells": "import torch\n#%%\ntorch.manual_seed(0)\n#%%\nprint(torch.rand(2)\n",
}
#: What its author knows, and whoever imports it.
OLDER = {
    "Python 2": OLD,
    "Python 3.6": "import torch\ntorch.rand(2).cuda(async=True)\n",
    "Python 3.10": "import torch\n\0\n",
    "a value left out": BLANK,
    "a block left out": LEFT_OUT.format(" TODO: your code here"),
}


def _root(write, files: dict[str, str]) -> Path:
    return write({"torchrepro-lint.toml": "", **files})


@pytest.mark.parametrize("text", [*KINDS.values(), *OLDER.values()], ids=[*KINDS, *OLDER])
def test_what_nothing_imports_is_only_counted(write, text: str) -> None:
    root = _root(write, {"other.py": text, "train.py": "import torch\ntorch.manual_seed(0)\n"})
    report = check([root])
    assert report.findings == ()
    assert report.left == LeftToStrict(unread=(root / "other.py",))
    (finding,) = check([root], {"profile": "strict"}).findings
    assert (finding.code, finding.severity) == ("TRL900", Severity.WARNING)
    assert [one.code for one in check([root], {"select": ("TRL900",)}).findings] == ["TRL900"]
    assert check([root], {"ignore": ("TRL900",)}).left == LeftToStrict()


def test_a_block_that_is_missing_is_a_slip_where_nothing_says_that_it_is_to_be_written(write) -> None:
    root = _root(write, {"train.py": LEFT_OUT.format(" as in the paper")})
    (finding,) = check([root]).findings
    assert (finding.code, finding.severity) == ("TRL900", Severity.ERROR)


def test_a_copy_that_no_file_can_import_is_only_counted(write) -> None:
    root = _root(write, {"train.bak.py": SLIP, "train.py": "import torch\ntorch.manual_seed(0)\n"})
    report = check([root])
    assert (report.findings, report.left) == ((), LeftToStrict(unread=(root / "train.bak.py",)))


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_what_is_named_or_imported_is_reported(write, text: str) -> None:
    root = _root(write, {"other.py": text, "train.py": "import torch\nimport other\ntorch.manual_seed(0)\n"})
    assert [one.code for one in check([root]).findings] == ["TRL900"]
    _alone_is_reported(write, text)


@pytest.mark.parametrize("text", OLDER.values(), ids=OLDER)
def test_what_is_for_an_older_python_is_reported_where_it_is_named(write, text: str) -> None:
    root = _root(write, {"other.py": text, "train.py": "import torch\nimport other\ntorch.manual_seed(0)\n"})
    assert check([root]).left.unread == (root / "other.py",)
    _alone_is_reported(write, text)


def test_what_python_reads_and_libcst_does_not_is_only_counted(write) -> None:
    root = _root(write, {"other.py": ODD_TABS, "train.py": "import torch\ntorch.manual_seed(0)\n"})
    report = check([root])
    assert (report.findings, report.left) == ((), LeftToStrict(unread=(root / "other.py",)))
    (finding,) = check([root], {"profile": "strict"}).findings
    assert (finding.code, finding.severity) == ("TRL900", Severity.WARNING)
    assert finding.message.startswith("this file cannot be read: Python reads it, but the parser libcst does not")
    _alone_is_reported(write, ODD_TABS)


def test_bytes_of_no_encoding_in_comments_are_only_counted(write) -> None:
    """Python imports such a file."""
    root = _root(write, {"other.py": "", "train.py": "import torch\nimport other\ntorch.manual_seed(0)\n"})
    (root / "other.py").write_bytes(b"import torch\n\nprint(torch.rand(2))  # \xb9\xe8\n")
    report = check([root])
    assert (report.findings, report.left) == ((), LeftToStrict(unread=(root / "other.py",)))
    (finding,) = check([root / "other.py"]).findings
    assert (finding.code, finding.severity) == ("TRL900", Severity.WARNING)


def _alone_is_reported(write, text: str) -> None:
    alone = _root(write, {"other.py": text, "train.py": "import torch\n"}) / "other.py"
    assert [one.code for one in check([alone]).findings] == ["TRL900"]
    assert [one.code for one in check([alone], overlay={alone: text}).findings] == ["TRL900"]


def test_an_importer_that_cannot_be_read_itself_relies_on_nothing(write) -> None:
    root = _root(write, {"other.py": OLD, "train.py": f"import other\n{OLD}"})
    assert check([root]).left.unread == (root / "other.py", root / "train.py")


@pytest.mark.parametrize("text", [SLIP, "import torch\n    torch.manual_seed(0)\n", "import torch\n<<<<<<< HEAD\n"])
def test_a_slip_is_reported_whoever_imports_it(write, text: str) -> None:
    (finding,) = check([_root(write, {"other.py": text})]).findings
    assert (finding.code, finding.severity) == ("TRL900", Severity.ERROR)


#: What a project says of how it is run, and whether a file with a slip in it is reported.
COMMANDS = {
    "nothing": ({}, True),
    "of no file": ({"README.md": "A network for images."}, True),
    "of this one": ({"run.sh": "python tools/other.py --epochs 3"}, True),
    "of its module": ({"README.md": "`python -m tools.other`"}, True),
    "of another one": ({"README.md": "Run `python train.py`."}, False),
    "of a file of others": ({"README.md": "Run `python setup_of_others.py` first."}, True),
}


@pytest.mark.parametrize(("texts", "is_told"), COMMANDS.values(), ids=COMMANDS)
def test_a_draft_beside_what_is_run_is_only_counted(write, texts: dict[str, str], is_told: bool, tmp_path) -> None:
    root = _root(write, {"tools/other.py": SLIP, "train.py": "import torch\ntorch.manual_seed(0)\n", **texts})
    run = RunOptions(cache=CacheChoice(tmp_path.parent / f"{tmp_path.name}-cache"))
    for _ in range(2):  # made, and taken from the cache
        assert [one.code for one in check([root], run=run).findings] == ["TRL900"] * is_told
    (root / "README.md").write_text("Run `python tools/other.py`, then `python train.py`.")
    assert [one.code for one in check([root], run=run).findings] == ["TRL900"]


#: Files beside one that cannot be read, which defines two classes, and whether it is reported.
_CLASSES = "import torch\nclass Gate(torch.nn.Module):\n    pass\n\nclass Cell(torch.nn.Module):\n    pass\n"
VERSIONS = {
    "another version": ({"cells/cell2.py": _CLASSES}, False),
    "a longer one": ({"cells/cell2.py": f"{_CLASSES}\ndef train():\n    pass\n"}, False),
    "in a package": ({"cells/cell2.py": _CLASSES, "cells/__init__.py": ""}, False),
    "of one class": ({"cells/cell2.py": "import torch\nclass Gate(torch.nn.Module):\n    pass\n"}, True),
    "in another folder": ({"other/cell2.py": _CLASSES}, True),
    "that cannot be read": ({"cells/cell2.py": f"{_CLASSES}\ntorch.rand(2\n"}, True),
    "that is not the one imported": ({"cells/cell2.py": _CLASSES, "cells/train.py": "import torch, cell\n"}, True),
    "that is not the one run": ({"cells/cell2.py": _CLASSES, "run.sh": "python cells/cell.py\n"}, True),
}


@pytest.mark.parametrize(("others", "is_told"), VERSIONS.values(), ids=VERSIONS)
def test_another_version_of_what_can_be_read_is_only_counted(write, others: dict[str, str], is_told: bool) -> None:
    root = _root(write, {"cells/cell.py": f"{_CLASSES}\ntorch.manual_seed(0)\ntorch.rand(2\n", **others})
    found = {one.location.path.name for one in check([root]).findings if one.code == "TRL900"}
    assert ("cell.py" in found) is is_told


#: A file that cannot be read, what lies beside it, and whether it is reported.
_RUN = "import torch\nprint(torch.rand(2))\n"
_SCRIPTS = {"tools/first.py": _RUN, "tools/second.py": _RUN}
_MERGED = "import torch\n<<<<<<< HEAD\ntorch.manual_seed(0)\n=======\ntorch.manual_seed(1)\n>>>>>>> other\n"
SCRIPTS = {
    "one of several": ("other.py", SLIP, _SCRIPTS, False),
    "the training among several": ("train_net.py", SLIP, _SCRIPTS, True),
    "one of two": ("other.py", SLIP, {"tools/first.py": _RUN}, True),
    "others elsewhere": ("other.py", SLIP, {"first.py": _RUN, "second.py": _RUN}, True),
    "others that cannot be read": ("other.py", SLIP, {**_SCRIPTS, "tools/second.py": OLD}, True),
    "others that are imported": (
        "other.py",
        SLIP,
        {**_SCRIPTS, "tools/first.py": "import torch\nimport second\nprint(torch.rand(2))\n"},
        True,
    ),
    "imported": ("other.py", SLIP, {**_SCRIPTS, "tools/third.py": "import torch, other\nprint(torch.rand(2))\n"}, True),
    "run": ("other.py", SLIP, {**_SCRIPTS, "run.sh": "python tools/other.py\n"}, True),
    "in a merge": ("other.py", _MERGED, _SCRIPTS, True),
    "in a merge, beside what is run": ("other.py", _MERGED, {**_SCRIPTS, "run.sh": "python tools/first.py\n"}, True),
}


@pytest.mark.parametrize(("name", "text", "others", "is_told"), SCRIPTS.values(), ids=SCRIPTS)
def test_one_of_several_scripts_is_only_counted(
    write, name: str, text: str, others: dict[str, str], is_told: bool
) -> None:
    root = _root(write, {f"tools/{name}": text, **others})
    found = {one.location.path.name for one in check([root]).findings if one.code == "TRL900"}
    assert (name in found) is is_told
    assert (root / "tools" / name in check([root]).left.unread) is not is_told
    assert "TRL900" in [one.code for one in check([root / "tools" / name]).findings]


#: What lies around a file that no README names, as it names another one, and whether it is reported.
OFFERED = {
    "a module of the package": ({"lib/data/__init__.py": ""}, True),
    "a folder that is no package": ({}, False),
}


@pytest.mark.parametrize(("others", "is_told"), OFFERED.values(), ids=OFFERED)
def test_what_is_in_no_package_is_not_offered(write, others: dict[str, str], is_told: bool) -> None:
    files = {
        "setup.py": "from setuptools import setup, find_packages\nsetup(packages=find_packages())\n",
        "README.md": "Run `python train.py`.",
        "train.py": "import torch\ntorch.manual_seed(0)\n",
        "lib/__init__.py": "",
        "lib/data/other.py": SLIP,
    }
    found = [one.code for one in check([_root(write, {**files, **others})]).findings]
    assert found == ["TRL900"] * is_told


def test_a_notebook_from_before_jupyter_is_only_counted(write) -> None:
    root = _root(write, {"a.ipynb": json.dumps({"nbformat": 3, "worksheets": ["torch"]})})
    report = check([root])
    assert report.findings == ()
    assert report.left.unread == (root / "a.ipynb",)
    (finding,) = check([root / "a.ipynb"]).findings
    assert (finding.code, finding.severity) == ("TRL900", Severity.WARNING)
    newer = _root(write, {"a.ipynb": json.dumps({"nbformat": 5, "cells": ["torch"]})})
    assert [one.severity for one in check([newer]).findings] == [Severity.ERROR]


def test_a_cell_is_reported_where_its_notebook_is_named(write) -> None:
    cells = [
        {"cell_type": "code", "source": [line], "metadata": {}, "outputs": []}
        for line in ("import torch", "print torch.rand(2)", "x = torch.rand(2")
    ]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    root = _root(write, {"a.ipynb": notebook})
    report = check([root])
    assert report.findings == ()
    assert report.left.unread == (root / "a.ipynb",)
    assert len(check([root / "a.ipynb"]).findings) == 2


def test_a_run_over_the_files_is_another_one_than_over_their_folder(write, tmp_path_factory) -> None:
    root = _root(write, {"other.py": OLD})
    run = RunOptions(cache=CacheChoice(tmp_path_factory.mktemp("cache")))
    for _ in range(2):
        assert check([root], run=run).left.unread == (root / "other.py",)
        assert len(check([root / "other.py"], run=run).findings) == 1


def test_the_line_about_them(write, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _root(write, {f"old{number}.py": OLD for number in range(5)})
    monkeypatch.chdir(root)
    line = (
        "5 files cannot be read, or not in each cell (old0.py, old1.py, old2.py and 2 more), for an older Python, "
        "unfinished, a template or without torch: --profile strict shows where."
    )
    assert main([".", "--no-cache"]) == 0
    assert capsys.readouterr().out == f"Found no errors or warnings.\n{line}\n"
    for name in ("json", "json-lines", "junit", "gitlab", "rdjson", "pylint"):
        assert main([".", "--no-cache", "--output-format", name]) == 0
        assert f"note: {line}\n" in capsys.readouterr().err, name
    for name in ("sarif", "github"):
        assert main([".", "--no-cache", "--output-format", name]) == 0
        assert line in capsys.readouterr().out, name


@pytest.mark.parametrize(("end", "named"), [("\r\r\n", True), ("\r\n", False)])
def test_line_ends_that_break_a_continued_line(tmp_path: Path, end: str, named: bool) -> None:
    """Which line Python refuses says nothing then; with a fault of its own, the text is refused for that."""
    (tmp_path / "torchrepro-lint.toml").touch()
    text = "import torch\nx = torch.rand(2) + \\\n    torch.rand(2)\n"
    path = tmp_path / "train.py"
    path.write_bytes(text.replace("\n", end).encode())
    messages = [one.message for one in check([tmp_path]).findings]
    assert len(messages) == named
    assert all(message.startswith(r"this file cannot be read: its lines end with `\r\r\n`") for message in messages)
    path.write_bytes((text + "x = (\n").replace("\n", end).encode())
    (finding,) = check([tmp_path]).findings
    assert finding.message.startswith("this file cannot be read: syntax error:")


def test_what_is_copied_is_no_package_that_the_project_offers(write) -> None:
    root = _root(
        write, {"them/LICENSE": "Theirs", "them/other.py": ELSEWHERE, "train.py": "import torch\ntorch.rand(1)\n"}
    )
    assert check([root]).left.unread == (root / "them" / "other.py",)
