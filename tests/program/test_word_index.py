"""Words and the texts that hold them; what a pattern needs is never more than what it matches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.program.modules import Project
from torchrepro_lint.program.word_index import WordIndex, any_word, finds, part_of_word, required_words

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
    for text in texts:
        assert finds(compiled, text) == (compiled.search(text) is not None)


def test_a_text_without_what_a_pattern_needs_is_not_searched() -> None:
    pattern = re.compile(rb"torch\.rand|np\.random")
    assert finds(pattern, b"x = torch.rand(2)")
    assert not finds(pattern, b"x = math.sin(2)")


@given(st.sets(WORDS, min_size=1, max_size=3), st.lists(st.lists(WORDS | st.just(b" ")).map(b"".join), max_size=5))
def test_the_index_knows_what_a_pattern_of_words_finds(words: set[bytes], texts: list[bytes]) -> None:
    pattern = any_word(word.decode() for word in words)
    found = [number for number, text in enumerate(texts) if pattern.search(text)]
    assert WordIndex(texts).holding_any(pattern) == found


def test_other_patterns_are_not_taken_for_words() -> None:
    assert WordIndex(TEXTS).holding_any(re.compile(rb"torch")) is None
    assert WordIndex(TEXTS).holding_any(any_word(["torch", "\xe9tat"])) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@register\ndef f(): ...", True),
        ("@a.register('x')  # why\ndef f(): ...", True),
        ("@f(register)\ndef f(): ...", True),
        ("\ufeff@register\ndef f(): ...", True),
        ("import a\r\n\r\n@register\r\ndef f(): ...", True),
        ("\f@register\ndef f(): ...", True),
        ("class A:\n    @register\n    def f(self): ...", False),
        ("@other\ndef register(): ...", False),
        ("register(f) @ other", False),
        ("@registered\ndef f(): ...", False),
    ],
)
def test_files_in_which_a_name_may_be_a_decorator(write, text: str, expected: bool) -> None:
    root: Path = write({"a.py": text})
    project = Project(root, [root / "a.py"])
    assert bool(project.decorating("register")) is expected
    (pattern,) = project.looks.patterns
    assert bool(pattern.search(text.encode())) is expected


MADE = st.lists(WORDS | st.sampled_from([b" ", b"_", b"."])).map(b"".join)


@given(st.lists(MADE, min_size=1, max_size=4), st.lists(st.tuples(st.integers(0, 3), MADE), max_size=4), WORDS)
def test_an_index_that_is_changed_is_that_of_the_new_texts(
    texts: list[bytes], changes: list[tuple[int, bytes]], word: bytes
) -> None:
    index = WordIndex(texts)
    for place, text in changes:
        number = place % len(texts)
        index.replace(number, texts[number], text)
        texts[number] = text
    other = WordIndex(texts)
    assert list(index.holding(word)) == list(other.holding(word))
    assert index.may_match(re.compile(word)) == other.may_match(re.compile(word))


PARTS = st.sampled_from(["loss", "seed|rng", "(?<![a-z0-9])ce(?![a-z0-9])", "random_?state"])
NEAR_WORDS = st.lists(
    st.sampled_from([b"Loss", b"_ce", b"CE_", b"ce", b"nce", b"Random", b"_State", b"rng", b" ", b".", b"\n"])
)


@given(PARTS, st.lists(NEAR_WORDS.map(b"".join), max_size=4))
def test_a_part_of_a_word_is_found_in_the_words(part: str, texts: list[bytes]) -> None:
    pattern = part_of_word(part)
    assert WordIndex(texts).holding_any(pattern) == [n for n, text in enumerate(texts) if pattern.search(text)]
