"""What is done to an object under one of its names shows under the others: names, attributes, the turns of a loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import is_reported, program_of

from torchrepro_lint.engine import check
from torchrepro_lint.program.evaluation.aliases import aliases_in

HEAD = "import glob, random, torch\nrandom.seed(0)\ntorch.manual_seed(0)\n"
SORTED = {
    "a name": "files = glob.glob('*')\nother = files\nother.sort()\nrandom.shuffle(files)\n",
    "an attribute that gets a name": """\
class Store:
    def __init__(self):
        files = glob.glob('*')
        self.files = files
        self.files.sort()
        random.shuffle(files)
Store()
""",
    "a name that gets an attribute": """\
class Store:
    def __init__(self):
        self.files = glob.glob('*')
        files = self.files
        files.sort()
        random.shuffle(self.files)
Store()
""",
    "the turns of a loop": """\
train, val = glob.glob('train/*'), glob.glob('val/*')
for part in (train, val):
    part.sort()
random.shuffle(train)
random.shuffle(val)
""",
    "the turns of a loop over attributes": """\
class Store:
    def __init__(self):
        self.train, self.val = glob.glob('train/*'), glob.glob('val/*')
        for part in (self.train, self.val):
            part.sort()
        random.shuffle(self.train)
        random.shuffle(self.val)
Store()
""",
}
NOT_SORTED = {
    "another object": "files = glob.glob('*')\nother = list(files)\nother.sort()\nrandom.shuffle(files)\n",
    "another attribute": SORTED["an attribute that gets a name"].replace("self.files.sort", "self.others.sort"),
    "sorted too late": "files = glob.glob('*')\nother = files\nrandom.shuffle(files)\nother.sort()\n",
    "a loop over others": SORTED["the turns of a loop"].replace("in (train, val)", "in ([], [])"),
}


@pytest.mark.parametrize("name", SORTED | NOT_SORTED)
def test_sorted_under_another_name(name: str, tmp_path: Path) -> None:
    assert is_reported(tmp_path, HEAD + (SORTED | NOT_SORTED)[name], "TRL207") is (name in NOT_SORTED)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("for one in (options, {}):\n    one['shuffle'] = True\n", id="a turn of a loop"),
        pytest.param("other = options\nother['shuffle'] = True\n", id="a name"),
        pytest.param("other = options\nfor one in (other, {}):\n    one['shuffle'] = True\n", id="a turn, and a name"),
    ],
)
def test_a_dict_that_is_changed_under_another_name(change: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = (
        f"{HEAD}from torch.utils.data import DataLoader\noptions = {{'shuffle': False}}\n{change}"
        "for batch in DataLoader(list(range(9)), **options):\n    print(batch)\n"
    )
    found = check([path], {"select": ("TRL201",), "profile": "strict"}, overlay={path: text}).findings
    assert [one.code for one in found] == ["TRL201"]


def test_two_parts_of_one_loop_are_two_objects(tmp_path: Path) -> None:
    program = program_of(tmp_path, "a, b = [], []\nfor part in (a, b):\n    part.append(1)\n")
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    assert aliases_in(facts.scope) == {"a": ("part",), "b": ("part",)}
