"""The quick looks at a text pass over definitions and words, and over no call and no subclass."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from torchrepro_lint.program.call_words import bases_in, decorated_with, decorators_in, may_call, subclass_of
from torchrepro_lint.program.word_index import words_of


@pytest.mark.parametrize(
    "text",
    ["f(1)", "x.f (1)", "(f)(1)", "f\\\n(1)", "@f(1)", "from a import f as g", "g = f", "g = a.b.f", "self.g = f",
     "partial(f, 1)", "partial(\n    a.f)", "g: object = f", "f  # why\n(1)", "ff(1); f(1)"],
)  # fmt: skip
def test_calls_and_other_names(text: str) -> None:
    assert may_call(text.encode(), b"f")


@pytest.mark.parametrize(
    "text", ["def f(a): pass", "class f(a): pass", "ff(1)", "f_(1)", "# f", "'the f of it'", "from a import f\n", "x.f"]
)
def test_what_is_no_call(text: str) -> None:
    assert not may_call(text.encode(), b"f")


@pytest.mark.parametrize(
    "text",
    ["class A(Base): pass", "class A(Base):", "class  A (m.Base):", "class A(Other, Base):", "class A(\n    Base,\n):",
     "class A(  # a, b: c\n    Other,  # d: e\n    Base):", "class A(f(x={1: 2}), Base):", "class A[T: int](Base):",
     "class A[\n    T: int,\n](Base):", "class A(Base[int], Base):", "@d\nclass A(Other[lambda x: x], Base): ...",
     "class A(Other, metaclass=M, x=y[1:2], z=Base):"],
)  # fmt: skip
def test_subclasses(text: str) -> None:
    assert subclass_of("Base").search(text.encode())


@pytest.mark.parametrize(
    "text",
    ["class Base(Other):\n    pass", "class A(Other):\n    b = Base()", "class A(Bases): pass", "class A:\n    Base()",
     "def f(x: Base):", "A(Base)\n"],
)  # fmt: skip
def test_what_is_no_subclass(text: str) -> None:
    assert not subclass_of("Base").search(text.encode())


PIECES = st.sampled_from(
    [
        "class ",
        "class\n",
        "A",
        "B",
        "(",
        ")",
        "[",
        "]",
        ":",
        ":\n",
        ": ",
        ",",
        "#",
        "\n",
        "\\\n",
        " ",
        "'",
        "@",
        "\f",
        "\ufeff@",
        "x.",
    ]
)


@example("class A[x](:\n](B)", "B")
@example("class A(\n    x,  # B\n):", "B")
@example("subclass A(B):", "B")
@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["A", "B"]))
def test_what_is_found_stands_in_the_index(text: str, name: str) -> None:
    data = text.encode()
    assert bool(subclass_of(name).search(data)) is (name.encode() in words_of(bases_in(data)))
    assert bool(decorated_with(name).search(data)) is (name.encode() in words_of(decorators_in(data)))
