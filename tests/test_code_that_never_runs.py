"""What stands below a statement that always leaves the block is never run, and nothing is reported there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from programs_that_stop import HEAD, TARGET, codes, indented

from torchrepro_lint.engine import check

_BELOW = """\
loader = DataLoader(Items(), num_workers=2, shuffle=True)
for epoch in range(3):
    torch.manual_seed(0)
    print(np.random.rand())
    for batch in loader:
        print(batch)
"""
_ALL = ["TRL101", "TRL502", "TRL506"]
_LEAVES = {
    "exit": "exit()",
    "quit": "quit(1)",
    "sys.exit": "sys.exit('done')",
    "os._exit": "os._exit(0)",
    "SystemExit": "raise SystemExit",
    "both arms": "if len(sys.argv) > 1:\n    sys.exit(1)\nelse:\n    raise ValueError",
    "both parts of a try": "try:\n    sys.exit(1)\nexcept OSError:\n    raise",
}
_GOES_ON = {
    "an option": "if len(sys.argv) > 1:\n    sys.exit(1)",
    "an exception that is passed over": "with contextlib.suppress(SystemExit):\n    sys.exit(1)",
    "an exception that is caught": "try:\n    sys.exit(1)\nexcept SystemExit:\n    pass",
    "a function that is passed on": "print(sys.exit)",
}


@pytest.mark.parametrize("how", _LEAVES)
def test_nothing_is_reported_below_what_leaves(how: str, write) -> None:
    leaves = _LEAVES[how]
    assert codes(write, f"{HEAD}\n{leaves}\n{_BELOW}") == []
    assert codes(write, f"{HEAD}\ndef main():\n{indented(leaves)}{indented(_BELOW)}\nmain()\n") == []
    assert codes(write, f"{HEAD}\n{leaves}\ndef main():\n{indented(_BELOW)}\nmain()\n") == []


@pytest.mark.parametrize("how", _GOES_ON)
def test_what_may_go_on_is_reported(how: str, write) -> None:
    assert codes(write, f"{HEAD}\n{_GOES_ON[how]}\n{_BELOW}") == _ALL


#: In a function: what surely raises there, and the same program where the name has a value.
_UNBOUND = {
    "bound below": ("width = width + 1", "width = 0\nwidth = width + 1"),
    "bound in the other arm": (
        "if len(sys.argv) > 1:\n    width = 1\n    return\nprint(width)\nwidth = 2",
        "if len(sys.argv) > 1:\n    width = 1\nprint(width)\nwidth = 2",
    ),
    "counted without global": ("count += 1", "global count\ncount += 1"),
    "deleted": ("width = 1\ndel width\nprint(width)", "width = 1\nprint(width)\ndel width"),
    "the argument of a call": (
        "print(width, sep=str(width))\nwidth = ' '",
        "width = ' '\nprint(width, sep=str(width))",
    ),
}


@pytest.mark.parametrize("how", _UNBOUND)
def test_nothing_is_reported_below_a_name_without_a_value(how: str, write) -> None:
    raises, runs = _UNBOUND[how]
    program = f"{HEAD}\ncount = 0\n\ndef main():\n{{}}{indented(_BELOW)}\nmain()\n"
    assert codes(write, program.format(indented(raises))) == []
    assert codes(write, program.format(indented(runs))) == _ALL
    caught = f"try:\n{indented(raises)}except NameError:\n    pass"
    assert codes(write, program.format(indented(caught))) == _ALL


_ITEMS = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Items(Dataset):
    def __init__(self, crop):
        self.crop = crop

    def __len__(self):
        return 8

    def __getitem__(self, index):
        {}


for batch in DataLoader(Items(crop={}), num_workers=2):
    print(batch)
"""


@pytest.mark.parametrize(
    ("item", "crop", "is_told"),
    [
        ("size = np.random.rand(size)\n        return size", "True", False),
        ("size = 2\n        return np.random.rand(size)", "True", True),
        ("width = np.random.rand(), size\n        size = 2\n        return width", "True", True),
        ("if self.crop:\n            print(size)\n        size = 2\n        return np.random.rand()", "True", False),
        ("if self.crop:\n            print(size)\n        size = 2\n        return np.random.rand()", "False", True),
        ("for size in np.random.rand(size):\n            return size", "True", False),
        ("size = [np.random.rand() for _ in range(size)]\n        return size", "True", False),
        ("size = [np.random.rand() for _ in range(2)]\n        return size", "True", True),
        ("while self.crop:\n            self.crop = np.random.rand()\n        return self.crop", "True", True),
    ],
)
def test_an_item_that_raises_before_it_draws(item: str, crop: str, is_told: bool, write) -> None:
    assert codes(write, _ITEMS.format(item, crop)) == (["TRL101"] if is_told else [])


def test_a_loop_goes_on_after_what_leaves_one_of_its_turns(write) -> None:
    text = f"{HEAD}\nfor name in sys.argv:\n    continue\n    np.random.rand()\n{_BELOW}"
    assert codes(write, text) == _ALL


def test_cells_are_run_by_hand_below_one_that_raises(write) -> None:
    cells = [HEAD, "raise SystemExit('stop here')", _BELOW]
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells]
    text = json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    report = check([write({"torchrepro-lint.toml": TARGET, "train.ipynb": text})])
    assert sorted({one.code for one in report.findings}) == _ALL


LOADERS = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.randint(0, 9, 3)


def train_loader():
    return DataLoader(Crops(), batch_size=2, num_workers=2)


def sampled_loader():
    return DataLoader(Crops(), batch_size=2, num_workers=2)
"""


@pytest.mark.parametrize(
    ("program", "rows"),
    [
        ("from loaders import train_loader\nfor batch in train_loader():\n    print(batch)\n", [14]),
        (
            "from loaders import sampled_loader, train_loader\n"
            "for batch in [*train_loader(), *sampled_loader()]:\n    print(batch)\n",
            [14, 18],
        ),
        (
            "import sys, loaders\nfor batch in getattr(loaders, sys.argv[1] + '_loader')():\n    print(batch)\n",
            [14, 18],
        ),
    ],
)
def test_what_is_wrong_under_any_goal_is_told_where_something_runs_it(
    program: str, rows: list[int], tmp_path: Path
) -> None:
    (tmp_path / "loaders.py").write_text(LOADERS)
    (tmp_path / "train.py").write_text(program)

    def rows_of(**settings: object) -> list[int]:
        found = check([tmp_path], {"target_torch": ">=1.7", **settings}).findings
        return [one.location.start.row for one in found if one.code == "TRL101"]

    assert rows_of() == rows
    assert rows_of(profile="strict") == [14, 18]


def test_a_file_that_nothing_imports_yet_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "loaders.py").write_text(LOADERS)
    (tmp_path / "train.py").write_text("import torch\ntorch.manual_seed(0)\nprint(torch.rand(1))\n")
    found = check([tmp_path], {"target_torch": ">=1.7"}).findings
    assert [one.location.start.row for one in found if one.code == "TRL101"] == [14, 18]


def _rows(folder: Path, **settings: object) -> list[tuple[str, int]]:
    found = check([folder], {"target_torch": ">=1.7", **settings}).findings
    return [
        (one.location.path.relative_to(folder).as_posix(), one.location.start.row)
        for one in found
        if one.code == "TRL101"
    ]


CLASS = LOADERS.partition("\n\ndef train_loader")[0]
PROGRAM = f"""\
{CLASS}

def rehearsal():
    return DataLoader(Crops(), batch_size=2, num_workers=2)


def main():
    loader = DataLoader(Crops(), batch_size=2, num_workers=2)
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main()
"""


def test_a_function_of_a_program_whose_only_call_is_commented_out(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.replace("    main()\n", "    main()\n    # rehearsal()\n"))
    assert _rows(tmp_path) == [("train.py", 18)]
    assert _rows(tmp_path, profile="strict") == [("train.py", 14), ("train.py", 18)]
    (tmp_path / "train.py").write_text(PROGRAM.replace("    main()\n", "    main()\n    rehearsal()\n"))
    assert _rows(tmp_path) == [("train.py", 14), ("train.py", 18)]


def test_a_function_of_a_notebook_whose_only_call_is_commented_out(tmp_path: Path) -> None:
    def write(call: str) -> None:
        definition = "def rehearsal():\n    return list(DataLoader(Crops(), batch_size=2, num_workers=2))\n"
        cells = [CLASS, definition, f"{call}\nprint(len(Crops()))\n"]
        made = [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell}
            for cell in cells
        ]
        text = json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        (tmp_path / "train.ipynb").write_text(text)

    write("# rehearsal()")
    assert _rows(tmp_path) == []
    assert len(_rows(tmp_path, profile="strict")) == 1
    write("rehearsal()")
    assert len(_rows(tmp_path)) == 1


MAKER = f"""\
{CLASS}

class Data:
    def __init__(self):
        self.loader = DataLoader(Crops(), batch_size=2, num_workers=2)
"""


@pytest.mark.parametrize(
    ("use", "is_told"),
    [
        ("# data = Data()", False),
        ("data = Data()", True),
        ("data = globals()['Da' + 'ta']()", True),
        ("kinds = {'data': Data}", True),
        ("data = eval('Da' + 'ta')()", True),
    ],
)
def test_a_class_that_is_imported_and_never_made(use: str, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(MAKER)
    (tmp_path / "train.py").write_text(f"import torch\nfrom data import Data\n\ntorch.manual_seed(0)\n{use}\n")
    assert _rows(tmp_path) == ([("data.py", 15)] if is_told else [])
    assert _rows(tmp_path, profile="strict") == [("data.py", 15)]


@pytest.mark.parametrize(
    ("bases", "above", "is_told"),
    [
        ("(Dataset)", "", False),
        ("(luigi.Task)", "import luigi\n", True),
        ("(Table)", "class Table:\n    def __init_subclass__(cls):\n        KINDS.append(cls)\n", True),
        ("(Table)", "class Kinds(type):\n    pass\nclass Table(metaclass=Kinds):\n    pass\n", True),
        ("(Base)", "import abc\nclass Base(metaclass=abc.ABCMeta):\n    pass\n", False),
    ],
)
def test_a_class_that_its_base_finds(bases: str, above: str, is_told: bool, tmp_path: Path) -> None:
    text = f"{CLASS}\n{above}\n{MAKER[len(CLASS) :].replace('Data:', f'Data{bases}:')}\nprint(Crops()[0])\n"
    (tmp_path / "train.py").write_text(text)
    assert bool(_rows(tmp_path)) is is_told
    assert len(_rows(tmp_path, profile="strict")) == 1


def test_a_second_copy_of_a_file_that_nobody_imports(tmp_path: Path) -> None:
    (tmp_path / "utils" / "utils").mkdir(parents=True)
    (tmp_path / "torchrepro-lint.toml").touch()
    (tmp_path / "utils" / "data.py").write_text(MAKER)
    (tmp_path / "utils" / "utils" / "data.py").write_text(MAKER)
    (tmp_path / "train.py").write_text("from utils.data import Data\n\nfor batch in Data().loader:\n    print(batch)\n")
    assert _rows(tmp_path) == [("utils/data.py", 15)]
    (tmp_path / "utils" / "utils" / "data.py").write_text(MAKER.replace("Data:", "Other:"))
    assert _rows(tmp_path) == [("utils/data.py", 15), ("utils/utils/data.py", 15)]


READ = f"""\
{CLASS}
loader = DataLoader(Crops(), batch_size=2, num_workers=2)


def train():
    for batch in loader:
        print(batch)


def evaluate(loader):
    print(len(loader))


"""


@pytest.mark.parametrize(
    ("use", "is_told"),
    [
        ("# train()\nevaluate([])\n", False),
        ("train()\nevaluate([])\n", True),
        ("evaluate(loader)\n", True),
        ("evaluate(globals()['loader'])\n", True),
    ],
)
def test_a_loader_that_is_read_in_a_function_that_nothing_calls(use: str, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(READ + use)
    assert _rows(tmp_path) == ([("train.py", 12)] if is_told else [])
    assert _rows(tmp_path, profile="strict") == [("train.py", 12)]


def test_a_loader_that_another_file_reads(tmp_path: Path) -> None:
    (tmp_path / "torchrepro-lint.toml").touch()
    (tmp_path / "data.py").write_text(READ)
    (tmp_path / "other.py").write_text("import data\n\nfor batch in data.loader:\n    print(batch)\n")
    assert _rows(tmp_path) == [("data.py", 12)]


@pytest.mark.parametrize(
    ("folder", "train", "is_told"),
    [
        ("data", "from data.used import Used\n\nUsed()\n", False),
        ("data", "from data.used import Used\nfrom data.other import Data\n\nUsed()\nData()\n", True),
        ("data", "import importlib\nfrom data.used import Used\n\nUsed()\nimportlib.import_module(name)\n", True),
        ("data", "print('data')\n", True),  # what is to call it may be yet to be written
        ("", "from used import Used\n\nUsed()\n", True),
    ],
)
def test_a_module_that_no_program_loads_beside_those_that_one_does(
    folder: str, train: str, is_told: bool, tmp_path: Path
) -> None:
    (tmp_path / "torchrepro-lint.toml").touch()
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "used.py").write_text("class Used:\n    pass\n")
    (tmp_path / folder / "other.py").write_text(MAKER)
    (tmp_path / folder / "above.py").write_text("from .other import Data\n\n\ndef make():\n    return Data()\n")
    (tmp_path / "train.py").write_text(f"import torch\n{train}")
    assert bool(_rows(tmp_path)) is is_told
    (tmp_path / folder / "above.py").unlink()
    assert bool(_rows(tmp_path)) is is_told
    assert len(_rows(tmp_path, profile="strict")) == 1


def test_a_module_of_a_project_that_others_install(tmp_path: Path) -> None:
    """What is to call it may be theirs."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "data"\nversion = "1"\n')
    (tmp_path / "data").mkdir()
    (tmp_path / "data/used.py").write_text("class Used:\n    pass\n")
    (tmp_path / "data/other.py").write_text(MAKER)
    (tmp_path / "train.py").write_text("import torch\nfrom data.used import Used\n\nUsed()\n")
    assert len(_rows(tmp_path)) == 1
