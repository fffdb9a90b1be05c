"""Each construct of Python that carries a listing from where it is made to where it is shuffled, and what is not followed."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import is_reported

HEAD = """\
import asyncio, collections, contextlib, dataclasses, functools, os, random, sys, threading
import torch
random.seed(0)
torch.manual_seed(0)
"""
SOURCE = "os.listdir('d')"
CARRIED = {
    "append": """\
parts = []
parts.append(os.listdir('d'))
random.shuffle(parts[0])
""",
    "async": """\
async def find():
    return os.listdir('d')
async def main():
    xs = await find()
    random.shuffle(xs)
asyncio.run(main())
""",
    "base helper": """\
class Base:
    def put(self, xs):
        self.xs = xs
class Own(Base):
    def __init__(self):
        self.put(os.listdir('d'))
    def mix(self):
        random.shuffle(self.xs)
Own().mix()
""",
    "cached": """\
@functools.lru_cache
def find():
    return os.listdir('d')
random.shuffle(find())
""",
    "class attr": """\
class Parts:
    xs = os.listdir('d')
random.shuffle(Parts.xs)
""",
    "closure": """\
def outer():
    xs = os.listdir('d')
    def inner():
        random.shuffle(xs)
    inner()
outer()
""",
    "comprehension of lists": """\
parts = [xs for xs in [os.listdir('d')]]
random.shuffle(parts[0])
""",
    "conditional": """\
xs = os.listdir('d') if len(sys.argv) > 1 else []
random.shuffle(xs)
""",
    "dataclass": """\
@dataclasses.dataclass
class Parts:
    xs: list
parts = Parts(os.listdir('d'))
random.shuffle(parts.xs)
""",
    "default": """\
def mix(xs=os.listdir('d')):
    random.shuffle(xs)
mix()
""",
    "dict loop": """\
table = {'a': os.listdir('d')}
for key, xs in table.items():
    random.shuffle(xs)
""",
    "dict value": """\
table = {'a': os.listdir('d')}
random.shuffle(table['a'])
""",
    "dispatch": """\
def mix(xs):
    random.shuffle(xs)
TABLE = {'mix': mix}
TABLE['mix'](os.listdir('d'))
""",
    "generator": """\
def find():
    yield os.listdir('d')
for xs in find():
    random.shuffle(xs)
""",
    "get": """\
table = {'a': os.listdir('d')}
random.shuffle(table.get('a'))
""",
    "global": """\
XS = None
def fill():
    global XS
    XS = os.listdir('d')
fill()
random.shuffle(XS)
""",
    "kwargs": """\
def mix(**parts):
    random.shuffle(parts['xs'])
mix(xs=os.listdir('d'))
""",
    "kwargs dict": """\
def mix(xs):
    random.shuffle(xs)
opts = {'xs': os.listdir('d')}
mix(**opts)
""",
    "lambda": """\
get = lambda: os.listdir('d')
random.shuffle(FILES := get())
""",
    "lambda arg": """\
mix = lambda xs: random.shuffle(xs)
mix(os.listdir('d'))
""",
    "list item": """\
parts = [os.listdir('d'), 3]
random.shuffle(parts[0])
""",
    "loop over pair": """\
for xs in (os.listdir('d'), []):
    random.shuffle(xs)
""",
    "method ref": """\
class Parts:
    def mix(self, xs):
        random.shuffle(xs)
go = Parts().mix
go(os.listdir('d'))
""",
    "nested unpack": """\
(xs, n), m = (os.listdir('d'), 3), 4
random.shuffle(xs)
""",
    "next": """\
def find():
    yield os.listdir('d')
random.shuffle(next(find()))
""",
    "nonlocal": """\
def outer():
    xs = None
    def fill():
        nonlocal xs
        xs = os.listdir('d')
    fill()
    random.shuffle(xs)
outer()
""",
    "object": """\
class Parts:
    def __init__(self, xs):
        self.xs = xs
parts = Parts(os.listdir('d'))
random.shuffle(parts.xs)
""",
    "object method": """\
class Parts:
    def __init__(self, xs):
        self.xs = xs
    def mix(self):
        random.shuffle(self.xs)
Parts(os.listdir('d')).mix()
""",
    "or": """\
xs = [] or os.listdir('d')
random.shuffle(xs)
""",
    "partial": """\
def mix(xs, n):
    random.shuffle(xs)
go = functools.partial(mix, os.listdir('d'))
go(3)
""",
    "partial kw": """\
def mix(n, xs):
    random.shuffle(xs)
go = functools.partial(mix, xs=os.listdir('d'))
go(3)
""",
    "property": """\
class Parts:
    @property
    def xs(self):
        return os.listdir('d')
random.shuffle(Parts().xs)
""",
    "return dict": """\
def find():
    return {'xs': os.listdir('d')}
random.shuffle(find()['xs'])
""",
    "return tuple": """\
def find():
    return os.listdir('d'), 3
xs, n = find()
random.shuffle(xs)
""",
    "setattr": """\
class Parts:
    pass
parts = Parts()
parts.xs = os.listdir('d')
random.shuffle(parts.xs)
""",
    "setitem": """\
table = {}
table['a'] = os.listdir('d')
random.shuffle(table['a'])
""",
    "star": """\
def mix(*parts):
    random.shuffle(parts[0])
mix(os.listdir('d'), 3)
""",
    "thread": """\
def mix(xs):
    random.shuffle(xs)
threading.Thread(target=mix, args=(os.listdir('d'),)).start()
""",
    "try": """\
try:
    xs = os.listdir('d')
except OSError:
    xs = []
random.shuffle(xs)
""",
    "tuple unpack": """\
xs, n = os.listdir('d'), 3
random.shuffle(xs)
""",
    "update": """\
table = {}
table.update(a=os.listdir('d'))
random.shuffle(table['a'])
""",
    "walrus": """\
if (xs := os.listdir('d')):
    random.shuffle(xs)
""",
    "with": """\
@contextlib.contextmanager
def found():
    yield os.listdir('d')
with found() as xs:
    random.shuffle(xs)
""",
    "zip": """\
for xs, n in zip([os.listdir('d')], [3]):
    random.shuffle(xs)
""",
}
#: What the evaluator does not follow here; docs/pages/limits.md lists it.
NOT_CARRIED = {
    "callable": """\
class Mix:
    def __call__(self, xs):
        random.shuffle(xs)
Mix()(os.listdir('d'))
""",
    "decorated": """\
def plain(f):
    @functools.wraps(f)
    def inner(*args):
        return f(*args)
    return inner
@plain
def mix(xs):
    random.shuffle(xs)
mix(os.listdir('d'))
""",
    "map": """\
for xs in map(os.listdir, ['a', 'b']):
    random.shuffle(xs)
""",
    "match": """\
match os.listdir('d'):
    case xs:
        random.shuffle(xs)
""",
    "namedtuple": """\
Parts = collections.namedtuple('Parts', 'xs n')
parts = Parts(os.listdir('d'), 3)
random.shuffle(parts.xs)
""",
    "partial dict dataclass": """\
@dataclasses.dataclass
class C:
    make: dict
c = C({'a': functools.partial(os.listdir, 'd')})
xs = c.make['a']()
random.shuffle(xs)
""",
}


@pytest.mark.parametrize("construct", CARRIED)
def test_the_order_is_followed(construct: str, tmp_path: Path) -> None:
    assert is_reported(tmp_path, HEAD + CARRIED[construct], "TRL207", "default")


@pytest.mark.parametrize("construct", CARRIED)
def test_a_sorted_list_is_not_reported(construct: str, tmp_path: Path) -> None:
    text = CARRIED[construct].replace(SOURCE, "sorted(os.listdir('d'))")
    assert text != CARRIED[construct]
    assert not is_reported(tmp_path, HEAD + text, "TRL207", "default")


@pytest.mark.parametrize("construct", CARRIED)
def test_another_list_is_not_reported(construct: str, tmp_path: Path) -> None:
    assert not is_reported(
        tmp_path,
        HEAD + CARRIED[construct].replace(SOURCE, "['a', 'b']") + "print(os.listdir('d'))\n",
        "TRL207",
        "default",
    )


@pytest.mark.parametrize("construct", NOT_CARRIED)
def test_what_is_not_followed(construct: str, tmp_path: Path) -> None:
    assert not is_reported(tmp_path, HEAD + NOT_CARRIED[construct], "TRL207", "default")


@pytest.mark.parametrize(
    ("made", "is_found"),
    [
        ("[name for name in xs if name]", True),
        ("list(xs) + ['last']", True),
        ("xs[:100]", True),
        ("[*map(str, xs)]", False),  # a display with a star is not followed
        ("sorted(xs)", False),
        ("{name: 1 for name in xs}", False),
        ("set(xs)", False),
        ("[len(xs), 3]", False),
    ],
)
def test_what_is_made_of_it(made: str, is_found: bool, tmp_path: Path) -> None:
    text = f"class Parts:\n    def __init__(self, xs):\n        self.xs = {made}\n"
    assert (
        is_reported(tmp_path, HEAD + text + "random.shuffle(Parts(os.listdir('d')).xs)\n", "TRL207", "default")
        is is_found
    )


def test_across_modules(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("class Parts:\n    def __init__(self, xs):\n        self.xs = xs\n")
    text = "from parts import Parts\nparts = Parts(os.listdir('d'))\nrandom.shuffle(parts.xs)\n"
    assert is_reported(tmp_path, HEAD + text, "TRL207", "default")
    assert not is_reported(
        tmp_path, HEAD + text.replace("random.shuffle", "parts.xs.sort()\nrandom.shuffle"), "TRL207", "default"
    )
    assert is_reported(tmp_path, HEAD + text + "parts.xs.sort()\n", "TRL207", "default")
