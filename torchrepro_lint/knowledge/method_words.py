"""What methods do that are known by their plain names alone; the names are in method_words.toml."""

from __future__ import annotations

from functools import cache
from typing import Literal

from torchrepro_lint.knowledge.tables import read_words

__all__ = ["MethodTable", "method_words"]

MethodTable = Literal[
    "training_steps",
    "called_by_frameworks",
    "called_once",
    "multiplies",
    "runs_the_operation",
    "keeps_beside_others",
    "starts_anew",
    "gives_weights",
    "called_at_the_end",
    "asks_for_rank",
    "all_modules",
    "parts_of_module",
    "sizes_of_layers",
    "describes_models",
    "shows",
    "copies",
    "same_module",
    "tensor_moves",
    "tensor_casts",
    "keeps_numbers",
    "values_and_indices",
    "one_number",
    "permutations",
    "gives_receiver",
    "same_rows",
    "gives_elements",
    "seed_parts",
    "lengths",
    "takes_next",
    "seeds_nothing",
    "list_fills",
    "tables",
    "decorators",
    "asks_for_a_file",
    "trainer_evaluates",
]


@cache
def method_words(table: MethodTable, key: str = "names") -> frozenset[str]:
    """The plain names that a table of method_words.toml lists under `key`."""
    return frozenset(read_words("method_words.toml", table, key))
