"""The quick look at a text for calls of a name passes over definitions and words, and over no call."""

from __future__ import annotations

import pytest

from torchrepro_lint.program.call_words import may_call


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
