"""The backward solver: each construct of Python carries a source into a sink, and its innocent twin does not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from program.asking import program_of

from torchrepro_lint.facts import tree
from torchrepro_lint.program.core.access import MAX_ACCESS
from torchrepro_lint.program.core.origins_of_names import MAX_IMPORTS
from torchrepro_lint.program.core.queries import MAX_CALL_PATH
from torchrepro_lint.program.intent.seed_entropy import entropy_of

#: Programs by what carries the value: `SOURCE` is where it begins, `sink(...)` where it ends.
CONSTRUCTS = {
    "a name": "a = SOURCE\nsink(a)",
    "unpacking": "a, b = 1, SOURCE\nsink(b)",
    "nested unpacking": "(a, (b, c)) = (1, (SOURCE, 2))\nsink(b)",
    "unpacking behind a star": "first, *rest = [1, SOURCE]\nsink(rest[0])",
    "a walrus": "if (a := SOURCE):\n    pass\nsink(a)",
    "a conditional": "a = SOURCE if x else SOURCE\nsink(a)",
    "addition": "a = 1\na += SOURCE\nsink(a)",
    "a returned value": "def f():\n    return SOURCE\nsink(f())",
    "a returned tuple": "def f():\n    return 1, SOURCE\na, b = f()\nsink(b)",
    "a method": "class A:\n    def f(self):\n        return SOURCE\nsink(A().f())",
    "a lambda": "f = lambda: SOURCE\nsink(f())",
    "an argument": "def f(x):\n    sink(x)\nf(SOURCE)",
    "a keyword": "def f(a, *, x):\n    sink(x)\nf(1, x=SOURCE)",
    "a default": "def f(x=SOURCE):\n    sink(x)\nf()",
    "positional arguments": "def f(a, *rest):\n    sink(rest[1])\nf(1, 2, SOURCE)",
    "keywords": "def f(**rest):\n    sink(rest['x'])\nf(y=1, x=SOURCE)",
    "a spread list": "def f(a, x):\n    sink(x)\nf(*[1, SOURCE])",
    "a spread dict": "def f(a, x):\n    sink(x)\nf(**{'a': 1, 'x': SOURCE})",
    "keywords handed on": "def g(x):\n    sink(x)\ndef f(**rest):\n    g(**rest)\nf(x=SOURCE)",
    "through two functions": "def g(x):\n    sink(x)\ndef f(y):\n    g(y)\nf(SOURCE)",
    "given back": "def f(x):\n    return x\nsink(f(SOURCE))",
    "a closure": "def f(x):\n    def g():\n        sink(x)\n    g()\nf(SOURCE)",
    "a nonlocal": "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = SOURCE\n    g()\n    sink(x)\nf()",
    "a global": "x = 1\ndef f():\n    global x\n    x = SOURCE\nf()\nsink(x)",
    "a partial": "from functools import partial\ndef f(a, x):\n    sink(x)\npartial(f, x=SOURCE)(1)",
    "a partial by position": "from functools import partial\ndef f(x, a):\n    sink(x)\ng = partial(f, SOURCE)\ng(1)",
    "behind a partial": "from functools import partial\ndef f(a, x):\n    sink(x)\ng = partial(f, 1)\ng(SOURCE)",
    "a partial in a dict": "from functools import partial\ndef f(x):\n    sink(x)\nd = {'k': partial(f, x=SOURCE)}\nd['k']()",
    "an item": "a = [1, SOURCE]\nsink(a[1])",
    "a key": "a = {'x': SOURCE, 'y': 1}\nsink(a['x'])",
    "nested containers": "a = {'x': [1, (2, SOURCE)]}\nsink(a['x'][1][1])",
    "get": "a = {'x': SOURCE}\nsink(a.get('x'))",
    "an updated dict": "a = {}\na.update(x=SOURCE)\nsink(a['x'])",
    "a stored key": "a = {}\na['x'] = SOURCE\nsink(a['x'])",
    "append": "a = []\na.append(SOURCE)\nsink(a[0])",
    "a joined list": "a = [1]\na += [SOURCE]\nfor one in a:\n    sink(one)",
    "a loop": "for a in [SOURCE]:\n    sink(a)",
    "a loop over items": "for k, v in {'x': SOURCE}.items():\n    sink(v)",
    "enumerate": "for i, a in enumerate([SOURCE]):\n    sink(a)",
    "zip": "for i, a in zip([1], [SOURCE]):\n    sink(a)",
    "a comprehension": "a = [SOURCE for _ in names]\nsink(a[0])",
    "a comprehension over it": "b = [SOURCE]\na = [one for one in b]\nsink(a[0])",
    "a dict comprehension": "a = {k: SOURCE for k in names}\nsink(a['x'])",
    "a generator function": "def f():\n    yield SOURCE\nfor a in f():\n    sink(a)",
    "yield from": "def g():\n    yield SOURCE\ndef f():\n    yield from g()\nfor a in f():\n    sink(a)",
    "next": "def f():\n    yield SOURCE\nsink(next(f()))",
    "an attribute": "class A:\n    def __init__(self):\n        self.x = SOURCE\nsink(A().x)",
    "an attribute from an argument": "class A:\n    def __init__(self, x):\n        self.x = x\nsink(A(SOURCE).x)",
    "an attribute of the base": "class B:\n    def __init__(self, x):\n        self.x = x\nclass A(B):\n    def __init__(self, y):\n        super().__init__(y)\nsink(A(SOURCE).x)",
    "an attribute set by a helper": "class B:\n    def setup(self, x):\n        self.x = x\nclass A(B):\n    def __init__(self):\n        self.setup(SOURCE)\nsink(A().x)",
    "a class attribute": "class A:\n    x = SOURCE\nsink(A.x)",
    "a class attribute of the object": "class A:\n    x = SOURCE\nsink(A().x)",
    "an attribute set outside": "class A:\n    pass\na = A()\na.x = SOURCE\nsink(a.x)",
    "an attribute set in a function": "class A:\n    x = None\ndef f(a):\n    a.x = SOURCE\na = A()\nf(a)\nsink(a.x)",
    "a property": "class A:\n    @property\n    def x(self):\n        return SOURCE\nsink(A().x)",
    "a cached property": "from functools import cached_property\nclass A:\n    @cached_property\n    def x(self):\n        return SOURCE\nsink(A().x)",
    "a static method": "class A:\n    @staticmethod\n    def f(x):\n        sink(x)\nA.f(SOURCE)",
    "a class method": "class A:\n    @classmethod\n    def f(cls, x):\n        sink(x)\nA.f(SOURCE)",
    "a call of an object": "class A:\n    def __call__(self):\n        return SOURCE\nsink(A()())",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\nsink(A(x=SOURCE).x)",
    "a default of a dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = SOURCE\nsink(A().x)",
    "a default factory": "from dataclasses import dataclass, field\n@dataclass\nclass A:\n    x: int = field(default_factory=lambda: SOURCE)\nsink(A().x)",
    "a named tuple": "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\nsink(A(SOURCE).x)",
    "a namespace": "from types import SimpleNamespace\na = SimpleNamespace(x=SOURCE)\nsink(a.x)",
    "a configuration handed on": "class C:\n    def __init__(self):\n        self.x = SOURCE\ndef f(c):\n    sink(c.x)\nf(C())",
    "getattr": "class A:\n    x = SOURCE\nsink(getattr(A(), 'x'))",
    "a context manager": "from contextlib import contextmanager\n@contextmanager\ndef f():\n    yield SOURCE\nwith f() as a:\n    sink(a)",
    "an entered object": "class A:\n    def __enter__(self):\n        return SOURCE\n    def __exit__(self, *_):\n        pass\nwith A() as a:\n    sink(a)",
    "try": "try:\n    a = SOURCE\nfinally:\n    pass\nsink(a)",
    "await": "async def f():\n    return SOURCE\nasync def g():\n    sink(await f())",
    "a copy": "import copy\na = [SOURCE]\nsink(copy.copy(a)[0])",
    "a list of it": "a = list([SOURCE])\nsink(a[0])",
    "sorted": "for a in sorted([SOURCE]):\n    sink(a)",
    "an item of an object": "class A:\n    def __getitem__(self, i):\n        return SOURCE\nsink(A()[0])",
    "an iterated object": "class A:\n    def __iter__(self):\n        yield SOURCE\nfor a in A():\n    sink(a)",
    "nullcontext": "from contextlib import nullcontext\nwith nullcontext(SOURCE) as a:\n    sink(a)",
    "gather": "import asyncio\nasync def f():\n    return SOURCE\nasync def g():\n    a, b = await asyncio.gather(f(), f())\n    sink(a)",
    "run": "import asyncio\nasync def f():\n    return SOURCE\nsink(asyncio.run(f()))",
    "a queue": "import queue\nq = queue.Queue()\nq.put(SOURCE)\nsink(q.get())",
    "a deque": "from collections import deque\nd = deque()\nd.append(SOURCE)\nsink(d.popleft())",
    "a list that a function fills": "def f(xs):\n    xs.append(SOURCE)\na = []\nf(a)\nsink(a[0])",
    "a dict that a function fills": "def f(d, v):\n    d['x'] = v\na = {}\nf(a, SOURCE)\nsink(a['x'])",
    "a registry": "R = {}\ndef f():\n    return SOURCE\nR['f'] = f\nsink(R['f']())",
    "a callback": "def g(f):\n    sink(f())\ng(lambda: SOURCE)",
}  # fmt: skip

#: Sources of entropy, and what is none.
ENTROPY, INNOCENT = "time.time()", "len('abc')"


def _ends_in_entropy(root: Path, body: str, source: str) -> bool:
    program = program_of(root, "import time\n" + dedent(body.replace("SOURCE", source)))
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    found = []
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            if isinstance(call.func, tree.Name) and call.func.id == "sink":
                for frame in program.ev.contexts(facts, scope):
                    found.append(entropy_of(program.ev, call.args[0].value, frame))
    assert found
    return any(one is not None for one in found)


@pytest.mark.parametrize("body", CONSTRUCTS.values(), ids=CONSTRUCTS)
def test_a_source_is_followed_and_its_twin_is_not(tmp_path: Path, body: str) -> None:
    assert _ends_in_entropy(tmp_path, body, ENTROPY)
    assert not _ends_in_entropy(tmp_path, body, INNOCENT)


#: Programs in which the source goes by a way that the value of the sink does not take.
APART = {
    "another call of the function": "def f(x):\n    return x\nf(time.time())\nsink(f(1))",
    "another call, two functions deep": "def g(y):\n    return y\ndef f(x):\n    return g(x)\nf(time.time())\nsink(f(1))",
    "another item": "a, b = time.time(), 1\nsink(b)",
    "another item of what is returned": "def f():\n    return time.time(), 1\na, b = f()\nsink(b)",
    "another key": "a = {'x': time.time(), 'y': 1}\nsink(a['y'])",
    "another object": "class A:\n    def __init__(self, x):\n        self.x = x\na = A(time.time())\nsink(A(1).x)",
    "another attribute": "class A:\n    def __init__(self):\n        self.t = time.time()\n        self.x = 1\nsink(A().x)",
    "another field": "from dataclasses import dataclass\n@dataclass\nclass A:\n    t: float\n    x: int\nsink(A(time.time(), 1).x)",
    "another keyword": "def f(**rest):\n    sink(rest['x'])\nf(t=time.time(), x=1)",
    "another argument of a partial": "from functools import partial\ndef f(t, x):\n    sink(x)\npartial(f, time.time())(1)",
    "bound again": "a = time.time()\na = 1\nsink(a)",
    "the keys of a dict": "for k in {'x': time.time()}:\n    sink(k)",
    "the numbers of enumerate": "for i, a in enumerate([time.time()]):\n    sink(i)",
    "another key of a copy": "def f(d):\n    new = {}\n    for k, v in d.items():\n        new[k] = v\n    return new\nsink(f({'t': time.time(), 'x': 1})['x'])",
    "another key of a comprehension": "d = {'t': time.time(), 'x': 1}\nsink({k: v for k, v in d.items()}['x'])",
    "an arm that does not run": "a = 1\nif False:\n    a = time.time()\nsink(a)",
}  # fmt: skip


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_a_source_that_goes_another_way_is_not_found(tmp_path: Path, body: str) -> None:
    assert not _ends_in_entropy(tmp_path, body, "")


# --- limits: past one nothing is said that may be false ---------------------------------------------------------------


def _nested(depth: int) -> str:
    functions = ["def f0(x):\n    return x"]
    functions += [f"def f{number}(x):\n    return f{number - 1}(x)" for number in range(1, depth + 1)]
    return "\n".join(functions)


@pytest.mark.parametrize("depth", [1, MAX_CALL_PATH - 1, MAX_CALL_PATH, MAX_CALL_PATH + 2])
def test_past_a_long_call_path_no_other_call_is_taken_for_this_one(tmp_path: Path, depth: int) -> None:
    program = f"{_nested(depth)}\nf{depth}(time.time())\nsink(f{depth}(%s))"
    assert not _ends_in_entropy(tmp_path, program % "1", "")
    assert _ends_in_entropy(tmp_path, program % "time.time()", "") is (depth < MAX_CALL_PATH)


@pytest.mark.parametrize("depth", [1, MAX_ACCESS, MAX_ACCESS + 2])
def test_past_a_long_access_path_no_other_part_is_taken_for_this_one(tmp_path: Path, depth: int) -> None:
    value = "{'x': 1, 'y': SOURCE}"
    for _ in range(depth - 1):
        value = f"{{'x': {value}}}"
    program = f"a = {value}\nsink(a" + "['x']" * (depth - 1)
    assert not _ends_in_entropy(tmp_path, program + "['x'])", ENTROPY)
    assert _ends_in_entropy(tmp_path, program + "['y'])", ENTROPY) is (depth <= MAX_ACCESS)


@pytest.mark.parametrize("modules", [2, MAX_IMPORTS, MAX_IMPORTS + 2])
def test_past_many_modules_nothing_is_known_of_a_name(tmp_path: Path, modules: int) -> None:
    files = {f"m{number}.py": f"from m{number + 1} import a" for number in range(modules)}
    files[f"m{modules}.py"] = "import time\na = time.time()"
    files["main.py"] = "from m0 import a\nsink(a)"
    program = program_of(tmp_path, files)
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    call = facts.scope.calls[-1][0]
    found = entropy_of(program.ev, call.args[0].value, program.ev.module_frame(facts))
    assert (found is not None) is (modules < MAX_IMPORTS)
