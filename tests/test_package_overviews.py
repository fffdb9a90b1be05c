"""The docstring of a package that lists its modules lists all of them, and none that does not exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "torchrepro_lint"


def overview(folder: Path) -> str:
    return ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""


# The program's overview explains its notions, and names modules on the way.
LISTED = [
    folder
    for folder in sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
    if re.search(r"(?m)^\w+\.py +\S", overview(folder))
]


@pytest.mark.parametrize("folder", LISTED, ids=lambda folder: folder.relative_to(PACKAGE).as_posix())
def test_an_overview_lists_every_module(folder: Path) -> None:
    named = set(re.findall(r"\b\w+\.py\b", overview(folder)))
    modules = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    if "`..._fix`" in overview(folder):
        modules = {name for name in modules if not name.endswith("_fix.py")}
    assert named == modules


def test_packages_of_more_than_a_few_modules_have_overviews() -> None:
    # The names of rules say what they are, and the program's overview explains its notions.
    left_out = {PACKAGE / "rules", PACKAGE / "program", *(PACKAGE / "rules").iterdir()}
    many = {path.parent for path in PACKAGE.rglob("__init__.py") if len(list(path.parent.glob("*.py"))) > 5}
    assert many - left_out <= set(LISTED)
