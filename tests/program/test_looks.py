"""Each question that is asked of a text is asked again of the text that comes in its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchrepro_lint.facts.module import facts_of_text
from torchrepro_lint.facts.same import same_nodes
from torchrepro_lint.program.looks import Looks
from torchrepro_lint.source.text import decode

PATH = Path("/p/a.py")
OLD = "import os\nx = 1\nf(x)\n"


def stays(looks: Looks, new: str) -> bool:
    return looks.answers_stay(decode(PATH, OLD.encode()), decode(PATH, new.encode()))


@pytest.mark.parametrize(
    ("looks", "harmless", "change"),
    [
        (Looks(words={b"seed"}), OLD + "reseed = 2\n", OLD + "# seed\n"),
        (Looks(words={b"x"}), OLD + "y = 2\n", "import os\n"),
        (Looks(patterns={re.compile(rb"x = \d")}), "import os\nx = 2\n", "import os\nx = y\n"),
        (Looks(called={b"f"}), "import os\nf(y)\n", "import os\nf.x\n"),
        (Looks(called={b"y"}), OLD + "y.f\n", OLD + "y()\n"),
        (Looks(parsed={PATH}), "import os\n\nx = 1  # a comment\nf((x))\n", "import os\nx = 1\nf(x, 2)\n"),
        (Looks(parsed={PATH}), OLD + "# the end\n", OLD + "def (\n"),
        (Looks(), "x = 2\nimport os\n", OLD + "import sys\n"),
        (Looks(), "# why\nimport os\n", "from . import os\n"),
    ],
)
def test_only_what_changes_an_answer_counts(looks: Looks, harmless: str, change: str) -> None:
    assert stays(looks, harmless)
    assert not stays(looks, change)


def test_a_file_that_was_read_counts_as_a_whole() -> None:
    assert not stays(Looks(read={PATH}), OLD + "\n")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x = (1)", "x = 1  # one", True),
        ("def f(a, *, b=1): return a", "def f(a, *,\n  b=1):\n  return a", True),
        ("x = 1", "x = True", False),
        ("x = 0.0", "x = -0.0", False),
        ("x = 1", "x = 1.0", False),
        ("x = 'a'", "x = b'a'", False),
        ("f(x)", "f(*x)", False),
        ("x = 1", "x = 1; y = 2", False),
        ("def f(): pass", "async def f(): pass", False),
        ("import a", "import a as b", False),
    ],
)
def test_nodes_are_compared_to_the_last_value(one: str, other: str, same: bool) -> None:
    assert same_nodes(facts_of_text(PATH, one).body, facts_of_text(PATH, other).body) is same
