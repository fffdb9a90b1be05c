"""Edits go in exactly; of conflicting fixes the first wins; shared edits go in once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.fixes.apply import apply_edits, merge_edits, select_compatible
from torchrepro_lint.fixes.verified import outside_is_equal, verify_edit

A = Path("a.py")
B = Path("b.py")


def fix(*edits: Edit) -> Fix:
    return Fix(Applicability.SAFE, "mend", edits)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], "abcdef"),
        ([Edit(A, 1, 2, "X")], "aXcdef"),
        ([Edit(A, 4, 6, ""), Edit(A, 0, 1, "1")], "1bcd"),
        ([Edit(A, 3, 3, "1"), Edit(A, 3, 3, "2")], "abc12def"),
        pytest.param([Edit(A, 3, 5, "-"), Edit(A, 3, 3, "+")], "abc+-f", id="an insertion goes before a replacement"),
        pytest.param([Edit(A, 5, 5, "+"), Edit(A, 3, 5, "-")], "abc-+f", id="and behind the one that ends there"),
        ([Edit(A, 6, 6, "!")], "abcdef!"),
    ],
)
def test_apply(edits: list[Edit], expected: str) -> None:
    assert apply_edits("abcdef", edits) == expected


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(A, 0, 3, ""), Edit(A, 2, 4, "")],
        [Edit(A, 0, 3, "x"), Edit(A, 0, 3, "x")],
        [Edit(A, 0, 4, "x"), Edit(A, 2, 2, "y")],
        [Edit(A, 5, 9, "")],
        [Edit(A, 3, 1, "")],
        [Edit(A, 0, 1, ""), Edit(B, 2, 3, "")],
    ],
)
def test_apply_refuses(edits: list[Edit]) -> None:
    with pytest.raises(ValueError):
        apply_edits("abcdef", edits)


def test_a_fix_waits_for_the_file_from_which_it_can_import() -> None:
    first = Fix(Applicability.SAFE, "", (Edit(A, 5, 5, "def seed_worker(i): ...\n"),), frozenset({B}))
    second = Fix(Applicability.SAFE, "", (Edit(B, 9, 9, "def seed_worker(i): ...\n"),))
    other = Fix(Applicability.SAFE, "", (Edit(B, 9, 9, "x = 1\n"),))
    assert select_compatible([first, second]) == [second]
    assert select_compatible([first, other]) == [first, other]


def test_of_two_files_that_can_import_from_each_other_the_first_is_mended() -> None:
    first = Fix(Applicability.SAFE, "", (Edit(A, 5, 5, "def seed_worker(i): ...\n"),), frozenset({B}))
    second = Fix(Applicability.SAFE, "", (Edit(B, 9, 9, "def seed_worker(i): ...\n"),), frozenset({A}))
    assert select_compatible([second, first]) == [first]


IMPORT = Edit(A, 0, 0, "import random\n")
DEFINITION = Edit(A, 10, 10, "def seed_worker(): ...\n")
GENERATOR = Edit(A, 20, 20, "g = torch.Generator()\n")


@pytest.mark.parametrize(
    ("fixes", "chosen"),
    [
        pytest.param([fix(Edit(A, 5, 9, "x")), fix(Edit(A, 0, 6, "y"))], [1], id="the first by position wins"),
        pytest.param(
            [fix(IMPORT, DEFINITION, Edit(A, 20, 20, "f")), fix(IMPORT, DEFINITION, Edit(A, 30, 30, "f"))],
            [0, 1],
            id="shared edits",
        ),
        pytest.param([fix(IMPORT), fix(Edit(A, 0, 0, "import os\n"))], [0], id="different insertions at one offset"),
        pytest.param(
            [fix(IMPORT), fix(IMPORT, Edit(A, 0, 0, "import torch\n"))], [0, 1], id="insertions that continue others"
        ),
        pytest.param(
            [fix(IMPORT), fix(Edit(A, 0, 0, "import os\n"), IMPORT)], [0, 1], id="insertions that come before others"
        ),
        pytest.param(
            [
                fix(IMPORT, DEFINITION),
                fix(IMPORT, Edit(A, 0, 0, "import os\n")),
                fix(Edit(A, 0, 0, "import os\n"), IMPORT),
            ],
            [0, 1],
            id="insertions in another order",
        ),
        pytest.param(
            [fix(DEFINITION), fix(Edit(A, 15, 15, DEFINITION.content))], [0], id="one name defined at two places"
        ),
        pytest.param(
            [fix(Edit(A, place, place, '    os.environ.setdefault("X", "1")\n')) for place in (20, 30)],
            [0],
            id="a variable of the environment at two places",
        ),
        pytest.param(
            [fix(GENERATOR), fix(Edit(A, 30, 30, GENERATOR.content))], [0], id="a generator of the module at two places"
        ),
        pytest.param(
            [fix(GENERATOR), fix(Edit(A, 30, 30, f"    {GENERATOR.content}"))], [0], id="a generator that hides another"
        ),
        pytest.param(
            [fix(Edit(A, 30, 30, f"    {GENERATOR.content}")), fix(Edit(A, 40, 40, f"    {GENERATOR.content}"))],
            [0, 1],
            id="generators of two functions",
        ),
        pytest.param([fix(Edit(A, 1, 2, "")), fix(Edit(B, 1, 2, ""))], [0, 1], id="different files"),
        pytest.param([fix(Edit(A, 2, 2, "x")), fix(Edit(A, 1, 4, "y"))], [1], id="an insertion inside a replacement"),
        pytest.param([fix(Edit(A, 4, 4, "x")), fix(Edit(A, 1, 4, "y"))], [1, 0], id="an insertion behind one"),
    ],
)
def test_select(fixes: list[Fix], chosen: list[int]) -> None:
    selected = select_compatible(fixes)
    assert len(selected) == len(chosen)
    assert all(one is fixes[index] for one, index in zip(selected, chosen, strict=True))


def test_shared_edits_are_made_once() -> None:
    merged = merge_edits([fix(IMPORT, DEFINITION), fix(IMPORT, Edit(A, 12, 12, "g"))])
    assert merged == {A: [IMPORT, DEFINITION, Edit(A, 12, 12, "g")]}


def test_insertions_at_one_offset_keep_the_order_of_the_fix_that_has_them_all() -> None:
    first, last = Edit(A, 0, 0, "import os\n"), Edit(A, 0, 0, "import torch\n")
    for fixes in ([fix(IMPORT), fix(first, IMPORT, last)], [fix(last), fix(first, IMPORT, last), fix(IMPORT)]):
        assert select_compatible(fixes) == fixes
        assert merge_edits(fixes) == {A: [first, IMPORT, last]}


EDITS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 3), st.text("xy\n", max_size=2)).map(
        lambda item: Edit(A, item[0], item[0] + item[1], item[2])
    ),
    min_size=1,
    max_size=3,
)


@given(st.lists(EDITS.map(lambda edits: fix(*edits)), max_size=6))
def test_selected_fixes_always_apply(fixes: list[Fix]) -> None:
    fixes = [one for one in fixes if _is_consistent(one)]
    text = "0123456789abcdef"
    selected = select_compatible(fixes)
    edits = merge_edits(selected).get(A, [])
    assert outside_is_equal(text, apply_edits(text, edits), edits)
    assert not fixes or selected


def _is_consistent(one: Fix) -> bool:
    try:
        apply_edits("0123456789abcdef", dict.fromkeys(one.edits))
    except ValueError:
        return False
    return True


def test_verify() -> None:
    edit = Edit(A, 4, 5, "2")
    assert verify_edit("x = 1\ny = 1\n", "x = 2\ny = 1\n", [edit]) is None
    assert "outside" in (verify_edit("x = 1\ny = 1\n", "x = 2\ny = 3\n", [edit]) or "")
    assert "parse" in (verify_edit("x = 1\n", "x = = 1\n") or "")
    assert "compile" in (verify_edit("x = 1\n", "f(a=1, a=2)\n") or "")
    assert "compile" in (verify_edit("x = 1\n", "return 1\n") or "")


@pytest.mark.parametrize("end", ["\f\n", "    # one\n\n    # two\n", "    # one\n    # two"])
def test_what_libcst_forgets_does_not_keep_a_fix_back(end: str) -> None:
    edit = Edit(Path("a.py"), 4, 5, "2")
    assert verify_edit(f"x = 1\n{end}", f"x = 2\n{end}", [edit]) is None
