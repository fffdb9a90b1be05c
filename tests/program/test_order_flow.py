"""Where the order of a listing goes: the first table ends somewhere, the second nowhere."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchrepro_lint.program.orders.listings import unsorted_listings
from torchrepro_lint.program.orders.set_order import ordered_sets
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
    "a position within one list, as a filtered one tells it": (
        "def model_of(epoch):\n    models = [f'd/{f}' for f in os.listdir('d') if f[0] != '.' and 'latest' not in f]\n"
        "    epochs = [int(m.split('_')[-2]) for m in models if 'latest' not in m]\n"
        "    i = epochs.index(epoch)\n    return models[i]"
    ),
    "sorted in each turn": (
        "def states(dialogs):\n    for dialog in dialogs:\n        state = []\n        for key in dialog:\n"
        "            state.append(key)\n        for name in os.listdir('.'):\n            state.append(name)\n"
        "        state = sorted(state)\n        random.shuffle(state)"
    ),
    "printed by position": "files = os.listdir('.')\nfor i in range(len(files)):\n    print(i, files[i])",
}
DECIDES |= {
    "returned to one that many call, and shuffled by another": (
        "split",
        "def find():\n    return os.listdir('.')\ndef count(n):\n    return len(find()) > n\n"
        + "".join(f"count({n})\n" for n in range(20))
        + "def split():\n    random.shuffle(find())\nsplit()",
    ),
    "filled by position and shuffled": (
        "split",
        "files = os.listdir('.')\nxs = []\nfor i in range(len(files)):\n    xs.append(open(files[i]))\n"
        "random.shuffle(xs)",
    ),
    "a position in another list": (
        "index",
        "def class_of(name):\n    names = [f for f in os.listdir('d') if f]\n    return names.index(name)",
    ),
    "a position in a list that lacks some": (
        "index",
        "def model_of(epoch):\n    models = [f'd/{f}' for f in os.listdir('d') if f[0] != '.']\n"
        "    epochs = [int(m.split('_')[-2]) for m in models if 'latest' not in m]\n"
        "    i = epochs.index(epoch)\n    return models[i]",
    ),
    "sorted in another turn": (
        "split",
        "def states(dialogs):\n    state = []\n    for dialog in dialogs:\n"
        "        for name in os.listdir('.'):\n            state.append(name)\n        random.shuffle(state)\n"
        "        state = sorted(state)",
    ),
    "numbered by position": (
        "index",
        "files = os.listdir('.')\nids = {}\nfor i in range(len(files)):\n    ids[files[i]] = i",
    ),
}

READ = "import glob\nimport pandas as pd\nframe = pd.concat([pd.read_csv(f) for f in glob.glob('*.csv')])\n"
ROWS = """
class Rows(Dataset):
    def __init__(self, frame):
        self.frame = frame

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        return {}
"""
LOAD = "import glob\nfrom datasets import Dataset as Table, load_dataset\n"
DECIDES |= {
    "rows by position": (
        "samples",
        READ + "from torch.utils.data import Dataset" + ROWS.format("self.frame.iloc[index]") + "Rows(frame)",
    ),
    "rows of a column by position": (
        "samples",
        READ
        + "from torch.utils.data import Dataset"
        + ROWS.format("self.frame['path'].iloc[index]")
        + "Rows(frame.reset_index(drop=True))",
    ),
    "tables filled in a loop, and parted": (
        "split",
        "import pandas as pd\ntables = []\nfor f in os.listdir('.'):\n    tables.append(pd.read_csv(f))\n"
        "frame = pd.concat(tables, ignore_index=True)\ntrain = frame.iloc[:80]\nval = frame.iloc[80:]",
    ),
    "rows drawn": ("split", READ + "train = frame[frame['used'] == 1].sample(frac=0.8, random_state=0)"),
    "rows split": (
        "split",
        READ + "from sklearn.model_selection import train_test_split\n"
        "train, val = train_test_split(frame['text'].values, random_state=0)",
    ),
    "rows listed and shuffled": (
        "split",
        READ + "rows = []\nfor _, row in frame.iterrows():\n    rows.append(row)\nrandom.shuffle(rows)",
    ),
    "rows of files": (
        "split",
        LOAD + "rows = load_dataset('json', data_files=glob.glob('*.json'), split='train')\n"
        "parts = rows.map(len).train_test_split(0.1, seed=0)",
    ),
    "rows of files by part": (
        "samples",
        LOAD + "from transformers import Trainer\nfiles = {'train': glob.glob('*.txt')}\n"
        "rows = load_dataset('text', data_files=files)\nTrainer(None, train_dataset=rows['train'])",
    ),
    "rows of files put in by part": (
        "split",
        LOAD + "files = {}\nfiles['train'] = glob.glob('*.txt')\n"
        "rows = load_dataset('text', data_files=files)\nrows['train'].shuffle(seed=0)",
    ),
    "two at once": ("split", "first, second = os.listdir('a'), sorted(os.listdir('b'))\nrandom.shuffle(first)"),
    "rows of tables": ("split", LOAD + "Table.from_csv(glob.glob('*.csv')).shuffle(seed=0)"),
}
INNOCENT |= {
    "rows sorted": READ + "frame = frame.sort_values('id')\ntrain, val = frame[:80], frame[80:]",
    "rows sorted in place": READ + "frame.sort_values('id', inplace=True)\ntrain, val = frame[:80], frame[80:]",
    "rows of sorted files": (
        "import pandas as pd\nframe = pd.concat([pd.read_csv(f) for f in sorted(os.listdir('.'))])\nframe.sample(3)"
    ),
    "columns beside each other": (
        "import pandas as pd\nframe = pd.concat([pd.read_csv(f) for f in os.listdir('.')], axis=1)\nframe.sample(3)"
    ),
    "rows counted": READ + "print(len(frame), frame['label'].mean())\nframe.to_csv('all.csv')",
    "names of columns": READ + "ids = {column: i for i, column in enumerate(frame)}",
    "rows grouped": READ + "means = frame.groupby('id').mean()\ntrain, val = means[:8], means[8:]",
    "rows looked up by a key": READ + "names = frame.set_index('id')['name']\nprint(names['a'])",
    "rows of files written": LOAD + "load_dataset('json', data_files=glob.glob('*.json')).save_to_disk('all')",
    "the other of two": "first, second = os.listdir('a'), sorted(os.listdir('b'))\nrandom.shuffle(second)",
    "a dict of names": "files = {'train': os.listdir('.')}\nprint(files)",
    "rows of another part": (
        LOAD + "files = {'train': 'rows.txt'}\nfiles['test'] = glob.glob('*.txt')\n"
        "load_dataset('text', data_files=files)['train'].shuffle(seed=0)"
    ),
    "rows of another split": (
        LOAD + "files = {'train': 'rows.txt', 'test': glob.glob('*.txt')}\n"
        "load_dataset('text', data_files=files, split='train').shuffle(seed=0)"
    ),
    "a pattern": LOAD + "load_dataset('json', data_files='*.json')['train'].shuffle(seed=0)",
}

#: `names` is a list of a set of texts.
LOOKED_UP = {
    "the first ones": "print([names[i] for i in range(2)])",
    "at an unknown position": "def name_of(i):\n    return names[i]",
    "by the positions of another list": "print({names[i]: colors[i] for i in range(len(colors))})",
    "beside another list": "for i in range(len(names)):\n    print(names[i], colors[i])",
    "numbered in a table": "ids = {names[i]: i for i in range(len(names))}",
    "numbered in a loop": "ids = {}\nfor i in range(len(names)):\n    ids[names[i]] = i",
    "numbered under a name of its own": (
        "ids = {}\nfor i in range(len(names)):\n    name = names[i].lower()\n    ids[name] = i + 1"
    ),
    "numbered in pairs": "pairs = []\nfor i in range(len(names)):\n    pairs.append((names[i], i))",
    "of a list filled by position": (
        "sizes = [0] * len(names)\nfor i in range(len(names)):\n    sizes[i] = len(names[i])\nprint(sizes[int(input())])"
    ),
    "a neighbour": "for i in range(1, len(names)):\n    print(names[i - 1], names[i])",
}
TRAVERSED = {
    "printed": "for i in range(len(names)):\n    print(i, names[i])",
    "with a length of a name": "n = len(names)\nfor i in range(n):\n    print(names[i])",
    "with a bar": "for i in tqdm(range(len(names))):\n    print(names[i])",
    "those that are left": "done = [n in colors for n in names]\nprint([names[i] for i in range(len(done)) if not done[i]])",
    "in pairs": "for i in range(len(names)):\n    for j in range(i + 1, len(names)):\n        print(names[i], names[j])",
    "beside what is filled with it": (
        "sizes = [0] * len(names)\nfor i in range(len(names)):\n    sizes[i] = len(names[i])\n"
        "print({names[i]: sizes[i] for i in range(len(names))})"
    ),
    "a table of lengths": "sizes = {}\nfor name in names:\n    sizes[name] = len(name)",
    "a table by position": "sizes = {}\nfor i in range(len(names)):\n    sizes[names[i]] = len(names[i])",
}


def program(text: str, folder: Path) -> Program:
    file = folder / "main.py"
    file.write_text(textwrap.dedent(text) + "\n", encoding="utf-8")
    settings = Settings()
    return Program(folder, [file], settings, find_target(folder, settings))


def sinks(text: str, folder: Path) -> list[str]:
    made = program("import os\nimport random\n" + text, folder)
    return [one.sink.kind for one in unsorted_listings(made)]


def set_sinks(text: str, folder: Path) -> list[str]:
    names = "names = list({name.strip() for name in open('names').read().split()})\n"
    made = program("import torch\n" + names + "colors = ['red', 'blue', 'grey']\n" + text, folder)
    return [one.sink.kind for one in ordered_sets(made)]


@pytest.mark.parametrize("name", DECIDES)
def test_it_decides(name: str, tmp_path: Path) -> None:
    kind, text = DECIDES[name]
    assert sinks(text, tmp_path) == [kind]


@pytest.mark.parametrize("name", INNOCENT)
def test_it_decides_nothing(name: str, tmp_path: Path) -> None:
    assert sinks(INNOCENT[name], tmp_path) == []


@pytest.mark.parametrize("name", LOOKED_UP)
def test_a_look_up_by_position_decides(name: str, tmp_path: Path) -> None:
    assert set_sinks(LOOKED_UP[name], tmp_path) == ["index" if name.startswith("numbered") else "position"]


@pytest.mark.parametrize("name", TRAVERSED)
def test_a_look_up_by_its_own_position_decides_nothing(name: str, tmp_path: Path) -> None:
    assert set_sinks(TRAVERSED[name], tmp_path) == []


@pytest.mark.parametrize("steps", [3, 4, 5, 6, 8])
def test_past_the_last_step_a_position_may_be_its_own(
    steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchrepro_lint.program.orders.order_flow.MAX_STEPS", steps)
    for number, (name, text) in enumerate(TRAVERSED.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert set_sinks(text, folder) == [], name
