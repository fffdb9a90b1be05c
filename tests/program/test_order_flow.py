"""Where the order of a listing goes: the first table ends somewhere, the second nowhere."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchrepro_lint.program.ordering.listings import unsorted_listings
from torchrepro_lint.program.program import Program
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import find_target

DECIDES = {
    "shuffled": ("split", "files = os.listdir('.')\nrandom.shuffle(files)"),
    "cut": ("split", "files = os.listdir('.')\ntrain, val = files[:8], files[8:]"),
    "numbered": ("index", "classes = {name: i for i, name in enumerate(os.listdir('.'))}"),
    "counted up": ("index", "ids = {}\nfor name in os.listdir('.'):\n    ids[name] = len(ids)"),
    "filled and shuffled": ("split", "xs = []\nfor f in os.listdir('.'):\n    xs.append(f)\nrandom.shuffle(xs)"),
    "returned": ("split", "def find():\n    return os.listdir('.')\nfound = find()\nrandom.sample(found, 3)"),
    "handed on": ("split", "def mix(xs):\n    random.shuffle(xs)\nmix([f for f in os.listdir('.') if f])"),
    "yielded": ("split", "def find():\n    for f in os.listdir('.'):\n        yield f\nrandom.shuffle(list(find()))"),
    "paired": (
        "split",
        "import itertools\npairs = list(itertools.combinations(os.listdir('.'), 2))\nrandom.shuffle(pairs)",
    ),
    "joined": (
        "samples",
        "import datasets\nparts = [datasets.load_from_disk(f) for f in os.listdir('.')]\ndatasets.concatenate_datasets(parts)",
    ),
}
INNOCENT = {
    "sorted": "files = sorted(os.listdir('.'))\nrandom.shuffle(files)",
    "sorted later": "files = os.listdir('.')\nfiles.sort()\nrandom.shuffle(files)",
    "bound anew": "files = os.listdir('.')\nfiles = sorted(files)\nrandom.shuffle(files)",
    "counted": "n = len(os.listdir('.'))\nrandom.sample(range(n), 2)",
    "membership": "files = os.listdir('.')\nprint('a' in files)",
    "effect of its own": "for name in os.listdir('.'):\n    os.remove(name)",
    "a set": "known = set(os.listdir('.'))\nprint(len(known))",
    "table by name": "sizes = {name: os.path.getsize(name) for name in os.listdir('.')}",
    "loaded by name": "data = {}\nfor i, name in enumerate(os.listdir('.')):\n    data[name] = open(name).read()",
    "a list for each": "for f in os.listdir('.'):\n    xs = []\n    xs.append(f)\n    random.shuffle(xs)",
    "joined in order": (
        "import datasets\nparts = [datasets.load_from_disk(f) for f in sorted(os.listdir('.'))]\n"
        "datasets.concatenate_datasets(parts)"
    ),
    "first of one": "weights = os.listdir('.')[0]",
}


def sinks(text: str, folder: Path) -> list[str]:
    file = folder / "main.py"
    file.write_text("import os\nimport random\n" + textwrap.dedent(text) + "\n", encoding="utf-8")
    settings = Settings()
    program = Program(folder, [file], settings, find_target(folder, settings))
    return [one.sink.kind for one in unsorted_listings(program)]


@pytest.mark.parametrize("name", DECIDES)
def test_it_decides(name: str, tmp_path: Path) -> None:
    kind, text = DECIDES[name]
    assert sinks(text, tmp_path) == [kind]


@pytest.mark.parametrize("name", INNOCENT)
def test_it_decides_nothing(name: str, tmp_path: Path) -> None:
    assert sinks(INNOCENT[name], tmp_path) == []
