"""What the names of functions, classes and files say of what their code is for; see function_words.toml."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from torchrepro_lint.knowledge.tables import read_words

__all__ = ["NameTable", "function_words"]

NameTable = Literal[
    "training",
    "not_training",
    "losses",
    "about_data",
    "about_inference",
    "evaluates",
    "says_mode",
    "random_on_purpose",
    "only_looks",
    "asks_for_training",
    "augments",
    "draws_its_task",
    "evaluation",
    "says_evaluation",
    "means_training",
    "means_evaluation",
    "is_a_seed",
    "makes_repeatable",
    "may_seed",
    "gives_a_seed",
    "sets_up_a_run",
    "makes_data",
    "is_a_run",
    "is_a_collection",
    "is_an_environment",
    "tells",
    "split_or_sampler",
    "repeats_a_run",
    "part_of_a_training",
    "counts_epochs",
    "numbers_of_epochs",
    "gives_batches",
    "optimizer",
    "rank",
    "part_of_data",
    "splits_data",
    "sets_apart",
    "keeps_state",
    "worker_init",
    "worker_number",
    "idle_draws",
    "makes_folders",
    "makes_texts",
    "wants_fresh_numbers",
    "entry",
    "finds_anything",
    "tables_nothing",
    "own_table",
    "shows_arguments",
    "registers",
    "runs_itself",
    "builds_weights",
    "loads_weights",
    "is_a_model",
    "is_a_test",
    "same_data",
    "gives_a_network",
    "holds_samples",
]


@cache
def function_words(table: NameTable) -> re.Pattern[str]:
    """One expression for the words of a table, over one name."""
    return re.compile("|".join(read_words("function_words.toml", table)), re.IGNORECASE)
