"""Words and the texts that hold them; what a pattern needs is never more than what it matches."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.program.word_index import WordIndex, required_words

TEXTS = [
    b"import torch",
    b"x = torchvision.io",
    b"loader_1 = DataLoader(a)",
    b"",
    b"# dataloader, \xe9tat",
    b"1abc abc2",
]


@pytest.mark.parametrize(
    ("word", "expected"),
    [(b"torch", [0]), (b"DataLoader", [2]), (b"loader_1", [2]), (b"loader", []), (b"tat", [4]), (b"abc", [])],
)
def test_holding(word: bytes, expected: list[int]) -> None:
    assert list(WordIndex(TEXTS).holding(word)) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (rb"torch", {b"torch"}),
        (rb"\btorch\.(?:rand|randn)\(", {b"torch"}),
        (rb"(?<!\w)(?:seed|shuffle)(?!\w)", {b"eed", b"huffle"}),
        (rb"DataLoader|random_split", {b"DataLoader", b"random_split"}),
        (rb"(?:DataLoader)+", {b"DataLoader"}),
        (rb"(?:DataLoader)?", None),
        (rb"np\.|torch", None),
        (rb"(?i)torch", None),
        (rb"(?i:torch)", None),
        (rb"\w+", None),
    ],
)
def test_what_a_pattern_needs(pattern: bytes, expected: set[bytes] | None) -> None:
    assert required_words(re.compile(pattern)) == expected


WORDS = st.sampled_from([b"torch", b"seed", b"worker_init_fn", b"set", b"Loader", b"DataLoader", b"np", b"rand"])
PIECES = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: rb"(?:" + rb"|".join(parts) + rb")"),
        st.tuples(inner, inner).map(lambda two: two[0] + rb"\s*[.(]" + two[1]),
        inner.map(lambda one: rb"(?:" + one + rb")?"),
        inner.map(lambda one: rb"\b" + one),
    ),
    max_leaves=5,
)


@given(PIECES, st.lists(st.lists(WORDS | st.sampled_from([b".", b"(", b" ", b"_"])).map(b"".join), max_size=5))
def test_no_text_that_matches_is_left_out(pattern: bytes, texts: list[bytes]) -> None:
    compiled = re.compile(pattern)
    candidates = WordIndex(texts).may_match(compiled)
    if candidates is not None:
        assert {number for number, text in enumerate(texts) if compiled.search(text)} <= set(candidates)
