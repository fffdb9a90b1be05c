"""Notebooks for tests: JSON as Jupyter writes it, from the sources of its code cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["PROGRAM", "code", "markdown", "notebook"]


def code(source: str | Sequence[str], count: int | None = None, **metadata: Any) -> dict[str, Any]:
    """A code cell; a source that is one string is kept as a list of lines, as Jupyter does."""
    lines = source.splitlines(keepends=True) if isinstance(source, str) else list(source)
    return {"cell_type": "code", "execution_count": count, "metadata": metadata, "outputs": [], "source": lines}


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": [text]}


def notebook(*cells: str | dict[str, Any], language: str = "python", indent: int | None = 1) -> str:
    """The text of a notebook; a string is the source of a code cell."""
    document = {
        "cells": [code(cell) if isinstance(cell, str) else cell for cell in cells],
        "metadata": {"kernelspec": {"language": language, "name": "kernel"}, "language_info": {"name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


# One fault over three cells, the first of which is text: workers draw from NumPy's global RNG.
PROGRAM = (
    markdown("# Digits"),
    "%matplotlib inline\n!pip install torch\nimport numpy as np\nfrom torch.utils.data import DataLoader, Dataset",
    "%%time\nclass Digits(Dataset):\n    def __len__(self):\n        return 4\n\n"
    "    def __getitem__(self, index):\n        return np.random.rand()",
    "?DataLoader\nloader = DataLoader(Digits(), batch_size=2, num_workers=2)\nfor batch in loader:\n    display(batch);",
    "%%bash\nls -la | grep 'x",
)
