"""What an expression can be: each program gives `x`, and the expectation says all that it can be (`?`: anything)."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import named, program_of

from torchrepro_lint.program.evaluation.python_calls import PYTHON_CALLS
from torchrepro_lint.program.evaluation.values import (
    MAX_DEPTH,
    Arguments,
    External,
    ExternalObject,
    Value,
    values_of,
)

CONSTANTS = [
    ("x = 1 + 2 * 3", "7"),
    ("x = 7 // 2", "3"),
    ("x = 2 ** 10", "1024"),
    ("x = 1 / 0", "?"),
    ("x = 'a' + 'b'", "'ab'"),
    ("x = -(3)", "-3"),
    ("x = not 0", "True"),
    ("x = 1 < 2", "True"),
    ("x = 'a' in 'cat'", "True"),
    ("x = 1 if True else 2", "1"),
    ("x = 1 if cond else 2", "1 | 2"),
    ("x = 0 or 5", "5"),
    ("x = cond or 5", "5 | ?"),
    ("x = None and f()", "None"),
    ("x = f'{y}'", "?"),
    ("x = (1, 'a')", "tuple[1 'a']"),
    ("x = [1, *[2, 3]]", "list[1 2 3]"),
    ("x = {'a': 1, **{'b': 2}}", "{'a':1 'b':2}"),
    ("x = [1, 2][0]", "1"),
    ("x = [1, 2][i]", "1 | 2"),
    ("x = {'a': 1}['a']", "1"),
    ("a, *x = 1, 2, 3", "list[2 3]"),
    ("a, *b, x = 1, 2, 3, 4", "4"),
    ("*a, x, b = 1, 2, 3, 4", "3"),
    ("def f(): return 1, 2, 3, 4\na, *x, b = f()", "list[2 3]"),
    ("def f(): return 1, 2, 3, 4\na, *b, x = f()", "4"),
    ("a, (*x, b) = 1, (2, 3, 4)", "list[2 3]"),
    ("a, *x = 1, 2\nx.append(3)", "list[2 3]"),
    ("a, *x = y", "list[*(?)]"),
    ("a, *b, x = (1,)", "1"),
    ("def f(o): o.b = 1\nclass A:\n    def __init__(self): f(self)\nx = A().b", "1"),
    ("def f(o): o.b = 1\nclass A:\n    b = None\n    def __init__(self): f(self)\nx = A().b", "1 | None"),
    ("def f(o): o.b = 1\nclass A:\n    def __init__(self): f(o=self)\nx = A().b", "1"),
    ("def f(o): o.b = 1\nclass A:\n    def __init__(self): f(self)\nx = A().c", "nothing"),
    ("class D:\n    def __get__(self, o, k=None): return 1\nclass A:\n    b = D()\nx = A().b", "1"),
    ("class D:\n    def __get__(self, o, k=None): return o.c\nclass A:\n    b = D()\n    c = 1\nx = A().b", "1"),
    ("class A:\n    def __init__(self, **k): self.__dict__.update(k)\nx = A(b=1).b", "1"),
    ("class A:\n    def __init__(self, k): vars(self).update(k, c=2)\nx = A({'b': 1}).c", "2"),
    ("class A:\n    def __init__(self, k): vars(self).update(k)\nx = A(y).b", "?"),
    (
        "class A:\n    def __init__(self, **k):\n        for n, v in k.items(): setattr(self, n, v)\nx = A(b=1, c=2).b",
        "1",
    ),
    (
        "class A:\n    b = 3\n    def __init__(self, **k):\n        for n, v in k.items(): setattr(self, n, v)\nx = A(c=2).b",
        "3 | ?",
    ),
    ("from collections import namedtuple\nA = namedtuple('A', 'b c')\nx = A(1, c=2).c", "2"),
    ("from collections import namedtuple\nA = namedtuple('A', ['b', 'c'])\nx = A(1, 2).b", "1"),
    ("from collections import namedtuple\nA = namedtuple('A', y)\nx = A(1, 2).b", "?"),
    ("from typing import NamedTuple\nclass A(NamedTuple):\n    b: int\n    c: int = 2\na, x = A(1)", "2"),
    ("from typing import NamedTuple\nclass A(NamedTuple):\n    b: int\n    c: int\nx = A(1, 2)[-2]", "1"),
    (
        "from typing import NamedTuple\nclass A(NamedTuple):\n    b: int\n    c: int\nx = [a for a in A(1, 2)]",
        "list[*(1 | 2)]",
    ),
    ("from typing import TypedDict\nclass A(TypedDict, total=False):\n    b: int\nx = A(b=1)['b']", "1"),
    ("def f(l): l.append(1)\nx = []\nf(x)", "list[1]"),
    ("def f(a, l): l.append(a)\nx = []\nf(1, x)\nf(2, l=x)", "list[1 2]"),
    ("def f(l): l.append(1)\nx = []\nif y: f(x)", "list[*(1)] | list[]"),
    ("def f(l): l.append(1)\nx = []\nfor i in y: f(x)", "list[*(1)] | list[]"),
    ("def f(l): l.append(1)\ny = []\nf(y)\nx = 1 if y else 2", "1"),
    ("def f(l): l['a'] = 1\nx = {}\nf(x)", "{'a':1}"),
    ("class A:\n    def f(self, l): l.append(1)\nx = []\nA().f(x)", "list[1]"),
    ("def f(l):\n    l.append(1)\n    f(l)\nx = []\nf(x)", "? | list[1 1 1 1 1 1 1 1]"),
    ("x = []\nprint(x)", "list[]"),
    ("class A: pass\na = A()\nsetattr(a, 'b', 1)\nx = a.b", "1"),
    ("class A:\n    def __init__(self): setattr(self, 'b', 1)\nx = A().b", "1"),
    ("class A:\n    def __init__(self): setattr(self, y, 1)\nx = A().b", "nothing"),
    ("from itertools import chain\nx = list(chain([1], (2, 3)))", "list[1 2 3]"),
    ("from itertools import chain\nx = list(chain([1], y))", "list[*(1 | ?)]"),
    ("from itertools import chain\nx = list(chain.from_iterable([[1], [2]]))", "list[*(1 | 2)]"),
    ("from itertools import islice\nx = next(islice([1, 2], 1))", "1 | 2"),
    ("from collections import deque\ny = deque([1], maxlen=4)\ny.appendleft(2)\nx = y.popleft()", "1 | 2"),
    ("from operator import itemgetter\nx = itemgetter('a')({'a': 1})", "1"),
    ("from operator import itemgetter\nx = itemgetter(0, 2)([1, 2, 3])", "tuple[1 3]"),
    ("from operator import attrgetter\nclass A: b = 1\nx = attrgetter('b')(A())", "1"),
    ("from contextlib import nullcontext\nwith nullcontext(1) as x: pass", "1"),
    ("from contextlib import nullcontext\nwith nullcontext() as x: pass", "?"),
    (
        "import asyncio\nasync def f(): return 1\nasync def g(): return await asyncio.gather(f(), f())\nx = asyncio.run(g())",
        "list[1 1]",
    ),
    ("y = 1\nglobals()['y'] = globals()['y'] + 1\nx = y", "2"),
    ("def f(): return 1\nx = globals()['f']()", "1"),
    ("y = 1\ndef f(): return globals()['y']\nx = f()", "1"),
    ("class A:\n    def __init__(self, b): self.b = b\nx = vars(A(1))['b']", "1"),
    ("class A:\n    def __init__(self, b): self.b = b\nx = A(1).__dict__['b']", "1"),
    ("class A:\n    def __init__(self, b): self.b = b\nx = vars(A(1))[y]", "?"),
    ("match 1:\n    case x: pass", "1"),
    ("match (1, 2):\n    case (a, x): pass", "2"),
    ("match (1, (2, 3)):\n    case (a, (b, x)): pass", "3"),
    ("match (1, 2, 3, 4):\n    case (a, *x, b): pass", "list[2 3]"),
    ("match (1, 2, 3, 4):\n    case (*a, x, b): pass", "3"),
    ("match {'a': {'b': 1}, 2: 3}:\n    case {'a': {'b': x}}: pass", "1"),
    ("match {'a': [1, 2]}:\n    case {'a': [_, x]}: pass", "2"),
    ("match {'a': 1}:\n    case {'a': int(x)}: pass", "1"),
    ("match {'a': 1}:\n    case {'a': str() | int() as x}: pass", "1"),
    ("match {'a': 1}:\n    case {'b': 2, **x}: pass\n    case {A.b: x}: pass", "?"),
    ("match (1, 2):\n    case (x, 1) | (1, x): pass", "?"),
    ("class A:\n    def __init__(self, b): self.b = b\nmatch [A(1)]:\n    case [A(b=x)]: pass", "1"),
    ("class A:\n    def __init__(self, b): self.b = b\nmatch A(1):\n    case A(x): pass", "?"),
    ("x = {'a': 1, 'b': 2}[k]", "1 | 2"),
    ("x = {'a': 1}.get('b', 3)", "3"),
    ("a, (b, x) = 1, (2, 3)", "3"),
    ("a, *x = 1, 2", "list[2]"),
    ("x = len([1, 2])", "2"),
    ("x = int('4')", "4"),
    ("x = int('four')", "?"),
    ("x = dict(a=1)", "{'a':1}"),
    ("x = list((1, 2))", "list[1 2]"),
    ("x = [y + 1 for y in (1, 2)]", "list[2 3]"),
    ("x = {k: 0 for k in 'ab'}", "{ ...}"),
    ("d = {'a': 1, 'b': 2}\nx = {k: d[k] for k in d}", "{'a':1 'b':2}"),
    ("d = {'a': 1, 'b': 2}\nx = {k: d[k] for k in d.keys() if k != c}", "{'a'?:1 'b'?:2}"),
    ("d = {'a': 1}\nif c: d['b'] = 2\nx = {k: v for k, v in d.items()}", "{'a':1 'b'?:2}"),
    ("x = 10 ** 400 * 10 ** 400 * 0.5", "?"),
    ("x = {'a': {'b': 1}, 'c': {'b': 1}}\nx['a']['b'] = 2", "{'a':{'b':2} 'c':{'b':1}}"),
    ("x = {'a': {}}\nif c: x['a']['b'] = 2", "{'a':{'b'?:2} | {}}"),
    ("x = {'a': {}, 'b': {}}\nx[k]['c'] = 2", "{'a':{'c'?:2} | {} 'b':{'c'?:2} | {}}"),
    ("x = {}\nfor k in f():\n  x[k] = {}\n  x[k]['a'] = 1", "{ ...}"),
    ("x = {'a': [1]}\nx['a'].append(2)", "{'a':list[1 2]}"),
    ("x = [[], []]\nx[0].append(2)", "list[list[*(2)] | list[] list[*(2)] | list[]]"),
    ("x = {'a': 1}\nx['a'] += 1", "{'a':1 | ?}"),
    ("x = {'a': {'b': {}}}\nx['a']['b']['c'] = 3", "{'a':{'b':{'c':3}}}"),
    ("x = 'Train'.lower()", "'train'"),
    ("x = 'test_traj'.startswith('train')", "False"),
    ("x = 'val'.endswith(('val', 'test'))", "True"),
    ("x = 'val'.endswith(('val', c))", "?"),
    ("x = 'val'.startswith(1)", "?"),
    ("x = 'train_left'.removeprefix('train_')", "'left'"),
]
RECORDS = [
    ("from typing import NamedTuple\nclass C(NamedTuple):\n  n: int = 2\nx = C(n=0).n", "0"),
    ("from typing import NamedTuple\nclass C(NamedTuple):\n  n: int = 2\nx = C(0)._asdict()", "{'n':0}"),
    ("from pydantic import BaseModel\nclass C(BaseModel):\n  n: int = 2\nx = C(n=0).n", "0"),
    ("from pydantic import BaseModel\nclass C(BaseModel):\n  n: int = 2\nx = C().model_dump()", "{'n':2}"),
    ("from pydantic_settings import BaseSettings\nclass C(BaseSettings):\n  n: int = 2\nx = C().n", "2 | ?"),
    (
        "from dataclasses import asdict, dataclass, field\n@dataclass\nclass C:\n  n: int = 2\nx = asdict(C())",
        "{'n':2}",
    ),
    ("from dataclasses import asdict, dataclass, field\n@dataclass\nclass C:\n  n: int = 2\nx = vars(C(1))", "{'n':1}"),
    (
        "from dataclasses import asdict, dataclass, field\n@dataclass\nclass D:\n  m: int = 1\n@dataclass\nclass C:\n"
        "  d: D = field(default_factory=D)\nx = asdict(C())",
        "{'d':{'m':1}}",
    ),
    ("class C:\n  def __init__(self): self.a = 1\nx = vars(C())", "?"),
]
CHANGES = [
    ("x = 1\nx += 2", "3"),
    ("x = 1\nfor i in y: x += 1", "1 | 2 | ?"),
    ("x = []\nx.append(1)", "list[1]"),
    ("x = []\nfor i in y: x.append(1)", "list[*(1)]"),
    # What is done to a list or dict in the arm in which it was made is done to no other.
    ("if cond:\n  x = [1]\n  x.append(2)\nelse:\n  x = [3]", "list[1 2] | list[3]"),
    ("if cond:\n  x = {'a': 1}\n  x['b'] = 2\nelse:\n  x = {'c': 3}", "{'a':1 'b':2} | {'c':3}"),
    ("if cond:\n  x = {'a': 1}\n  if other:\n    x['b'] = 2\nelse:\n  x = {'c': 3}", "{'a':1 'b'?:2} | {'c':3}"),
    ("if cond:\n  x = {'a': 1}\nelse:\n  x = {'b': 2}\nx['c'] = 3", "{'a':1 'c':3} | {'b':2 'c':3}"),
    ("x = {'a': 1}\nif cond:\n  x['b'] = 2", "{'a':1 'b'?:2}"),
    ("for i in y:\n  if i:\n    x = {'a': 1}\n  else:\n    x['b'] = 2", "{'a':1 'b'?:2}"),
    ("try:\n  x = {'a': 1}\n  x['b'] = f()\nexcept E: pass", "{'a':1 'b':?}"),
    # Within one turn of a loop, and in a `try` that is not left, all of it is done.
    ("for i in y:\n  d = {'a': 1}\n  d['b'] = 2\n  x = d", "{'a':1 'b':2}"),
    ("try:\n  d = {'a': 1}\n  d['b'] = 2\n  x = d\nexcept E: pass", "{'a':1 'b':2}"),
    ("for i in y:\n  d = {'a': 1}\n  if i: d['b'] = 2\n  x = d", "{'a':1 'b'?:2}"),
    ("for i in y:\n  d = {'a': 1}\n  if i: break\n  d['b'] = 2\nx = d", "{'a':1 'b'?:2}"),
    ("for i in y:\n  if i:\n    d = {'a': 1}\n  else:\n    d['b'] = 2\n  x = d", "{'a':1 'b'?:2}"),
    ("x = []\nx += [1]", "list[1]"),
    ("x = []\nfor i in y: x += [1]", "list[*(1)] | list[]"),
    ("x = {}\nx['a'] = 1", "{'a':1}"),
    ("x = {'a': 1}\nif c: x['a'] = 2", "{'a':1 | 2}"),
    ("x = {}\nif c: x['a'] = 2", "{'a'?:2}"),
    ("x = {}\nx.update(a=1, **{'b': 2})", "{'a':1 'b':2}"),
    ("x = {'a': 1}\nx.pop('a')", "{}"),
    ("x = {}\nx.setdefault('a', 1)", "{'a':1}"),
    ("x = {'a': 1}\nx[k] = 2", "{'a':1 ...}"),
    ("x = 1\ndef f():\n    global x\n    x = 2", "1 | 2"),
    ("y = 5\nx = 1\ndef f(y):\n    global x\n    x = y\nf(3)", "1 | 3"),
]
CALLS = [
    ("def f(): return 1\nx = f()", "1"),
    ("def f(a): return a\nx = f(1)", "1"),
    ("def f(a=2): return a\nx = f()", "2"),
    ("def f(a, *, b=2): return b\nx = f(1, b=3)", "3"),
    ("def f(*a): return a\nx = f(1, 2)", "tuple[1 2]"),
    ("def f(**k): return k\nx = f(a=1)", "{'a':1}"),
    ("def f(a, b): return b\nx = f(*(1, 2))", "2"),
    ("def f(a, b): return b\nk = {'b': 2}\nx = f(1, **k)", "2"),
    ("def f(**k): return g(**k)\ndef g(a=1, b=2): return b\nx = f(b=3)", "3"),
    ("def f():\n    if c: return 1\n    return 2\nx = f()", "1 | 2"),
    ("def f(a):\n    if a: return 1\n    return 2\nx = f(True)", "1"),
    ("def f(): pass\nx = f()", "None"),
    ("def f():\n    yield 1\nx = f()", "generator[1]"),
    ("def f():\n    yield 1\n    yield 2\nx = list(f())[1]", "2"),
    ("def f(n):\n    yield 1\n    if n:\n        yield 2\nx = list(f(n))[1]", "1 | 2"),
    ("def f():\n    yield 1\n    for n in range(3):\n        yield 2\nx = f()", "generator[*(1 | 2)]"),
    ("a = [1, 3]\na.insert(1, 2)\nx = a", "list[1 2 3]"),
    ("a = [1, 3]\na.insert(n, 2)\nx = a", "list[*(1 | 2 | 3)]"),
    ("from queue import Queue\nq = Queue()\nq.put(1, True)\nx = q.get()", "1 | ?"),
    (
        "G = 0\ndef f(n):\n    global G\n    if n:\n        G = 1\n    else:\n        G = 2\n"
        "def g():\n    global G\n    G = 3\ndef h(): return G\nx = h()",
        "0 | 1 | 2 | 3",
    ),
    ("x = (lambda a: a)(1)", "1"),
    ("from functools import partial\ndef f(a, b): return b\nx = partial(f, b=2)(1)", "2"),
    ("from functools import partial\ndef f(a, b): return b\nx = partial(f, 1)(2)", "2"),
    ("def f(n): return f(n)\nx = f(1)", "nothing"),
    ("def deco(f): return f\n@deco\ndef f(): return 1\nx = f()", "1"),
    ("def deco(f):\n    def w(*a, **k): return f(*a, **k)\n    return w\n@deco\ndef f(a): return a\nx = f(1)", "1"),
    ("@unknown\ndef f(): return 1\nx = f()", "1"),
    ("def f():\n    def g(): return y\n    y = 4\n    return g\nx = f()()", "4"),
    ("x = getattr(A(), 'v')\nclass A: v = 3", "?"),
    ("class A: v = 3\nx = getattr(A(), 'v')", "3"),
    ("class A: v = 3\nx = isinstance(A(), A)", "True"),
    ("import torch\nx = torch.Generator()", "torch.Generator()"),
    ("import torch as t\nx = t.utils.data.DataLoader", "torch.utils.data.DataLoader"),
    ("try:\n    import a_lib as x\nexcept ImportError:\n    x = None", "None | a_lib"),
]
REGISTRIES = [
    ("class A: pass\nclass B: pass\nR = {'a': A, 'b': B}\nx = R[name]()", "A() | B()"),
    ("class A: pass\nx = globals()['A']", "class A"),
    ("class A: pass\nclass B: pass\nx = globals()[name]()", "? | A() | B()"),
    ("class R(dict): pass\nx = R(a=1)['a']", "1 | ?"),
    (
        "class R(dict):\n    def add(self, c):\n        self[c.__name__] = c\n        return c\n"
        "r = R()\n@r.add\nclass A: pass\nx = r['A']",
        "? | class A",
    ),
    (
        "class F:\n    known = {}\n    @classmethod\n    def add(cls, c):\n        cls.known[c.__name__] = c\n"
        "        return c\n@F.add\nclass A: pass\nx = F.known['A']",
        "class A",
    ),
    ("class F:\n    known = {}\nF.known['a'] = 1\nx = F().known['a']", "1"),
    (
        "class F:\n    known = {}\n    def __init_subclass__(cls, name):\n        F.known[name] = cls\n"
        "class A(F, name='a'): pass\nclass B(F, name='b'): pass\nx = F.known['b']",
        "class B",
    ),
    ("class F: pass\nclass A(F): pass\nclass B(A): pass\nx = F.__subclasses__()", "list[*(class A | class B)]"),
    ("R = {}\ndef register(c):\n    R[c.__name__] = c\n    return c\n@register\nclass A: pass\nx = R['A']()", "A()"),
    ("def make(kind):\n    if kind == 'a': return 1\n    elif kind == 'b': return 2\n    raise E\nx = make('b')", "2"),
    ("def make(kind):\n    match kind:\n        case 'a': return 1\n        case _: return 2\nx = make('a')", "1"),
    (
        "def make(kind):\n    match kind:\n        case 'a' | 'b': return 1\n        case 'c': return 2\nx = make('c')",
        "2",
    ),
]


@pytest.mark.parametrize(("source", "expected"), CONSTANTS + RECORDS + CHANGES + CALLS + REGISTRIES)
def test_what_a_name_can_be(tmp_path: Path, source: str, expected: str) -> None:
    assert named(program_of(tmp_path, source + "\n"), "x") == expected


def test_what_stands_in_many_places_is_made_shallower_once(monkeypatch: pytest.MonkeyPatch) -> None:
    value: Value = External("torch.ones")
    for level in range(MAX_DEPTH):
        same = values_of(value)
        value = ExternalObject(f"f{level}", Arguments((same,) * 6))
    made = []
    shallower = ExternalObject.shallower

    def counted(self: ExternalObject, depth: int) -> Value:
        made.append(depth)
        return shallower(self, depth)

    monkeypatch.setattr(ExternalObject, "shallower", counted)
    outer = ExternalObject("outer", Arguments((values_of(value),) * 6))
    again = ExternalObject("outer", Arguments((values_of(value),)))
    assert outer.depth == again.depth == MAX_DEPTH
    assert len(made) <= MAX_DEPTH


@pytest.mark.parametrize(
    ("change", "read", "expected"),
    [
        ("L = []\nL.append(*more)", "L", "list[?]"),
        ("L = []\nL.extend(*more)", "L", "list[*(?)]"),
        ("d = {'a': 1}\nd.pop(key)", "d", "{'a'?:1}"),
        ("d = {'a': 1}\nd.pop(key)", "d.get('a', 2)", "1 | 2"),
        ("d = {'a': 1}\nd.pop('a')", "d", "{}"),
        ("d = {'a': 1}\nd.setdefault(key, 2)", "d['b']", "2"),
        ("d = {'a': 1}\nd.setdefault('a', 2)", "d", "{'a':1}"),
        ("d = {}\nd.setdefault('a' if c else 'b', 2)", "d", "{'a'?:2 'b'?:2}"),
        ("d = {}\nd.setdefault('a', *more)", "d['a']", "?"),
        ("d = {}\nd.setdefault('a')", "d['a']", "None"),
        ("d = {}\nd.update(*more)", "d['a']", "?"),
    ],
)
def test_changes_whose_arguments_are_not_all_seen(tmp_path: Path, change: str, read: str, expected: str) -> None:
    assert named(program_of(tmp_path, f"{change}\nx = {read}\n"), "x") == expected


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ("['a', 'b']", "1"),
        ("['b', other()]", "1 | 2"),
        ("['a' if c else 'b']", "1 | 2"),
        ("['a' if c else 'a']", "1"),
        ("[['a'], ['b']]", "2"),
        ("[['a'], other()]", "1 | 2"),
        ("[k + ['b'] for k in keys]", "2"),
        ("[k for k in keys] + ['a' for k in keys]", "1"),
        ("['a' for k in other()]", "1 | 2"),
        ("['b' for k in keys]", "2"),
        ("[{'a': 1}]", "2"),
        ("[dict]", "1 | 2"),
    ],
)
def test_membership(tmp_path: Path, container: str, expected: str) -> None:
    program = program_of(tmp_path, f"keys = [['a'], ['c']]\nL = {container}\nx = 1 if 'a' in L else 2\n")
    assert named(program, "x") == expected


_REGISTRIES = {
    "function": ("R = {}\ndef add(c):\n    R[c.__name__] = c\n    return c\n", "add", "R[key()]"),
    "list": ("R = []\ndef add(c):\n    R.append(c)\n    return c\n", "add", "R[key()]"),
    "class method": (
        "class F:\n    known = {}\n    @classmethod\n    def add(cls, c):\n        cls.known[c.__name__] = c\n        return c\n",
        "F.add",
        "F.known[key()]",
    ),
    "object": (
        "class F:\n    def __init__(self):\n        self.known = {}\n    def add(self, c):\n"
        "        self.known[c.__name__] = c\n        return c\n    def get(self, name):\n        return self.known[name]\n"
        "r = F()\n",
        "r.add",
        "r.get(key())",
    ),
    "decorator of a name": (
        "R = {}\ndef add(name):\n    def of(c):\n        R[name] = c\n        return c\n    return of\n",
        "add('{}')",
        "R[key()]",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "count"), [(kind, count) for kind in _REGISTRIES for count in (3, 14, 20)])
def test_a_registry_of_many_classes(tmp_path: Path, kind: str, count: int) -> None:
    head, decorator, found = _REGISTRIES[kind]
    classes = [f"C{number}" for number in range(count)]
    registered = "".join(f"@{decorator.format(name)}\nclass {name}: pass\n" for name in classes)
    what = named(program_of(tmp_path, f"{head}{registered}x = {found}\n"), "x").split(" | ")
    if kind == "decorator of a name" and count > 16:  # so many calls are told apart
        assert "?" in what and len(what) == 17
    else:
        assert sorted(what) == sorted(f"class {name}" for name in classes)


_ROWS = "".join(f"def f{number}(): pass\n" for number in range(20))


@pytest.mark.parametrize(
    ("read", "row"),
    [
        ("for x, weight in T: pass", "(f{0}, {0})"),
        ("x = T[i][0]", "[f{0}, {0}]"),
        ("import random\nx = random.choice(T)[0]", "(f{0}, {0})"),
        ("import random\nx = random.choices(population=T, k=2)[0][0]", "(f{0}, {0})"),
    ],
)
def test_a_table_of_many_rows(tmp_path: Path, read: str, row: str) -> None:
    table = ", ".join(row.format(number) for number in range(20))
    what = named(program_of(tmp_path, f"{_ROWS}T = [{table}]\n{read}\n"), "x").split(" | ")
    assert sorted(what) == sorted(f"def f{number}" for number in range(20))


@pytest.mark.parametrize("name", [name for name in PYTHON_CALLS if name != "builtins.filter"])
@pytest.mark.parametrize("arguments", ["*more", "**more", "key=1, **more", "[1], *more"])
def test_arguments_that_are_not_seen(tmp_path: Path, name: str, arguments: str) -> None:
    """What a call gives is never said to be nothing, nor to hold nothing."""
    module, _, _ = name.rpartition(".")
    source = f"import {module}\nx = {name}({arguments})\n"
    assert "nothing" not in named(program_of(tmp_path, source), "x")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("tqdm.tqdm(iterable=[1, 2])", "list[1 2]"),
        ("random.choices(population=[1, 2], k=2)", "list[*(1 | 2)]"),
        ("copy.copy(x=[1, 2])", "list[1 2]"),
        ("list(zip(*rows))", "list[*(tuple[*(?)])]"),
        ("list(zip([1], *rows))[0]", "tuple[*(1 | ?)]"),
        ("list(enumerate(iterable=[1], start=1))", "list[*(tuple[? 1])]"),
    ],
)
def test_the_first_argument_by_name_or_not_seen(tmp_path: Path, call: str, expected: str) -> None:
    assert named(program_of(tmp_path, f"import copy, random, tqdm\nx = {call}\n"), "x") == expected
