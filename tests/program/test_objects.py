"""Objects of project classes: attributes, bases, super, properties."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import named, program_of

ATTRIBUTES = [
    ("class A:\n    v = 1\nx = A().v", "1"),
    ("class A:\n    def __init__(self): self.v = 1\nx = A().v", "1"),
    ("class A:\n    v = 0\n    def __init__(self): self.v = 1\nx = A().v", "1"),
    ("class A:\n    def __init__(self, v): self.v = v\nx = A(3).v", "3"),
    ("class A:\n    def __init__(self, v=2): self.v = v\nx = A().v", "2"),
    ("class A:\n    def __init__(self): self.v = 1\n    def set(self): self.v = 2\nx = A().v", "1 | 2"),
    ("class A:\n    def __init__(self, c):\n        if c: self.v = 1\n        else: self.v = 2\nx = A(False).v", "2"),
    ("class A: pass\na = A()\na.v = 5\nx = a.v", "5"),
    ("class A:\n    def m(self): return 1\nx = A().m()", "1"),
    ("class A:\n    @property\n    def p(self): return 1\nx = A().p", "1"),
    (
        "class A:\n    def __init__(self, p=None): self.p = p\n    @property\n    def p(self): return self._p\n"
        "    @p.setter\n    def p(self, v): self._p = v or 3\nx = A().p",
        "3",
    ),
    ("class A:\n    @staticmethod\n    def s(a): return a\nx = A().s(2)", "2"),
    ("class A:\n    @classmethod\n    def c(cls): return cls()\nx = A.c()", "A()"),
    (
        "class A:\n    v = None\n    @classmethod\n    def c(cls, v=1): cls.v = v\n    @classmethod\n"
        "    def r(cls): return cls.v\nA.c()\nx = A.r()",
        "1 | ? | None",
    ),
    ("class A:\n    v = 1\nA.v = 2\nx = A.v", "1 | 2"),
    ("class A:\n    v = 1\nclass B(A): pass\nA.v = 2\nx = B().v", "1 | 2"),
    ("class A:\n    def __call__(self): return 1\nx = A()()", "1"),
    ("class A:\n    def __getitem__(self, i): return i\nx = A()[4]", "4"),
    ("class A:\n    def __enter__(self): return 1\nwith A() as x: pass", "1"),
    ("class A:\n    def __init__(self): self.v = []\n    def add(self): self.v.append(2)\nx = A().v[0]", "2"),
    ("class A:\n    def m(self):\n        self.v = 1\n        return self.v\nx = A().m()", "1"),
    ("class A:\n    n = 3\n    def m(self): return self.__class__\nx = type(A())", "class A"),
    ("from dataclasses import dataclass\n@dataclass\nclass A:\n    v: int\n    w: int = 2\nx = A(1).w", "2"),
    ("from dataclasses import dataclass\n@dataclass\nclass A:\n    v: int\n    w: int = 2\nx = A(1, w=3).w", "3"),
    (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
        "    v: list = field(default_factory=list)\nx = A().v",
        "list[]",
    ),
    (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    v: int = 0\n    w: int = 0\n"
        "@dataclass\nclass B(A):\n    u: int = 0\n    v: int = 5\nx = B(1, 2).v",
        "1",
    ),
    (
        "from dataclasses import dataclass\nfrom typing import ClassVar\n@dataclass\nclass A:\n"
        "    k: ClassVar[int] = 9\n    v: int = 0\nx = A(1).v",
        "1",
    ),
    (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
        "    k: int = field(init=False, default=9)\n    v: int = 0\nx = A(1).v",
        "1",
    ),
    (
        "from dataclasses import KW_ONLY, dataclass\n@dataclass\nclass A:\n    _: KW_ONLY\n    k: int = 0\n"
        "@dataclass\nclass B(A):\n    v: int = 1\nx = B(4).v",
        "4",
    ),
    (
        "from dataclasses import dataclass\n@dataclass(kw_only=True)\nclass A:\n    k: int = 0\n"
        "@dataclass\nclass B(A):\n    v: int = 1\nx = B(4).v",
        "4",
    ),
]
BASES = [
    ("class A:\n    def m(self): return 1\nclass B(A): pass\nx = B().m()", "1"),
    ("class A:\n    def m(self): return 1\nclass B(A):\n    def m(self): return super().m()\nx = B().m()", "1"),
    ("class A:\n    def m(self): return self.k()\nclass B(A):\n    def k(self): return 2\nx = B().m()", "2"),
    (
        "class A:\n    def __init__(self, v): self.v = v\nclass B(A):\n"
        "    def __init__(self): super().__init__(7)\nx = B().v",
        "7",
    ),
    (
        "class A:\n    def __init__(self, v): self.v = v\n"
        "class B(A):\n    def __init__(self, *a, **k): super().__init__(*a, **k)\n"
        "class C(B):\n    def __init__(self, **k): B.__init__(self, **k)\nx = C(v=8).v",
        "8",
    ),
    (
        "class A:\n    def m(self): return 'a'\nclass B(A):\n    def m(self): return 'b' + super().m()\n"
        "class C(A):\n    def m(self): return 'c' + super().m()\nclass D(B, C):\n    def m(self): return super().m()\n"
        "x = D().m()",
        "'bca'",
    ),
    ("class A(A): v = 1\nx = A().v", "1"),
    ("class A(B): pass\nclass B(A): v = 1\nx = B().v", "1"),
    ("class A(unknown): pass\nx = A().v", "?"),
    ("import lib\nclass A(lib.Base): pass\nx = A().v", "A().v"),
    (
        "from torchvision.datasets import ImageFolder\nclass A(ImageFolder):\n    def __init__(self, t):\n"
        "        super().__init__('d', transform=t)\nx = A(3).transform",
        "3",
    ),
]


GRAPHS = "from torch_geometric.data import InMemoryDataset\nclass A(InMemoryDataset):\n    def get(self, i): return i\n"
#: A data set of PyTorch Geometric gives one graph for a position, and for all else a data set of its own class.
PARTS = [
    (GRAPHS + "x = A('d').shuffle()", "A()"),
    (GRAPHS + "x = A('d').copy().index_select([1, 2])", "A()"),
    (GRAPHS + "x = A('d')[0]", "?"),
    (GRAPHS + "x = A('d')[:10]", "? | A()"),
    (GRAPHS + "x = A('d').shuffle()[unknown]", "? | A()"),
    (GRAPHS + "class B(A):\n    def __getitem__(self, i): return 3\nx = B('d')[:10]", "3"),
    ("from torch_geometric.datasets import QM9\nx = QM9('d').shuffle()[100:]", "? | torch_geometric.datasets.QM9()"),
    ("from torch.utils.data import Dataset\nclass A(Dataset): pass\nx = A()[:3]", "?"),
]


@pytest.mark.parametrize(("source", "expected"), ATTRIBUTES + BASES + PARTS)
def test_what_an_attribute_can_be(tmp_path: Path, source: str, expected: str) -> None:
    assert named(program_of(tmp_path, source + "\n"), "x") == expected
