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
    ],
)
def test_interesting(line: bytes) -> None:
    assert is_interesting(b"# a file\n" * 100 + line)


def test_not_interesting() -> None:
    assert not is_interesting(b"import os, sys\n\ndef add(a: int, b: int) -> int:\n    return a + b\n" * 100)
    assert not is_interesting(b"")
