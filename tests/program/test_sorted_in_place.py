"""A list that is sorted in place is in order wherever it is reached: through calls, containers, objects, closures."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import is_reported

HEAD = "import os, random, sys\nfrom torch.utils.data import Dataset, random_split\nimport torch\nrandom.seed(0)\ntorch.manual_seed(0)\n"
TAIL = "\nrandom.shuffle(files)\ntrain, test = files[:80], files[80:]\n"
ORDER = "def order(names):\n    names.sort()\n\n"
SORTED = {
    "alias": """\
files = os.listdir('d')
alias = files
alias.sort()
""",
    "base class": """\
class Base:
    def prepare(self):
        self.names.sort()

class Own(Base):
    def __init__(self, names):
        self.names = names
        self.prepare()

files = os.listdir('d')
Own(files)
""",
    "call": ORDER
    + """\
files = os.listdir('d')
order(files)
""",
    "call module two": """\
def order(names):
    again(names)

def again(names):
    names.sort()

files = os.listdir('d')
order(files)
""",
    "comprehension": ORDER
    + """\
files = [name for name in os.listdir('d') if name]
order(files)
""",
    "conditional": """\
import sys
files = os.listdir('d')
other = files if len(sys.argv) > 1 else files
other.sort()
""",
    "dataclass": """\
from dataclasses import dataclass

@dataclass
class Parts:
    names: list
    def order(self):
        self.names.sort()

files = os.listdir('d')
Parts(files).order()
""",
    "dict": """\
files = os.listdir('d')
table = {'a': files}
table['a'].sort()
""",
    "dict values": """\
files = os.listdir('d')
table = {'a': files}
for one in table.values():
    one.sort()
""",
    "global dict": """\
FOUND = {}

def order():
    for part in FOUND.values():
        part.sort()

files = FOUND['a'] = os.listdir('d')
order()
""",
    "grown": ORDER
    + """\
files = []
for name in os.listdir('d'):
    files.append(name)
order(files)
""",
    "in function": ORDER
    + """\
def listed(folder):
    names = os.listdir(folder)
    order(names)
    return names

files = listed('d')
""",
    "keyword": """\
def order(*, names):
    names.sort()

files = os.listdir('d')
order(**{'names': files})
""",
    "lambda": """\
files = os.listdir('d')
order = lambda names: names.sort()
order(files)
""",
    "list": """\
files = os.listdir('d')
all_ = [files]
for one in all_:
    one.sort()
""",
    "list index": """\
files = os.listdir('d')
all_ = [files]
all_[0].sort()
""",
    "list sort": """\
files = os.listdir('d')
list.sort(files)
""",
    "map": """\
files = os.listdir('d')
for part in (files, os.listdir('e')):
    part.sort()
""",
    "method": """\
class Sorter:
    def order(self, names):
        names.sort()

files = os.listdir('d')
Sorter().order(files)
""",
    "object": """\
class Holder:
    def __init__(self, names):
        self.names = names

files = os.listdir('d')
holder = Holder(files)
holder.names.sort()
""",
    "object method": """\
class Holder:
    def __init__(self, names):
        self.names = names
    def order(self):
        self.names.sort()

files = os.listdir('d')
holder = Holder(files)
holder.order()
""",
    "pair": """\
files = os.listdir('d')
pair = files, 3
pair[0].sort()
""",
    "partial": """\
import functools

def order(names, reverse):
    names.sort(reverse=reverse)

files = os.listdir('d')
by_name = functools.partial(order, reverse=True)
by_name(files)
""",
    "returned": """\
def same(names):
    return names

files = os.listdir('d')
alias = same(files)
alias.sort()
""",
    "returned and sorted": """\
def order(names):
    names.sort()
    return names

files = order(os.listdir('d'))
""",
    "returned and sorted alias": """\
def order(names):
    other = [names][0]
    other.sort()
    return names

files = order(os.listdir('d'))
""",
    "setdefault": """\
FOUND = {}
files = FOUND.setdefault('a', os.listdir('d'))
FOUND['a'].sort()
""",
    "slice before": """\
files = os.listdir('d')[:100]
[files][0].sort()
""",
    "star": """\
def order(*parts):
    for part in parts:
        part.sort()

files = os.listdir('d')
order(files, [])
""",
    "try": """\
files = os.listdir('d')
try:
    [files][0].sort()
except TypeError:
    pass
""",
    "unpacked": """\
files = os.listdir('d')
first, number = files, 3
first.sort()
""",
    "walrus": """\
files = os.listdir('d')
(alias := files).sort()
""",
    "with closure": """\
files = os.listdir('d')
def order():
    files.sort()
order()
""",
    "zip": """\
files = os.listdir('d')
for part, number in zip([files], [1]):
    part.sort()
""",
}
NOT_SORTED = {
    "by random key": """\
files = os.listdir('d')
def order(names):
    names.sort(key=len)
order(files)
""",
    "copied in function": """\
def order(names):
    names = list(names)
    names.sort()
    return names

files = os.listdir('d')
order(files)
""",
    "copy": """\
files = os.listdir('d')
alias = list(files)
alias.sort()
""",
    "copy call": """\
def order(names):
    names = list(names)
    names.sort()

files = os.listdir('d')
order(files)
""",
    "never called": ORDER
    + """\
files = os.listdir('d')
order(['a'])
""",
    "other call": """\
def order(names):
    sorted(names)

files = os.listdir('d')
order(files)
""",
    "other function": ORDER
    + """\
def listed(folder):
    names = os.listdir(folder)
    return names

order(['b', 'a'])
files = listed('d')
""",
    "other in dict": """\
files = os.listdir('d')
names = os.listdir('e')
table = {'a': files, 'b': names}
table['b'].sort()
""",
    "other in list": """\
files = os.listdir('d')
names = os.listdir('e')
all_ = [files, names]
all_[1].sort()
""",
    "other in object": """\
class Holder:
    def __init__(self, names):
        self.names = list(names)

files = os.listdir('d')
holder = Holder(files)
holder.names.sort()
""",
    "slice": """\
files = os.listdir('d')
alias = files[:]
alias.sort()
""",
    "sorted part": """\
files = os.listdir('d')
first = files[:10]
[first][0].sort()
""",
    "source of a copy": """\
names = os.listdir('d')
files = list(names)
[names][0].sort()
""",
    "ties": """\
def order(names):
    names.sort(key=len)

files = os.listdir('d')
order(files)
""",
    "two calls": """\
def listed(folder):
    return os.listdir(folder)

files = listed('d')
others = listed('e')
others.sort()
""",
    "two calls alias": """\
def listed(folder):
    return os.listdir(folder)

def order(names):
    names.sort()

files = listed('d')
others = listed('e')
order(others)
""",
}
WHOLE = {
    "called too late": (True, ORDER + "files = os.listdir('d')" + TAIL + "order(files)\n"),
    "held by a data set": (
        False,
        ORDER
        + """\
class Images(Dataset):
    def __init__(self, folder):
        self.names = os.listdir(folder)
        order(self.names)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.names[index]

random_split(Images("d"), [8, 2], generator=torch.Generator().manual_seed(0))
""",
    ),
}


@pytest.mark.parametrize("name", SORTED)
def test_a_list_that_is_sorted_is_not_reported(name: str, tmp_path: Path) -> None:
    assert not is_reported(tmp_path, HEAD + SORTED[name] + TAIL, "TRL207")


@pytest.mark.parametrize("name", NOT_SORTED)
def test_another_list_that_is_sorted_says_nothing_of_it(name: str, tmp_path: Path) -> None:
    assert is_reported(tmp_path, HEAD + NOT_SORTED[name] + TAIL, "TRL207")


@pytest.mark.parametrize("name", WHOLE)
def test_in_whole_programs(name: str, tmp_path: Path) -> None:
    is_found, text = WHOLE[name]
    assert is_reported(tmp_path, HEAD + text, "TRL207") is is_found


def test_in_another_module(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(ORDER)
    text = "import os, random, torch\nfrom helpers import order\ntorch.manual_seed(0)\nfiles = os.listdir('d')\n"
    assert not is_reported(tmp_path, text + "order(files)" + TAIL, "TRL207")
    assert is_reported(tmp_path, text + "order(list(files))" + TAIL, "TRL207")
