"""Where the number comes from that seeds a program."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.facts import tree
from torchrepro_lint.program.intent.seed_entropy import Entropy, entropy_of


def entropy(root: Path, source: str, **others: str) -> Entropy | None:
    """What the last call of the program is seeded with; `others` are the modules beside it."""
    program = program_of(root, {"main.py": source} | {f"{name}.py": text for name, text in others.items()})
    facts = program.facts(program.root / "main.py")
    assert facts is not None
    statement = facts.body[-1]
    assert isinstance(statement, tree.ExprStmt) and isinstance(statement.value, tree.Call)
    return entropy_of(program.ev, statement.value.args[0].value, program.ev.module_frame(facts))


@pytest.mark.parametrize(
    ("source", "name", "fallback"),
    [
        ("import time\nseed(time.time())", "time.time", False),
        ("import time\na = time.time_ns()\nseed(a)", "time.time_ns", False),
        ("import time\na = b or time.time()\nseed(a)", "time.time", True),
        ("import time\ndef f(): return time.time()\nseed(f())", "time.time", False),
        ("import functools, time\nf = functools.partial(time.time)\nseed(int(f()))", "time.time", False),
    ],
)
def test_the_call_from_which_it_comes(tmp_path: Path, source: str, name: str, fallback: bool) -> None:
    found = entropy(tmp_path, source)
    assert found is not None
    assert (found.name, found.fallback) == (name, fallback)


def test_bindings_that_meet_again_and_again_are_each_looked_at_once(tmp_path: Path) -> None:
    names = [f"v{number}" for number in range(64)]
    doubled = [f"{name} = ({below} or {below}) + {below}" for below, name in pairwise(names)]
    assert entropy(tmp_path, "\n".join(["v0 = 7", *doubled, f"seed({names[-1]})"])) is None


def test_bindings_that_hang_on_each_other_come_to_an_end(tmp_path: Path) -> None:
    source = "import time\na = start()\nwhile x:\n    b = a or time.time()\n    a = b\nseed(a)"
    found = entropy(tmp_path, source)
    assert found is not None and found.fallback


def test_names_that_are_imported_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    circle = {"a": "from b import number", "b": "from a import number"}
    assert entropy(tmp_path, "from a import number\nseed(number)", **circle) is None
    circle["b"] = "import time\ntry:\n    from a import number\nexcept ImportError:\n    number = time.time()"
    found = entropy(tmp_path, "from a import number\nseed(number)", **circle)
    assert found is not None and found.name == "time.time"
