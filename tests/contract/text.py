"""What a fix may do to a text: the lines that have to do with the fault change, and nothing else."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from difflib import SequenceMatcher
from typing import Any

from contract.programs import Shape, fault_of
from pyflakes.checker import Checker

__all__ = ["other_lines_gone", "outside_the_cells", "python_of", "warnings"]


def python_of(path: str, text: str) -> str:
    """The program text; of a notebook, that of its cells."""
    return text if path.endswith(".py") else "".join(f"{''.join(cell['source'])}\n" for cell in _cells(text))


def outside_the_cells(path: str, text: str) -> str:
    """A notebook without the sources of its cells; nothing of another file."""
    return "" if path.endswith(".py") else re.sub(r'"source": \[.*?^   \]', "", text, flags=re.DOTALL | re.MULTILINE)


def _cells(text: str) -> list[dict[str, Any]]:
    cells = json.loads(text)["cells"]
    assert isinstance(cells, list)
    return cells


def warnings(text: str) -> Counter[str]:
    """What pyflakes says of a text: names that are not bound, or bound or imported in vain."""
    return Counter(f"{type(one).__name__}: {one.message_args[:1]}" for one in Checker(ast.parse(text)).messages)


def other_lines_gone(shape: Shape, rule: str, before: str, after: str) -> list[str]:
    """Lines of the text that the fix has taken away or changed, and that have nothing to do with the fault or with a
    loader.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    gone = [
        old[row] for tag, first, last, _, _ in matcher.get_opcodes() if tag != "equal" for row in range(first, last)
    ]
    own = [line for content in fault_of(shape, rule).values() for line in content.splitlines() if line.strip()]
    patterns = [".*".join(map(re.escape, line.strip().split("$SEED"))) for line in own]
    allowed = re.compile("|".join([r"DataLoader\(", r"^(from|import) ", *patterns]))
    return [line for line in gone if allowed.search(line) is None]
