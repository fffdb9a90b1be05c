from __future__ import annotations

import pytest

from torchrepro_lint.source.prefilter import is_interesting


@pytest.mark.parametrize(
    "line",
    [
        b"import torch",
        b"from data import build_dataloader",
        b"x = np.mean(y)",
        b"random.shuffle(xs)",
        b"torch.backends.cudnn.benchmark = True",
        b"def seed_everything(): ...",
        b"trainer = Trainer(benchmark=True)",
        b"out.scatter_add_(0, i, x)",
        b"files = os.listdir(p)",
        b"order = list(set(names))",
        b"letters = {letter for letter in text}",
        b"words = {\n    f'<{word}>' for word in words\n}",
        b"names = {'a', 'b'}",
        b"names = one.keys() & other.keys()",
        b"names = set.union(*all_names)",
        b"train = table.sample(frac=0.8)",
    ],
)
def test_interesting(line: bytes) -> None:
    assert is_interesting(b"# a file\n" * 100 + line)


def test_not_interesting() -> None:
    assert not is_interesting(b"import os, sys\n\ndef add(a: int, b: int) -> int:\n    return a + b\n" * 100)
    assert not is_interesting(b"")


@pytest.mark.parametrize("line", [b"numbers = {name: 1 for name in names}", b"numbers = {'a': 1, 'b': 2}", b"{}, {1}"])
def test_no_set(line: bytes) -> None:
    assert not is_interesting(line)
