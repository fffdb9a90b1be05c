"""What a program's author calls things is judged by the tables of `knowledge/function_words.toml` alone: the program model
and the rules hold no expressions over such names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "torchrepro_lint"

#: Files with expressions over other texts than names that an author gives.
OTHER_TEXTS = {
    "program/evaluation/named_by_text.py": "the syntax of Python",
    "program/evaluation/rebinding.py": "the syntax of Python",
    "program/files_of_tests.py": "the names of files that pytest collects",
    "program/programs/folder_origins.py": "what READMEs say of a folder",
    "program/programs/distributions.py": "metadata of packages",
    "program/programs/for_others.py": "folders and releases of packages",
    "program/programs/used_copies.py": "paths through a folder",
    "program/imports.py": "the syntax of Python",
    "program/missing_modules.py": "modules that are generated, and the files of build tools",
    "program/modules.py": "lists of top-level packages",
    "program/ops/fresh_memory.py": "names of torch",
    "program/ordering/checkpoints.py": "names of torch",
    "program/ordering/global_generators.py": "names of torch",
    "program/orders/permutations.py": "names of torch",
    "program/running/entry_points.py": "console scripts, and the files of build tools",
    "program/running/mentions.py": "the syntax of Python",
    "program/seeds/reset_weights.py": "names of torch",
    "program/seeds/asked_seeds.py": "one name of the program itself",
    "program/seeds/evaluation_mode.py": "names of torch",
    "program/programs/first_weights.py": "names of torch",
    "program/intent/kept_states.py": "names of Python, NumPy and torch",
    "program/seeds/parts_in_training.py": "names of torch",
    "program/seeds/reasons_given.py": "comments",
    "program/intent/wishes.py": "names of torch",
    "program/seeds/unread_seeds.py": "options of the command line",
    "program/workers/item_seeds.py": "where a word begins in a name",
    "program/workers/library_rngs.py": "versions",
    "rules/backends/cublas_workspace_unset.py": "names of torch",
    "rules/orders.py": "names of torch",
}


def over_texts(tree: ast.Module) -> Iterator[int]:
    """The rows in which an expression over text, and not over the bytes of a file, is written."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=attr), args=[first, *_]) if attr != "escape":
                parts = list(ast.walk(first))
                if any(isinstance(one, ast.Constant) and isinstance(one.value, bytes) for one in parts):
                    continue
                if any(isinstance(one, ast.Attribute) and one.attr == "encode" for one in parts):
                    continue
                if any(isinstance(one, ast.Constant | ast.JoinedStr) for one in parts):
                    yield node.lineno


@pytest.mark.parametrize("part", ["program", "rules"])
def test_names_are_judged_by_the_tables(part: str) -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): rows
        for path in sorted((PACKAGE / part).rglob("*.py"))
        if (rows := list(over_texts(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert {name: rows for name, rows in found.items() if name not in OTHER_TEXTS} == {}
    assert {name for name in OTHER_TEXTS if name.startswith(part)} <= found.keys()
