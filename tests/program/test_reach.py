"""What happens when something runs: the events, and the chain of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.facts.scopes import END
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.events import Event, shown

HEAD = "import random\nimport numpy as np\nimport torch\n"


def events(program: Program, name: str, *, fetch: bool = False) -> list[Event]:
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    values = program.ev.name(name, END, program.ev.module_frame(facts))
    found = program.walker.fetching(values) if fetch else program.walker.calling(values)
    return [event for event in found if event.name]


def names(found: list[Event]) -> list[str]:
    return [event.name.removeprefix("numpy.random.").removeprefix("random.") for event in found]


CALLS = [
    ("def run(): np.random.rand()", ["rand"]),
    ("def run():\n    g()\ndef g(): return np.random.rand()", ["rand"]),
    ("def run():\n    if False: np.random.rand()", []),
    ("def run():\n    if c: np.random.rand()\n    else: random.random()", ["rand", "random"]),
    ("def run():\n    return 1\n    np.random.rand()", []),
    ("def run():\n    raise E(np.random.rand())", ["rand"]),
    ("def run():\n    for i in y: np.random.rand()\n    else: random.random()", ["rand", "random"]),
    ("def run():\n    while np.random.rand(): pass", ["rand"]),
    ("def run():\n    with g(): np.random.rand()\ndef g(): random.random()", ["random", "rand"]),
    ("def run():\n    try: np.random.rand()\n    except E: random.random()", ["rand", "random"]),
    ("def run():\n    match c:\n        case 1: np.random.rand()", ["rand"]),
    ("def run():\n    assert random.random(), np.random.rand()", ["random", "rand"]),
    ("def run(): return [np.random.rand() for i in y if random.random()]", ["random", "rand"]),
    ("def run(): return (lambda: np.random.rand())()", ["rand"]),
    ("def run():\n    f = lambda: np.random.rand()", []),
    ("def run():\n    def g(): np.random.rand()", []),
    ("def run():\n    class A: v = np.random.rand()", []),
    ("def run(): A()\nclass A:\n    def __init__(self): np.random.rand()", ["rand"]),
    ("def run(): A()()\nclass A:\n    def __call__(self): np.random.rand()", ["rand"]),
    ("def run(): A()[0]\nclass A:\n    def __getitem__(self, i): np.random.rand()", ["rand"]),
    ("def run(): A().p\nclass A:\n    @property\n    def p(self): return np.random.rand()", ["rand"]),
    ("def run(): list(A())\nclass A:\n    def __iter__(self):\n        yield np.random.rand()", ["rand"]),
    ("def run():\n    for a in A(): pass\nclass A:\n    def __iter__(self):\n        yield np.random.rand()", ["rand"]),
    ("def run():\n    with A(): pass\nclass A:\n    def __enter__(self): np.random.rand()", ["rand"]),
    ("def run(): list(map(g, [1]))\ndef g(a): np.random.rand()", ["rand"]),
    ("def run(): run()\n", []),
    ("def run():\n    g()\n    np.random.rand()\ndef g(): run()", ["rand"]),
    ("def run(a=True):\n    if a: np.random.rand()", ["rand"]),
    ("def run(): g(False)\ndef g(a):\n    if a: np.random.rand()", []),
    ("def run():\n    a = g\n    a()\ndef g(): np.random.rand()", ["rand"]),
    ("def run():\n    del g()[0]\ndef g(): np.random.rand()", ["rand"]),
]


@pytest.mark.parametrize(("source", "expected"), CALLS)
def test_what_a_call_runs(tmp_path: Path, source: str, expected: list[str]) -> None:
    assert names(events(program_of(tmp_path, HEAD + source + "\n"), "run")) == expected


FETCHES = [
    ("class A:\n    def __getitem__(self, i): return np.random.rand()\nx = A()", ["rand"]),
    ("class A:\n    def __init__(self): np.random.rand()\n    def __getitem__(self, i): pass\nx = A()", []),
    ("class A:\n    def __len__(self): return np.random.rand()\n    def __getitem__(self, i): pass\nx = A()", []),
    (
        "class A:\n    def __init__(self, t): self.t = t\n    def __getitem__(self, i): return self.t(i)\n"
        "def t(i): return np.random.rand()\nx = A(t)",
        ["rand"],
    ),
    (
        "class A:\n    def __getitem__(self, i): return self.draw()\nclass B(A):\n"
        "    def draw(self): np.random.rand()\nx = B()",
        ["rand"],
    ),
    (
        "class A:\n    def __init__(self, d): self.d = d\n    def __getitem__(self, i): return self.d[i]\n"
        "class B:\n    def __getitem__(self, i): return np.random.rand()\nx = A(B())",
        ["rand"],
    ),
    (
        "from torch.utils.data import Subset\nclass B:\n"
        "    def __getitem__(self, i): return np.random.rand()\nx = Subset(B(), [0])",
        ["rand"],
    ),
    (
        "from torchvision.transforms import Compose, Lambda\nfrom torchvision.datasets import ImageFolder\n"
        "x = ImageFolder('d', transform=Compose([Lambda(lambda i: np.random.rand())]))",
        ["rand"],
    ),
    *(
        (
            f"import albumentations as A\nfrom albumentations.core.transforms_interface import {base}\n"
            f"class Own({base}):\n    def {method}(self, *args, **params): return np.random.rand()\n"
            "class Data:\n    def __init__(self):\n        parts = [A.Normalize()]\n"
            "        parts += [Own(p=1)]\n        self.whole = A.Compose(parts)\n"
            "    def __getitem__(self, i): return self.whole(image=i)['image']\nx = Data()",
            expected,
        )
        for base, method, expected in (
            ("ImageOnlyTransform", "apply", ["rand"]),
            ("DualTransform", "get_params", ["rand"]),
            ("DualTransform", "apply_to_mask", ["rand"]),
            ("ImageOnlyTransform", "get_transform_init_args_names", []),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), FETCHES)
def test_what_fetching_an_item_runs(tmp_path: Path, source: str, expected: list[str]) -> None:
    assert names(events(program_of(tmp_path, HEAD + source + "\n"), "x", fetch=True)) == expected


def test_the_chain_leads_from_the_question_to_the_draw(tmp_path: Path) -> None:
    files = {
        "main.py": "from aug import flip\n\nclass A:\n    def __getitem__(self, i):\n        return flip(i)\nx = A()\n",
        "aug.py": "import numpy as np\n\ndef flip(i):\n    return np.random.rand()\n",
    }
    program = program_of(tmp_path, files)
    (event,) = events(program, "x", fetch=True)
    chain = [f"{program.location(link.site).start.row} {link.note}" for link in event.chain]
    assert chain == ["4 A.__getitem__", "5 calls flip", "3 flip"]
    place = program.location(event.site)
    assert (place.path.name, place.start.row, place.start.column) == ("aug.py", 4, 12)


def test_the_shortest_chain_is_told(tmp_path: Path) -> None:
    source = HEAD + "def g(): return np.random.rand()\ndef h(): g()\ndef run():\n    h()\n    g()\n"
    (event,) = events(program_of(tmp_path, source), "run")
    assert [link.note for link in event.chain] == ["run", "calls g", "g"]


def test_a_call_that_cannot_be_followed_is_an_event_without_a_name(tmp_path: Path) -> None:
    program = program_of(tmp_path, "def run(model):\n    model.step(1)\n")
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    (event,) = program.walker.calling(program.ev.name("run", END, program.ev.module_frame(facts)))
    assert (event.name, event.note) == ("", "calls model.step")


@pytest.mark.parametrize(
    ("source", "expected"),
    [("a", "a"), ("a.b(1)[2]", "a.b(...)[...]"), ("3", "3"), ("lambda: 1", "..."), ("'" + "x" * 500 + "'", None)],
)
def test_short_texts_for_expressions(tmp_path: Path, source: str, expected: str | None) -> None:
    facts = program_of(tmp_path, f"v = {source}\n").facts(tmp_path / "main.py")
    assert facts is not None
    text = shown(facts.body[0].value)  # type: ignore[union-attr,arg-type]
    assert len(text) < 80 if expected is None else text == expected
