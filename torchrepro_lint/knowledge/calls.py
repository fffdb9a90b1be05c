"""What calls of outside packages do, as far as no other table says it; the names are in calls.toml."""

from __future__ import annotations

from functools import cache
from typing import Literal

from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.tables import DataFileError, expand_names, read_toml

__all__ = ["CallTable", "PackageTable", "known_calls", "known_packages"]

CallTable = Literal[
    "without_gradient", "without_memory", "attention_backends", "module_holders", "starts_cuda", "starts_ranks",
    "makes_a_trainer", "asks_for_the_worker", "present_process", "keeps_size", "seeds_of_32_bits",
    "seeds_and_gives_none", "makes_generators", "seed_objects", "worker_seed", "worker_info", "makes_records",
    "notable", "distinct_numbers", "same_numbers", "writes_init",
    "writes_init_from_environment", "saves_checkpoint", "loads_checkpoint", "draws_as_its_parts", "command_groups",
    "starts_afresh", "starts_with_number", "chosen_by_name", "makes_what_is_named", "waits", "chooses", "enumerations",
    "measures", "compiles", "dropout_layers", "makes_environments", "seeds_its_environment", "recomputes", "multiplies",
    "draws_nothing_of_torch", "places_for_figures",
]  # fmt: skip

PackageTable = Literal[
    "stored_data",
    "knows_of_workers",
    "seeds_nothing",
    "computes",
    "augments",
    "knows_nothing_of_torch",
    "calls_what_it_is_given",
    "makes_plainly",
]


@cache
def known_calls(table: CallTable) -> frozenset[str]:
    """The canonical names that a table lists."""
    return frozenset(map(canonical, _listed(table, "names")))


@cache
def known_packages(table: PackageTable) -> frozenset[str]:
    """The packages that a table lists, by the first part of what is imported from them."""
    return frozenset(_listed(table, "packages"))


def _listed(table: str, key: str) -> list[str]:
    row = read_toml("calls.toml").get(table, {})
    if not row.get("source"):
        raise DataFileError(f"calls.toml: no table {table}, or one without a source")
    return [name for text in row[key] for name in expand_names(text)]
