"""Which statements surely raise, as they evaluate a name that has no value, or one whose value has no length: the marked
lines, and no others.

Each function is run as well, with what it tests true and false and with and without items: a marked line that Python
comes to raises, each time.
"""

from __future__ import annotations

import ast
import re
import sys
from itertools import product
from pathlib import Path

import pytest

from torchrepro_lint.facts.module import facts_of_text
from torchrepro_lint.facts.quick_places import QuickPlaces

SURE = {
    "below": "print(x)  #!\nx = 1",
    "in an arm, bound below": "if flag:\n    print(x)  #!\nx = 1",
    "bound in the other arm": "if flag:\n    x = 1\nelse:\n    print(x)  #!",
    "in the test": "if x < 2:  #!\n    print(1)\nx = 1",
    "in the test of another arm": "if flag:\n    print(1)\nelif x:  #!\n    x = 1",
    "bound in an arm that leaves": "if flag:\n    x = 1\n    return x\nprint(x)  #!\nx = 2",
    "what is iterated": "for x in x:  #!\n    pass",
    "the first iterable of a comprehension": "y = [i for i in x]  #!\nx = 1",
    "augmented": "x += 1  #!",
    "augmented, with a call": "x += max(1, 2)  #!",
    "an item": "x[0] = 1  #!\nx = []",
    "an attribute": "x.y = 1  #!\nx = []",
    "deleted": "x = 1\ndel x\nprint(x)  #!",
    "deleted twice": "x = 1\ndel x\ndel x  #!",
    "returned": "if flag:\n    return x  #!\nx = 1",
    "raised": "if flag:\n    raise x  #!\nx = 1",
    "with": "with x:  #!\n    pass\nx = 1",
    "left of and": "y = x and flag  #!\nx = 1",
    "the test of a conditional expression": "y = 1 if x else 2  #!\nx = 1",
    "a default": "def g(y=x):  #!\n    pass\nx = 1",
    "a decorator": "@x  #!\ndef g():\n    pass\nx = 1",
    "a base": "class g(x):  #!\n    pass\nx = 1",
    "a subject": "match x:  #!\n    case 1:\n        x = 1",
    "an f-string": "y = f'{x}'  #!\nx = 1",
    "imported below": "print(x)  #!\nimport os as x",
    "defined below": "x()  #!\ndef x():\n    pass",
    "a global of the name": "print(known)  #!\nknown = 1",
    "in a try without handlers": "try:\n    print(x)  #!\nfinally:\n    print(2)\nx = 1",
    "in an else": "try:\n    y = 1\nexcept ValueError:\n    x = 1\n    return\nelse:\n    print(y)\nprint(2)\nif flag:\n    x += z  #!\nz = 1",
    "in a handler": "try:\n    int(flag)\n    raise ValueError\nexcept ValueError:\n    print(x)  #!\nx = 1",
    "in a loop, bound behind it": "for i in items:\n    print(x)  #!\nx = 1",
    "only annotated in another arm": "if flag:\n    x = 1\nelse:\n    x: int\n    print(x)  #!",
    "the length of a path's listing": "x = Path(__file__).parent.glob('*')\nprint(len(x))  #!",
    "the length of a path's listing, by steps": (
        "y = pathlib.Path(__file__)\ny = y.parent / 'images'\nx = y.iterdir()\nfor i in range(len(x)):  #!\n    print(i)"
    ),
    "an item of a generator": "x = (i for i in items)\nif flag:\n    print(x[0])  #!",
    "a part of a generator": "x = listed(items)\nfor i in x[:2]:  #!\n    print(i)",
    "the length of either iterator": "if flag:\n    x = os.walk('.')\nelse:\n    x = enumerate(items)\nwhile 1 < len(x):  #!\n    flag = 2",
    "the length of a map": "def g(y: int):\n    pass\nx = map(str, items)\nprint(x[0])  #!",
    "the length of an iterator as an argument": "x = os.scandir('.')\nprint(flag, [len(x)])  #!",
    "a walrus elsewhere": "print(x)  #!\nx = 1\nif (y := 2):\n    pass",
}
UNSURE = {
    "a parameter": "print(flag)\nflag = 1",
    "in another arm before": "if flag:\n    x = 1\nif not flag:\n    print(x)",
    "an earlier turn": "for i in items:\n    if i > 1:\n        print(x)\n    x = 1",
    "an earlier turn of an outer loop": "for i in items:\n    for j in items:\n        if i > 1:\n            print(x)\n    x = 1",
    "a while": "while flag:\n    if flag < 1:\n        print(x)\n    x = 1\n    flag = flag - 1",
    "what a loop takes": "for x in items:\n    pass\nif items:\n    print(x)",
    "a loop that binds before": "for i in items:\n    x = 1\nif items:\n    print(x)",
    "a try": "try:\n    x = int(flag)\nexcept ValueError:\n    pass\nprint(x)",
    "a try whose handler reads": "try:\n    x = 1\n    raise ValueError\nexcept ValueError:\n    print(x)",
    "in a try with handlers": "try:\n    print(x)\nexcept NameError:\n    x = 1\nprint(x)",
    "a handler's name": "try:\n    raise ValueError\nexcept ValueError as x:\n    print(x)",
    "a final part": "try:\n    x = 1\nfinally:\n    print(x)",
    "global": "global known\nprint(known)\nknown = 2",
    "nonlocal": "y = 1\ndef g():\n    nonlocal y\n    print(y)\n    y = 2\ng()",
    "bound by an inner function": "def g():\n    nonlocal x\n    x = 1\ng()\nprint(x)\nx = 2",
    "right of and": "y = flag and x\nx = 1",
    "right of or": "y = True or x\nx = 1",
    "an arm of a conditional expression": "y = 1 if True else x\nx = 1",
    "a later part of a comparison": "y = 2 < 1 < x\nx = 1",
    "a lambda": "y = lambda: x\nx = 1\ny()",
    "an inner function": "def g():\n    return x\nx = 1\ng()",
    "the element of a comprehension": "y = [x for i in ()]\nx = 1",
    "a comprehension's own": "y = [x for x in items]\nx = 1",
    "a walrus": "if (x := 1):\n    print(x)",
    "a walrus in a comprehension": "y = [(x := i) for i in (1, 2)]\nprint(x)",
    "with as": "with open(__file__) as x:\n    print(x)",
    "imported": "import os as x\nprint(x)",
    "imported in an arm": "if True:\n    import os.path\nprint(os)",
    "a capture": "match 1:\n    case x:\n        print(x)",
    "a capture, behind it": "match 1:\n    case x:\n        pass\nprint(x)",
    "defined": "def x():\n    pass\nprint(x)",
    "a class": "class x:\n    pass\nprint(x)",
    "unpacked": "(y, [x, *z]) = 1, [2, 3]\nprint(x, y, z)",
    "an annotation": "y: x = 1\nx = 2",
    "deleted in an arm": "x = 1\nif flag > 7:\n    del x\nprint(x)",
    "below a return": "return\nprint(x)\nx = 1",
    "swallowed": "import contextlib\nwith contextlib.suppress(NameError):\n    x = 1\nprint(x)",
    "captured, where a guard does not hold": "match (1, 2):\n    case (x, y) if not y:\n        return\nprint(x)",
    "in a context of its own": (
        "class Quiet:\n    def __enter__(self):\n        pass\n    def __exit__(self, *error):\n        return True\n"
        "with Quiet():\n    print(x)\nx = 1\nprint(x)"
    ),
    "in a context under a name": (
        "import contextlib\nquiet = contextlib.suppress(NameError)\nwith quiet:\n    print(x)\nx = 1\nprint(x)"
    ),
    "a list by now": "x = Path(__file__).parent.glob('*')\nx = list(x)\nprint(len(x))",
    "a list in the other arm": "x = [1]\nif flag > 7:\n    x = (i for i in items)\nprint(len(x))",
    "the length in another arm": "x = (i for i in items)\nif flag > 7 and len(x):\n    print(x)",
    "a map that may be Python 2's": "x = map(str, items)\nif flag > 7:\n    print(x[0])",
    "an iterator with a length": "x = iter(Sized())\nprint(len(x))",
    "a path of another library": "x = Other(__file__).glob('*')\nprint(len(x))",
    "a listing of a module": "x = glob.glob('*')\nprint(len(x))",
    "a function that is no generator": "x = sized(items)\nprint(len(x))",
    "an iterator, whose TypeError is caught": "x = (i for i in items)\ntry:\n    print(len(x))\nexcept TypeError:\n    pass",
    "a length of its own": "def len(x):\n    return 0\nx = (i for i in items)\nprint(len(x))",
    "set by an inner function": "x = (i for i in items)\ndef g():\n    nonlocal x\n    x = [1]\ng()\nprint(len(x))",
    "a global of the module alone": "print(known)",
}

_HEAD = """\
import glob
import os
import pathlib
from pathlib import Path

known = 1

class Sized:
    def __iter__(self):
        return self
    def __next__(self):
        raise StopIteration
    def __len__(self):
        return 0

class Other(str):
    def glob(self, pattern):
        return [self]

def listed(items):
    yield from items

def sized(items):
    return list(items)
"""


def _function(body: str) -> str:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{_HEAD}\ndef f(flag, items):\n{indented}"


def _marked(text: str) -> set[int]:
    return {row for row, line in enumerate(text.splitlines(), 1) if line.endswith("#!")}


def _found(text: str) -> set[int]:
    facts = facts_of_text(Path("module.py"), text)
    places = QuickPlaces.of(text)
    assert places is not None
    spans = [places.span(raised) or places.span(site) for s in facts.walk_scopes() for site, raised in s.raises.items()]
    return {text.count("\n", 0, span[0]) + 1 for span in spans if span is not None}


def _raised_at(text: str, flag: object, items: object) -> int | None:
    names: dict[str, object] = {"__file__": __file__, "__name__": "module"}
    exec(compile(text, "module.py", "exec"), names)
    try:
        names["f"](flag, items)  # type: ignore[operator]
    except (NameError, TypeError) as error:
        if isinstance(error, TypeError) and not re.search("has no len|not subscriptable", str(error)):
            return None
        trace = sys.exc_info()[2]
        rows = []
        while trace is not None:
            if trace.tb_frame.f_code.co_name == "f":
                rows.append(trace.tb_lineno)
            trace = trace.tb_next
        return rows[-1] if rows else None
    except (AttributeError, ValueError, OSError):
        return None
    return None


@pytest.mark.parametrize("case", SURE)
def test_surely_unbound(case: str) -> None:
    text = _function(SURE[case])
    ast.parse(text)
    assert _found(text) == _marked(text)
    raised = {_raised_at(text, flag, items) for flag, items in product((0, 1), ((), (1, 2)))}
    assert raised - {None} <= _marked(text)
    assert raised != {None}


@pytest.mark.parametrize("case", UNSURE)
def test_perhaps_bound(case: str) -> None:
    text = _function(UNSURE[case])
    assert _found(text) == set()
    raised = {_raised_at(text, flag, items) for flag, items in product((0, 1), ((), (1, 2)))}
    assert None in raised
