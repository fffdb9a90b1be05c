"""Calls that decide an order or a split, that keep an order and that lose it; the words are in ordering.toml."""

from __future__ import annotations

from functools import cache
from typing import Literal

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, expand_names, read_toml

__all__ = ["OrderingTable", "ordering_names", "ordering_words"]

OrderingTable = Literal[
    "torch_splits", "torch_samplers", "torch_permutations", "numpy_splits", "table_samples", "epoch_samplers",
    "epoch_setters", "listings", "order_free", "order_keeping", "draws_by_position", "drawn_numbers", "ranks",
    "joins_datasets", "keeps_samples", "rows_keeping", "makes_rows", "joins_rows", "joins_arrays", "reads_rows",
    "rows_in_order", "rows_grouped", "rows_drawn", "tells_apart", "texts", "numbers", "tensors_of_numbers",
    "paths_of_names", "text_methods", "encodes", "starts_jobs", "completions", "queues", "checksums", "made_texts",
]  # fmt: skip


@cache
def ordering_words(table: OrderingTable) -> frozenset[str]:
    """The last parts of the names in a table: by these they are known where the receiver is not."""
    return last_parts(ordering_names(table))


@cache
def ordering_names(table: OrderingTable, key: str = "names") -> frozenset[str]:
    """The canonical names, or the plain words, that a table of ordering.toml lists under `key`."""
    rows = read_toml("ordering.toml")
    if table not in rows or not rows[table].get("source"):
        raise DataFileError(f"ordering.toml: no table {table}, or one without a source")
    listed: list[str] = rows[table].get(key, [])
    return frozenset(canonical(name) for text in listed for name in expand_names(text))
