"""The work for a file grows with its length, not with its square: counted in calls of functions, not in seconds."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from torchrepro_lint.engine import check

pytestmark = pytest.mark.exhaustive

#: Where the parts of `re` are that make a pattern: a package from Python 3.11 on, modules beside it before.
COMPILES = tuple(
    os.path.join(os.path.dirname(re.__file__), name)
    for name in ("__init__.py", "_compiler", "_parser", "re.py", "sre_")
)
HEAD = "import glob\nimport torch\nimport numpy as np\nfrom torch.utils.data import DataLoader, Dataset\n"
HELD = (
    "class Held(Dataset):\n    def __init__(self): self.rng = np.random.default_rng(0)\n"
    "    def __getitem__(self, i): return self.rng.random()\n"
)
LOADER = "DataLoader(Held(), num_workers=2, shuffle=True)\n"


def repeated(lines: str) -> Callable[[int], str]:
    """A text of so many copies of `lines`, in which `$` is the number of the copy."""
    return lambda count: "".join(lines.replace("$", str(number)) for number in range(count))


TEXTS: dict[str, tuple[int, Callable[[int], str]]] = {
    "loaders of one dataset": (20, lambda count: HELD + repeated(f"l$ = {LOADER}")(count)),
    "loaders of datasets of their own": (
        20,
        repeated(HELD.replace("Held", "Held$") + "l$ = " + LOADER.replace("Held", "Held$")),
    ),
    "loaders in functions": (20, lambda count: HELD + repeated(f"def f$():\n    return {LOADER}")(count)),
    "items put into a dict": (
        150,
        lambda count: "D = {}\n" + repeated("D[$] = $\n")(count) + "DataLoader([1], num_workers=D[input()])\n",
    ),
    "elifs that return": (
        400,
        lambda count: "def f(x):\n    if x:\n        return 0\n" + repeated("    elif x == $:\n        return $\n")(count) + HELD + LOADER,
    ),
    "listings in functions": (
        40,
        repeated("def ls$(p):\n    return glob.glob(p)\ndef f$():\n    x = ls$('$')\n    return x\n"),
    ),
    "a dict that functions hand to each other": (
        8,
        lambda count: "d = {'files': glob.glob('x')}\nf0(d)\n" + "".join(
            f"def f{i}(d):\n" + "".join(f"    f{(i + step) % count}(d)\n" for step in range(1, 9)) for i in range(count)
        ),
    ),
    "functions that all call each other": (
        5,
        lambda count: HELD + "f0(1)\n" + "".join(
            f"def f{i}(x):\n" + "".join(f"    f{(i + step) % count}(x)\n" for step in range(1, 10))
            + f"    return {LOADER}" for i in range(count)
        ),
    ),
    "sets that are gone through": (
        20,
        lambda count: "def f(words):\n" + repeated("    s$ = set(words.split())\n    l$ = [w for w in s$]\n")(count),
    ),
    "checkpoints": (
        15,
        repeated(
            "def f$(m, o):\n    c = torch.load('a')\n    o.load_state_dict(c['optimizer'])\n"
            "    for e in range(c['epoch'], 9):\n        torch.save({'optimizer': o.state_dict(), 'epoch': e}, 'a')\n"
        ),
    ),
    "generators that one dataset holds": (
        6,
        lambda count: (
            "class Held(Dataset):\n    def __init__(self):\n"
            + repeated("        self.r$ = np.random.default_rng($)\n")(count)
            + "    def __getitem__(self, i):\n"
            + repeated("        x = self.r$.random()\n")(count) + "        return x\n" + LOADER
        ),
    ),
    "a chain of base classes": (
        60,
        lambda count: "class C0(Dataset):\n    def __getitem__(self, i): return np.random.rand()\n"
        + "".join(f"class C{i + 1}(C{i}):\n    def __len__(self): return 1\n" for i in range(count))
        + f"DataLoader(C{count}(), num_workers=2)\n",
    ),
    "functions that put items into a dict": (
        20,
        lambda count: HELD + "S = {}\n" + "".join(
            f"def put{i}(v):\n    S['k{i}'] = v\n    S['k{(i + 1) % count}'] = v\n"
            f"def get{i}(): return S['k{i}']\nput{i}(Held())\n"
            for i in range(count)
        ) + "DataLoader(get0(), num_workers=2)\n",
    ),
    "a sum of texts": (
        150, lambda count: "x = " + " + ".join(f"'{i}'" for i in range(count)) + "\nDataLoader(glob.glob(x), shuffle=True)\n",
    ),
    "one import of many names": (
        400, lambda count: "from other import " + ", ".join(f"n{i}" for i in range(count)) + "\n" + HELD + LOADER,
    ),
    "loaders that functions go through": (
        25,
        repeated(
            HELD.replace("Held", "Held$") + "def f$(m):\n    l = " + LOADER.replace("Held", "Held$")
            + "    for e in range(3):\n        for b in l:\n            m(b)\n"
        ),
    ),
    "loaders of trainings that are saved": (
        40,
        repeated(
            "def f$(m, o):\n    c = torch.load('a')\n    m.load_state_dict(c['model'])\n    for e in range(c['epoch'], 9):\n"
            "        for b in DataLoader(m, shuffle=True):\n            o.step()\n"
            "        torch.save({'model': m.state_dict(), 'epoch': e}, 'a')\n"
        ),
    ),
    "functions that bind a global dict anew": (
        40,
        lambda count: HELD + "S = {}\n" + "".join(
            f"def put{i}(v):\n    global S\n    S['k{i}'] = v\n    S = dict(S, k{(i + 1) % count}=v)\n"
            f"def get{i}(): return S['k{i}']\nput{i}(Held())\n"
            for i in range(count)
        ) + "DataLoader(get0(), num_workers=2)\n",
    ),
    "samplers whose epoch nobody sets": (
        40,
        lambda count: "from torch.utils.data import DistributedSampler\n" + repeated(
            "def f$(data):\n    sampler = DistributedSampler(data)\n    loader = DataLoader(data, sampler=sampler)\n"
            "    for epoch in range(9):\n        for batch in loader: pass\nf$(1)\n"
        )(count),
    ),
    "a test of many parts": (
        100,
        lambda count: "if " + " or ".join(f"a == {i}" for i in range(count)) + ":\n    torch.manual_seed(0)\n" + HELD + LOADER,
    ),
    "sets of functions": (
        20,
        repeated("def f$(words):\n    s = set(words.split())\n    return {w: k for k, w in enumerate(s)}\n"),
    ),
    "loaders on one line": (10, lambda count: HELD + "; ".join([LOADER.strip()] * count)),
    "switches in functions": (
        100,
        repeated(
            "def f$(on=True):\n    torch.backends.cudnn.deterministic = on\n    torch.backends.cudnn.benchmark = not on\n"
            "f$($ % 2 == 0)\n"
        ),
    ),
    "seeds": (80, repeated("torch.manual_seed($)\nx$ = torch.rand(3)\n")),
    "draws given to names": (100, lambda count: "torch.manual_seed(0)\n" + repeated("x$ = np.random.rand(3)\n")(count)),
}  # fmt: skip


def work(folder: Path, text: str) -> int:
    """How many calls of functions it takes to check a text, without those that compile a pattern: whether `re` still has
    it depends on what else has run in this process.
    """
    path = folder / "program.py"
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call" and not frame.f_code.co_filename.startswith(COMPILES)

    sys.setprofile(count)
    try:
        report = check([path], {"profile": "strict"}, overlay={path: HEAD + text})
    finally:
        sys.setprofile(None)
    assert report.errors == ()
    return calls


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_text_is_twice_the_work(tmp_path: Path, name: str) -> None:
    size, text = TEXTS[name]
    work(tmp_path, text(1))  # what is loaded once is no work of the text
    once, twice, four_times = (work(tmp_path, text(count * size)) for count in (1, 2, 4))
    # Of the square it would be four times as much more.
    assert four_times - twice < 2.6 * (twice - once), (once, twice, four_times)


#: Lines that a text may hold again and again, as a cell of a notebook does.
EQUAL_LINES = (
    "torch.manual_seed(0)",
    "if x: torch.manual_seed(0)",
    "g = torch.Generator()",
    "x = np.random.rand(3)",
    "x.append(np.random.rand())",
    "print(x)",
    "x = glob.glob('*')",
    "torch.backends.cudnn.benchmark = True",
    "np.random.seed(0); y = np.random.rand()",
)


@pytest.mark.parametrize("line", EQUAL_LINES)
def test_twice_as_many_equal_lines_are_twice_the_work(tmp_path: Path, line: str) -> None:
    work(tmp_path, f"{HELD}x = g = Held()\n{line}\n")
    # More than the events that are kept of one body.
    once, twice, four_times = (
        work(tmp_path, f"{HELD}x = g = Held()\n" + f"{line}\n" * count) for count in (400, 800, 1_600)
    )
    assert four_times - twice < 2.3 * (twice - once), (once, twice, four_times)
