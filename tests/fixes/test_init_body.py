"""Edits of worker init functions: the text before, the edit, the text after."""

from __future__ import annotations

from textwrap import dedent

import libcst as cst
import pytest
from fixes.helpers import applied, document
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.init_body import (
    is_commented,
    plan_appended_seed,
    plan_canonical_body,
    plan_in_range,
    plan_seeds,
    seeds_alone,
)
from torchrepro_lint.fixes.rank_terms import rank_terms


def function(parsed: Document) -> cst.FunctionDef:
    return next(node for node in parsed.walk() if isinstance(node, cst.FunctionDef))


def seedings(parsed: Document) -> list[cst.Call]:
    return [
        node
        for node in parsed.walk()
        if isinstance(node, cst.Call) and parsed.text_of(node.func).rpartition(".")[2] in ("seed", "manual_seed")
    ]


IMPORTS = "import random\n\nimport numpy as np\nimport torch\n\n\n"
CANONICAL = """\
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)
"""

BODIES = {
    "one line": ("def f(w):\n    np.random.seed(w)\n", "def f(w):\n" + CANONICAL),
    "last line of the file": ("def f(w):\n    np.random.seed(w)", "def f(w):\n" + CANONICAL),
    "comments go with the code": (
        "def f(w):\n    # the worker\n    np.random.seed(w)  # distinct\n\n\nx = 1\n",
        "def f(w):\n" + CANONICAL + "\n\nx = 1\n",
    ),
    "docstring stays": (
        'def f(w: int) -> None:\n    """Seed."""\n    seed = 3 + w\n    np.random.seed(seed)\n',
        'def f(w: int) -> None:\n    """Seed."""\n' + CANONICAL,
    ),
    "imports of its own stay": (
        "def f(w):\n    import random as r\n    r.seed(w)\n",
        "def f(w):\n    import random as r\n" + CANONICAL,
    ),
}


@pytest.mark.parametrize("case", BODIES)
def test_the_canonical_body(case: str) -> None:
    before, after = (IMPORTS + text for text in BODIES[case])
    parsed = document(before)
    assert seeds_alone(parsed, function(parsed), seedings(parsed))
    assert applied(before, plan_canonical_body(parsed, function(parsed))) == after


OTHER_THINGS = {
    "another call": "np.random.seed(w)\nprint(w)",
    "a condition": "if w:\n    np.random.seed(w)",
    "an attribute": "torch.utils.data.get_worker_info().dataset.worker = w",
    "a call with an effect": "seed = next_seed(w)\nnp.random.seed(seed)",
    "a return": "np.random.seed(w)\nreturn w",
}


@pytest.mark.parametrize("case", OTHER_THINGS)
def test_a_function_that_does_other_things(case: str) -> None:
    parsed = document(IMPORTS + "def f(w):\n    " + OTHER_THINGS[case].replace("\n", "\n    ") + "\n")
    assert not seeds_alone(parsed, function(parsed), seedings(parsed))


def test_a_body_on_the_line_of_the_def_is_left() -> None:
    parsed = document(IMPORTS + "def f(w): np.random.seed(w)\n")
    assert not seeds_alone(parsed, function(parsed), seedings(parsed))


def test_missing_imports_are_added() -> None:
    before = "import numpy\n\n\ndef f(w):\n    numpy.random.seed(w)\n"
    parsed = document(before)
    after = applied(before, plan_canonical_body(parsed, function(parsed)))
    assert "import random\n" in after
    assert "import torch\n" in after
    assert "    numpy.random.seed(worker_seed)\n" in after


SEEDS = {
    "np.random.seed(w)": "np.random.seed(torch.initial_seed() % 2**32)",
    "np.random.seed()": "np.random.seed(torch.initial_seed() % 2**32)",
    "np.random.seed(seed=w + 1)": "np.random.seed(seed=torch.initial_seed() % 2**32)",
    "torch.manual_seed(w)": "torch.manual_seed(torch.initial_seed())",
}


@pytest.mark.parametrize("before", SEEDS)
def test_another_seed(before: str) -> None:
    text = f"{IMPORTS}f = lambda w: {before}\n"
    parsed = document(text)
    edits = plan_seeds(parsed, seedings(parsed))
    assert edits is not None
    assert applied(text, edits) == f"{IMPORTS}f = lambda w: {SEEDS[before]}\n"


VARIABLES = {
    "made for the seeds alone": (
        "    seed = 3 + w\n    np.random.seed(seed=seed); random.seed(seed)\n    print(w)\n",
        "    seed = torch.initial_seed() % 2**32\n    np.random.seed(seed=seed); random.seed(seed)\n    print(w)\n",
    ),
    "read elsewhere": (
        "    seed = 3 + w\n    np.random.seed(seed)\n    print(seed)\n",
        "    seed = 3 + w\n    np.random.seed(torch.initial_seed() % 2**32)\n    print(seed)\n",
    ),
    "bound twice": (
        "    seed = 3\n    seed += w\n    np.random.seed(seed)\n    print(w)\n",
        "    seed = 3\n    seed += w\n    np.random.seed(torch.initial_seed() % 2**32)\n    print(w)\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), VARIABLES.values(), ids=VARIABLES)
def test_the_variable_that_holds_the_seed(before: str, after: str) -> None:
    text = f"{IMPORTS}def f(w):\n{before}"
    parsed = document(text)
    edits = plan_seeds(parsed, seedings(parsed))
    assert edits is not None
    assert applied(text, edits) == f"{IMPORTS}def f(w):\n{after}"


@pytest.mark.parametrize("call", ["np.random.seed(*w)", "seed(w, True)"])
def test_a_call_that_takes_more_than_a_seed(call: str) -> None:
    parsed = document(f"{IMPORTS}f = lambda w: {call}\n")
    assert plan_seeds(parsed, seedings(parsed)) is None


RANGES = {
    "s": "s % 2**32",
    "torch.initial_seed()": "torch.initial_seed() % 2**32",
    "s + w": "(s + w) % 2**32",
    "(s + w)": "(s + w) % 2**32",
    "[s, w]": None,
    "*s": None,
}


@pytest.mark.parametrize("argument", RANGES)
def test_a_seed_in_range(argument: str) -> None:
    text = f"{IMPORTS}np.random.seed({argument})\n"
    parsed = document(text)
    edits = plan_in_range(parsed, seedings(parsed)[0])
    wanted = RANGES[argument]
    assert (edits is None) is (wanted is None)
    if edits is not None:
        assert applied(text, edits) == f"{IMPORTS}np.random.seed({wanted})\n"


def test_a_seed_at_the_end() -> None:
    before = IMPORTS + dedent("""\
        def f(w):
            torch.set_num_threads(1)
            if w:
                print(w)

        x = 1
        """)
    parsed = document(before)
    edits = plan_appended_seed(parsed, function(parsed))
    assert edits is not None
    assert "        print(w)\n    np.random.seed(torch.initial_seed() % 2**32)\n\nx = 1\n" in applied(before, edits)


def test_no_seed_behind_a_return() -> None:
    parsed = document(IMPORTS + "def f(w):\n    if w:\n        return\n    print(w)\n")
    assert plan_appended_seed(parsed, function(parsed)) is None


_LINES = st.sampled_from(
    ["np.random.seed(w)", "random.seed(w)  # again", "torch.manual_seed(w)", "s = w * 2", "s += 1", "pass", "# note"]
)


@given(st.lists(_LINES, min_size=1, max_size=6), st.sampled_from(["    ", "\t", "  "]), st.sampled_from(["\n", "\r\n"]))
def test_whatever_the_layout_the_text_around_stays(lines: list[str], unit: str, newline: str) -> None:
    body = "".join(unit + line + "\n" for line in ["np.random.seed(w)", *lines])
    before = f"{IMPORTS}def f(w):\n{body}\n\nlast = 1\n".replace("\n", newline)
    parsed = document(before)
    assert seeds_alone(parsed, function(parsed), seedings(parsed))
    edits = plan_canonical_body(parsed, function(parsed))
    after = applied(before, edits)
    head, tail = f"{IMPORTS}def f(w):\n".replace("\n", newline), f"{newline}last = 1{newline}"
    assert after.startswith(head)
    assert after.endswith(tail)
    assert f"{unit}np.random.seed(worker_seed){newline}" in after
    assert apply_edits(before, edits) == after


RANKS = {
    "none": ("def f(w):\n    np.random.seed(w)", ""),
    "a product": ("def f(w, n, rank, seed):\n    np.random.seed(n * rank + w + seed)", " + n * rank"),
    "a call": ("def f(w):\n    seed = hvd.rank() * 1024 + int(w)\n    np.random.seed(seed)", " + hvd.rank() * 1024"),
    "in range": ("def f(w):\n    np.random.seed((w + args.rank * 10 + 1) % 2**32)", " + args.rank * 10"),
    "once for all": ("def f(w):\n    np.random.seed(w + 9 * rank)\n    random.seed(w + 9 * rank)", " + 9 * rank"),
    "a lambda": ("f = lambda w: np.random.seed(int(100 * rank + w))", " + 100 * rank"),
    "a variable of its own": ("def f(w):\n    rank = get_rank()\n    np.random.seed(rank * 9 + w)", None),
    "a difference": ("def f(w):\n    np.random.seed(w - rank * 9)", None),
    "a ranking": ("def f(w):\n    np.random.seed(w + ranking)", ""),
}


@pytest.mark.parametrize("case", RANKS)
def test_what_the_rank_adds(case: str) -> None:
    text, wanted = RANKS[case]
    parsed = document(text + "\n")
    calls = seedings(parsed)
    seeds = [call.args[0].value for call in calls]
    (node, *_) = [node for node in parsed.walk() if isinstance(node, cst.FunctionDef | cst.Lambda)]
    assert rank_terms(parsed, seeds, node.body) == wanted


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("    np.random.seed(w)\n    random.seed(w)\n", False, id="none"),
        pytest.param("    # why\n    np.random.seed(w)\n    random.seed(w)\n", True, id="above the first line"),
        pytest.param("    np.random.seed(w)\n    # why\n    random.seed(w)\n", True, id="above another"),
        pytest.param("    np.random.seed(w)\n    # why\n\n    random.seed(w)\n", True, id="apart"),
        pytest.param("    np.random.seed(w)\n    random.seed(w)  # why\n", True, id="behind"),
        pytest.param("    np.random.seed(\n        w  # why\n    )\n", True, id="between brackets"),
        pytest.param('    """Seed."""  # why\n    np.random.seed(w)\n', False, id="beside what stays"),
        pytest.param("    np.random.seed(w)\n\n# of what follows\nx = 1\n", False, id="below"),
    ],
)
def test_a_comment_among_the_statements_is_seen(body: str, expected: bool) -> None:
    assert is_commented(function(document(f"def f(w):\n{body}"))) == expected
