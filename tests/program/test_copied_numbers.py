"""Words and classes that copied code numbers: nobody asks for a change in what would differ from its original."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_WORDS = """
import os
import torch


def number_words(texts):
    words = {word for text in texts for word in text.split()}
    return {word: number for number, word in enumerate(words)}


def number_classes(root):
    return {name: number for number, name in enumerate(os.listdir(root))}
"""
_PROGRAM = """
import torch
from {module} import number_classes, number_words

torch.save([number_words(["a b"]), number_classes("images")], "numbers.pt")
"""


@pytest.mark.parametrize(("folder", "found"), [("words", ["TRL207", "TRL208"]), ("third_party", [])])
def test_numbers_of_copied_code(write, folder: str, found: list[str]) -> None:
    module = f"{folder}.numbers_of_words"
    root = write(
        {
            "torchrepro-lint.toml": "",
            f"{folder}/numbers_of_words.py": _WORDS,
            "train.py": _PROGRAM.format(module=module),
        }
    )
    assert sorted(one.code for one in check([root]).findings) == found
    strict = {one.code for one in check([root], {"select": ("TRL207", "TRL208")}).findings}
    assert strict == {"TRL207", "TRL208"}
