"""Words that say something of the whole program in whose files they are; they are in program_words.toml."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from torchrepro_lint.knowledge.tables import read_words

__all__ = ["WordTable", "program_words"]

WordTable = Literal[
    "hashes", "seeds_itself", "seeds_by_a_call", "starts_python", "switches_mode",
    "seeds_environments", "seeds_spaces", "runs_environments", "defines_environments", "trains_with_a_trainer",
    "trains", "may_train", "evaluates_or_shows", "optimizes", "plays", "plays_to_learn", "keeps_experience",
    "parses_options_of_trainers", "asks_to_repeat", "has_a_network", "multiplies_matrices",
    "draws_by_dropout", "is_an_example",
]  # fmt: skip


@cache
def program_words(*tables: WordTable) -> re.Pattern[bytes]:
    """One expression for the words of these tables, over the bytes of a file."""
    words = (word for table in tables for word in read_words("program_words.toml", table))
    return re.compile("|".join(words).encode())
