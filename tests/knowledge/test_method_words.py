"""Methods that are known by their plain names: each table has a source, and torch has the methods that it is said to."""

from __future__ import annotations

from typing import get_args

import pytest
import torch

from torchrepro_lint.knowledge.method_words import MethodTable, method_words
from torchrepro_lint.knowledge.tables import DataFileError, read_toml

KEYS = [
    (table, key) for table, row in read_toml("method_words.toml").items() for key in sorted(row.keys() - {"source"})
]
OF_TENSORS: list[tuple[MethodTable, str]] = [
    ("tensor_moves", "names"),
    ("tensor_moves", "other_forms"),
    ("tensor_casts", "floating"),
    ("tensor_casts", "integer"),
    ("keeps_numbers", "names"),
    ("values_and_indices", "names"),
    ("permutations", "names"),
    ("permutations", "cuts"),
]


def test_every_table_is_known() -> None:
    assert set(read_toml("method_words.toml")) == set(get_args(MethodTable))


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_every_row_holds_plain_names_and_a_source(table: MethodTable, key: str) -> None:
    assert all(name.isidentifier() for name in method_words(table, key))


@pytest.mark.parametrize(("table", "key"), OF_TENSORS)
def test_tensors_have_the_methods(table: MethodTable, key: str) -> None:
    assert [name for name in method_words(table, key) if not hasattr(torch.Tensor, name)] == []


def test_modules_have_the_methods() -> None:
    assert [name for name in method_words("same_module") if not hasattr(torch.nn.Module, name)] == []


def test_a_table_that_is_not_there_is_an_error() -> None:
    with pytest.raises(DataFileError):
        method_words("nothing")  # type: ignore[arg-type]
